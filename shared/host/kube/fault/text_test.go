package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An error that lasts must read the same at each attempt, or each attempt is a line of the log.
func TestStableErrors(t *testing.T) {
	refused := func(seconds, port int) error {
		return &url.Error{Op: "Get", URL: fmt.Sprintf("https://localhost:6443/?timeoutSeconds=%d", seconds), Err: &net.OpError{
			Op: "read", Net: "tcp", Err: errors.New("connection reset by peer"),
			Source: &net.TCPAddr{IP: net.IPv6loopback, Port: port}, Addr: &net.TCPAddr{IP: net.IPv6loopback, Port: 6443},
		}}
	}
	const want = "read tcp [::1]:6443: connection reset by peer"
	for i, err := range []error{Stable(refused(301, 40001)), Stable(refused(302, 40002))} {
		if err.Error() != want {
			t.Errorf("attempt %d: %q, want %q", i, err, want)
		}
		if op := (*net.OpError)(nil); !errors.As(err, &op) || op.Source == nil {
			t.Errorf("attempt %d: the error itself was changed, which another request may have got", i)
		}
	}
}

// The reflector puts words of its own before a list's error; the API's answer is the same.
func TestStableAnswers(t *testing.T) {
	answer := apierrors.NewForbidden(corev1.Resource("nodes"), "", errors.New("no"))
	if a, b := Stable(answer).Error(), Stable(fmt.Errorf("failed to list: %w", answer)).Error(); a != b {
		t.Errorf("%q and %q, want one text", a, b)
	}
}

// A certificate that is not valid now is reported with the time of the attempt, which is another
// one at each attempt. The times of the certificate stay: the host's clock may be wrong.
func TestStableExpired(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(now time.Time) error {
		c := &x509.Certificate{NotBefore: from, NotAfter: from.AddDate(1, 0, 0)}
		return fmt.Errorf("failed to list *v1.Node: %w", &url.Error{Op: "Get", URL: "https://api:6443", Err: &tls.CertificateVerificationError{
			Err: x509.CertificateInvalidError{Cert: c, Reason: x509.Expired, Detail: "current time " + now.Format(time.RFC3339) + " is after"},
		}})
	}
	const want = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: " +
		"it is valid from 2026-01-02T03:04:05Z until 2027-01-02T03:04:05Z"
	for i := range 2 {
		if got := Stable(at(from.AddDate(2, 0, i))).Error(); got != want {
			t.Errorf("attempt %d: %q, want %q", i, got, want)
		}
	}
}

// The text of a name server that refuses a query has the local port of the query.
func TestStableLookup(t *testing.T) {
	refused := func(port int) error {
		return &url.Error{Op: "Get", URL: "https://api-int.example.com:6443", Err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
			Err: fmt.Sprintf("read udp [2001:db8::10]:%d->[2001:db8::10]:53: read: connection refused", port), Name: "api-int.example.com", Server: "[2001:db8::10]:53",
		}}}
	}
	const want = "dial tcp: lookup api-int.example.com on [2001:db8::10]:53: read udp [2001:db8::10]:53: read: connection refused"
	for i, err := range []error{Stable(refused(40001)), Stable(refused(40002))} {
		if err.Error() != want {
			t.Errorf("attempt %d: %q, want %q", i, err, want)
		}
	}
}
