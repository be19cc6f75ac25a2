package fault

import (
	"errors"
	"net"
	"net/url"
	"regexp"

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
	ports = regexp.MustCompile(`(\d|\]):\d+->`)
)

// plain is an error without the parts that differ at each attempt, and a short text if a connection
// was cut, as every move of a VIP does.
func plain(err error) string {
	text := ports.ReplaceAllString(Stable(err).Error(), "$1->")
	if cutOff.MatchString(text) {
		return "the connection was cut"
	}
	return text
}

// Stable drops the parts that differ at each attempt, the request and the local port, so that an
// error that persists has one text.
func Stable(err error) error {
	var answer *apierrors.StatusError
	if errors.As(err, &answer) {
		return answer
	}
	var target *url.Error
	if errors.As(err, &target) {
		err = target.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}
	return err
}
