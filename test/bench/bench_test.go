package main

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/provisioning"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// begin is the instant of every fault here; after is so many ms later.
var begin = time.Unix(1000, 0)

func after(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }

func TestGaps(t *testing.T) {
	request := func(ms int, o traffic.Outcome) traffic.Request { return traffic.Request{Start: after(ms), Outcome: o} }
	var found sample
	gaps(&found, traffic.Requests{
		request(0, traffic.Served), request(10, traffic.Late), request(300, traffic.Served), request(390, traffic.Served), request(400, traffic.Reset), request(591, traffic.Served),
	})
	if found.outage != 300*time.Millisecond || found.dark != 501*time.Millisecond {
		t.Errorf("outage %v, dark %v, want 300ms and 501ms", found.outage, found.dark)
	}
}

func TestHeld(t *testing.T) {
	span := func(from, to int, holders ...string) lab.Span {
		return lab.Span{From: after(from), To: after(to), Holders: holders}
	}
	for _, tt := range []struct {
		name  string
		spans []lab.Span
		want  sample
	}{
		{"stays, and moved before", []lab.Span{span(-9000, -5000, "a"), span(-5000, 3000, "b")}, sample{}},
		{"moves with a hole", []lab.Span{span(-9000, 20, "a"), span(20, 320, []string{}...), span(320, 4000, "b")},
			sample{moves: 1, moved: 320 * time.Millisecond, noHolder: 300 * time.Millisecond}},
		{"moves with two", []lab.Span{span(-9000, 20, "a"), span(20, 30, "a", "b"), span(30, 4000, "b")},
			sample{moves: 1, moved: 30 * time.Millisecond, dual: 10 * time.Millisecond}},
		{"moves and comes back", []lab.Span{span(-10, 20, "a"), span(20, 40, "b"), span(40, 400, "a")}, sample{moves: 2, moved: 20 * time.Millisecond}},
		{"was with nobody when it began", []lab.Span{span(-90, -50, "a"), span(-50, 20, []string{}...), span(20, 400, "a")}, sample{noHolder: 20 * time.Millisecond}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got sample
			held(&got, begin, tt.spans)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestSum(t *testing.T) {
	sc := scenario{name: "power-loss", figure: outage}
	r := sum("lan", sc, []sample{
		{outage: 300 * time.Millisecond, dark: 400 * time.Millisecond, moved: 200 * time.Millisecond, requests: 100, failed: 20, failedMoved: 1},
		{outage: 100 * time.Millisecond, dual: 5 * time.Millisecond, requests: 100, failed: 10, faults: []string{"not orderly"}},
		{outage: 200 * time.Millisecond, moved: 250 * time.Millisecond, requests: 100},
		{outage: 250 * time.Millisecond, requests: 100, moves: 1},
	})
	want := result{
		Profile: "lan", Scenario: "power-loss", Figure: outage, Runs: 4, MinMs: 100, MedianMs: 225, MaxMs: 300, DarkMax: 400, Failed: 30, Requests: 400, DualMax: 5,
		Moves: 1, MovedMedian: 225, MovedMax: 250, FailedMax: 20, FailedMoved: 1, Orderly: 3,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if got := sum("lan", scenario{figure: known}, []sample{{value: time.Second, outage: time.Hour}}); got.MaxMs != 1000 {
		t.Errorf("a figure of its own is %v ms, want 1000", got.MaxMs)
	}
	late := sum("lan", scenario{figure: lastLate}, []sample{{lastBad: time.Second, outage: time.Hour, cut: 50}, {lastBad: 2 * time.Second, cut: 30}})
	if late.MinMs != 1000 || late.MaxMs != 2000 || late.CutMin != 30 || late.CutMax != 50 {
		t.Errorf("the last late request after %v to %v ms, %d to %d watches cut", late.MinMs, late.MaxMs, late.CutMin, late.CutMax)
	}
}

func TestBoundOf(t *testing.T) {
	p := plan.Plan{Timing: plan.Timing{Bounds: []bound.Bound{{Scenario: "reboot", Ms: 9, DarkMs: 3}}}}
	for _, tt := range []struct {
		sc   scenario
		want int
	}{{scenario{name: "reboot", figure: outage}, 3}, {scenario{name: "reboot", figure: known}, 9}, {scenario{name: "handover", figure: outage}, 0}} {
		if got := boundOf(p, tt.sc); got != tt.want {
			t.Errorf("%s by %s is %d, want %d", tt.sc.name, tt.sc.figure, got, tt.want)
		}
	}
}

// TestLateness has two hosts announce to two peers: one interval late is an advert that was lost,
// and a new speaker is not a late one.
func TestLateness(t *testing.T) {
	a, b, c := netip.MustParseAddr("192.0.2.21"), netip.MustParseAddr("192.0.2.22"), netip.MustParseAddr("192.0.2.23")
	advert := func(ms int, from, to netip.Addr, priority int) lab.Advert {
		return lab.Advert{At: after(ms), From: from, To: to, ID: 7, Priority: priority}
	}
	var l load
	l.lateness([]lab.Advert{
		advert(0, a, b, 100), advert(99, a, b, 100), advert(202, a, b, 100), advert(402, a, b, 100), advert(402, a, c, 100), advert(410, a, b, 0),
		advert(2000, b, a, 90), advert(2000, b, c, 90), advert(2130, b, a, 90),
	}, 100*time.Millisecond)
	want := load{Senders: 1, Adverts: 4, LateMax: 100, Late: make([]int, len(limits)+1)}
	for _, late := range []int{0, 3, 100, 30} {
		want.Late[bucket(time.Duration(late)*time.Millisecond)]++
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got  %+v\nwant %+v", l, want)
	}
	if got := bucket(time.Hour); got != len(limits) {
		t.Errorf("an hour is in column %d", got)
	}
}

// TestRouted holds that lines which tests wrote come to the file and the table.
func TestRouted(t *testing.T) {
	var sum figures.Sum
	sum.Add(300*time.Millisecond, 9, 100)
	sum.Add(0, 0, 100)
	sum.Add(340*time.Millisecond, 12, 100)
	var text []byte
	for _, l := range []figures.Line{
		{Profile: "bgp/lan", Scenario: figures.AtRest, CPU: 1.25, RSS: 43_008, Seconds: 60}, sum.Line("bgp/lan", figures.PowerLoss, 420*time.Millisecond),
	} {
		line, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	var out bytes.Buffer
	r := &run{out: &out}
	if err := r.readRouted(text); err != nil {
		t.Fatal(err)
	}
	if out.String() != string(text) {
		t.Errorf("%q, want %q", out.String(), text)
	}
	var rows []string
	for row := range strings.Lines(routedTable(r.routed)) {
		rows = append(rows, strings.Join(strings.Fields(row), " "))
	}
	for _, want := range []string{"bgp-power-loss bgp/lan 3 - 300 340 420 21/300 12", "bgp-steady bgp/lan 0 - - - - 0/0 0 1.2 % of a core and 42.0 MB for 60 s"} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row %q in %q", want, rows)
		}
	}
	if err := r.readRouted([]byte("{")); err == nil {
		t.Error("half a line is read")
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string // of the error, or empty
	}{
		{"", ""},
		{"-run power-loss|load -profile vm -n 3 -nodes 3,10", ""},
		{"-run powerloss", "none of that name"},
		{"-run power", "none of that name"},
		{"-run (", "-run"},
		{"-profile quick", `no profile "quick"`},
		{"-profile bgp,lan -run bgp-power-loss", ""},
		{"-n 0", "one repetition"},
		{"-hosts 0", "one bare machine"},
		{"-nodes 3,x", "no number of Nodes"},
		{"more", "no arguments"},
	} {
		_, err := parse(strings.Fields(tt.args))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	o, err := parse([]string{"-run", "reboot"})
	if err != nil {
		t.Fatal(err)
	}
	if chosen := slices.DeleteFunc(names(), func(name string) bool { return !o.only.MatchString(name) }); !slices.Equal(chosen, []string{"reboot"}) {
		t.Errorf("-run reboot chooses %v", chosen)
	}
	if all, _ := parse(nil); !all.only.MatchString("load") || !all.only.MatchString("power-loss") {
		t.Error("without -run not all is measured")
	}
	for args, want := range map[string][2]int{"": {10, 5}, "-n 7": {7, 7}} {
		if o, err := parse(strings.Fields(args)); err != nil || o.runs != want[0] || o.installs != want[1] {
			t.Errorf("%q: %d repetitions and %d installations, %v, want %v", args, o.runs, o.installs, err, want)
		}
	}
	if all := names(); all[len(all)-1] != installing {
		t.Errorf("the longest is not the last one: %v", all)
	}
}

// TestBesides measures nothing of elections where routers alone are chosen.
func TestBesides(t *testing.T) {
	for args, want := range map[string][]string{
		"":                             {steady, scaling, loaded, installing},
		"-profile bgp":                 nil,
		"-profile bgp,lan -run load":   {loaded},
		"-profile lan -run power-loss": nil,
	} {
		o, err := parse(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range (&run{options: o}).besides() {
			got = append(got, p.name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q measures %v, want %v", args, got, want)
		}
	}
}

// TestSumStages has each stage of three installations by itself, and nothing of none.
func TestSumStages(t *testing.T) {
	var all []map[provisioning.Stage]time.Duration
	for _, n := range []time.Duration{70, 50, 60} {
		all = append(all, map[provisioning.Stage]time.Duration{provisioning.Inspect: n * time.Second, provisioning.AllOff: (300 - n) * time.Second})
	}
	found := sumStages(2, 1, all)
	if len(found) != len(provisioning.Stages()) {
		t.Fatalf("%d stages", len(found))
	}
	want := stageResult{Scenario: installing, Stage: "inspect", Hosts: 2, Runs: 3, MinMs: 50e3, MedianMs: 60e3, MaxMs: 70e3, Errors: 1}
	if got := found[slices.Index(provisioning.Stages(), provisioning.Inspect)]; got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if found := sumStages(2, 1, nil); found != nil {
		t.Errorf("of nothing: %v", found)
	}
}

// TestTables has every table show what it was given, a line for each profile.
func TestTables(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"results": {resultTable([]result{{Profile: "lan", Scenario: "reboot", Figure: outage, Runs: 3, Orderly: 2, MaxMs: 41, Errors: 1}, {Profile: "compat", Scenario: "reboot", MaxMs: 3000}}),
			[]string{"reboot", "lan", "41", "orderly", "2 of 3 orderly", "1 repetitions did not end", "compat", "3000"}},
		"targets": {resultTable([]result{{Profile: "lan", Scenario: "power-loss"}, {Profile: "fast", Scenario: "power-loss"}, {Profile: "lan", Scenario: "cold-start"}, {Profile: "lan", Scenario: "api-hang", Figure: lastLate}}),
			[]string{"370", "180", "800", "700", "last late request"}},
		"costs": {costTable([]cost{{Profile: "lan", Seconds: 60, Execs: 4, VIP: 0.7, Own: 60 << 10, Processes: []use{{Container: "keepalived/keepalived", Program: "keepalived", CPU: 0.25, RSS: 4000}}}}),
			[]string{"lan", "0.70", "60.0", "keepalived/keepalived", "0.25", "4000"}},
		"costs, lost": {costTable([]cost{{Profile: "lan", Seconds: 60, Execs: 4, Lost: 1}}), []string{"4 or more"}},
		"scale":       {scaleTable([]scale{{Profile: "vm", Host: "worker-0", Nodes: 5000, RSS: map[string]int{"keepalived/keepalived-monitor": 31000}}}), []string{"vm", "worker-0", "5000", "31000"}},
		"stages":      {stageTable([]stageResult{{Stage: "first-boot", Hosts: 2, Runs: 3, MinMs: 61e3, MedianMs: 90e3, MaxMs: 120e3, Errors: 4}}), []string{"first-boot", "hosts 2, runs 3, did not end 4", "1 m 1 s   1 m 30 s   2 m"}},
		"load":        {loadTable([]load{{Profile: "lan", Load: "16 forking loops", Late: make([]int, len(limits)+1), LateMax: 12.5}}), []string{"16 forking loops", "12.5"}},
	} {
		for _, want := range tt.want {
			if !strings.Contains(tt.text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, tt.text)
			}
		}
	}
	if text := resultTable(nil) + costTable(nil) + scaleTable(nil) + loadTable(nil) + stageTable(nil); text != "" {
		t.Errorf("of nothing: %q", text)
	}
}

// TestDraw has the page show the table, and the worst repetition; without a scenario there is no
// page.
func TestDraw(t *testing.T) {
	sc := scenario{name: "reboot", figure: outage}
	samples := []sample{{outage: time.Second}, {outage: 3 * time.Second}, {outage: 2 * time.Second}}
	for i := range samples {
		samples[i].picture = timeline.Timeline{Title: "reboot of " + samples[i].outage.String(), End: time.Second, Lanes: []timeline.Lane{{Name: "master-1"}}}
	}
	r := run{results: []result{sum("lan", sc, samples)}, pictures: []timeline.Timeline{worst(sc, samples).picture}}
	path := filepath.Join(t.TempDir(), "bench.html")
	if err := r.draw(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"reboot of 3s", "master-1", `<td class="number">3000</td>`, "orderly"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	none := filepath.Join(t.TempDir(), "none.html")
	if err := (&run{}).draw(none); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("there is a page of nothing")
	}
}

// TestBeside counts what failed at the same time as others did.
func TestBeside(t *testing.T) {
	request := func(from, to int) traffic.Request {
		return traffic.Request{Start: after(from), End: after(to), Outcome: traffic.Late}
	}
	bad := traffic.Requests{request(0, 200), request(10, 210), request(300, 500), request(900, 901)}
	for _, tt := range []struct {
		name   string
		others traffic.Requests
		want   int
	}{
		{"nobody", nil, 0},
		{"one at two of them", traffic.Requests{request(205, 290)}, 1},
		{"one all the time", traffic.Requests{request(-100, 1000)}, 4},
		{"before and after", traffic.Requests{request(-100, 0), request(210, 300), request(901, 1000)}, 0},
	} {
		if got := beside(bad, tt.others); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestDiffers holds repetitions against a bracket, and the brackets of all scenarios against what a
// bracket is worth.
func TestDiffers(t *testing.T) {
	c := computed{noHolder: span{200 * time.Millisecond, 300 * time.Millisecond}, figure: 350 * time.Millisecond}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, tt := range []struct {
		name             string
		scenario         string
		noHolder, outage int
		want             int
	}{
		{"everybody lost power", "cold-start", 3000, 300, 0},
		{"inside", "power-loss", 250, 300, 0},
		{"a client who waits less", "power-loss", 250, 90, 0},
		{"a client who waits longer", "power-loss", 250, 370, 1},
		{"a holder too soon", "power-loss", 130, 300, 1},
		{"as late as programs are", "power-loss", 345, 355, 0},
		{"a holder too late, and so the client", "power-loss", 360, 400, 2},
		{"a figure of its own", memberChanges, 250, 9000, 0},
		{"a last request in time", "api-hang", 250, 350, 0},
		{"a last request that is late", "api-hang", 250, 370, 1},
	} {
		s := sample{noHolder: ms(tt.noHolder), outage: ms(tt.outage)}
		if tt.scenario == "api-hang" {
			s.outage, s.lastBad = 0, s.outage
		}
		i := slices.IndexFunc(scenarios(), func(sc scenario) bool { return sc.name == tt.scenario })
		if got := c.differs(scenarios()[i], s); len(got) != tt.want {
			t.Errorf("%s: %v, want %d", tt.name, got, tt.want)
		}
	}
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	p := plan.Plan{}
	p.Timing.Model, p.VRRP.ControlPlane = timing, plan.PriorityScheme{Base: timing.Policy().ControlPlane.Base}
	for _, sc := range scenarios() {
		got, ok := compute(p, sc)
		if !ok || got.figure <= 0 || got.noHolder.most < got.noHolder.least {
			t.Errorf("%s: %+v, %t", sc.name, got, ok)
		}
		if width := got.noHolder.most - got.noHolder.least; width > timing.Advert+vrrp.Skew(timing.IPv4, 1, timing.Advert) {
			t.Errorf("%s: between %v and %v nobody holds the VIP: that says too little", sc.name, got.noHolder.least, got.noHolder.most)
		}
	}
	if _, ok := compute(p, scenario{name: "flood"}); ok {
		t.Error("what nobody can simulate is computed")
	}
}
