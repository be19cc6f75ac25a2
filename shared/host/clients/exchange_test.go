package clients

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// socket is what reports are sent by.
func (e *Exchange) socket() *net.UDPConn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conn
}

// TestExchange holds that a report reaches the peers of its VIP and no other node, that a node which
// began anew is understood once it has published its key, and that a node which is no peer is not.
func TestExchange(t *testing.T) {
	n := newNetwork(t)
	vip, other := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("192.0.2.6")
	a, b := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("192.0.2.11")
	received := make(chan string, 10)
	open := func(ns netns.Namespace) *Exchange {
		t.Helper()
		e, err := NewExchange(9467, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- ns.In(func() error {
				return e.Run(ctx, func(report []byte, of []netip.Addr) { received <- fmt.Sprintf("%s of %v", report, of) })
			})
		}()
		for e.socket() == nil {
			time.Sleep(time.Millisecond)
		}
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return e
	}
	within := func(patience time.Duration) string {
		select {
		case s := <-received:
			return s
		case <-time.After(patience):
			return ""
		}
	}
	got, more := func() string { return within(10 * time.Second) }, func() string { return within(200 * time.Millisecond) }
	from, to := open(n.holder), open(n.successor)
	both := []netip.Addr{vip, other}
	at := func(a netip.Addr, e *Exchange, vips ...netip.Addr) clients.Peer {
		return clients.Peer{Addresses: []netip.Addr{netip.MustParseAddr("2001:db8::99"), a}, Key: e.Key(), VIPs: vips}
	}
	from.SetPeers([]clients.Peer{at(b, to, vip), at(a, from, both...), {Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.20")}, Key: "none"}})
	to.SetPeers([]clients.Peer{at(netip.MustParseAddr("192.0.2.99"), from, both...)}) // another address than it sends from
	from.Send(vip, []byte("one"))
	from.Send(other, []byte("not for it"))
	if s := got(); s != "one of [192.0.2.5 192.0.2.6]" {
		t.Errorf("%q", s)
	}
	if s := more(); s != "" {
		t.Errorf("%q of a VIP that the peer cannot have, or this node's own", s)
	}

	from.SetPeers([]clients.Peer{at(b, to, both...)}) // the same key: the numbers go on
	from.Send(vip, []byte("two"))
	if s := got(); s != "two of [192.0.2.5 192.0.2.6]" {
		t.Errorf("after the peers were set again: %q", s)
	}
	outsider := open(n.client)
	outsider.SetPeers([]clients.Peer{at(b, to, both...)})
	outsider.Send(vip, []byte("an outsider's"))
	if s := more(); s != "" {
		t.Errorf("%q of a host that is no peer", s)
	}
	// One that publishes another one's key, after that one, takes nothing from it.
	to.SetPeers([]clients.Peer{at(a, from, both...), at(netip.MustParseAddr("192.0.2.20"), from, other)})
	from.SetPeers([]clients.Peer{at(b, to, both...), at(netip.MustParseAddr("192.0.2.20"), to, both...)})
	from.Send(vip, []byte("three"))
	if s := got(); s != "three of [192.0.2.5 192.0.2.6]" {
		t.Errorf("beside one with its key: %q", s)
	}
	to.SetPeers([]clients.Peer{at(netip.MustParseAddr("192.0.2.20"), outsider, vip)})
	outsider.Send(vip, []byte("a peer's"))
	if s := got(); s != "a peer's of [192.0.2.5]" {
		t.Errorf("of a new peer: %q", s)
	}
}
