package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// remedy is what a person has to do before the API accepts requests; empty if nothing.
func remedy(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "give nodes the right to it: " +
			"apply the objects that 'onprem-infra render --role=cluster' writes"
	case apierrors.IsUnauthorized(err):
		return "check the kubelet's credentials: the API does not accept them"
	}
	return ""
}

var (
	// cutOff matches the errors of a connection that was cut, in whatever state it was.
	cutOff = regexp.MustCompile(`software caused connection abort|connection reset by peer|` +
		`broken pipe|unexpected EOF|client connection lost|GOAWAY|use of closed network connection`)
	// source matches the local address and port of a connection, before those of its peer.
	source = regexp.MustCompile(`\S+:\d+->`)
)

// plain is an error without the parts that differ at each attempt, and a short text if a connection
// was cut, as every move of a VIP does.
func plain(err error) string {
	text := source.ReplaceAllString(Stable(err).Error(), "")
	if cutOff.MatchString(text) {
		return "the connection was cut"
	}
	return text
}

// Stable drops the parts that differ at each attempt, so that an error that persists has one text:
// the request, the local port, also that of a query for a name, and the time at which a certificate
// was not valid.
func Stable(err error) error {
	var answer *apierrors.StatusError
	if errors.As(err, &answer) {
		return answer
	}
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return &tls.CertificateVerificationError{Err: withoutNow(invalid)}
	}
	var target *url.Error
	if errors.As(err, &target) {
		err = target.Err
	}
	if text := source.ReplaceAllString(err.Error(), ""); text != err.Error() {
		return stable{err, text}
	}
	return err
}

// stable is an error with another text. The error itself may be one that several requests got.
type stable struct {
	error
	text string
}

func (s stable) Error() string { return s.text }

func (s stable) Unwrap() error { return s.error }

// withoutNow replaces the current time in the error's text by the times between which the
// certificate is valid: the certificate or this host's clock may be wrong.
func withoutNow(invalid x509.CertificateInvalidError) x509.CertificateInvalidError {
	invalid.Detail = ""
	if c := invalid.Cert; c != nil {
		invalid.Detail = fmt.Sprintf("it is valid from %s until %s",
			c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339))
	}
	return invalid
}
