// Package probe probes other programs: each probe keeps one connection, reads the whole answer and
// ends within its budget.
package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// budget is the longest that one probe takes.
var budget = health.BootstrapAPI().Timeout

// most is how much of an answer is read; the list of an API server's checks is some 3 KiB.
const most = 64 << 10

// API probes whether an API server is ready.
type API struct {
	url    string
	client func() (*http.Client, error)
}

// NewAPI probes https://address/readyz; address is HOST:PORT. client returns a client that trusts
// the cluster's CA and sends credentials, as an API server may refuse anonymous requests. It should
// return the same one each time.
func NewAPI(address string, client func() (*http.Client, error)) *API {
	return &API{url: "https://" + address + "/readyz", client: client}
}

// Probe sends one request. why is the reason in a few words, the same for the same fault.
func (a *API) Probe(ctx context.Context) (state health.API, why string) {
	client, err := a.client()
	if errors.Is(err, fs.ErrNotExist) {
		return health.Gone, "no kubeconfig yet"
	} else if err != nil {
		return health.Gone, err.Error()
	}
	code, body, err := get(ctx, client, a.url)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return health.Untrusted, err.Error()
	case err != nil:
		return health.Gone, err.Error()
	case code == http.StatusOK || code == http.StatusNoContent:
		return health.Ready, "readyz answers"
	case code == http.StatusInternalServerError && failing(body, "shutdown"):
		return health.ShuttingDown, "readyz names its shutdown"
	default:
		return health.NotReady, fmt.Sprintf("readyz answers %d", code)
	}
}

// failing reports whether a check fails in the list that an API server sends when it is not ready:
// "[+]ping ok", "[-]shutdown failed: reason withheld".
func failing(body []byte, check string) bool {
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, failed := strings.CutPrefix(lines.Text(), "[-]")
		if name, _, _ = strings.Cut(name, " "); failed && name == check {
			return true
		}
	}
	return false
}

// get sends one request, follows no redirect, and reads the whole answer, so that its connection
// can be used again. An answer that comes when the time is over is none: a server may send it
// because the connection to it is closed. HTTP/1.1 closes a connection on which a request has
// failed, so the next request uses a new one; HTTP/2 does not, see kubeconfig.NewAccess. The
// client's connections to other servers stay.
func get(ctx context.Context, client *http.Client, url string) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	direct := http.Client{Transport: client.Transport, CheckRedirect: noRedirect}
	answer, err := direct.Do(request)
	if err == nil {
		defer answer.Body.Close()
		body, err = io.ReadAll(io.LimitReader(answer.Body, most))
	}
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return 0, nil, plain(err)
	}
	return answer.StatusCode, body, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// plain drops what differs at each attempt (the local port, the time at which a certificate was not
// valid) and gives all timeouts one text.
func plain(err error) error {
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		invalid.Detail = ""
		return &tls.CertificateVerificationError{Err: invalid}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("no answer within %v", budget)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}
	return err
}
