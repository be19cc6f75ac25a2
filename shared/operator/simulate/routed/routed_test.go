package routed

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

func cluster(t testing.TB, fabric string) schedule.Cluster {
	t.Helper()
	c, err := schedule.Of(racks.Fabrics()[fabric].Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// understated are scenarios whose bound in the plan is below what is computed, each with the reason, by
// fabric; empty for every one.
var understated = map[string]string{}

// TestScenarios holds that each scenario happens in each fabric that has what it is about, and breaks
// neither a rule nor a bound.
func TestScenarios(t *testing.T) {
	const runs = 10
	for fabric := range racks.Fabrics() {
		c := cluster(t, fabric)
		rows := map[string]Row{}
		for _, s := range Scenarios() {
			row, ok := Measure(s, c, 1, runs)
			if !ok {
				if s.Name != "bgp-router-loss" && (s.Name != "bgp-uplink-cut" || fabric != "one router") {
					t.Errorf("%s: there is nothing for %s", fabric, s.Name)
				}
				continue
			}
			known := understated[s.Name+" "] + understated[s.Name+" "+fabric]
			if !row.OK && known == "" || row.Runs != runs || row.Min > row.Median || row.Median > row.Max {
				t.Errorf("%s: %+v", fabric, row)
			}
			r, _ := s.Run(c, 1)
			happened := false
			for _, n := range r.Notes {
				happened = happened || n.What == string(s.kinds[0])
			}
			if !happened {
				t.Errorf("%s, %s did not happen:\n%s", fabric, s.Name, r.Text())
			}
			rows[s.Name] = row
		}
		for _, cheap := range []string{"bgp-graceful", "bgp-upgrade", "bgp-ingress-graceful", "bgp-handover", "bgp-zebra-kill", "bgp-monitor-kill", "bgp-monitor-kill-then", "bgp-monitor-restart", "bgp-one-path"} {
			if r := rows[cheap]; r.Dark > 0 {
				t.Errorf("%s, %s costs clients something: %+v", fabric, cheap, r)
			}
		}
		if r := rows["bgp-monitor-restart"]; r.Own+r.Others > 0 {
			t.Errorf("%s: a monitor that is replaced moves connections: %+v", fabric, r)
		}
		for _, dear := range []string{"bgp-power-loss", "bgp-node-down", "bgp-router-crash", "bgp-lb-crash"} {
			if r := rows[dear]; r.Share == 0 || r.Dark == 0 || r.Bound <= 0 || r.Own == 0 {
				t.Errorf("%s, %s costs nothing: %+v", fabric, dear, r)
			}
		}
	}
}

// TestAgreement holds that what is computed agrees with what was measured with real FRR in namespaces, ten times each:
// when the last connection failed of clients behind a spine. A busy machine alone makes the last of ten later, and of
// 200 computed ones the extremes lie further apart.
func TestAgreement(t *testing.T) {
	for _, tt := range []struct {
		scenario, fabric    string
		least, middle, most int
		near, far           int // the middle may be apart by the one, the extremes by the other
	}{
		// test/fabric, TestLongFigures, on a machine that did nothing else.
		{"bgp-power-loss", "two racks", 219, 340, 400, 50, 50},
		{"bgp-router-loss", "two racks", 270, 295, 360, 50, 50},
		{"bgp-power-loss", "three racks", 759, 840, 951, 50, 80}, // BFD of 3 x 300 ms
		// The same with a hold time of 3 s, and test/balanced: a node's HAProxy and API server end. Both on a busy one.
		{"bgp-power-loss", "without BFD", 2299, 2818, 3098, 150, 300},
		{"bgp-node-down", "two racks", 209, 312, 489, 50, 130},
	} {
		s, _ := Find(tt.scenario)
		row, ok := Measure(s, cluster(t, tt.fabric), 1, 200)
		apart := func(a, b int) int { return max(a-b, b-a) }
		if !ok || apart(row.Median, tt.middle) > tt.near || apart(row.Min, tt.least) > tt.far || apart(row.Max, tt.most) > tt.far {
			t.Errorf("%s, %s: computed %d, %d, %d ms; measured %d, %d, %d ms", tt.scenario, tt.fabric, row.Min, row.Median, row.Max, tt.least, tt.middle, tt.most)
		}
	}
}

// TestMeasure_Without holds that a cluster without ingress VIPs has no scenario about them.
func TestMeasure_Without(t *testing.T) {
	p := racks.Fabrics()["one rack"].Plan(t)
	p.VIPs.Ingress = nil
	c, err := schedule.Of(p, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"bgp-power-loss": true, "bgp-router-crash": false, "bgp-ingress-graceful": false} {
		s, _ := Find(name)
		if row, ok := Measure(s, c, 1, 2); ok != want || !row.OK && ok {
			t.Errorf("%s: %t, %+v", name, ok, row)
		}
	}
}

// TestTable holds that a broken rule and a broken bound are a FAIL, with the schedule that runs it
// again.
func TestTable(t *testing.T) {
	c := cluster(t, "two racks")
	one := NewTally(c, "bgp-power-loss")
	cost := world.Cost{Flows: 10, Share: 5, Own: 3, Others: 1}
	cost.Dark[0], cost.Last[0] = time.Second, time.Second
	one.Add(world.Result{Cost: cost, Broken: []world.Broken{{At: time.Second, Rule: "R9 a rule", Why: "a reason"}}, Schedule: schedule.Schedule{Seed: 4}})
	one.Within(bound.Bound{Ms: 480, DarkMs: 480})
	two := NewTally(c, Random)
	two.Add(world.Result{Broken: []world.Broken{{Rule: "R9 a rule", Why: "a reason"}}, Schedule: schedule.Schedule{Seed: 7}})
	rows := []Row{one.Done(), two.Done()}
	_, seven := schedule.Trial(7, c)
	for _, want := range []string{
		"FAIL: 2 of 2: bgp-power-loss, random", "bgp-power-loss  FAIL  50 %", "1 random schedules, 1 rules broken",
		"bgp-power-loss: 1s R9 a rule: a reason (seed 4)\nsimulate --schedule FILE runs it again, with this in FILE:\nseed 4\nlength ",
		"a client fails for 1000 ms, but the plan's bound is 480 ms (grain 20 ms)", "FILE:\n" + seven.String(),
	} {
		if text := Table(100, rows) + strings.Join(Failures(c, rows), "\n"); !strings.Contains(text, want) {
			t.Errorf("%s\nwant %q", text, want)
		}
	}
	good := Trials(c, 3, 50, func(int) {})
	if !good.OK || good.Runs != 50 || strings.Contains(Table(100, []Row{good}), "FAIL") || len(Failures(c, []Row{good})) > 0 {
		t.Errorf("%+v", good)
	}
}

// TestForSchedule holds that a schedule brings the bootstrap machine if it names one.
func TestForSchedule(t *testing.T) {
	for text, want := range map[string]bool{"1s reboot master-0": false, "1s join master-0": true, "1s end-api bootstrap": true, "1s cut bootstrap/leaf-0-0": true} {
		s, err := schedule.Parse("length 20s\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := ForSchedule(cluster(t, "two racks"), s); err != nil || c.Bootstrap != want || c.Flows == 0 {
			t.Errorf("%s: %+v, %v", text, c.Bootstrap, err)
		}
	}
}
