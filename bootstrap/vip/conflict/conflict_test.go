package conflict

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/bootvip"
)

// fakeNetwork is a FAKE of a network and of the kernel's way to ask in it: who holds addresses, and
// what was known before any question.
type fakeNetwork struct {
	links   addr.Snapshot
	holders map[string]string         // MAC by address
	known   map[string]addr.Neighbour // by address
	since   map[string]time.Time      // of the question that is open
	asked   []string                  // link and address
	err     error
	silent  bool // the kernel sends no question

	mu sync.Mutex // the test holds it, but while it lets time pass
}

func (n *fakeNetwork) Links() (addr.Snapshot, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links, nil
}

func (n *fakeNetwork) Ask(link string, address netip.Addr) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := address.String()
	n.asked = append(n.asked, link+" "+a)
	if n.err != nil {
		return n.err
	}
	if _, open := n.since[a]; !open && (n.known[a] == addr.Neighbour{} || n.known[a].Absent) {
		n.since[a], n.known[a] = time.Now(), addr.Neighbour{}
	}
	return nil
}

// Neighbour answers as the kernel does: with a holder at once, without one after three tries.
func (n *fakeNetwork) Neighbour(_ string, address netip.Addr) (addr.Neighbour, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := address.String()
	if n.silent {
		return addr.Neighbour{}, nil
	}
	if since, open := n.since[a]; open {
		if mac := n.holders[a]; mac != "" {
			n.known[a] = addr.Neighbour{MAC: mac}
			delete(n.since, a)
		} else if time.Since(since) >= 3*time.Second {
			n.known[a] = addr.Neighbour{Absent: true}
			delete(n.since, a)
		}
	}
	return n.known[a], nil
}

// detector runs a Detector in virtual time.
type detector struct {
	*Detector
	t       *testing.T
	network *fakeNetwork
	saved   [][]netip.Addr
	full    bool
	wake    chan struct{}
}

func detect(t *testing.T, change func(*spec.Cluster), settled ...string) *detector {
	t.Helper()
	c := &detector{t: t, wake: make(chan struct{}, 1), network: &fakeNetwork{
		links: links(host...), holders: map[string]string{}, known: map[string]addr.Neighbour{}, since: map[string]time.Time{},
	}}
	c.network.mu.Lock()
	t.Cleanup(c.network.mu.Unlock)
	var before []netip.Addr
	for _, s := range settled {
		before = append(before, ip(s))
	}
	c.Detector = New(Options{Plan: compile(t, change), Settled: before, Network: c.network, Wake: c.wake, Remember: func(s []netip.Addr) error {
		c.network.mu.Lock()
		defer c.network.mu.Unlock()
		if c.full {
			return errors.New("no space left")
		}
		c.saved = append(c.saved, slices.Clone(s))
		return nil
	}})
	return c
}

// begin runs it until the end of the test, again after each failure, as a program does with its
// watchers.
func (c *detector) begin() {
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if c.Run(ctx) != nil {
				time.Sleep(time.Second)
			}
		}
	}()
	c.t.Cleanup(func() { c.passing(func() { cancel(); <-done }) })
	c.passing(synctest.Wait)
}

// passing does what lets time pass.
func (c *detector) passing(do func()) {
	c.network.mu.Unlock()
	defer c.network.mu.Lock()
	do()
}

func (c *detector) after(d time.Duration) {
	c.passing(func() {
		time.Sleep(d)
		synctest.Wait()
	})
}

// want compares the findings, written as "VIP MAC" for a holder and "VIP ?" while nobody knows, and
// what is settled.
func (c *detector) want(what string, open []string, settled ...string) {
	c.t.Helper()
	var findings map[netip.Addr]Finding
	var err error
	c.passing(func() { findings, err = c.Findings(c.t.Context()) })
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
	var got []string
	for _, vip := range slices.SortedFunc(maps.Keys(findings), netip.Addr.Compare) {
		switch found := findings[vip]; {
		case found.Pending:
			got = append(got, vip.String()+" ?")
		case found.Router.MAC != "":
			got = append(got, vip.String()+" by the router "+found.Router.MAC)
		default:
			got = append(got, vip.String()+" "+found.Holder.MAC)
		}
	}
	var saved []string
	if len(c.saved) > 0 {
		for _, vip := range c.saved[len(c.saved)-1] {
			saved = append(saved, vip.String())
		}
	}
	if !slices.Equal(got, open) || !slices.Equal(saved, settled) {
		c.t.Errorf("%s: findings %q and settled %q, want %q and %q", what, got, saved, open, settled)
	}
}

var host = []string{"192.0.2.10/24", "2001:db8::10/64"}

const (
	four, six = "192.0.2.5", "2001:db8::5"
	mac       = "02:00:5e:00:53:0b"
)

func TestDetector_Free(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, nil)
		c.begin()
		c.want("at first", []string{four + " ?"})
		c.after(2900 * time.Millisecond)
		c.want("before the kernel's verdict", []string{four + " ?"})
		c.after(300 * time.Millisecond) // 3.2 s: keepalived listens for 3.7 s
		c.want("no host answered", nil)
		asked := len(c.network.asked)
		c.after(time.Hour) // keepalived's image does not come
		if got := len(c.network.asked) - asked; got < 3500 || got > 3700 {
			t.Errorf("asked %d times in an hour, want once in a second", got)
		}
		<-c.wake
		c.network.holders[four] = mac
		c.after(2 * paceKnown)
		if c.want("a host has come", []string{four + " " + mac}); len(c.wake) != 1 {
			t.Error("no round was asked for")
		}
		delete(c.network.holders, four)
		c.network.known[four] = addr.Neighbour{Absent: true}
		c.after(paceKnown)
		c.want("it has left", nil)

		c.network.links = links(append([]string{four + "/32"}, host...)...)
		c.after(paceKnown)
		c.want("it is on this machine", nil, four)
		asked = len(c.network.asked)
		c.network.holders[four] = mac // a master of ours
		c.after(time.Hour)
		if c.want("settled for good", nil, four); len(c.network.asked) != asked || len(c.saved) != 1 {
			t.Errorf("asked %d times more, remembered %d times", len(c.network.asked)-asked, len(c.saved))
		}
	})
}

// TestDetector_NoQuestion has a kernel that asks nobody and never says so: on a link without ARP,
// or beside an entry that a person made.
func TestDetector_NoQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, nil)
		c.network.silent = true
		c.begin()
		c.after(timeout - paceOpen)
		c.want("an answer may come", []string{four + " ?"})
		c.after(2 * paceOpen)
		c.want("none comes", nil)
		asked := len(c.network.asked)
		c.after(time.Minute)
		if got := len(c.network.asked) - asked; got > 61 {
			t.Errorf("asked %d times in a minute, want once in a second at most", got)
		}
	})
}

// gatewayed is the machine with a default route.
func gatewayed() addr.Snapshot {
	s := links(host...)
	s.Routes = []addr.Route{{LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: ip("192.0.2.1")}}
	return s
}

// TestDetector_Router has a gateway that answers for every address, and others that must not be taken
// for one.
func TestDetector_Router(t *testing.T) {
	const router = "02:00:5e:00:53:01"
	for _, tt := range []struct {
		name    string
		holders map[string]string
		change  func(*addr.Route)
		want    string
	}{
		{name: "the gateway answers for others", holders: map[string]string{four: router, "192.0.2.1": router}, want: " by the router " + router},
		{name: "a host beside the gateway", holders: map[string]string{four: mac, "192.0.2.1": router}, want: " " + mac},
		{name: "the gateway does not answer", holders: map[string]string{four: mac}, want: " " + mac},
		{name: "the VIP is the gateway's own address", holders: map[string]string{four: router}, change: func(r *addr.Route) { r.Gateway = ip(four) }, want: " " + router},
		{name: "a router to one network only", holders: map[string]string{four: router, "192.0.2.1": router},
			change: func(r *addr.Route) { r.Destination = netip.MustParsePrefix("203.0.113.0/24") }, want: " " + router},
		{name: "the gateway of another link", holders: map[string]string{four: router, "192.0.2.1": router}, change: func(r *addr.Route) { r.LinkIndex = 3 }, want: " " + router},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := detect(t, nil)
				c.network.links, c.network.holders = gatewayed(), tt.holders
				if tt.change != nil {
					tt.change(&c.network.links.Routes[0])
				}
				c.begin()
				c.want("the first finding", []string{four + tt.want})
				c.after(time.Minute)
				c.want("and the last", []string{four + tt.want})
			})
		})
	}
}

// TestDetector_Assumed asks for nothing that a person has said to be free, and settles it like any
// other.
func TestDetector_Assumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, dual)
		c.options.Free = []netip.Addr{ip(four)}
		c.network.holders[four], c.network.holders[six] = mac, mac
		c.begin()
		c.want("at first", []string{six + " " + mac})
		c.network.links = links(append([]string{four + "/32"}, host...)...)
		c.after(time.Minute)
		if c.want("it is on this machine", []string{six + " " + mac}, four); slices.Contains(c.network.asked, "enp1s0 "+four) {
			t.Errorf("asked for %s", four)
		}
	})
}

func TestDetector_Taken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, dual)
		c.network.holders[four] = mac
		c.begin()
		c.want("the first finding waits for an answer", []string{four + " " + mac, six + " ?"})
		c.after(3200 * time.Millisecond)
		c.want("each VIP by itself", []string{four + " " + mac})

		asked := len(c.network.asked)
		c.after(10 * time.Second)
		if got := len(c.network.asked) - asked; got < 15 || got > 25 {
			t.Errorf("asked for both %d times in 10 s, want once in a second each", got)
		}
		c.network.links.Links[0].Up = false
		c.after(10 * time.Second)
		c.want("the cable is out", []string{four + " " + mac, six + " ?"})
		c.network.links.Links[0].Up = true
		c.after(paceKnown)

		delete(c.network.holders, four)
		c.network.known[four] = addr.Neighbour{Absent: true}
		c.after(4 * time.Second)
		c.want("it has left", nil)
	})
}

// TestDetector_LateAnswer has a holder who answers the third question only: the room is woken while
// keepalived still listens.
func TestDetector_LateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, nil)
		c.begin()
		c.after(2500 * time.Millisecond)
		c.want("no answer", []string{four + " ?"})
		c.network.holders[four] = mac
		c.after(paceOpen)
		c.want("it has answered", []string{four + " " + mac})
		if len(c.wake) != 1 {
			t.Error("no round was asked for")
		}
	})
}

// TestDetector_Own adopts a VIP that is on this machine, whoever answers elsewhere, and asks for none
// that an earlier run has settled.
func TestDetector_Own(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, dual, six)
		c.network.links = links(append([]string{four + "/32"}, host...)...)
		c.network.holders[four], c.network.holders[six] = mac, mac
		c.begin()
		if c.want("at first", nil, six, four); len(c.network.asked) > 0 {
			t.Errorf("asked %q", c.network.asked)
		}
	})
}

// TestDetector_Known has entries from before: a holder counts until the kernel has asked anew, an
// absence does not count at all.
func TestDetector_Known(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, dual)
		c.network.known[four], c.network.known[six] = addr.Neighbour{MAC: mac}, addr.Neighbour{Absent: true}
		c.network.holders[six] = mac
		c.begin()
		c.want("asked anew", []string{four + " " + mac, six + " " + mac})
		c.network.known[four] = addr.Neighbour{Absent: true}
		c.after(paceKnown)
		c.want("the first has left", []string{six + " " + mac})
	})
}

// TestDetector_NowhereToAsk waits for an address and for a link, and takes no answer from the other
// side of a router.
func TestDetector_NowhereToAsk(t *testing.T) {
	for _, tt := range []struct {
		name  string
		links func() addr.Snapshot
		open  []string
	}{
		{name: "no address", open: []string{four + " ?"}, links: func() addr.Snapshot { return links() }},
		{name: "no carrier", open: []string{four + " ?"}, links: func() addr.Snapshot { s := links(host...); s.Links[0].Up = false; return s }},
		{name: "the VIP is behind a router", links: bootvip.BehindRouter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := detect(t, nil)
				c.network.links, c.network.holders[four] = tt.links(), mac
				c.begin()
				c.after(time.Minute)
				if c.want("nothing can be known", tt.open); len(c.network.asked) > 0 {
					t.Errorf("asked %q", c.network.asked)
				}
				c.network.links = links(host...)
				c.after(paceKnown + paceOpen)
				if c.want("it has answered", []string{four + " " + mac}); c.network.asked[0] != "enp1s0 "+four {
					t.Errorf("asked %q", c.network.asked)
				}
				c.network.links = tt.links()
				c.after(time.Minute)
				if tt.open == nil {
					c.want("it cannot be probed any more", nil)
				} else {
					c.want("it is not known to have left", []string{four + " " + mac})
				}
			})
		})
	}
}

// TestDetector_AsksAnew holds that a verdict is of the network in which it was found.
func TestDetector_AsksAnew(t *testing.T) {
	for name, elsewhere := range map[string]addr.Snapshot{"no address": links(), "another network": bootvip.BehindRouter()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := detect(t, nil)
				c.begin()
				c.after(4 * time.Second)
				c.want("free", nil)
				c.network.links = elsewhere
				c.after(time.Minute)
				c.network.links = links(host...)
				c.network.known[four] = addr.Neighbour{}
				c.after(paceKnown)
				c.want("asked anew", []string{four + " ?"})
				c.after(4 * time.Second)
				c.want("free again", nil)
			})
		})
	}
}

// TestDetector_Faults holds that what fails for one VIP, or cannot be remembered, leaves the other one
// alone, and is made good in the end.
func TestDetector_Faults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, dual)
		c.network.links = links(append([]string{six + "/128"}, host...)...)
		c.network.err, c.full = errors.New("operation not permitted"), true
		var err error
		c.passing(func() { err = c.Run(t.Context()) })
		if want := "operation not permitted\nremember that 2001:db8::5 is on this machine: no space left"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		c.want("it cannot be probed", []string{four + " ?"})
		c.network.err, c.full = nil, false
		c.begin()
		c.after(4 * time.Second)
		c.want("well again", nil, six)
	})
}

// TestDetector_FirstProbe holds that nobody is told anything before the first look, and that a free VIP
// is not kept waiting.
func TestDetector_FirstProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := detect(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := c.Findings(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v before the first look", got, err)
		}
		begin := time.Now()
		c.begin()
		if c.want("no answer yet", []string{four + " ?"}); time.Since(begin) > paceFirst {
			t.Errorf("the first finding took %v, want %v", time.Since(begin), paceFirst)
		}
	})
}

var (
	ip      = netip.MustParseAddr
	compile = bootvip.Compile
	dual    = bootvip.Dual
	links   = bootvip.Links
)
