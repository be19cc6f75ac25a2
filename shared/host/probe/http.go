package probe

import (
	"context"
	"net"
	"net/http"
)

// HTTP asks whether a server speaks HTTP at all.
type HTTP struct {
	url    string
	client *http.Client
}

// NewHTTP asks a URL such as http://localhost:6385/v1, by connections that dial makes and by no proxy: that of the environment is for image
// registries, and its error page would be taken for a sign of life.
func NewHTTP(url string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *HTTP {
	return &HTTP{url: url, client: &http.Client{Transport: &http.Transport{DialContext: dial, Proxy: nil}}}
}

// Probe returns nil for any answer, whatever its status: the server lives. An error says that none came.
func (h *HTTP) Probe(ctx context.Context) error {
	_, _, err := get(ctx, h.client, h.url)
	return err
}
