// Package localhost dials the local host by the name localhost and asks no name server for it:
// that may be ours or, on a host without /etc/hosts, one outside.
package localhost

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// dialTimeout bounds one attempt, for callers whose context has no end.
const dialTimeout = 30 * time.Second

// Dial connects as net.Dialer does, but resolves localhost and the names below it to the loopback
// addresses (RFC 6761 6.3): first 127.0.0.1, then ::1 for a server that listens there alone.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	host, port, err := net.SplitHostPort(address)
	if err != nil || !isLoopback(host) {
		return dialer.DialContext(ctx, network, address)
	}
	conn, err := dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	conn, err6 := dialer.DialContext(ctx, network, net.JoinHostPort("::1", port))
	if err6 != nil {
		return nil, fmt.Errorf("%w; %w", err, err6)
	}
	return conn, nil
}

func isLoopback(host string) bool {
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
