package mdns

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clog "github.com/coredns/coredns/plugin/pkg/log"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/multicast"
)

// everyLook is how often the machine's interfaces are looked at: an address may move, and another
// interface come.
const everyLook = 2 * time.Second

// Any host of the link can send as much as it likes, and each look at what is known costs more the
// more that is. So packets that wait are taken in together, for spell at most, and the work is
// followed by a rest in proportion to it, the longest of which is for a host that was suspended.
const (
	spell       = 20 * time.Millisecond
	restsPerJob = 9
	longestRest = time.Second
)

var log = clog.NewWithPlugin(Name)

// ears listen on the interfaces that they are meant for.
type ears struct {
	settings
	known   atomic.Pointer[known]
	end     context.CancelFunc
	running sync.WaitGroup
	users   int // see pool

	mu    sync.Mutex
	heard map[string]*known // by interface
}

// place is an interface with the addresses that it has.
type place struct {
	index int
	name  string
	link  wire.Link
	from4 netip.Addr
	ipv6  bool
}

func (e *ears) start() {
	ctx, end := context.WithCancel(context.Background())
	e.heard, e.end = map[string]*known{}, end
	e.running.Go(func() { e.run(ctx) })
}

// stop waits until nobody listens any more.
func (e *ears) stop() {
	e.end()
	e.running.Wait()
}

// run keeps one ear on each interface, and another one where an interface has changed.
func (e *ears) run(ctx context.Context) {
	type ear struct {
		at   string // what the interface was like
		end  context.CancelFunc
		done chan struct{}
	}
	open := map[string]ear{}
	look := time.NewTicker(everyLook)
	defer look.Stop()
	for ctx.Err() == nil {
		now := map[string]place{}
		for _, p := range e.places() {
			now[p.name] = p
		}
		for name, old := range open {
			p, there := now[name]
			ended := false
			select {
			case <-old.done:
				ended = true
			default:
			}
			if !there || ended || p.key() != old.at {
				old.end()
				<-old.done
				delete(open, name)
				e.tell(name, nil)
			}
		}
		for name, p := range now {
			if _, there := open[name]; there {
				continue
			}
			listening, end := context.WithCancel(ctx)
			one := ear{at: p.key(), end: end, done: make(chan struct{})}
			open[name] = one
			go func() {
				defer close(one.done)
				if err := e.listen(listening, p); err != nil {
					log.Warningf("listen on %s: %v", p.name, err)
				}
			}()
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
	for _, one := range open {
		one.end()
		<-one.done
	}
}

// places are the interfaces to listen on: the one that has the address to bind to, or all that can
// speak to a group.
func (e *ears) places() (all []place) {
	links, err := net.Interfaces()
	if err != nil {
		log.Warningf("list interfaces: %v", err)
		return nil
	}
	for _, l := range links {
		if l.Flags&net.FlagUp == 0 || l.Flags&net.FlagMulticast == 0 || l.Flags&net.FlagLoopback != 0 {
			continue
		}
		p := place{index: l.Index, name: l.Name}
		addresses, err := l.Addrs()
		if err != nil {
			continue // it has just gone
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				p.add(prefix, e.bind)
			}
		}
		if (!e.bind.IsValid() || p.link.Own(e.bind)) && (p.from4.IsValid() || p.ipv6) {
			all = append(all, p)
		}
	}
	return all
}

// add takes note of an address; packets come from the one to bind to where it is there.
func (p *place) add(prefix netip.Prefix, bind netip.Addr) {
	a := prefix.Addr().WithZone("")
	p.link = append(p.link, netip.PrefixFrom(a, prefix.Bits()))
	if a.Is4() && (!p.from4.IsValid() || a == bind) {
		p.from4 = a
	}
	p.ipv6 = p.ipv6 || a.Is6() && a.IsLinkLocalUnicast()
}

// key tells an interface from what it was before.
func (p place) key() string {
	var b strings.Builder
	for _, prefix := range p.link {
		b.WriteString(prefix.String() + " ")
	}
	return b.String()
}

// listen hears and asks on one interface until ctx ends.
func (e *ears) listen(ctx context.Context, p place) error {
	packets, deaf := make(chan wire.Packet, 256), make(chan error, 2)
	v4, v6 := wire.Groups()
	sockets, err := multicast.Open(ctx, multicast.Where{Index: p.index, From4: p.from4, IPv6: p.ipv6}, multicast.Groups{IPv4: v4, IPv6: v6, Port: wire.Port},
		multicast.Receiver{Failed: func(err error) { deaf <- err }, Packet: func(m multicast.Packet) {
			select {
			case packets <- wire.Packet{From: m.From, Multicast: m.To.IsMulticast(), Data: m.Data}:
			default: // a flood; what is lost is asked for again
			}
		}})
	if err != nil {
		return err
	}
	defer sockets.Close()
	b := browse.New(p.link, e.wish, func(low, high time.Duration) time.Duration { return low + rand.N(high-low) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var began time.Time
		select {
		case <-ctx.Done():
			return nil
		case err := <-deaf:
			return err
		case packet := <-packets:
			began = time.Now()
			receive(b, packet, packets)
		case <-timer.C:
			began = time.Now()
		}
		for _, o := range b.Tick(time.Now()) {
			_ = sockets.Send(o.To, o.Data) // what cannot be asked now is asked again
		}
		e.tell(p.name, view(b))
		if at, ok := b.Next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(restsPerJob*time.Since(began), longestRest)):
		}
	}
}

// receive takes in a packet and those that wait behind it.
func receive(b *browse.Browser, packet wire.Packet, behind <-chan wire.Packet) {
	for end := time.Now().Add(spell); ; {
		now := time.Now()
		if b.Receive(now, packet); now.After(end) {
			return
		}
		select {
		case packet = <-behind:
		default:
			return
		}
	}
}

// view is what a browser knows.
func view(b *browse.Browser) *known {
	now := time.Now()
	k := &known{hosts: map[string]host{}}
	for _, h := range b.Hosts(now) {
		k.hosts[h.Name] = host{addresses: h.Addresses, until: now.Add(h.TTL)}
	}
	for _, m := range b.Endpoints(now, wire.Etcd) {
		k.members = append(k.members, member{m.Host, m.Port})
	}
	return k
}

// tell puts together what all ears have heard; an ear that has gone has heard nothing.
func (e *ears) tell(name string, k *known) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.heard[name] = k; k == nil {
		delete(e.heard, name)
	}
	all := &known{hosts: map[string]host{}, names: map[netip.Addr]string{}}
	seen := map[member]bool{}
	for _, k := range e.heard {
		for label, h := range k.hosts {
			all.hosts[label] = merged(all.hosts[label], h)
		}
		for _, m := range k.members {
			if !seen[m] {
				seen[m], all.members = true, append(all.members, m)
			}
		}
	}
	for label, h := range all.hosts {
		for _, a := range h.addresses {
			// A member of etcd has a name beside its host's own.
			if other := all.names[a]; other == "" || strings.HasPrefix(other, "etcd-") || label < other && !strings.HasPrefix(label, "etcd-") {
				all.names[a] = label
			}
		}
	}
	count.Set(float64(len(all.hosts)))
	e.known.Store(all)
}

// merged is a host that was heard on two interfaces.
func merged(a, b host) host {
	if a.until.IsZero() {
		return b
	}
	seen := map[netip.Addr]bool{}
	one := host{until: a.until}
	if b.until.Before(one.until) {
		one.until = b.until
	}
	for _, list := range [][]netip.Addr{a.addresses, b.addresses} {
		for _, address := range list {
			if !seen[address] {
				seen[address], one.addresses = true, append(one.addresses, address)
			}
		}
	}
	return one
}
