// Package clients lists the clients of a VIP on its holder, carries reports of them between nodes,
// and ends the connections that a vanished holder leaves. What is reported is in shared/clients.
package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// List are the clients of a VIP that this host has. Connections to one port may be redirected to
// another one: redirected has the port that the client knows for each such port of this host.
func List(vip netip.Addr, redirected map[uint16]uint16) ([]clients.Client, error) {
	sessions, err := sockets.Sessions(vip)
	if err != nil {
		return nil, err
	}
	list := make([]clients.Client, 0, len(sessions))
	for _, s := range sessions {
		port := s.Local.Port()
		if known, ok := redirected[port]; ok {
			port = known
		}
		list = append(list, clients.Client{Remote: s.Remote, Port: port})
	}
	return list, nil
}

// again is when each client gets a segment, from the takeover: the first ones may be lost while
// this host and its neighbours still ask for each other's MACs. If the answer to one is lost, the
// client's kernel answers no other for half a second (Linux, tcp_invalid_ratelimit).
var again = []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond,
	900 * time.Millisecond}

const (
	burst = 256 // segments sent at once
	pause = 2 * time.Millisecond
)

// End has each client of a VIP that this host holds now end its connection with the former holder.
func End(ctx context.Context, vip netip.Addr, list []clients.Client) error {
	family := unix.AF_INET
	if vip.Is6() {
		family = unix.AF_INET6
	}
	fd, err := socket.Open(family, unix.SOCK_RAW, unix.IPPROTO_RAW)
	if err != nil {
		return fmt.Errorf("end connections to %s: %w", vip, err)
	}
	defer unix.Close(fd)
	begin := time.Now()
	for _, at := range again {
		if err := sleep(ctx, at-time.Since(begin)); err != nil {
			return err
		}
		for i, c := range list {
			if i%burst == burst-1 {
				if err := sleep(ctx, pause); err != nil {
					return err
				}
			}
			packet := clients.Segment(vip, c, rand.Uint32(), rand.Uint32())
			// A client that cannot be reached now gets the next segment.
			_ = unix.Sendto(fd, packet, unix.MSG_DONTWAIT, socket.To(c.Remote.Addr()))
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(d, 0)):
		return nil
	}
}
