//go:build remote

package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// listening is a listener on a FAKE link, which carries what a test says, in virtual time.
type listening struct {
	*listener
	t    *testing.T
	log  *heard
	said chan overhear.Heard

	mu      sync.Mutex
	broken  error // why the link cannot be heard
	entries []journal.Entry
	answers addr.Neighbour
	heeded  int // adverts
	told    int // findings, last
}

func (l *listening) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// newListening has a listener follow until the test ends; it is to be called in a bubble.
func newListening(t *testing.T) *listening {
	t.Helper()
	p := statusPlan(t, vrrp.ProfileLan)
	l := &listening{t: t, log: &heard{}, said: make(chan overhear.Heard, 1000)}
	l.listener = newListener(p, onDisk(t, map[string]string{election.RunDir + "/empty": ""}), slog.New(slog.NewTextHandler(l.log, nil)))
	l.hear = func(ctx context.Context, _ string, hear func(overhear.Heard)) error {
		for {
			var broken error
			l.set(func() { broken = l.broken })
			if broken != nil {
				return broken
			}
			select {
			case <-ctx.Done():
				return nil
			case h := <-l.said:
				hear(h)
			}
		}
	}
	l.ask = func(string, netip.Addr) (n addr.Neighbour, err error) {
		l.set(func() { n = l.answers })
		return n, nil
	}
	l.adverts = func(overhear.Heard) { l.set(func() { l.heeded++ }) }
	l.tells = func(found []clash.Finding) { l.set(func() { l.told = len(found) }) }
	l.listener.journal = func(e journal.Entry) { l.set(func() { l.entries = append(l.entries, e) }) }
	says(t, l.host, supervised.Backup)
	l.Hear([]clash.Instance{{
		Name: "ostest_API_0", Kind: vrrp.API, Link: "eth0", ID: p.VRRP.API.ID, Version: vrrp.V3, Interval: 100 * time.Millisecond, VIP: netip.MustParseAddr("192.0.2.5"), Unicast: true, Near: true,
		Own: netip.MustParseAddr("192.0.2.11"), Members: addresses4("192.0.2.11", "192.0.2.12"),
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.follow(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return l
}

func addresses4(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// say has a host announce a VIP on the link.
func (l *listening) say(from, vip string, change func(*overhear.Heard)) {
	mac := net.HardwareAddr{0x52, 0x54, 0, 0, 0, netip.MustParseAddr(from).As4()[3]}
	h := overhear.Heard{At: time.Now(), MAC: mac, Advert: advert.Advert{From: netip.MustParseAddr(from), Hops: advert.Near, Version: vrrp.V3, ID: l.wanted[0].ID, Priority: 150,
		Interval: 100 * time.Millisecond, VIPs: addresses4(vip), Sound: true}}
	if change != nil {
		change(&h)
	}
	l.said <- h
	synctest.Wait()
}

// kinds are what the state file says that there is.
func (l *listening) kinds() (out []string) {
	l.t.Helper()
	text, err := os.ReadFile(l.host.at(election.RunDir, clash.StateFile))
	if err != nil {
		l.t.Fatal(err)
	}
	s, err := clash.DecodeState(text)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range s.Findings {
		out = append(out, string(f.Kind)+" "+f.Who.String())
	}
	return out
}

// TestListenForeign holds that a foreign router is in the log, the journal and the file for others
// when its first advert has come, once, with an ID that is free, and that its end is told too.
func TestListenForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListening(t)
		time.Sleep(1500 * time.Millisecond)
		for range 3 {
			l.say("192.0.2.99", "192.0.2.77", nil)
			time.Sleep(soonestLook)
			synctest.Wait()
			if got := l.kinds(); !slices.Equal(got, []string{"foreign-router 192.0.2.99 (52:54:00:00:00:63)"}) {
				t.Fatalf("found %q", got)
			}
		}
		l.set(func() {
			if l.heeded != 3 || l.told != 1 {
				t.Errorf("others have taken %d adverts and %d findings", l.heeded, l.told)
			}
		})
		if n := l.log.count("an election is disturbed"); n != 1 || l.log.count("such as ") != 1 || l.log.count("52:54:00:00:00:63") != 2 || l.log.count("192.0.2.77") != 1 {
			t.Errorf("said %d times:\n%s", n, l.log.text.String())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := l.kinds(); len(got) > 0 || l.log.count("not disturbed any more") != 1 {
			t.Errorf("of one that has gone: %q\n%s", got, l.log.text.String())
		}
		if len(l.entries) != 2 || l.entries[0].Clash != "foreign-router" || l.entries[0].Other.String() != "192.0.2.99" || !strings.HasPrefix(l.entries[1].Why, "over: ") {
			t.Errorf("the journal got %+v", l.entries)
		}
	})
}

// TestListenSettles holds that what a hand-over looks like for a moment is not said, and what lasts
// is; the file of others is written without it.
func TestListenSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListening(t)
		says(t, l.host, supervised.Master)
		announce := func(n int) {
			for range n {
				l.say("192.0.2.12", "192.0.2.5", nil)
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(3 * time.Second)
		announce(12) // and this host knows it a moment late
		says(t, l.host, supervised.Backup)
		announce(30)
		if l.log.count("disturbed") != 0 {
			t.Fatalf("a hand-over is taken for a clash:\n%s", l.log.text.String())
		}
		says(t, l.host, supervised.Master)
		announce(40)
		if got := l.kinds(); !slices.Equal(got, []string{"one-way 192.0.2.12 (52:54:00:00:00:0c)"}) && !slices.Equal(got, []string{"one-way 192.0.2.11"}) {
			t.Errorf("two holders: %q", got)
		}
		if by := l.announced()["ostest_API_0"]; by.By.String() != "192.0.2.12" || by.Priority != 150 {
			t.Errorf("announced by %+v", by)
		}
	})
}

// TestListenDuplicate holds that another host which answers for the VIP beside its holder is found.
func TestListenDuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListening(t)
		l.set(func() { l.answers.MAC = "52:54:00:00:00:63" })
		for range 1100 {
			l.say("192.0.2.12", "192.0.2.5", nil)
			time.Sleep(100 * time.Millisecond)
		}
		if got := l.kinds(); !slices.Equal(got, []string{"duplicate-address 52:54:00:00:00:63"}) {
			t.Errorf("found %q", got)
		}
	})
}

// TestListenDeaf holds that a link that cannot be heard is said, is no link that is listened to,
// and is heard as soon as it can be.
func TestListenDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListening(t)
		l.set(func() { l.broken = errors.New("eth0 is down") })
		l.say("192.0.2.12", "192.0.2.5", nil)
		time.Sleep(10500 * time.Millisecond)
		if s := l.State(); len(s.Since) > 0 || s.Deaf["eth0"] != "eth0 is down" || l.log.count("eth0 is down") != 1 {
			t.Errorf("%+v\n%s", s, l.log.text.String())
		}
		l.set(func() { l.broken = nil })
		time.Sleep(clash.Hearing + 2*time.Second)
		if s := l.State(); len(s.Since) != 1 || len(s.Deaf) > 0 {
			t.Errorf("%+v", s)
		}
		if ok, why := l.Air().May(clash.Refuse, l.wanted[0], false); !ok {
			t.Error(why)
		}
		l.Hear(nil)
		time.Sleep(2 * time.Second)
		if s := l.State(); len(s.Since) > 0 || len(s.Deaf) > 0 {
			t.Errorf("it listens where there is no election: %+v", s)
		}
	})
}

// TestListenFlood holds that whoever sends adverts of ever new hosts fills no log.
func TestListenFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListening(t)
		for n := range 600 {
			from := netip.AddrFrom4([4]byte{198, 51, byte(n / 250), byte(n%250 + 1)}).String()
			l.say(from, "192.0.2.77", nil)
			time.Sleep(100 * time.Millisecond)
		}
		if n := l.log.count("\n"); n > 2*mostSayings {
			t.Errorf("%d lines in a minute", n)
		}
		if l.log.count("is not said") == 0 {
			t.Errorf("that more was found is not said:\n%s", l.log.text.String())
		}
	})
}
