package mdns

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clog "github.com/coredns/coredns/plugin/pkg/log"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/multicast"
)

// rescan is the time between two reads of the machine's interfaces: an address may move, and
// another interface come.
const rescan = 2 * time.Second

// Any host of the link can send as much as it likes, and each summary costs more the more is known.
// So waiting packets are received together, for batch at most. After the work comes a rest in
// proportion to it; longestRest is for a host that was suspended.
const (
	batch       = 20 * time.Millisecond
	restsPerJob = 9
	longestRest = time.Second
)

var log = clog.NewWithPlugin(Name)

// listener receives what hosts announce, on the interfaces of its settings.
type listener struct {
	settings
	known   atomic.Pointer[known]
	end     context.CancelFunc
	running sync.WaitGroup
	users   int // see pool

	mu       sync.Mutex
	received map[string]*known // by the key of the place
}

// session is the goroutine that listens at one place.
type session struct {
	end  context.CancelFunc
	done chan struct{}
	link *atomic.Pointer[wire.Link] // of the place now
}

func (s session) stop() {
	s.end()
	<-s.done
}

func (l *listener) start() {
	ctx, end := context.WithCancel(context.Background())
	l.received, l.end = map[string]*known{}, end
	l.running.Go(func() { l.run(ctx) })
}

// stop waits for all goroutines.
func (l *listener) stop() {
	l.end()
	l.running.Wait()
}

// run keeps one session for each interface, and starts another one when packets have to leave it in
// another way.
func (l *listener) run(ctx context.Context) {
	open := map[string]session{}
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if now, err := l.places(); err != nil { // what is open stays
			log.Warningf("list interfaces: %v", err)
		} else {
			l.follow(ctx, open, now)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	for _, s := range open {
		s.stop()
	}
}

// follow ends the sessions of places that are no longer there, and starts those of new ones.
func (l *listener) follow(ctx context.Context, open map[string]session, now map[string]place) {
	for key, s := range open {
		_, there := now[key]
		select {
		case <-s.done:
			there = false
		default:
		}
		if !there {
			s.stop()
			delete(open, key)
			l.publish(key, nil)
		}
	}
	for key, p := range now {
		s, there := open[key]
		if there {
			s.link.Store(&p.link)
			continue
		}
		listening, end := context.WithCancel(ctx)
		s = session{end: end, done: make(chan struct{}), link: new(atomic.Pointer[wire.Link])}
		s.link.Store(&p.link)
		open[key] = s
		go func() {
			defer close(s.done)
			if err := l.listen(listening, p, s.link); err != nil {
				log.Warningf("listen on %s: %v", p.name, err)
			}
		}()
	}
}

// listen receives and sends queries on one interface until ctx ends.
func (l *listener) listen(ctx context.Context, p place, link *atomic.Pointer[wire.Link]) error {
	packets, failed := make(chan wire.Packet, 256), make(chan error, 2)
	where := multicast.Where{Index: p.index, From4: p.from4, IPv6: p.ipv6}
	v4, v6 := wire.Groups()
	groups := multicast.Groups{IPv4: v4, IPv6: v6, Port: wire.Port}
	sockets, err := multicast.Open(ctx, where, groups, multicast.Receiver{
		Failed: func(err error) { failed <- err },
		Packet: func(m multicast.Packet) {
			select {
			case packets <- wire.Packet{From: m.From, Multicast: m.To.IsMulticast(), Data: m.Data}:
			default: // a flood; what is lost is queried again
			}
		},
	})
	if err != nil {
		return err
	}
	defer sockets.Close()
	b := browse.New(p.link, l.wish, func(low, high time.Duration) time.Duration {
		return low + rand.N(high-low)
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var began time.Time
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case packet := <-packets:
			began = time.Now()
			b.Move(*link.Load())
			receive(b, packet, packets)
		case <-timer.C:
			began = time.Now()
		}
		for _, o := range b.Tick(time.Now()) {
			_ = sockets.Send(o.To, o.Data) // a query that cannot be sent now is sent again
		}
		l.publish(p.key(), summary(b))
		if at, ok := b.Next(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(restsPerJob*time.Since(began), longestRest)):
		}
	}
}

// receive receives a packet and those that wait behind it.
func receive(b *browse.Browser, packet wire.Packet, behind <-chan wire.Packet) {
	for end := time.Now().Add(batch); ; {
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

// summary is what a browser knows.
func summary(b *browse.Browser) *known {
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

// publish makes what all sessions know available to queries; nil is for a session that has ended.
func (l *listener) publish(key string, k *known) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.received[key] = k; k == nil {
		delete(l.received, key)
	}
	all := &known{hosts: map[string]host{}, names: map[netip.Addr]string{}}
	for _, k := range l.received {
		for label, h := range k.hosts {
			all.hosts[label] = merged(all.hosts[label], h)
		}
		all.members = append(all.members, k.members...)
	}
	slices.SortFunc(all.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.port, b.port))
	})
	all.members = slices.Compact(all.members)
	for label, h := range all.hosts {
		for _, a := range h.addresses {
			// A member of etcd has a name beside its host's own.
			if other := all.names[a]; other == "" || strings.HasPrefix(other, "etcd-") ||
				label < other && !strings.HasPrefix(label, "etcd-") {
				all.names[a] = label
			}
		}
	}
	count.Set(float64(len(all.hosts)))
	l.known.Store(all)
}

// merged is a host that announces itself on two interfaces, or on one if the other is zero.
func merged(a, b host) host {
	list := slices.Concat(a.addresses, b.addresses)
	slices.SortFunc(list, netip.Addr.Compare)
	return host{addresses: slices.Compact(list), until: wire.Sooner(a.until, b.until)}
}
