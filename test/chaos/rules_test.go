package chaos

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
)

const ms = time.Millisecond

// fast are bounds like those of lan.
var fast = Bounds{Two: 200 * ms, None: 350 * ms, Astray: time.Second, Recovers: 3 * time.Second, Calm: 600 * ms, Advert: 100 * ms, Ranked: true}

// held writes holdings one after the other: from 0 on, each until the next one's beginning, the
// last one until 20 s.
func held(holdings ...Holding) []Holding {
	for i := range holdings {
		holdings[i].To = 20 * time.Second
		if i+1 < len(holdings) {
			holdings[i].To = holdings[i+1].From
		}
	}
	return holdings
}

func by(from time.Duration, hosts ...string) Holding { return Holding{From: from, Hosts: hosts} }

func act(kind schedule.Kind, host string, began, ended time.Duration) Act {
	return Act{Fault: schedule.Fault{At: began, Kind: kind, Host: host}, Began: began, Ended: ended}
}

func sendsTo(neighbour, at string, from, to time.Duration) Belief {
	return Belief{Neighbour: neighbour, Host: at, From: from, To: to}
}

// story is a record of one VIP, beside one to which nothing happens.
type story struct {
	Closed  bool
	Acts    []Act
	States  map[string][]State
	Holders []Holding
	Beliefs []Belief
	Takes   []Take
	Adverts []Advert
}

// TestJudge gives each rule what breaks it, and what just does not.
func TestJudge(t *testing.T) {
	const s = time.Second
	off, cut, back := schedule.PowerOff, schedule.CutOut, schedule.KillKeepalived
	for _, tt := range []struct {
		name string
		story
		change func(*Bounds)
		want   []trace.Rule
	}{
		{name: "nothing happens", story: story{Holders: held(by(0, "a"))}},
		{name: "two for as long as they may", story: story{Holders: held(by(0, "a"), by(s, "a", "b"), by(1270*ms, "a"))}},
		{name: "two for longer", story: story{Holders: held(by(0, "a"), by(s, "a", "b"), by(1271*ms, "a"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two for longer, by turns beside a third", want: []trace.Rule{trace.OneHolder},
			story: story{Holders: held(by(0, "a"), by(s, "a", "b"), by(1200*ms, "a", "b", "c"), by(1300*ms, "a", "b"), by(1301*ms, "a"))}},
		{name: "two who do not hear each other", story: story{Acts: []Act{act(cut, "a", s, 4*s)},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4200*ms, "b"))}},
		{name: "two who hear each other again", story: story{Acts: []Act{act(cut, "a", s, 4*s)},
			Adverts: []Advert{{4*s + ms, "b", "a", 150}, {4*s + 2*ms, "a", "c", 140}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4300*ms, "b"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two, the better of whom does not find the other yet", story: story{Acts: []Act{act(cut, "a", s, 4*s)},
			Adverts: []Advert{{4*s + ms, "b", "a", 150}, {4*s + 2*ms, "a", "c", 160}, {4600 * ms, "a", "b", 160}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4870*ms, "b"))}},
		{name: "two, the better of whom has found the other", story: story{Acts: []Act{act(cut, "a", s, 4*s)},
			Adverts: []Advert{{4*s + ms, "b", "a", 150}, {4*s + 2*ms, "a", "c", 160}, {4600 * ms, "a", "b", 160}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4871*ms, "b"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two, the better of whom never finds the other", story: story{Acts: []Act{act(cut, "a", s, 4*s)},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(5271*ms, "b"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two, the better of whom cannot have forgotten the other", story: story{Acts: []Act{act(cut, "a", s, 3900*ms)},
			Adverts: []Advert{{4 * s, "b", "a", 150}, {4*s + ms, "a", "c", 160}, {4600 * ms, "a", "b", 160}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4171*ms, "b"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two who did not hear each other for long, by two faults", story: story{Acts: []Act{act(cut, "a", s, 3*s), act(cut, "b", 2900*ms, 4*s)},
			Adverts: []Advert{{4*s + ms, "b", "a", 150}, {4*s + 2*ms, "a", "c", 160}, {4600 * ms, "a", "b", 160}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4870*ms, "b"))}},
		{name: "two who did not hear each other twice, but not for long", story: story{Acts: []Act{act(cut, "a", s, 2*s), act(cut, "b", 2100*ms, 4*s)},
			Adverts: []Advert{{4*s + ms, "b", "a", 150}, {4*s + 2*ms, "a", "c", 160}, {4600 * ms, "a", "b", 160}},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(2010*ms, "b"), by(2400*ms, "a", "b"), by(4870*ms, "b"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two who could always find each other", want: []trace.Rule{trace.OneHolder},
			story: story{Adverts: []Advert{{3 * s, "a", "b", 160}}, Holders: held(by(0, "a"), by(s, "a", "b"), by(1271*ms, "a"))}},
		{name: "two of whom a third does not hear", story: story{Acts: []Act{act(cut, "c", s, 4*s)},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(4200*ms, "a"))}, want: []trace.Rule{trace.OneHolder}},
		{name: "two, one of them left behind by who was killed", story: story{Acts: []Act{act(back, "a", s, 2100*ms)},
			Holders: held(by(0, "a"), by(1400*ms, "a", "b"), by(2200*ms, "b"))}},
		{name: "two while a late packet is on its way", story: story{Acts: []Act{{Fault: schedule.Fault{Kind: schedule.Delay, Host: "c", Amount: 40}}},
			Holders: held(by(0, "a"), by(s, "a", "b"), by(1310*ms, "a"))}},
		{name: "none for as long as that may be", story: story{Acts: []Act{act(off, "a", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1420*ms, "b"))}},
		{name: "none for longer", story: story{Acts: []Act{act(off, "a", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1421*ms, "b"))},
			want: []trace.Rule{trace.SomeHolder}},
		{name: "none for longer, and all but one are hurt", want: []trace.Rule{trace.SomeHolder},
			story: story{Acts: []Act{act(off, "a", s, 9*s), act(off, "b", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1421*ms, "c"))}},
		{name: "none for longer, and all are hurt", story: story{Acts: []Act{act(off, "a", s, 9*s), act(back, "b", 1100*ms, 9*s), act(off, "c", 1200*ms, 9*s)},
			Holders: held(by(0, "a"), by(s), by(1500*ms, "c"))}},
		{name: "none for longer, and one has not recovered yet", story: story{
			Acts: []Act{act(off, "a", s, 2*s), act(off, "b", 6*s, 9*s), act(off, "c", 6*s, 9*s)}, States: map[string][]State{"a": {{At: 0, Able: true}, {At: s}, {At: 7 * s, Able: true}}},
			Holders: held(by(0, "b"), by(6*s), by(6900*ms, "a"))}},
		{name: "none for longer, and one has recovered", want: []trace.Rule{trace.SomeHolder}, story: story{
			Acts: []Act{act(off, "a", s, 2*s), act(off, "b", 6*s, 9*s), act(off, "c", 6*s, 9*s)}, States: map[string][]State{"a": {{At: 0, Able: true}, {At: s}, {At: 4 * s, Able: true}}},
			Holders: held(by(0, "b"), by(6*s), by(6900*ms, "a"))}},
		{name: "none before the first one", story: story{Holders: held(by(-s), by(0, "a"))}},
		{name: "a fault that could not be done is none", want: []trace.Rule{trace.NoNeed}, story: story{Holders: held(by(0, "a"), by(s, "b")),
			Acts: []Act{{Fault: schedule.Fault{Kind: off, Host: "a"}, Began: s, Ended: s, Skipped: "busy"}}}},
		{name: "taken from who is well", story: story{Holders: held(by(0, "a"), by(s, "a", "b"), by(1010*ms, "b"))}, want: []trace.Rule{trace.NoNeed}},
		{name: "taken from who is well, where nobody promises otherwise", story: story{Holders: held(by(0, "a"), by(s, "a", "b"), by(1010*ms, "b"))},
			change: func(b *Bounds) { b.Ranked = false }},
		{name: "taken by who comes back", want: []trace.Rule{trace.NoNeed}, story: story{Acts: []Act{act(off, "a", s, 5*s)},
			Holders: held(by(0, "a"), by(s), by(1300*ms, "b"), by(6*s, "a", "b"), by(6010*ms, "a"))}},
		{name: "taken from who is not", story: story{Acts: []Act{act(schedule.KillLB, "a", 900*ms, 900*ms)}, Holders: held(by(0, "a"), by(s, "b"))}},
		{name: "taken from whom another server serves", want: []trace.Rule{trace.NoNeed},
			story: story{Acts: []Act{act(schedule.KillAPI, "a", 900*ms, 3*s)}, Holders: held(by(0, "a"), by(s, "b"))}},
		{name: "taken from whom no server serves", story: story{Holders: held(by(0, "a"), by(3*s, "b")),
			Acts: []Act{act(schedule.KillAPI, "a", 900*ms, 9*s), act(schedule.StopAPI, "b", s, 9*s), act(off, "c", s, 9*s)}}},
		{name: "taken from who is busy", want: []trace.Rule{trace.NoNeed},
			story: story{Acts: []Act{act(schedule.Hog, "a", 900*ms, 3*s)}, Holders: held(by(0, "a"), by(s, "b"))}},
		{name: "taken from who has it for a moment", story: story{Acts: []Act{act(off, "a", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1300*ms, "b"), by(1310*ms, "c"))}},
		{name: "taken by who was deaf a moment ago", story: story{Acts: []Act{act(cut, "b", s, 2*s)}, Holders: held(by(0, "a"), by(2100*ms, "b"))}},
		{name: "taken by who was deaf a while ago", want: []trace.Rule{trace.NoNeed},
			story: story{Acts: []Act{act(cut, "b", s, 2*s)}, Holders: held(by(0, "a"), by(2700*ms, "b"))}},
		{name: "two of one priority at once", story: story{Holders: held(by(0, "a")), Takes: []Take{{s, "b", 130}, {s + 59*ms, "c", 130}}},
			want: []trace.Rule{trace.OneTaker}},
		{name: "one after the other", story: story{Holders: held(by(0, "a")), Takes: []Take{{s, "b", 130}, {s + 60*ms, "c", 130}}}},
		{name: "two of different ranks at once", story: story{Holders: held(by(0, "a")), Takes: []Take{{s, "b", 130}, {s + ms, "c", 124}}}},
		{name: "a neighbour that learns in time", story: story{Acts: []Act{act(off, "a", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1300*ms, "b")),
			Beliefs: []Belief{sendsTo("n", "a", 0, 2370*ms), sendsTo("n", "b", 2370*ms, 20*s)}}},
		{name: "a neighbour that does not", story: story{Acts: []Act{act(off, "a", s, 9*s)}, Holders: held(by(0, "a"), by(s), by(1300*ms, "b")),
			Beliefs: []Belief{sendsTo("m", "b", 0, 20*s), sendsTo("n", "a", 0, 2371*ms), sendsTo("n", "b", 2371*ms, 20*s)}}, want: []trace.Rule{trace.Neighbours}},
		{name: "a neighbour that knows nothing", story: story{Holders: held(by(0, "a")), Beliefs: []Belief{sendsTo("n", "", 0, 20*s)}}},
		{name: "a neighbour that cannot be told", story: story{Acts: []Act{act(cut, "b", 500*ms, 5*s), act(off, "a", s, 9*s)},
			Holders: held(by(0, "a"), by(s), by(1300*ms, "b")), Beliefs: []Belief{sendsTo("n", "a", 0, 6*s), sendsTo("n", "b", 6*s, 20*s)}}},
		{name: "closed gates", story: story{Closed: true, Holders: held(by(0, "bootstrap"))}},
		{name: "a node that takes it before", story: story{Closed: true, Holders: held(by(0, "bootstrap"), by(s, "bootstrap", "b"))},
			want: []trace.Rule{trace.Gate}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := fast
			if tt.change != nil {
				tt.change(&b)
			}
			record := Record{Nodes: []string{"a", "b", "c"}, End: 20 * s, Closed: tt.Closed, Acts: tt.Acts, States: tt.States,
				Views: []View{{Holders: held(by(0, "a"))}, {Holders: tt.Holders, Beliefs: tt.Beliefs, Takes: tt.Takes, Adverts: tt.Adverts}}}
			if tt.Closed {
				record.Views[0].Holders = held(by(0, "bootstrap"))
			}
			var got []trace.Rule
			broken := Judge(record, b)
			for _, one := range broken {
				got = append(got, one.Rule)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v", broken)
			}
		})
	}
}

// TestRandom holds that a number is a schedule, always the same one, that can be written and read
// and that the lab can run.
func TestRandom(t *testing.T) {
	hosts, seen := []string{"a", "b", "c"}, map[schedule.Kind]bool{}
	for seed := range uint64(300) {
		for _, throw := range []func(uint64, []string) schedule.Schedule{Random, Gated} {
			s := throw(seed, hosts)
			if again := throw(seed, hosts); !reflect.DeepEqual(s, again) {
				t.Fatalf("seed %d is\n%sand\n%s", seed, s, again)
			}
			read, err := schedule.Parse(s.String())
			if err != nil || !reflect.DeepEqual(read, s) {
				t.Fatalf("%v: %s is read as\n%s", err, s, read)
			}
			boots := 0
			for _, f := range s.Faults {
				v, known := verbs[f.Kind]
				if !known || f.At+f.For > s.Length || v.undo != nil && f.For == 0 {
					t.Errorf("seed %d: %v", seed, f)
				}
				if v.class == power {
					boots++
				}
				seen[f.Kind] = true
			}
			if boots > 1 || s.Length > 12*time.Second {
				t.Errorf("seed %d has %d boots in %v", seed, boots, s.Length)
			}
		}
		if text := Gated(seed, hosts).String(); strings.Contains(text, schedule.Holder) {
			t.Errorf("of the nodes none holds it while the gates are closed:\n%s", text)
		}
	}
	for kind := range verbs {
		if !seen[kind] {
			t.Errorf("%s never happens", kind)
		}
	}
}

// TestTakes distinguishes a host that begins to advertise from one that did so all the time, and
// from releases.
func TestTakes(t *testing.T) {
	at := func(when time.Duration, node string, priority int) Advert {
		return Advert{At: when * ms, From: node, Priority: priority}
	}
	adverts := []Advert{at(-20, "a", 160), at(80, "a", 160), at(90, "a", 0), at(130, "b", 140), at(230, "b", 170), at(600, "c", 150), at(730, "a", 160), at(1231, "a", 190)}
	want := []Take{{600 * ms, "c", 150}, {730 * ms, "a", 160}, {1231 * ms, "a", 190}}
	if got := takes(adverts, 500*ms); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := takes(nil, 500*ms); got != nil {
		t.Errorf("%v of nothing", got)
	}
}

func TestWithout(t *testing.T) {
	for _, tt := range []struct{ spans, others, want []span }{
		{[]span{{0, 10}}, nil, []span{{0, 10}}},
		{[]span{{0, 10}}, []span{{2, 3}, {5, 12}}, []span{{0, 2}, {3, 5}}},
		{[]span{{0, 10}}, []span{{-1, 11}}, nil},
		{[]span{{0, 10}, {20, 30}}, []span{{5, 25}}, []span{{0, 5}, {25, 30}}},
		{[]span{{0, 10}}, []span{{4, 6}, {5, 8}}, []span{{0, 4}, {8, 10}}},
		{[]span{{5, 10}}, []span{{0, 2}, {12, 14}}, []span{{5, 10}}},
	} {
		if got := without(tt.spans, tt.others); !slices.Equal(got, tt.want) {
			t.Errorf("%v without %v: %v, want %v", tt.spans, tt.others, got, tt.want)
		}
	}
}
