package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// If the holder of a VIP loses its power, a connection to the VIP stays open: the new holder does
// not know it, and resets it only when a packet arrives. A watch sends nothing, so the kernel sends
// a keep-alive after each second without traffic.
const (
	keepAliveEvery = time.Second
	// keepAliveFor is how long a connection without any answer lasts: longer than a VIP is without
	// a holder under any timing.
	keepAliveFor = 10 * time.Second
)

// dial connects with keep-alives by which the kernel notices that the peer lost the connection.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := localhost.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		keepAlive := net.KeepAliveConfig{
			Enable: true, Idle: keepAliveEvery, Interval: keepAliveEvery,
			Count: int(keepAliveFor / keepAliveEvery),
		}
		if err := tcp.SetKeepAliveConfig(keepAlive); err != nil {
			return nil, errors.Join(
				fmt.Errorf("set keep-alive of the connection to %s: %w", address, err),
				conn.Close(),
			)
		}
	}
	return conn, nil
}

// acceptWithin bounds the attempt to reach another API server than the kubeconfig's, of which
// several may be gone.
const acceptWithin = 2 * time.Second

// dial connects to an address, or to one of the others.
func (a *Access) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err == nil || a.others == nil {
		return conn, err
	}
	for _, other := range a.others() {
		within, cancel := context.WithTimeout(ctx, acceptWithin)
		conn, failed := dial(within, network, other.String())
		cancel()
		if failed == nil {
			return conn, nil
		}
	}
	return nil, err
}
