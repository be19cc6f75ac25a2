//go:build remote

package podman

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/containers/podman/v4/pkg/bindings"
)

// Bounds of a call. A service that is started by its socket may have to set its storage up first.
const (
	openWithin = time.Minute
	callWithin = 30 * time.Second
)

// Engine is podman's service behind one socket. It holds no connection between calls: the service ends when nobody is connected and is
// started by the next call, and a restart of it is not noticed.
type Engine struct {
	service     context.Context // carries the client as the bindings want it; its deadline and cancellation mean nothing
	pullSilence time.Duration
}

// Open finds the service at a URI such as unix:///run/podman/podman.sock, and waits for it for a minute.
func Open(ctx context.Context, uri string) (*Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	for {
		service, err := bindings.NewConnection(ctx, uri)
		if err == nil {
			return open(service)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("open podman's service at %s: %w", uri, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func open(service context.Context) (*Engine, error) {
	connection, err := bindings.GetClient(service)
	if err != nil {
		return nil, err
	}
	transport, ok := connection.Client.Transport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("podman's bindings use a %T, want an http.Transport", connection.Client.Transport)
	}
	transport.CloseIdleConnections() // the one that Open was answered on
	transport.DisableKeepAlives = true
	connection.Client.Transport = prompt{transport}
	return &Engine{service: service, pullSilence: pullSilence}, nil
}

// call is a context that ends as its caller says and within a bound, and carries the client.
type call struct {
	context.Context
	service context.Context
}

func (c call) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.service.Value(key)
}

func (e *Engine) call(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, within)
	return call{ctx, e.service}, cancel
}

// prompt lets a call end when its context does. The bindings take every error for a hiccup, sleep, and try twice more, 0.6 s in
// all, which is longer than a VIP may outlive the wish to give it up. So the end of a context looks like an answer to them.
type prompt struct{ *http.Transport }

func (p prompt) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := p.Transport.RoundTrip(request)
	if err == nil || request.Context().Err() == nil {
		return answer, err
	}
	text := fmt.Sprintf(`{"response": %d, "message": "the caller ended the call"}`, http.StatusServiceUnavailable)
	return &http.Response{
		Status:     http.StatusText(http.StatusServiceUnavailable),
		StatusCode: http.StatusServiceUnavailable,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{},
		Body:    io.NopCloser(strings.NewReader(text)),
		Request: request,
	}, nil
}

// ended says why a call failed: when its context ended, that is the reason, whatever the bindings made of it.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
