package listen

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
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
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// bench is a listener on a FAKE link, which carries what a test sends, in virtual time.
type bench struct {
	*Listener
	t       *testing.T
	logs    *logged
	adverts chan capture.Received

	mu       sync.Mutex
	state    supervised.State
	broken   error // why the link receives nothing
	unread   error // why the supervisor's status cannot be read
	entries  []journal.Entry
	answers  addr.Neighbour
	received int // adverts
	findings int // of the last round
}

func (b *bench) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// logged is a log that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) count(word string) int { return strings.Count(l.String(), word) }

// testPlan is of a cluster whose VIPs are 192.0.2.5 and 192.0.2.6.
func testPlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		ControlPlaneReplicas: 3,
		Timing:               vrrp.ProfileLan,
		MachineNetworks:      []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:              addresses4("192.0.2.5"), IngressVIPs: addresses4("192.0.2.6"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newBench starts a listener that runs until the test ends. It is to be called in a bubble.
func newBench(t *testing.T) *bench {
	t.Helper()
	p := testPlan(t)
	b := &bench{
		t:       t,
		logs:    &logged{},
		adverts: make(chan capture.Received, 1000),
		state:   supervised.Backup,
	}
	b.Listener = New(Options{
		IDs: election.IDs(
			p,
		), StateFile: filepath.Join(t.TempDir(), clash.StateFile), Log: slog.New(slog.NewTextHandler(b.logs, nil)),
		Status: b.status, Receive: b.receiveAdverts,
		Neighbour: func(string, netip.Addr) (n addr.Neighbour, err error) {
			b.set(func() { n = b.answers })
			return n, nil
		},
	})
	b.Expect([]clash.Instance{{
		Name: "ostest_API_0", Kind: vrrp.API, Link: "eth0", ID: p.VRRP.API.ID, Version: vrrp.V3,
		Interval: 100 * time.Millisecond,
		VIP:      netip.MustParseAddr("192.0.2.5"), Unicast: true, Near: true,
		Own: netip.MustParseAddr("192.0.2.11"), Members: addresses4("192.0.2.11", "192.0.2.12"),
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.Follow(ctx, Outputs{
			Adverts:  func(capture.Received) { b.set(func() { b.received++ }) },
			Findings: func(found []clash.Finding) { b.set(func() { b.findings = len(found) }) },
			Journal:  func(e journal.Entry) { b.set(func() { b.entries = append(b.entries, e) }) },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return b
}

func (b *bench) status() (s supervised.Status, err error) {
	b.set(func() {
		s = supervised.Status{
			PID: 9,
			Instances: map[string]supervised.Instance{
				"ostest_API_0": {State: b.state, Priority: 100},
			},
		}
		err = b.unread
	})
	return s, err
}

func (b *bench) receiveAdverts(ctx context.Context, _ string, receive func(capture.Received)) error {
	for {
		var broken error
		b.set(func() { broken = b.broken })
		if broken != nil {
			return broken
		}
		select {
		case <-ctx.Done():
			return nil
		case h := <-b.adverts:
			receive(h)
		}
	}
}

func addresses4(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// announce has a host announce a VIP on the link.
func (l *bench) announce(from, vip string, change func(*capture.Received)) {
	mac := net.HardwareAddr{0x52, 0x54, 0, 0, 0, netip.MustParseAddr(from).As4()[3]}
	h := capture.Received{
		At:  time.Now(),
		MAC: mac,
		Advert: advert.Advert{
			From:     netip.MustParseAddr(from),
			Hops:     advert.Near,
			Version:  vrrp.V3,
			ID:       l.wanted[0].ID,
			Priority: 150,
			Interval: 100 * time.Millisecond,
			VIPs:     addresses4(vip),
			Sound:    true,
		},
	}
	if change != nil {
		change(&h)
	}
	l.adverts <- h
	synctest.Wait()
}

// kinds are the findings of the state file.
func (l *bench) kinds() (out []string) {
	l.t.Helper()
	text, err := os.ReadFile(l.StateFile)
	if err != nil {
		l.t.Fatal(err)
	}
	s, err := clash.DecodeState(text)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range s.Findings {
		out = append(out, string(f.Kind)+" "+f.Sender.String())
	}
	return out
}

// TestFollow_Foreign holds that a foreign router is in the log, the journal and the state file after
// its first advert, once, with an ID that is free, and that its end is logged too.
func TestFollow_Foreign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		time.Sleep(1500 * time.Millisecond)
		for range 3 {
			l.announce("192.0.2.99", "192.0.2.77", nil)
			time.Sleep(minPause)
			synctest.Wait()
			if got := l.kinds(); !slices.Equal(
				got, []string{"foreign-router 192.0.2.99 (52:54:00:00:00:63)"}) {
				t.Fatalf("found %q", got)
			}
		}
		l.set(func() {
			if l.received != 3 || l.findings != 1 {
				t.Errorf("others have taken %d adverts and %d findings", l.received, l.findings)
			}
		})
		if n := l.logs.count("an election is disturbed"); n != 1 || l.logs.count("such as ") != 1 ||
			l.logs.count("52:54:00:00:00:63") != 2 ||
			l.logs.count("192.0.2.77") != 1 {
			t.Errorf("logged %d times:\n%s", n, l.logs.String())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := l.kinds(); len(got) > 0 || l.logs.count("not disturbed any more") != 1 {
			t.Errorf("of one that has gone: %q\n%s", got, l.logs.String())
		}
		if len(l.entries) != 2 || l.entries[0].Clash != "foreign-router" ||
			l.entries[0].Other.String() != "192.0.2.99" ||
			!strings.HasPrefix(l.entries[1].Why, "over: ") {
			t.Errorf("the journal got %+v", l.entries)
		}
	})
}

// TestFollow_Settles holds that a handover is not reported as a clash, and that a clash that lasts
// is reported.
func TestFollow_Settles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		l.set(func() { l.state = supervised.Master })
		repeat := func(n int) {
			for range n {
				l.announce("192.0.2.12", "192.0.2.5", nil)
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(3 * time.Second)
		repeat(12) // and this host knows it a moment late
		l.set(func() { l.state = supervised.Backup })
		repeat(30)
		if l.logs.count("disturbed") != 0 {
			t.Fatalf("a handover is reported as a clash:\n%s", l.logs.String())
		}
		l.set(func() { l.state = supervised.Master })
		repeat(40)
		if got := l.kinds(); !slices.Equal(
			got, []string{"one-way 192.0.2.12 (52:54:00:00:00:0c)"}) &&
			!slices.Equal(got, []string{"one-way 192.0.2.11"}) {
			t.Errorf("two holders: %q", got)
		}
		if by := l.Announced()["ostest_API_0"]; by.By.String() != "192.0.2.12" ||
			by.Priority != 150 {
			t.Errorf("announced by %+v", by)
		}
	})
}

// TestAnnounced_Released holds that a router which has just released a VIP is known beside the one
// that took it, and not for long.
func TestAnnounced_Released(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		release := func(r *capture.Received) { r.Advert.Priority = 0 }
		announced := func() journal.Announced { return l.Announced()["ostest_API_0"] }
		l.announce("192.0.2.13", "192.0.2.5", release)
		if a := announced(); a.By.String() != "192.0.2.13" || a.Released.IsValid() {
			t.Errorf("alone: %+v", a)
		}
		time.Sleep(80 * time.Millisecond)
		l.announce("192.0.2.12", "192.0.2.5", nil)
		if a := announced(); a.By.String() != "192.0.2.12" || a.Released.String() != "192.0.2.13" {
			t.Errorf("another one took it: %+v", a)
		}
		time.Sleep(time.Second)
		l.announce("192.0.2.12", "192.0.2.5", nil)
		if a := announced(); a.Released.IsValid() {
			t.Errorf("a second later: %+v", a)
		}
	})
}

// TestFollow_Duplicate holds that another host which answers for the VIP beside its holder is found.
func TestFollow_Duplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		l.set(func() { l.answers.MAC = "52:54:00:00:00:63" })
		for range 1100 {
			l.announce("192.0.2.12", "192.0.2.5", nil)
			time.Sleep(100 * time.Millisecond)
		}
		if got := l.kinds(); !slices.Equal(got, []string{"duplicate-address 52:54:00:00:00:63"}) {
			t.Errorf("found %q", got)
		}
	})
}

// TestFollow_LinkFails holds that a link that receives nothing is logged and in the state, does not
// count as one that is listened to, and is received from as soon as that works.
func TestFollow_LinkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		l.set(func() { l.broken = errors.New("eth0 is down") })
		l.announce("192.0.2.12", "192.0.2.5", nil)
		time.Sleep(10500 * time.Millisecond)
		if s := l.State(); len(s.Since) > 0 || s.Failed["eth0"] != "eth0 is down" ||
			l.logs.count("eth0 is down") != 1 {
			t.Errorf("%+v\n%s", s, l.logs.String())
		}
		l.set(func() { l.broken = nil })
		time.Sleep(clash.ListenTime + 2*time.Second)
		if s := l.State(); len(s.Since) != 1 || len(s.Failed) > 0 {
			t.Errorf("%+v", s)
		}
		if ok, why := l.Snapshot().May(clash.Refuse, l.wanted[0], false); !ok {
			t.Error(why)
		}
		l.Expect(nil)
		time.Sleep(2 * time.Second)
		if s := l.State(); len(s.Since) > 0 || len(s.Failed) > 0 {
			t.Errorf("it listens where there is no election: %+v", s)
		}
	})
}

// TestFollow_NoState holds that a state which cannot be written, and a supervisor's status that cannot be read, keep
// the listener from nothing else, and are logged once. FAKE: a file is where the state's directory was.
func TestFollow_NoState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		dir := filepath.Dir(l.StateFile)
		if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		l.set(func() { l.unread = errors.New("the status is of another release") })
		time.Sleep(clash.ListenTime + 2*time.Second)
		if ok, why := l.Snapshot().May(clash.Refuse, l.wanted[0], false); !ok {
			t.Error(why)
		}
		l.announce("192.0.2.99", "192.0.2.77", nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		l.set(func() {
			if l.received != 1 || l.findings != 1 || len(l.entries) != 1 {
				t.Errorf("others have taken %d adverts, %d findings and %d entries", l.received, l.findings, len(l.entries))
			}
		})
		if l.logs.count("the listener's state") != 1 || l.logs.count("of another release") > 2 {
			t.Errorf("logged\n%s", l.logs.String())
		}
		l.set(func() { l.unread = nil })
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := l.kinds(); len(got) != 1 {
			t.Errorf("the state file has %q", got)
		}
	})
}

// TestFollow_Flood holds that adverts of ever new hosts do not fill the log.
func TestFollow_Flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newBench(t)
		for n := range 600 {
			from := netip.AddrFrom4([4]byte{198, 51, byte(n / 250), byte(n%250 + 1)}).String()
			l.announce(from, "192.0.2.77", nil)
			time.Sleep(100 * time.Millisecond)
		}
		if n := l.logs.count("\n"); n > 2*maxReports {
			t.Errorf("%d lines in a minute", n)
		}
		if l.logs.count("are not logged") == 0 {
			t.Errorf("it is not logged that more was found:\n%s", l.logs.String())
		}
	})
}
