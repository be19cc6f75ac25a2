package chaos

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// watch is all observers.
type watch struct {
	stage   *Stage
	vips    []*sight
	adverts *lab.Adverts
	caches  []cache

	end  chan struct{}
	done sync.WaitGroup
	// what was seen, by the time of this machine; the goroutine that sees it has them until it is
	// done
	states map[string][]stated
	err    error
}

// sight is what is seen of a VIP.
type sight struct {
	vip      netip.Addr
	observer *lab.Observer
	beliefs  []seen
}

// cache is a neighbour's knowledge of link addresses.
type cache struct {
	name string
	*netlink.Handle
}

type seen struct {
	from, to        time.Time
	neighbour, host string
}

type stated struct {
	at       time.Time
	priority int
	able     bool
}

// observe begins to observe everything.
func (s *Stage) observe() (w *watch, err error) {
	w = &watch{stage: s, end: make(chan struct{}), states: map[string][]stated{}}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	for _, h := range []*lab.Host{s.Neighbour, s.foreign} {
		ns, err := netns.GetFromPath(h.Path())
		if err != nil {
			return nil, fmt.Errorf("open the network of %s: %w", h.Name, err)
		}
		handle, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
		if err := errors.Join(err, ns.Close()); err != nil {
			return nil, fmt.Errorf("open netlink in %s: %w", h.Name, err)
		}
		w.caches = append(w.caches, cache{h.Name, handle})
	}
	hosts := []*lab.Host{s.Bootstrap}
	for _, n := range s.Nodes {
		hosts = append(hosts, n.Host)
	}
	for _, vip := range s.Plan.VIPs.API {
		o, err := lab.Observe(vip, sample, hosts...)
		if err != nil {
			return nil, err
		}
		w.vips = append(w.vips, &sight{vip: vip, observer: o})
	}
	if w.adverts, err = s.Adverts(); err != nil {
		return nil, err
	}
	w.done.Go(w.run)
	return w, nil
}

func (w *watch) close() {
	for _, c := range w.caches {
		c.Close()
	}
	for _, v := range w.vips {
		v.observer.Stop()
	}
}

func (w *watch) run() {
	tick := time.NewTicker(sample)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-w.end:
			return
		case <-tick.C:
		}
		for _, c := range w.caches {
			if err := w.ask(c); err != nil {
				w.err = err
				return
			}
		}
		if n%2 == 0 {
			w.noteStates()
		}
	}
}

// ask records where a neighbour sends to the VIPs.
func (w *watch) ask(c cache) error {
	at := time.Now()
	all, err := c.NeighList(0, netlink.FAMILY_ALL)
	if errors.Is(err, unix.EINTR) || errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil // at the next sample
	}
	if err != nil {
		return fmt.Errorf("read the neighbours of %s: %w", c.name, err)
	}
	for _, v := range w.vips {
		v.noteBelief(c.name, at, w.located(all, v.vip))
	}
	return nil
}

// located is whose link address a neighbour has for a VIP; empty when it has none.
func (w *watch) located(all []netlink.Neigh, vip netip.Addr) (host string) {
	for _, n := range all {
		ip, _ := netip.AddrFromSlice(n.IP)
		if ip.Unmap() == vip && n.State&(netlink.NUD_FAILED|netlink.NUD_INCOMPLETE) == 0 && len(n.HardwareAddr) > 0 {
			host = n.HardwareAddr.String()
			if name, known := w.stage.macs[host]; known {
				host = name
			}
		}
	}
	return host
}

// noteBelief records where a neighbour sends to the VIP.
func (v *sight) noteBelief(neighbour string, at time.Time, host string) {
	for i := len(v.beliefs) - 1; i >= 0; i-- {
		if last := &v.beliefs[i]; last.neighbour == neighbour {
			last.to = at
			if last.host == host {
				return
			}
			break
		}
	}
	v.beliefs = append(v.beliefs, seen{from: at, to: at, neighbour: neighbour, host: host})
}

// noteStates records what the nodes' supervisors report.
func (w *watch) noteStates() {
	for _, n := range w.stage.Nodes {
		now := stated{at: time.Now(), priority: -1, able: n.Candidate() == nil}
		if i, err := n.Instance(); err == nil {
			now.priority = i.Priority
		}
		all := w.states[n.Name]
		if k := len(all); k > 0 && all[k-1].priority == now.priority && all[k-1].able == now.able {
			continue
		}
		w.states[n.Name] = append(all, now)
	}
}

// stop ends the observation and writes down what was seen.
func (w *watch) stop(r *Record) error {
	close(w.end)
	w.done.Wait()
	w.close()
	since := func(at time.Time) time.Duration { return at.Sub(r.Begin) }
	if r.Begin.IsZero() {
		r.Begin = time.Now()
	}
	r.End = since(time.Now())
	adverts, failed := w.advertsSeen(since), w.err
	for _, v := range w.vips {
		report := v.observer.Report()
		r.Late, failed = max(r.Late, report.Slowest), errors.Join(failed, report.Err)
		view := View{VIP: v.vip, Adverts: adverts[v.vip.Is4()]}
		view.Takes = takes(view.Adverts, 5*w.stage.Bounds.Advert)
		for _, s := range report.Spans {
			view.Holders = append(view.Holders, Holding{From: since(s.From), To: since(s.To), Hosts: s.Holders})
		}
		for _, b := range v.beliefs {
			view.Beliefs = append(view.Beliefs, Belief{Neighbour: b.neighbour, From: since(b.from), To: since(b.to), Host: b.host})
		}
		r.Views = append(r.Views, view)
	}
	r.States = map[string][]State{}
	for name, all := range w.states {
		for _, s := range all {
			r.States[name] = append(r.States[name], State{At: since(s.at), Priority: s.priority, Able: s.able})
		}
	}
	return failed
}

// advertsSeen are the nodes' adverts to each other, for the IPv4 VIP and for the other one.
func (w *watch) advertsSeen(since func(time.Time) time.Duration) map[bool][]Advert {
	names := map[netip.Addr]string{}
	for _, n := range w.stage.Nodes {
		names[n.IP], names[chain.IPv6Of(n.IP)] = n.Name, n.Name
	}
	all := map[bool][]Advert{}
	for _, a := range w.adverts.Stop() {
		if from, known := names[a.From]; known && a.ID == int(w.stage.Plan.VRRP.API.ID) {
			all[a.From.Is4()] = append(all[a.From.Is4()], Advert{At: since(a.At), From: from, To: names[a.To], Priority: a.Priority})
		}
	}
	return all
}

// takes are the moments at which a node that did not announce itself for a while begins to. Who
// does so in the first such while was the holder before.
func takes(adverts []Advert, pause time.Duration) (all []Take) {
	last := map[string]time.Duration{}
	for _, a := range adverts {
		before, known := last[a.From]
		if a.Priority == 0 {
			continue
		}
		if last[a.From] = a.At; known && a.At-before < pause || !known && a.At-adverts[0].At < pause {
			continue
		}
		all = append(all, Take{At: a.At, Node: a.From, Priority: a.Priority})
	}
	return all
}
