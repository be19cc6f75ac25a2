package migrate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	compat = "compat/unicast"
	lan    = "lan/unicast"
)

// noon is a multiple of every time that is used here.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// planned is a cluster of a timing that migrates from another one; from may be empty.
func planned(t *testing.T, timing, from string) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: timing, VRRP: spec.Unicast, MigrateFrom: spec.Former{Timing: from},
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNext is K-29: whenever a node begins to look, all that agree in one window change at one
// instant, which is a multiple by the wall clock.
func TestNext(t *testing.T) {
	clock := Usual()
	random := rand.New(rand.NewPCG(1, 29))
	for range 50 {
		start := time.Duration(random.Int64N(int64(clock.Every - clock.Lead))) // after the last instant of the window before
		now := noon.Add(-clock.Lead + start + 1).In(time.FixedZone("", random.IntN(20)*1800))
		if got := clock.Next(now); !got.Equal(noon.Add(clock.Every)) {
			t.Errorf("from %s it is %s", now, got)
		}
	}
	for _, tt := range []struct{ now, want time.Duration }{
		{0, 5 * time.Minute}, {4*time.Minute + 30*time.Second, 5 * time.Minute}, {4*time.Minute + 30*time.Second + 1, 10 * time.Minute},
		{5 * time.Minute, 10 * time.Minute},
	} {
		if got := clock.Next(noon.Add(tt.now)); !got.Equal(noon.Add(tt.want)) {
			t.Errorf("%s after noon it is %s", tt.now, got)
		}
	}
}

// TestUpgrading is K-26 to K-28.
func TestUpgrading(t *testing.T) {
	node := func(name, state, kubelet string) Member { return Member{Name: name, State: state, Kubelet: kubelet} }
	for _, tt := range []struct {
		name  string
		nodes []Member
		want  string
	}{
		{"all is done", []Member{node("m1", done, "1.33"), node("m2", done, "1.33"), node("w1", done, "1.33")}, ""},
		{"nobody changes nodes there", []Member{node("m1", "", "1.33"), node("w1", "", "1.33")}, ""},
		{"the control plane alone is done", []Member{node("m1", done, "1.33"), node("w1", "Working", "1.33")}, "w1 being changed"},
		{"the workers alone are done", []Member{node("w1", done, "1.33"), node("m1", "Working", "1.33")}, "m1 being changed"},
		{"one has failed", []Member{node("m1", done, "1.33"), node("m2", "Degraded", "1.33")}, "m2 being changed"},
		{"one is new", []Member{node("m1", done, "1.33"), node("w1", "", "1.33")}, ""},
		{"workers wait for two versions", []Member{node("m1", done, "1.33"), node("w1", done, "1.31")}, "kubelets of 2 versions"},
		{"an arbiter counts too", []Member{node("m1", done, "1.33"), {Name: "a1", State: "Working", Kubelet: "1.33", NoVIP: true}}, "a1 being changed"},
		{"an excluded node writes what it likes", []Member{node("m1", done, "1.33"), {Name: "w1", State: "Working", Kubelet: "9.99", NoVIP: true, Apart: true}}, ""},
		{"both", []Member{node("m1", "Working", "1.33"), node("w1", "Working", "1.31")}, "m1, w1 being changed, kubelets of 2 versions"},
		{"many", []Member{node("1", "x", ""), node("2", "x", ""), node("3", "x", ""), node("4", "x", ""), node("5", "x", ""), node("6", "x", ""), node("7", "x", "")}, "1, 2, 3, 4, 5 and 2 more being changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(Upgrading(tt.nodes), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// three are the control plane's nodes m1 to m3 with these intents.
func three(intents ...notice.Intent) (nodes []Member) {
	for i, w := range intents {
		nodes = append(nodes, Member{Name: fmt.Sprintf("m%d", i+1), ControlPlane: true, Intent: w, State: done, Kubelet: "1.33"})
	}
	return nodes
}

func TestDecide(t *testing.T) {
	five, ten := noon.Add(5*time.Minute), noon.Add(10*time.Minute)
	silent, before, after := notice.Intent{}, notice.Intent{Speaks: compat}, notice.Intent{Speaks: lan}
	knows := notice.Intent{Speaks: compat, Knows: lan}
	from := func(at time.Time) notice.Intent { return notice.Intent{Speaks: compat, Knows: lan, At: at} }
	working := func(nodes []Member) []Member { nodes[2].State = "Working"; return nodes }
	worker := func(w notice.Intent) []Member { return []Member{{Name: "w1", Intent: w, Kubelet: "1.33"}} }
	for _, tt := range []struct {
		name      string
		at        time.Duration // after noon
		nodes     []Member
		kept      Memory
		holds     bool
		bootstrap bool

		changed   bool
		announces string
		decided   bool
		why       string // a part
	}{
		{name: "the first that knows", nodes: three(silent, silent, silent), announces: compat + " knows " + lan, why: "m1, m2, m3 not yet"},
		{name: "it has announced it", nodes: three(knows, before, silent), why: "m2, m3 not yet"},
		{name: "a worker counts", nodes: append(three(knows, knows, knows), worker(silent)...), why: "w1 not yet"},
		{name: "one that holds no VIP does not count", nodes: append(three(knows, knows, knows), Member{Name: "a1", NoVIP: true, Kubelet: "1.33"}), announces: compat + " knows " + lan + " from 2026-03-01T12:05:00Z", why: "from 2026-03-01T12:05:00Z on, if all announce that: m1, m2, m3 not yet"},
		{name: "all know: the first instant", nodes: three(knows, knows, knows), announces: compat + " knows " + lan + " from 2026-03-01T12:05:00Z"},
		{name: "all know, too late for that", at: 4*time.Minute + 31*time.Second, nodes: three(knows, knows, knows), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "all know, and the cluster is upgraded", nodes: working(three(knows, knows, knows)), why: "m3 being changed"},
		{name: "all know, and there is a bootstrap machine", nodes: three(knows, knows, knows), bootstrap: true, why: "the bootstrap machine has not left yet"},
		{name: "another announces a later one", nodes: three(from(five), from(ten), knows), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "another announces one, too late for that", at: 4*time.Minute + 31*time.Second, nodes: three(knows, from(five), from(five)), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "what it announced stays though it is near", at: 4*time.Minute + 50*time.Second, nodes: three(from(five), from(five), knows), why: "m3 not yet"},
		{name: "what it announced stays though an upgrade begins", nodes: working(three(from(five), knows, knows))},
		{name: "what it announced has passed", at: 5 * time.Minute, nodes: three(from(five), from(five), knows), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "what it announced has passed, and an upgrade has begun", at: 5 * time.Minute, nodes: working(three(from(five), from(five), knows)), announces: compat + " knows " + lan},
		{name: "another's clock is wrong", nodes: three(from(five), from(five), from(noon.Add(time.Hour))), why: "m3 not yet"},
		{name: "another announces no multiple", nodes: three(from(five), from(five), from(five.Add(time.Second))), why: "m3 not yet"},
		{name: "all announce one: decided", nodes: three(from(five), from(five), from(five)), decided: true, why: "all nodes announce that"},
		{name: "all announce one, and an upgrade has begun: decided", nodes: working(three(from(five), from(five), from(five))), decided: true},
		{name: "all announce one that has passed", at: 5 * time.Minute, nodes: three(from(five), from(five), from(five)), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "decided: whatever is said now", nodes: three(from(five), from(ten), silent), kept: Memory{Speaks: compat, To: lan, At: five}, decided: true},
		{name: "decided: just before", at: 5*time.Minute - 1, nodes: three(from(five), from(five), from(five)), kept: Memory{To: lan, At: five}, holds: true, decided: true},
		{name: "decided: the holder first", at: 5 * time.Minute, nodes: three(from(five), from(five), from(five)), kept: Memory{To: lan, At: five}, holds: true, changed: true, announces: lan},
		{name: "decided: then the others", at: 5 * time.Minute, nodes: three(from(five), from(five), from(five)), kept: Memory{To: lan, At: five}, decided: true},
		{name: "decided: the others an advert later", at: 5*time.Minute + time.Second, nodes: three(from(five), from(five), from(five)), kept: Memory{To: lan, At: five}, changed: true, announces: lan},
		{name: "decided, and the API is away", at: 6 * time.Minute, kept: Memory{Speaks: compat, To: lan, At: five}, changed: true},
		{name: "decided, and the holder has changed", at: 5*time.Minute + 20*time.Millisecond, nodes: three(from(five), after, from(five)), kept: Memory{To: lan, At: five}, decided: true},
		{name: "decided, and another one is earlier than the holder", at: 4 * time.Minute, nodes: three(from(five), after, from(five)), kept: Memory{To: lan, At: five}, holds: true, changed: true, announces: lan, why: "m2 uses it already"},
		{name: "decided, and a worker is early", at: 4 * time.Minute, nodes: append(three(from(five), from(five), from(five)), worker(after)...), kept: Memory{To: lan, At: five}, decided: true},
		{name: "it has missed the instant", nodes: three(knows, after, after), changed: true, announces: lan, why: "m2 uses it already"},
		{name: "it has joined later", nodes: three(silent, after, knows), changed: true, announces: lan},
		{name: "a worker may announce what it wants", nodes: append(three(knows, before, knows), worker(after)...), why: "m2 not yet"},
		{name: "a worker alone learned of the instant", at: 6 * time.Minute, nodes: append(three(knows, knows, knows), worker(after)...), announces: compat + " knows " + lan + " from 2026-03-01T12:10:00Z"},
		{name: "and all others announce another", at: 6 * time.Minute, nodes: append(three(from(ten), from(ten), from(ten)), worker(after)...), decided: true},
		{name: "and none changes before that", at: 6 * time.Minute, nodes: append(three(from(ten), from(ten), from(ten)), worker(after)...), kept: Memory{To: lan, At: ten}, decided: true},
		{name: "a worker was about to leave the wanted way", nodes: append(three(knows, knows, knows), worker(notice.Intent{Speaks: lan, Knows: "vm/unicast"})...), why: "w1 not yet"},
		{name: "and so was a control plane node, which is off", nodes: three(knows, notice.Intent{Speaks: lan, Knows: compat, At: five}, knows), why: "m2 not yet"},
		{name: "what it once announced itself is no news", nodes: three(after, silent, silent), announces: compat + " knows " + lan},
		{name: "it has changed", nodes: three(after, after, before), kept: Memory{Speaks: lan}, changed: true},
		{name: "it has changed, and its Node does not announce it", nodes: three(from(five), knows, knows), kept: Memory{Speaks: lan}, changed: true, announces: lan},
		{name: "a decision of another migration", at: 6 * time.Minute, nodes: three(knows, before, before), kept: Memory{Speaks: compat, To: "vm/unicast", At: five}},
		{name: "the API has named nobody", kept: Memory{Speaks: compat}, why: "the API has not named this node yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := New(planned(t, "lan", "compat"), Usual(), tt.kept)
			d := r.Decide(Observation{Now: noon.Add(tt.at), Self: "m1", Nodes: tt.nodes, Holder: tt.holds, BootstrapPeer: tt.bootstrap})
			announced := ""
			if d.Announce {
				announced = notice.EncodeIntent(d.Intent)
			}
			if decided := !d.Memory.At.IsZero(); d.Changed != tt.changed || announced != tt.announces || decided != tt.decided {
				t.Errorf("changed %t, decided %t, announces %q (%v)", d.Changed, decided, announced, d.Why)
			}
			if why := strings.Join(d.Why, ", "); !strings.Contains(why, tt.why) {
				t.Errorf("why: %q, want %q", why, tt.why)
			}
			if waits := strings.Join(r.Lacks(), "; "); (waits == "") != (d.Changed || tt.decided) || !strings.Contains(strings.Join(d.Why, ", "), waits) {
				t.Errorf("it waits for %q (%v)", waits, d.Why)
			}
			if d.Changed != (d.Memory.Speaks == lan) {
				t.Errorf("changed %t, and remembers %q", d.Changed, d.Memory.Speaks)
			}
		})
	}
}

// TestFallback holds that nodes stay with a timing that needs a proof until one of them asks for the
// slower one, that none takes that back, and that they change as in any migration.
func TestFallback(t *testing.T) {
	const fast = "fast/unicast"
	five := noon.Add(5 * time.Minute)
	is, asks := notice.Intent{Speaks: fast}, notice.Intent{Speaks: fast, Knows: lan}
	from, fell := notice.Intent{Speaks: fast, Knows: lan, At: five}, notice.Intent{Speaks: lan}
	for _, tt := range []struct {
		name      string
		at        time.Duration
		nodes     []Member
		late      string
		kept      Memory
		bootstrap bool
		holds     bool

		announces string
		changed   bool
		why       string
	}{
		{name: "all in time", nodes: three(is, is, is), why: "and lan/unicast once adverts arrive late"},
		{name: "the first round", nodes: three(notice.Intent{}, is, is), announces: fast},
		{name: "adverts are late", nodes: three(is, is, is), late: "5 adverts", announces: fast + " knows " + lan, why: "m1, m2, m3 not yet; 5 adverts"},
		{name: "another one asks", nodes: three(is, asks, is), announces: fast + " knows " + lan, why: "m2 asks for it"},
		{name: "it has asked, and adverts are in time again", nodes: three(asks, is, is), why: "m1 asks for it"},
		{name: "one that never holds a VIP asks", nodes: append(three(is, is, is), Member{Name: "a1", NoVIP: true, Intent: asks, Kubelet: "1.33"})},
		{name: "a worker asks", nodes: append(three(is, is, is), Member{Name: "w1", Intent: asks, Kubelet: "1.33"}), announces: fast + " knows " + lan},
		{name: "there is a bootstrap machine", nodes: three(asks, asks, asks), bootstrap: true, why: "the bootstrap machine has not left yet"},
		{name: "all know", nodes: three(asks, asks, asks), announces: fast + " knows " + lan + " from 2026-03-01T12:05:00Z"},
		{name: "the instant", at: 5*time.Minute + time.Second, nodes: three(from, from, from), kept: Memory{Speaks: fast, To: lan, At: five}, changed: true, announces: lan},
		{name: "it fell back", nodes: three(fell, fell, fell), kept: Memory{Speaks: lan, FellBack: true}, changed: true},
		{name: "it joins a cluster that fell back", nodes: three(notice.Intent{}, fell, fell), changed: true, announces: lan, why: "m2 uses it already"},
		{name: "another one has yet to leave the slower timing", nodes: three(is, fell, is)},
		{name: "and adverts are late", nodes: three(asks, fell, asks), announces: fast + " knows " + lan + " from 2026-03-01T12:05:00Z"},
		{name: "it joins beside one that has yet to leave the slower timing", nodes: three(notice.Intent{}, fell, is), announces: fast},
		{name: "it fell back, and has lost its memory", nodes: three(fell, fell, fell), changed: true, why: "m2 uses it already"},
		{name: "it has lost its memory, and another has yet to leave the slower timing", nodes: three(fell, is, fell), announces: fast},
		{name: "the holder sees another one change", at: 5*time.Minute + 20*time.Millisecond, nodes: three(from, fell, from), kept: Memory{Speaks: fast, To: lan, At: five}, holds: true},
		{name: "it has missed the instant", nodes: three(from, fell, fell), changed: true, announces: lan, why: "m2 uses it already"},
		{name: "the holder at the instant", at: 5*time.Minute + patience - 1, nodes: three(from, from, from), kept: Memory{Speaks: fast, To: lan, At: five}, holds: true},
		{name: "the holder later", at: 5*time.Minute + patience, nodes: three(from, from, from), kept: Memory{Speaks: fast, To: lan, At: five}, holds: true, changed: true, announces: lan},
		{name: "it comes from a migration to the fast timing", nodes: three(is, is, is), kept: Memory{Speaks: fast}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := proven(t)
			r := New(p, Usual(), tt.kept)
			if !r.Waits() || r.Plan().Timing.Profile != "lan" || r.Plan().Former.Timing.Profile != "fast" {
				t.Fatalf("waits %t for %s", r.Waits(), r.Plan().Way())
			}
			d := r.Decide(Observation{Now: noon.Add(tt.at), Self: "m1", Nodes: tt.nodes, Late: tt.late, BootstrapPeer: tt.bootstrap, Holder: tt.holds})
			announced := ""
			if d.Announce {
				announced = notice.EncodeIntent(d.Intent)
			}
			if d.Changed != tt.changed || announced != tt.announces || !strings.Contains(strings.Join(d.Why, ", "), tt.why) {
				t.Errorf("changed %t, announces %q, why %q", d.Changed, announced, d.Why)
			}
			again := New(p, Usual(), d.Memory)
			if got := again.InForce(noon.Add(tt.at)).Timing.Profile; (got == "lan") != tt.changed {
				t.Errorf("after a restart %s is in force", got)
			}
			if fell := again.FellBack(noon.Add(tt.at)); fell != tt.changed {
				t.Errorf("after a restart it fell back: %t", fell)
			}
		})
	}
}

// proven is a cluster whose hosts have a proof.
func proven(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: "fast", VRRP: spec.Unicast,
		TimingProof: map[string]uint32{"m1": 900, "m2": 1100, "m3": 2000}, MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSlower holds that the holder of a VIP goes last where the others become more patient.
func TestSlower(t *testing.T) {
	kept := Memory{Speaks: lan, To: compat, At: noon}
	for _, tt := range []struct {
		holds bool
		late  time.Duration
		want  bool
	}{{false, -1, false}, {false, 0, true}, {true, 0, false}, {true, time.Second - 1, false}, {true, time.Second, true}} {
		d := New(planned(t, "compat", "lan"), Usual(), kept).Decide(Observation{Now: noon.Add(tt.late), Holder: tt.holds})
		if d.Changed != tt.want {
			t.Errorf("holds %t, %s after the instant: changed %t", tt.holds, tt.late, d.Changed)
		}
	}
}

// TestLateClock holds that nodes whose clocks are late keep the order in which VIPs stay with their
// holders: one that goes after the holder does so after it has observed that one change too.
func TestLateClock(t *testing.T) {
	five := noon.Add(5 * time.Minute)
	from, after := notice.Intent{Speaks: compat, Knows: lan, At: five}, notice.Intent{Speaks: lan}
	r := New(planned(t, "lan", "compat"), Usual(), Memory{Speaks: compat, To: lan, At: five})
	for _, tt := range []struct {
		before  time.Duration // the instant
		another notice.Intent
		due     time.Duration // likewise
		changed bool
	}{
		{time.Minute, from, -time.Second, false},
		{50 * time.Second, after, 49 * time.Second, false},
		{49*time.Second + 1, after, 49 * time.Second, false},
		{49 * time.Second, from, -time.Second, false}, // it is back on the former way
		{40 * time.Second, after, 39 * time.Second, false},
		{39 * time.Second, after, 0, true},
	} {
		d := r.Decide(Observation{Now: five.Add(-tt.before), Self: "m1", Nodes: three(from, tt.another, from)})
		if d.Changed != tt.changed || !tt.changed && !d.Recheck.Equal(five.Add(-tt.due)) {
			t.Errorf("%v before the instant: changed %t, due at %v (%v)", tt.before, d.Changed, d.Recheck, d.Why)
		}
	}
}

// TestNothingToMigrate holds what a node says and remembers that has nothing to migrate from: of a
// cluster that was never anything else but compat nothing at all, and else the truth.
func TestNothingToMigrate(t *testing.T) {
	for _, tt := range []struct {
		name, timing string
		kept         Memory
		intent       notice.Intent
		announces    bool
		want         Memory
	}{
		{name: "compat", timing: "compat"},
		{name: "compat after something else", timing: "compat", kept: Memory{Speaks: lan, To: "vm/unicast", At: noon}, intent: notice.Intent{Speaks: lan}, announces: true, want: Memory{Speaks: compat}},
		{name: "lan", timing: "lan", announces: true},
		{name: "lan, and it announces it", timing: "lan", intent: notice.Intent{Speaks: lan}},
		{name: "lan after a migration", timing: "lan", kept: Memory{Speaks: lan}, intent: notice.Intent{Speaks: lan}, want: Memory{Speaks: lan}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := New(planned(t, tt.timing, ""), Usual(), tt.kept)
			d := r.Decide(Observation{Now: noon, Self: "m1", Nodes: three(tt.intent, notice.Intent{}, notice.Intent{})})
			if !d.Changed || !r.Changed(noon) || d.Announce != tt.announces || !d.Memory.Equal(tt.want) || len(d.Why) > 0 {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestThereAndBack holds that a migration which is taken back leaves nothing behind that a later
// one takes for its own.
func TestThereAndBack(t *testing.T) {
	decided := Memory{Speaks: compat, To: lan, At: noon}
	back := New(planned(t, "compat", "lan"), Usual(), decided)
	d := back.Decide(Observation{Now: noon.Add(-time.Minute), Self: "m1", Nodes: three(notice.Intent{Speaks: compat, Knows: lan, At: noon})})
	if !d.Changed || !d.Announce || d.Intent != (notice.Intent{Speaks: compat}) || !d.Memory.Equal(Memory{Speaks: compat}) {
		t.Fatalf("taken back: %+v", d)
	}
	again := New(planned(t, "lan", "compat"), Usual(), d.Memory)
	if again.Changed(noon.Add(time.Hour)) {
		t.Error("the decision that was taken back counts again")
	}
	if !New(planned(t, "lan", "compat"), Usual(), decided).Changed(noon.Add(time.Hour)) {
		t.Error("a reboot over the instant forgets the decision")
	}
}

// actor is a node of the simulated cluster.
type actor struct {
	name    string
	room    *Room
	kept    Memory
	skew    time.Duration // of its clock
	starts  time.Duration // when it gets the file, or is back
	down    [2]time.Duration
	view    []Member
	changed time.Duration // when; 0 for not yet
}

// TestOneInstant rolls a migration out over clusters in virtual time: nodes begin at any time, see
// each other's intents late, reboot over the instant, and one has a wrong clock. No node changes
// before all know the new way, and every running node changes within the time that an intent
// takes.
func TestOneInstant(t *testing.T) {
	const tick, late = 50 * time.Millisecond, 400 * time.Millisecond
	was, will := planned(t, "lan", "compat"), 0
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 29))
		var actors []*actor
		api := map[string]Member{}
		for i := range 5 {
			a := &actor{name: fmt.Sprintf("n%d", i), starts: time.Duration(random.Int64N(int64(12 * time.Minute)))}
			api[a.name] = Member{Name: a.name, ControlPlane: i < 3, Kubelet: "1.33"}
			actors = append(actors, a)
		}
		if seed%4 == 1 {
			actors[random.IntN(5)].skew = time.Duration(random.Int64N(int64(3*time.Minute))) - 90*time.Second
		}
		if seed%4 == 2 {
			from := 12*time.Minute + time.Duration(random.Int64N(int64(5*time.Minute)))
			actors[random.IntN(5)].down = [2]time.Duration{from, from + 2*time.Minute}
		}
		changed := func(a *actor) bool { return a.changed > 0 }
		for now := time.Duration(0); now < 40*time.Minute && len(slices.DeleteFunc(slices.Clone(actors), changed)) > 0; now += tick {
			for _, a := range actors {
				a.reconcile(now, api, was, random, late)
			}
		}
		will += check(t, seed, actors, late+2*tick+time.Second, seed%4 == 0 || seed%4 == 3)
	}
	if will < 18 {
		t.Errorf("in %d of 24 clusters only all changed together", will)
	}
}

// reconcile is one round of a node.
func (a *actor) reconcile(now time.Duration, api map[string]Member, p plan.Plan, random *rand.Rand, late time.Duration) {
	if now < a.starts || now >= a.down[0] && now < a.down[1] {
		a.room = nil
		return
	}
	if a.room == nil {
		a.room = New(p, Usual(), a.kept)
	}
	if a.view == nil || random.Int64N(int64(late)) < int64(50*time.Millisecond) || now%late == 0 {
		a.view = nil
		for _, name := range []string{"n0", "n1", "n2", "n3", "n4"} {
			a.view = append(a.view, api[name])
		}
	}
	d := a.room.Decide(Observation{Now: noon.Add(now + a.skew), Self: a.name, Nodes: a.view, Holder: a.name == "n1"})
	a.kept = d.Memory
	if d.Announce {
		own := api[a.name]
		own.Intent = d.Intent
		api[a.name] = own
	}
	if d.Changed && a.changed == 0 {
		a.changed = now
	}
}

// check judges one cluster, whose nodes may all be well; 1 when all changed within a moment.
func check(t *testing.T, seed uint64, actors []*actor, moment time.Duration, well bool) int {
	t.Helper()
	first, last := time.Hour, time.Duration(0)
	for _, a := range actors {
		if a.changed == 0 {
			t.Errorf("seed %d: %s never changes", seed, a.name)
			return 0
		}
		back := a.changed - a.down[1]
		if rebooted := a.down[1] > 0 && back >= 0 && back <= moment; !rebooted {
			last = max(last, a.changed)
		}
		first = min(first, a.changed)
	}
	for _, a := range actors {
		if first < a.starts {
			t.Errorf("seed %d: one speaks the new way %s before %s knows it", seed, a.starts-first, a.name)
		}
	}
	if past := first % Usual().Every; well && past > 100*time.Millisecond {
		t.Errorf("seed %d: the first one changes %s after a multiple", seed, past)
	}
	if last-first > moment {
		t.Errorf("seed %d: the nodes change over %s", seed, last-first)
		return 0
	}
	return 1
}
