package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
)

// HTTP asks whether a server speaks HTTP at all.
type HTTP struct {
	url  string
	line *line
}

// NewHTTP asks a URL such as http://localhost:6385/v1, by connections that dial makes and by no
// proxy: that of the environment is for image registries, and its error page would be taken for a
// sign of life.
func NewHTTP(url string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *HTTP {
	return &HTTP{url: url, line: newLine(url, dial, new(tls.Config))}
}

// Probe returns nil for any answer, whatever its status: the server lives. An error says that none
// came.
func (h *HTTP) Probe(ctx context.Context) error {
	_, _, err := h.line.ask(ctx)
	return err
}

// NewUntrusted is NewHTTP for a server of this machine that speaks TLS with a certificate of an
// authority which nobody here knows: that it completes the handshake and answers is all that is
// asked, and nothing is told to it.
func NewUntrusted(url string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *HTTP {
	return &HTTP{url: url, line: newLine(url, dial, &tls.Config{InsecureSkipVerify: true})}
}

// Good returns nil for an answer from 200 to 299, and the answer's first 64 KiB. Anything else is
// an error, a redirect too.
func (h *HTTP) Good(ctx context.Context) ([]byte, error) {
	code, body, err := h.line.ask(ctx)
	if err != nil {
		return nil, err
	}
	if code < http.StatusOK || code >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s answers %d", h.url, code)
	}
	return body, nil
}
