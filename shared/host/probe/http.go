package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync/atomic"
)

// NewHTTP probes a URL such as http://localhost:6385/v1 by connections that dial makes, without a
// proxy: the environment's proxy is for image registries, and its error page would count as an
// answer.
func NewHTTP(url string, dial Dialer) *HTTP {
	return newHTTP(url, dial, new(tls.Config))
}

// Probe returns nil for any answer, whatever its status, and an error if there is none.
func (h *HTTP) Probe(ctx context.Context) error {
	_, _, err := h.get(ctx)
	return err
}

// NewUntrusted is NewHTTP for a server of this host whose certificate is of an unknown authority.
// It probes that the server completes the handshake and answers, and sends nothing secret.
func NewUntrusted(url string, dial Dialer) *HTTP {
	return newHTTP(url, dial, &tls.Config{InsecureSkipVerify: true})
}

// Either probes one port of which it is not known whether its server wants TLS. A server with TLS
// may close a connection without it, which looks as if there was no server.
type Either struct {
	Plain, Secure *HTTP
	last          atomic.Bool // Secure answered last
}

// Probe is nil if one of both answers. It begins with the one that answered last: a server logs
// each connection of the wrong kind. Both share one budget, as a server refuses the wrong kind at
// once: one that hangs costs one timeout.
func (e *Either) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	first, second := e.Plain, e.Secure
	secure := e.last.Load()
	if secure {
		first, second = second, first
	}
	err := first.Probe(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if second.Probe(ctx) == nil {
		e.last.Store(!secure)
		return nil
	}
	return err
}

// Good returns nil for an answer from 200 to 299, and the answer's first 64 KiB. Anything else is
// an error, a redirect too.
func (h *HTTP) Good(ctx context.Context) ([]byte, error) {
	code, body, err := h.get(ctx)
	if err != nil {
		return nil, err
	}
	if code < http.StatusOK || code >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s answers %d", h.url, code)
	}
	return body, nil
}
