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
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The pace of the questions. The verdict that nobody has a VIP takes the kernel 3 s. It must be
// there before keepalived, which listens for 3.7 s first, has the VIP: a holder who answers in time
// is in time.
const (
	askFirst = 20 * time.Millisecond  // after the first question: on a network at rest a holder answers in a fraction of it
	askSoon  = 100 * time.Millisecond // while a verdict is on its way
	askSlow  = time.Second            // when there is one, or there is nowhere to ask; keepalived listens for longer than two of them
)

// patience is how long an answer is waited for. The kernel has its verdict sooner, but has none at
// all where it asks nobody: on a link without ARP, or beside an entry that a person made.
const patience = 5 * time.Second

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
	Router Stranger // a router that has answered as it does for others, and holds nothing; empty for none
}

// Stranger is a host that answers for a VIP before any host of this cluster can.
type Stranger struct{ Link, MAC string }

// Claims finds out whether API VIPs are still free. Until a VIP has been on this machine once, no
// other host of the cluster can have it: they get their configuration through it. So whoever
// answers for it before that is a stranger, who knows nothing of our election and would hold the
// address beside us. A claim ends when the VIP is on this machine. It is then settled for good,
// also for later starts and after a reboot: from there on the election decides, and another holder
// is one of us. That nobody answers says how it is now: keepalived may have to wait for its image
// for hours, and somebody may come in between, so the asking goes on, which costs one packet a
// second.
//
// A VIP that is in no network of this machine cannot be asked for, and counts as free. That a
// holder has left is known 23 to 55 s later, as the kernel trusts an answer for up to 45 s before
// it asks again. A router that answers for every address of its network (proxy ARP on one link) is
// known by its hardware address when it is the gateway of that link; that such a gateway holds the
// VIP itself cannot be seen. Of any other router a person must say that it holds nothing: a VIP
// that is assumed to be free is not asked for.
type Claims struct {
	vips     []netip.Addr // every one of the cluster
	assumed  []netip.Addr // free, whoever answers
	network  Network
	remember func(settled []netip.Addr) error
	wake     chan<- struct{} // asks for a round when a claim changes

	// Run's alone.
	open    []netip.Addr
	settled []netip.Addr
	unsaved bool // settled is more than could be remembered
	waited  bool // for the first answer
	asked   map[netip.Addr]question

	looked chan struct{} // closed when the first answer has come, or has had its time
	now    atomic.Pointer[map[netip.Addr]Claim]
}

// question is what is being asked for a VIP.
type question struct {
	link  string
	since time.Time // when nobody had answered yet
	free  bool      // nobody has answered in time
}

// NewClaims makes claims for the VIPs of p that this machine holds first, but for those that an
// earlier run has settled. Those that are assumed to be free are not asked for.
func NewClaims(p plan.Plan, settled, assumed []netip.Addr, network Network, remember func(settled []netip.Addr) error, wake chan<- struct{}) *Claims {
	open := slices.DeleteFunc(election.Addresses(p, role.Bootstrap), func(vip netip.Addr) bool {
		return slices.Contains(settled, vip)
	})
	return &Claims{
		vips: p.VIPs.All(), assumed: assumed, network: network, remember: remember, wake: wake,
		open: open, settled: settled, asked: map[netip.Addr]question{}, looked: make(chan struct{}),
	}
}

// Now are the claims that are not settled. At first it waits for an answer for as long as one takes
// as a rule, so that keepalived is as a rule not started beside a stranger. A later answer is in
// time too, as keepalived listens before it speaks.
func (c *Claims) Now(ctx context.Context) (map[netip.Addr]Claim, error) {
	select {
	case <-c.looked:
		return *c.now.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Run asks until every claim is settled, and ends with ctx. It fails when it cannot ask or
// remember, and can then be run again.
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
		case ours:
			c.open = slices.DeleteFunc(c.open, func(other netip.Addr) bool { return other == vip })
			c.settled, c.unsaved = append(slices.Clip(c.settled), vip), true
			delete(claims, vip)
		case free:
			delete(claims, vip)
		case proxied:
			claims[vip] = Claim{Router: stranger}
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
	unknown verdict = iota // there is nowhere to ask at the moment
	asking
	free    // nobody answers, or nobody is to be asked
	proxied // a router answers for others
	taken
	ours
)

func (c *Claims) claim(vip netip.Addr, links addr.Snapshot) (verdict, Stranger, error) {
	switch {
	case links.LinkOf(vip) != "":
		return ours, Stranger{}, nil
	case slices.Contains(c.assumed, vip):
		return free, Stranger{}, nil
	}
	choice, err := addr.ForVIP(links, vip, c.vips, nil)
	switch {
	case err != nil || !up(links, choice.Link):
		delete(c.asked, vip)
		return unknown, Stranger{}, nil // whoever watches the links says why
	case !choice.OnLink:
		delete(c.asked, vip)
		return free, Stranger{}, nil
	}
	return c.ask(vip, choice.Link, links)
}

// ask reads the answer to the last question, and asks again.
func (c *Claims) ask(vip netip.Addr, link string, links addr.Snapshot) (verdict, Stranger, error) {
	found, err := c.network.Neighbour(link, vip)
	if err != nil {
		return unknown, Stranger{}, err
	}
	if err := c.network.Ask(link, vip); err != nil {
		return unknown, Stranger{}, err
	}
	now, q := time.Now(), c.asked[vip]
	first := q.link != link
	if first || found.MAC != "" {
		q = question{link: link, since: now}
	}
	// Before the first question an absence is the answer to somebody else's, maybe long ago.
	q.free = q.free || found.Absent && !first || now.Sub(q.since) >= patience
	c.asked[vip] = q
	switch stranger := (Stranger{Link: link, MAC: found.MAC}); {
	case found.MAC != "":
		return c.answers(vip, stranger, links), stranger, nil
	case q.free:
		return free, Stranger{}, nil
	case first: // so that the router is known when it answers
		c.answers(vip, stranger, links)
		return asking, Stranger{}, nil
	default:
		return asking, Stranger{}, nil
	}
}

// answers says whether who has answered is a gateway of its link, which answers for others as well:
// one that is not yet known is asked for. A gateway that has the VIP for its own address holds it.
// One that cannot be asked, as when this machine has no address of its family yet, is not known,
// and that is all.
func (c *Claims) answers(vip netip.Addr, stranger Stranger, links addr.Snapshot) verdict {
	for _, gateway := range gateways(links, stranger.Link) {
		if gateway == vip {
			continue
		}
		known, err := c.network.Neighbour(stranger.Link, gateway)
		switch {
		case err == nil && known.MAC == "":
			_ = c.network.Ask(stranger.Link, gateway)
		case err == nil && known.MAC == stranger.MAC:
			return proxied
		}
	}
	return taken
}

// gateways are the routers by which a link leads everywhere.
func gateways(s addr.Snapshot, link string) []netip.Addr {
	var found []netip.Addr
	for _, r := range s.Routes {
		onLink := slices.ContainsFunc(s.Links, func(l addr.Link) bool { return l.Name == link && l.Index == r.LinkIndex })
		if onLink && r.Destination.IsValid() && r.Destination.Bits() == 0 && r.Gateway.IsValid() {
			found = append(found, r.Gateway)
		}
	}
	return found
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

func up(s addr.Snapshot, name string) bool {
	return slices.ContainsFunc(s.Links, func(l addr.Link) bool { return l.Name == name && l.Up })
}
