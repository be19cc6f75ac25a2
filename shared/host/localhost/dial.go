// Package localhost reaches this machine by the name localhost without asking a name server: on
// this machine the name server may be ours, and a machine without /etc/hosts would send the
// question out.
package localhost

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// within bounds one attempt, for callers whose context has no end.
const within = 30 * time.Second

// Dial connects as net.Dialer does, but takes localhost and the names below it for the loopback
// addresses, as RFC 6761 6.3 asks: first 127.0.0.1, then ::1 for a server that listens there alone.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: within}
	host, port, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
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

func loopback(host string) bool {
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
