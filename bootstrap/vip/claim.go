package vip

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// The pace of the questions. The verdict that nobody has a VIP takes the kernel 3 s. It must be there before keepalived, which listens for
// 3.7 s first, has the VIP: a holder who answers in time is in time.
const (
	askSoon = 100 * time.Millisecond // while a verdict is on its way
	askSlow = time.Second            // while a stranger answers, or there is nowhere to ask
)

// Network is what a claim needs of the machine's network. No call waits for another host.
type Network interface {
	Links() (addr.Snapshot, error)
	// Ask has the kernel look for the host that holds an address on a link.
	Ask(link string, address netip.Addr) error
	// Neighbour is what the kernel has found.
	Neighbour(link string, address netip.Addr) (addr.Neighbour, error)
}

// Stranger is a host that answers for a VIP before any host of this cluster can.
type Stranger struct{ Link, MAC string }

// Claims finds out whether API VIPs are still free. Until a VIP has been on this machine once, no other host of the cluster can have
// it: they get their configuration through it. So whoever answers for it before that is a stranger, who knows nothing of our election and
// would hold the address beside us. A claim ends when nobody answers, or when the VIP is on this machine. It is then settled for good, also
// for later starts and after a reboot: from there on the election decides, and another holder is one of us.
//
// A VIP that is in no network of this machine cannot be asked for, and counts as free without being settled.
type Claims struct {
	vips     []netip.Addr // every one of the cluster
	network  Network
	remember func(settled []netip.Addr) error
	wake     chan<- struct{} // asks for a round when a stranger comes or goes

	// Run's alone.
	open    []netip.Addr
	settled []netip.Addr
	unsaved bool                  // settled is more than could be remembered
	asked   map[netip.Addr]string // on which link

	looked    chan struct{} // closed after the first look
	strangers atomic.Pointer[map[netip.Addr]Stranger]
}

// NewClaims makes claims for the API VIPs of p but for those that an earlier run has settled.
func NewClaims(p plan.Plan, settled []netip.Addr, network Network, remember func(settled []netip.Addr) error, wake chan<- struct{}) *Claims {
	return &Claims{
		vips: others(p), network: network, remember: remember, wake: wake,
		open:    slices.DeleteFunc(slices.Clone(p.VIPs.API), func(vip netip.Addr) bool { return slices.Contains(settled, vip) }),
		settled: settled, asked: map[netip.Addr]string{}, looked: make(chan struct{}),
	}
}

// Strangers are the holders of API VIPs. Before the first look it waits for it, and that takes no time on the network: it sees whom the
// kernel knows already.
func (c *Claims) Strangers(ctx context.Context) (map[netip.Addr]Stranger, error) {
	select {
	case <-c.looked:
		return *c.strangers.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Run asks until every claim is settled, and ends with ctx. It fails when it cannot ask or remember, and can then be run again.
func (c *Claims) Run(ctx context.Context) error {
	for {
		soon, err := c.look()
		if err != nil {
			return err
		}
		pace := askSlow
		if soon {
			pace = askSoon
		}
		var next <-chan time.Time // never, when all is settled
		if len(c.open) > 0 {
			next = time.After(pace)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next:
		}
	}
}

// look goes through the open claims once, and says whether a verdict is on its way.
func (c *Claims) look() (soon bool, err error) {
	links, err := c.network.Links()
	if err != nil {
		return false, fmt.Errorf("read links: %w", err)
	}
	strangers := map[netip.Addr]Stranger{}
	if last := c.strangers.Load(); last != nil {
		maps.Copy(strangers, *last) // who has answered is there until he is known to have left
	}
	var failed error
	for _, vip := range slices.Clone(c.open) {
		verdict, stranger, err := c.claim(vip, links)
		failed = errors.Join(failed, err)
		switch verdict {
		case free:
			c.open = slices.DeleteFunc(c.open, func(other netip.Addr) bool { return other == vip })
			c.settled, c.unsaved = append(slices.Clip(c.settled), vip), true
			delete(strangers, vip)
		case unanswerable:
			delete(strangers, vip)
		case taken:
			strangers[vip] = stranger
		case asking:
			soon = true
		}
	}
	c.tell(strangers)
	return soon, errors.Join(failed, c.save())
}

// verdict is what one look at one VIP gives.
type verdict int

const (
	unknown      verdict = iota // there is nowhere to ask at the moment
	unanswerable                // the VIP is not in a network of this machine
	asking
	taken
	free
)

func (c *Claims) claim(vip netip.Addr, links addr.Snapshot) (verdict, Stranger, error) {
	if present(links, vip) {
		return free, Stranger{}, nil
	}
	choice, err := addr.ForVIP(links, vip, c.vips, netip.Addr{})
	switch {
	case err != nil || !up(links, choice.Link):
		delete(c.asked, vip)
		return unknown, Stranger{}, nil // whoever watches the links says why
	case !choice.OnLink:
		return unanswerable, Stranger{}, nil
	}
	found, err := c.network.Neighbour(choice.Link, vip)
	if err != nil {
		return unknown, Stranger{}, err
	}
	if found.Absent && c.asked[vip] == choice.Link { // else it is the answer to somebody else's question, maybe long ago
		return free, Stranger{}, nil
	}
	if err := c.network.Ask(choice.Link, vip); err != nil {
		return unknown, Stranger{}, err
	}
	c.asked[vip] = choice.Link
	if found.MAC != "" {
		return taken, Stranger{Link: choice.Link, MAC: found.MAC}, nil
	}
	return asking, Stranger{}, nil
}

// tell passes on who holds VIPs.
func (c *Claims) tell(strangers map[netip.Addr]Stranger) {
	last := c.strangers.Swap(&strangers)
	if last == nil {
		close(c.looked)
	} else if !maps.Equal(*last, strangers) {
		loop.Wake(c.wake)
	}
}

func (c *Claims) save() error {
	if !c.unsaved {
		return nil
	}
	if err := c.remember(c.settled); err != nil {
		return fmt.Errorf("remember that %s is ours: %w", join(c.settled), err)
	}
	c.unsaved = false
	return nil
}

// present says whether a link of this machine has the address.
func present(s addr.Snapshot, vip netip.Addr) bool {
	return slices.ContainsFunc(s.Links, func(l addr.Link) bool {
		return slices.ContainsFunc(l.Addresses, func(a addr.Address) bool { return a.Prefix.Addr() == vip })
	})
}

func up(s addr.Snapshot, name string) bool {
	return slices.ContainsFunc(s.Links, func(l addr.Link) bool { return l.Name == name && l.Up })
}
