package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
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

// acceptWithin bounds each attempt where there is another API server to try: of several some may be
// gone, and one may not even refuse a connection. Without the bound the first of those would take
// all of a request's time.
const acceptWithin = 2 * time.Second

// dial connects to an address, or to one of the others.
func (a *Access) dial(ctx context.Context, network, address string) (net.Conn, error) {
	others := a.beside()
	if len(others) == 0 {
		return dial(ctx, network, address)
	}
	conn, err := accepted(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	for _, other := range others {
		if conn, failed := accepted(ctx, network, other.String()); failed == nil {
			return conn, nil
		}
	}
	return nil, err
}

// beside are the API servers to try beside the kubeconfig's.
func (a *Access) beside() []netip.AddrPort {
	if a.others == nil {
		return nil
	}
	return a.others()
}

func accepted(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, acceptWithin)
	defer cancel()
	return dial(ctx, network, address)
}
