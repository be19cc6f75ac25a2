package podvip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/apihost"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// watchers are connections to a VIP that only wait, as a watch does.
type watchers struct {
	t    *testing.T
	host *lab.Host
	to   netip.AddrPort

	mu    sync.Mutex
	ended []time.Time // of each that the other side has ended
	open  atomic.Int32
}

// connect opens one, within a second.
func (w *watchers) connect() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
	defer cancel()
	c, err := w.host.Dial(ctx, "tcp", w.to.String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	w.open.Add(1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		w.open.Add(-1)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = append(w.ended, time.Now())
		if !errors.Is(err, syscall.ECONNRESET) {
			w.t.Errorf("a connection ended with %v", err)
		}
	}()
}

// ends takes the times at which connections have ended.
func (w *watchers) ends() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	ended := w.ended
	w.ended = nil
	return ended
}

// TestClients holds that connections which only wait are ended soon after their holder has lost its
// power: those of the ingress VIP, and those of the API VIP by each of two successors, the second
// one's monitor just restarted; and that no connection that lives is.
func TestClients(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := openBy(t, vrrp.ProfileLan, apihost.StartTLS)
	observer := l.control()
	var workers []*node
	for i := range 2 {
		w := l.node(4+i, role.Worker)
		w.end()
		w.start()
		w.router.Store(true)
		w.accept(443)
		workers = append(workers, w)
	}
	ingress, err := lab.Observe(netip.MustParseAddr("192.0.2.6"), 5*time.Millisecond, workers[0].Host, workers[1].Host)
	if err != nil {
		t.Fatal(err)
	}
	defer ingress.Stop()
	for _, n := range l.nodes {
		n.accept(l.plan.Ports[port.LB])
	}
	client := l.add("client", "192.0.2.80")
	t.Run("ingress VIP", func(t *testing.T) {
		w := &watchers{t: t, host: client, to: netip.MustParseAddrPort("192.0.2.6:443")}
		l.losesHolder(ingress, workers, w, func(*node) {})
	})
	t.Run("API VIP", func(t *testing.T) {
		w := &watchers{t: t, host: client, to: netip.MustParseAddrPort(apiVIP + ":6443")}
		left := l.losesHolder(observer, l.nodes, w, func(*node) {})
		l.losesHolder(observer, left, w, func(n *node) { n.restart("keepalived-monitor") })
	})
}

// losesHolder has the holder of a VIP lose its power, some time after something was done to each
// other node, and returns those.
func (l *lan) losesHolder(observer *lab.Observer, nodes []*node, w *watchers, before func(*node)) []*node {
	w.t.Helper()
	// If the answer to a segment is lost, the client's kernel gives no other for half a second, and the
	// last segment comes 900 ms after the takeover: a busy machine may need it.
	const many, living, within = 50, 10, 2 * time.Second
	l.until("one node holds the VIP", 30*time.Second, func() bool { return len(observer.Holders()) == 1 })
	time.Sleep(10 * time.Second) // nodes have claimed ranks, and know each other's keys
	holds := func(n *node) bool { return slices.Equal(observer.Holders(), []string{n.Host.Name}) }
	holder := nodes[slices.IndexFunc(nodes, holds)]
	others := slices.DeleteFunc(slices.Clone(nodes), holds)
	for range many {
		w.connect()
	}
	for _, n := range others {
		before(n)
	}
	time.Sleep(5 * time.Second) // a connection that is cut wrongly is cut within it
	if ended := w.ends(); len(ended) > 0 {
		w.t.Fatalf("%d connections have ended while %s lives", len(ended), holder.Host.Name)
	}
	want := int(w.open.Load())
	for _, n := range others { // a monitor that was restarted has yet to publish its new key
		l.until(n.Host.Name+" knows the clients", 30*time.Second, func() bool {
			known, ok := l.number(n, fmt.Sprintf("onprem_vip_clients_known{vip=%q}", w.to.Addr()))
			return ok && int(known) == want
		})
	}
	if err := holder.Off(); err != nil {
		w.t.Fatal(err)
	}
	l.until("another node holds the VIP", 10*time.Second, func() bool { return slices.ContainsFunc(others, holds) })
	taken := time.Now()
	for range living {
		w.connect() // while the others are being ended
	}
	time.Sleep(2 * time.Second) // a connection that lives would have ended too
	ended := w.ends()
	for end := taken.Add(10 * time.Second); len(ended) < want && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ended = append(ended, w.ends()...)
	}
	if len(ended) != want || w.open.Load() != living {
		w.t.Fatalf("%d connections have ended and %d are open, want %d and %d", len(ended), w.open.Load(), want, living)
	}
	last := slices.MaxFunc(ended, time.Time.Compare).Sub(taken)
	w.t.Logf("the last of %d connections ended %v after the takeover was seen", len(ended), last)
	if last > within {
		w.t.Errorf("later than %v", within)
	}
	return others
}

// accept takes connections to a port of the node, and sends nothing.
func (n *node) accept(number uint16) {
	n.l.t.Helper()
	listener, err := n.Host.Listen(netip.AddrPortFrom(netip.IPv4Unspecified(), number).String())
	if err != nil {
		n.l.t.Fatal(err)
	}
	n.l.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			n.l.t.Cleanup(func() { c.Close() })
		}
	}()
}
