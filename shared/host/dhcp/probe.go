package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

const (
	// Within is how long a probe waits for answers if Probe.Within is 0: dnsmasq pings an address
	// for 3 s before it offers it.
	Within = 4 * time.Second
	// again is the time between two rounds of requests: a packet may be lost, and a switch that
	// has just learnt of the link may not forward yet.
	again = time.Second
)

// Probe is what to ask. The zero value asks as an unknown host would.
type Probe struct {
	MAC    net.HardwareAddr // of the host that asks; a random one if it is empty
	Archs  []wire.Arch      // each asks; BIOS, UEFI and UEFI over HTTP if it is empty
	Within time.Duration    // how long answers are received; the constant if it is 0
}

// Ask asks as a host that boots would, again and again for a bounded time, and returns all servers
// that were received meanwhile, also those that answered another host. It sends DHCPDISCOVER,
// SOLICIT and a router solicitation, and never a REQUEST: no server gives a lease. more is true if
// there were more servers than it keeps.
//
// Frames have the link's own MAC, and answers to an unknown MAC come by broadcast. It needs the
// capability NET_RAW. ctx ends it early, which is no error.
func (p Probe) Ask(ctx context.Context, link string) (
	servers []offer.Server, more bool, err error) {
	var seen offer.List
	if err := p.ask(ctx, link, seen.Add); err != nil {
		return nil, false, fmt.Errorf("ask for DHCP servers on %s: %w", link, err)
	}
	servers, more = seen.Servers()
	return servers, more, nil
}

func (p Probe) ask(ctx context.Context, link string, add func(offer.Server)) error {
	on, err := ethernet(link)
	if err != nil {
		return err
	}
	c := p.client(on)
	requests, err := p.requests(c)
	if err != nil {
		return err
	}
	socket, err := open(on, wire.Groups(c)...)
	if err != nil {
		return err
	}
	defer socket.Close()
	within := p.Within
	if within == 0 {
		within = Within
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	sender := make(chan error, 1)
	go func() {
		err := repeat(ctx, raw, on, requests)
		if err != nil {
			cancel()
		}
		sender <- err
	}()
	err = receive(ctx, socket, func(r wire.Received) {
		if s, ok := wire.Read(r); ok {
			add(s)
		} else if answer, ok := wire.Reply(c, r); ok {
			_ = send(raw, on, answer) // the server asks again
		}
	})
	cancel()
	return errors.Join(err, <-sender)
}

// repeat sends all requests, and again until ctx ends.
func repeat(
	ctx context.Context, to syscall.RawConn, on *net.Interface, requests []wire.Packet,
) error {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		if err := sendAll(to, on, requests); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func sendAll(to syscall.RawConn, on *net.Interface, requests []wire.Packet) error {
	for _, r := range requests {
		if err := send(to, on, r); err != nil {
			return err
		}
	}
	return nil
}

// client is a new host with each probe, so that no server offers what another host has.
func (p Probe) client(on *net.Interface) wire.Client {
	c := wire.NewClient(p.MAC, on.HardwareAddr)
	// The kernel answers neighbour solicitations for an address of the link that it may use.
	if own, err := on.Addrs(); err == nil {
		for _, a := range own {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() == nil && n.IP.IsLinkLocalUnicast() {
				c.Source, _ = netip.AddrFromSlice(n.IP)
			}
		}
	}
	return c
}

func (p Probe) requests(c wire.Client) ([]wire.Packet, error) {
	archs := p.Archs
	if len(archs) == 0 {
		archs = []wire.Arch{wire.UEFI, wire.BIOS, wire.UEFIHTTP}
	}
	router, err := wire.RouterSolicitation(c)
	all, errs := []wire.Packet{router}, []error{err}
	for _, a := range archs {
		discovers, err := wire.Discovers(c, a)
		all, errs = append(all, discovers...), append(errs, err)
		solicit, err := wire.Solicit(c, a)
		all, errs = append(all, solicit), append(errs, err)
	}
	return all, errors.Join(errs...)
}
