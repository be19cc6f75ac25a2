package kubeconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// refusedWithin bounds the probe whether an API accepts credentials.
const refusedWithin = 5 * time.Second

// Refused is why this kubeconfig can no longer be used: its API answers 401, or has a certificate
// that the kubeconfig's CA did not issue, or a directory is in the file's place. It is nil while
// the API accepts the credentials, and while that is unknown: without an answer, or with files that
// cannot be read now.
func (a *Access) Refused(ctx context.Context) error {
	client, config, err := a.Load()
	switch {
	case errors.Is(err, syscall.EISDIR):
		return err
	case err != nil:
		return nil
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, refusedWithin)
	defer cancel()
	// Every API server authenticates a request for this path, and serves it to any user.
	request, err := http.NewRequestWithContext(
		ctx, http.MethodGet, server.JoinPath("version").String(), nil,
	)
	if err != nil {
		return nil
	}
	answer, err := client.Do(request)
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
		return untrusted
	} else if err != nil {
		return nil
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // the connection is used again
	if answer.StatusCode == http.StatusUnauthorized {
		return errors.New("the API answers 401 Unauthorized")
	}
	return nil
}
