package probe

import (
	"context"
	"net/http"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// HTTP asks whether a server speaks HTTP at all.
type HTTP struct {
	url    string
	client *http.Client
}

// NewHTTP asks a URL such as http://localhost:6385/v1.
func NewHTTP(url string) *HTTP {
	return &HTTP{url: url, client: &http.Client{Transport: &http.Transport{DialContext: localhost.Dial}}}
}

// Probe returns nil for any answer, whatever its status: the server lives. An error says that none came.
func (h *HTTP) Probe(ctx context.Context) error {
	_, _, err := get(ctx, h.client, h.url)
	return err
}
