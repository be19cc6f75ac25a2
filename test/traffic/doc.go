// Package traffic runs clients of an API while its VIP moves: some open a new connection every
// few milliseconds, others hold a watch for hours. It reports the outcome of each request, as the
// client observed it.
package traffic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Dial connects from where the clients are; a lab host has one.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Outcome is the outcome of a request.
type Outcome string

// The outcomes.
const (
	Served  Outcome = "served"  // with the expected status
	Refused Outcome = "refused" // the connection was
	Silent  Outcome = "silent"  // no connection in the client's patience
	Late    Outcome = "late"    // a connection, and no whole answer in the client's patience
	Reset   Outcome = "reset"   // the connection was there and was cut
	Failed  Outcome = "failed"  // answered with another status, or in another way
)

// outcome classifies an error.
func outcome(err error) Outcome {
	var slow net.Error
	switch {
	case err == nil:
		return Served
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return Late
	case cut(err):
		return Reset
	}
	return Failed
}

// client opens a connection for each request and gives it so much time in all; 0 for no limit.
func client(dial Dial, config *tls.Config, patience time.Duration) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: noting(dial), TLSClientConfig: config, DisableKeepAlives: true, TLSHandshakeTimeout: patience,
	}}
}

// connected is the key of a request's context under which an *atomic.Bool records that there is a
// connection.
type connected struct{}

// noting dials, and records the connection under connected.
func noting(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if known, ok := ctx.Value(connected{}).(*atomic.Bool); ok && err == nil {
			known.Store(true)
		}
		return c, err
	}
}
