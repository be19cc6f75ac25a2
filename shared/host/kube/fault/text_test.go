package fault

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

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
	}
}

// The reflector puts words of its own before a list's error; the API's answer is the same.
func TestStableAnswers(t *testing.T) {
	answer := apierrors.NewForbidden(corev1.Resource("nodes"), "", errors.New("no"))
	if a, b := Stable(answer).Error(), Stable(fmt.Errorf("failed to list: %w", answer)).Error(); a != b {
		t.Errorf("%q and %q, want one text", a, b)
	}
}
