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
	askFirst = 20 * time.Millisecond  // after the first question: on a network at rest a holder answers in a fraction of it
	askSoon  = 100 * time.Millisecond // while a verdict is on its way
	askSlow  = time.Second            // while a stranger answers, or there is nowhere to ask
)

// Network is what a claim needs of the machine's network. No call waits for another host.
type Network interface {
	Links() (addr.Snapshot, error)
	// Ask has the kernel look for the host that holds an address on a link.
	Ask(link string, address netip.Addr) error
	// Neighbour is what the kernel has found.
	Neighbour(link string, address netip.Addr) (addr.Neighbour, error)
}

// Claim is how it stands with a VIP. The zero value says that nobody is in the way.
type Claim struct {
	Asking bool     // nobody has answered, and somebody still may
	Holder Stranger // who has answered; empty for nobody
}

// Stranger is a host that answers for a VIP before any host of this cluster can.
type Stranger struct{ Link, MAC string }

// Claims finds out whether API VIPs are still free. Until a VIP has been on this machine once, no other host of the cluster can have
// it: they get their configuration through it. So whoever answers for it before that is a stranger, who knows nothing of our election and
// would hold the address beside us. A claim ends when nobody answers, or when the VIP is on this machine. It is then settled for good, also
// for later starts and after a reboot: from there on the election decides, and another holder is one of us.
//
// A VIP that is in no network of this machine cannot be asked for, and counts as free without being settled. That a holder has left is
// known 23 to 55 s later, as the kernel trusts an answer for up to 45 s before it asks again. A router that answers for every address of
// its network (proxy ARP on one link) looks like a holder.
type Claims struct {
	vips     []netip.Addr // every one of the cluster
	network  Network
	remember func(settled []netip.Addr) error
	wake     chan<- struct{} // asks for a round when a claim changes

	// Run's alone.
	open    []netip.Addr
	settled []netip.Addr
	unsaved bool                  // settled is more than could be remembered
	waited  bool                  // for the first answer
	asked   map[netip.Addr]string // on which link

	looked chan struct{} // closed when the first answer has come, or has had its time
	now    atomic.Pointer[map[netip.Addr]Claim]
}

// NewClaims makes claims for the API VIPs of p but for those that an earlier run has settled.
func NewClaims(p plan.Plan, settled []netip.Addr, network Network, remember func(settled []netip.Addr) error, wake chan<- struct{}) *Claims {
	return &Claims{
		vips: others(p), network: network, remember: remember, wake: wake,
		open:    slices.DeleteFunc(slices.Clone(p.VIPs.API), func(vip netip.Addr) bool { return slices.Contains(settled, vip) }),
		settled: settled, asked: map[netip.Addr]string{}, looked: make(chan struct{}),
	}
}

// Now are the claims that are not settled. At first it waits for an answer for as long as one takes as a rule, so that keepalived is as a
// rule not started beside a stranger. A later answer is in time too, as keepalived listens before it speaks.
func (c *Claims) Now(ctx context.Context) (map[netip.Addr]Claim, error) {
	select {
	case <-c.looked:
		return *c.now.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Run asks until every claim is settled, and ends with ctx. It fails when it cannot ask or remember, and can then be run again.
func (c *Claims) Run(ctx context.Context) error {
	for {
		pace, err := c.look()
		if err != nil {
			return err
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

// look goes through the open claims once, and says when to look again.
func (c *Claims) look() (pace time.Duration, err error) {
	links, err := c.network.Links()
	if err != nil {
		return 0, fmt.Errorf("read links: %w", err)
	}
	claims := map[netip.Addr]Claim{}
	if last := c.now.Load(); last != nil {
		maps.Copy(claims, *last) // who has answered is there until he is known to have left
	}
	var failed error
	pace = askSlow
	for _, vip := range slices.Clone(c.open) {
		verdict, stranger, err := c.claim(vip, links)
		failed = errors.Join(failed, err)
		switch verdict {
		case free:
			c.open = slices.DeleteFunc(c.open, func(other netip.Addr) bool { return other == vip })
			c.settled, c.unsaved = append(slices.Clip(c.settled), vip), true
			delete(claims, vip)
		case unanswerable:
			delete(claims, vip)
		case taken:
			claims[vip] = Claim{Holder: stranger}
		case asking:
			pace = askSoon
			fallthrough
		case unknown:
			if claims[vip].Holder == (Stranger{}) {
				claims[vip] = Claim{Asking: true}
			}
		}
	}
	if pace == askSoon && !c.waited && failed == nil {
		c.waited = true
		return askFirst, nil
	}
	c.tell(claims)
	return pace, errors.Join(failed, c.save())
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

// tell passes on how it stands.
func (c *Claims) tell(claims map[netip.Addr]Claim) {
	last := c.now.Swap(&claims)
	if last == nil {
		close(c.looked)
	} else if !maps.Equal(*last, claims) {
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
