//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/containers/podman/v4/pkg/bindings"
)

// Bounds of a call. A service that its socket starts may have to set up its storage first.
const (
	callWithin = 30 * time.Second
	// startWithin is for a disk that is slow, or busy with an image. Nothing else waits meanwhile.
	startWithin = 3 * time.Minute
)

// Engine is podman's service behind one socket. It holds no connection between calls: the service
// exits without a connection and the next call starts it, so a restart has no effect. Its methods
// may be called from any goroutine.
type Engine struct {
	uri         string
	pullSilence time.Duration

	opening sync.Mutex
	// service carries the client as the bindings require; nil until the service has answered once.
	service context.Context
}

// New is the engine at a URI such as unix:///run/podman/podman.sock. It does not connect: if there
// is no service, each call fails until there is one.
func New(uri string) *Engine { return &Engine{uri: uri, pullSilence: pullSilence} }

// open has the bindings make a client, which needs an answer of the service.
func (e *Engine) open(ctx context.Context) (service context.Context, err error) {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.service != nil {
		return e.service, nil
	}
	service, err = bindings.NewConnection(ctx, e.uri)
	if err != nil {
		return nil, fmt.Errorf("open podman's service at %s: %w", e.uri, why(ctx, err))
	}
	connection, err := bindings.GetClient(service)
	if err != nil {
		return nil, err
	}
	transport, ok := connection.Client.Transport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("podman's bindings use a %T, want an http.Transport",
			connection.Client.Transport)
	}
	transport.CloseIdleConnections() // the one of the answer
	transport.DisableKeepAlives = true
	connection.Client.Transport = prompt{transport}
	e.service = context.WithoutCancel(service)
	return e.service, nil
}

// call is a context that ends with its caller's and within a bound, and carries the client.
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

func (e *Engine) call(ctx context.Context, within time.Duration) (
	context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	service, err := e.open(ctx)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return call{ctx, service}, cancel, nil
}

// prompt ends a call when its context ends. After an error the bindings sleep and try twice more,
// 0.6 s in all, which is longer than the release of a VIP may take. So they get the end of a
// context as an answer, and not as an error.
type prompt struct{ *http.Transport }

func (p prompt) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := p.Transport.RoundTrip(request)
	if err == nil || request.Context().Err() == nil {
		return answer, err
	}
	const code = http.StatusServiceUnavailable
	text := fmt.Sprintf(`{"response": %d, "message": "the caller ended the call"}`, code)
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(text)), Request: request,
	}, nil
}

// why is the reason of a call's error, in one line: podman lists its attempts. If the call's
// context has ended, that is the reason, whatever the bindings report.
func why(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return oneLine(err)
	}
	return context.Cause(ctx)
}

func oneLine(err error) error {
	if err == nil || !strings.ContainsAny(err.Error(), "\r\n") {
		return err
	}
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
