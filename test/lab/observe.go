package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Observer samples by the kernels of several hosts whether they hold an address. It depends on no
// daemon.
type Observer struct {
	vip     netip.Addr
	sockets []socket
	stop    chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	report Report
}

// socket reads the addresses of one host.
type socket struct {
	host string
	*netlink.Handle
}

// Observe samples the hosts every few milliseconds until Stop.
func Observe(vip netip.Addr, every time.Duration, hosts ...*Host) (*Observer, error) {
	o := &Observer{vip: vip, stop: make(chan struct{}), done: make(chan struct{})}
	for _, h := range hosts {
		ns, err := netns.GetFromPath(h.Path())
		if err != nil {
			o.close()
			return nil, fmt.Errorf("open the network of %s: %w", h.Name, err)
		}
		handle, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
		if err := errors.Join(err, ns.Close()); err != nil {
			o.close()
			return nil, fmt.Errorf("open netlink in %s: %w", h.Name, err)
		}
		o.sockets = append(o.sockets, socket{host: h.Name, Handle: handle})
	}
	go o.run(every)
	return o, nil
}

func (o *Observer) close() {
	for _, s := range o.sockets {
		s.Close()
	}
}

// Stop ends the sampling and returns the report.
func (o *Observer) Stop() Report {
	select {
	case <-o.done:
	default:
		close(o.stop)
		<-o.done
	}
	return o.Report()
}

// Report is the report until now.
func (o *Observer) Report() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.report
	r.Spans = slices.Clone(r.Spans)
	return r
}

// Holders are the hosts that had the address at the last sample.
func (o *Observer) Holders() []string {
	r := o.Report()
	if len(r.Spans) == 0 {
		return nil
	}
	return r.Spans[len(r.Spans)-1].Holders
}

// Wait waits until exactly these hosts hold the address, and returns when that began.
func (o *Observer) Wait(ctx context.Context, holders ...string) (time.Time, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		r := o.Report()
		if n := len(r.Spans); n > 0 && slices.Equal(r.Spans[n-1].Holders, holders) {
			return r.Spans[n-1].From, r.Err
		}
		if r.Err != nil {
			return time.Time{}, r.Err
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf(
				"wait for %s on %v: held by %v: %w", o.vip, holders, o.Holders(), ctx.Err(),
			)
		case <-tick.C:
		}
	}
}

func (o *Observer) run(every time.Duration) {
	defer close(o.done)
	defer o.close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		at := time.Now()
		holders, err := o.confirmed()
		o.record(at, holders, err)
		if err != nil {
			return
		}
		select {
		case <-o.stop:
			return
		case <-tick.C:
		}
	}
}

// confirmed reads all hosts, one after the other. Two holders count only if a second reading
// agrees, as a move between the readings of two hosts would look the same.
func (o *Observer) confirmed() ([]string, error) {
	holders, err := o.sample()
	if err != nil || len(holders) < 2 {
		return holders, err
	}
	again, err := o.sample()
	return slices.DeleteFunc(holders, func(h string) bool {
		return !slices.Contains(again, h)
	}), err
}

// loopback is the index of each network namespace's own link (Linux, LOOPBACK_IFINDEX). A host with
// an address there may have announced it to its routers, and does not hold it for its neighbours.
const loopback = 1

func (o *Observer) sample() ([]string, error) {
	family := netlink.FAMILY_V4
	if o.vip.Is6() {
		family = netlink.FAMILY_V6
	}
	holders := []string{}
	for _, s := range o.sockets {
		addrs, err := s.AddrList(nil, family)
		if errors.Is(err, unix.EINTR) || errors.Is(err, netlink.ErrDumpInterrupted) {
			addrs, err = s.AddrList(nil, family)
		}
		if err != nil {
			return nil, fmt.Errorf("read addresses of %s: %w", s.host, err)
		}
		if slices.ContainsFunc(addrs, func(a netlink.Addr) bool {
			return a.LinkIndex != loopback && isAddr(a.IPNet, o.vip)
		}) {
			holders = append(holders, s.host)
		}
	}
	slices.Sort(holders)
	return holders, nil
}

func (o *Observer) record(at time.Time, holders []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &o.report
	r.Samples++
	r.Err = err
	if err != nil {
		return
	}
	if n := len(r.Spans); n > 0 {
		last := &r.Spans[n-1]
		r.Slowest = max(r.Slowest, at.Sub(last.To))
		last.To = at
		if slices.Equal(last.Holders, holders) {
			return
		}
	}
	r.Spans = append(r.Spans, Span{From: at, To: at, Holders: holders})
}
