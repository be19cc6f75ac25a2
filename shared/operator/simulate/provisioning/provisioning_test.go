package provisioning

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

// TestScenarios holds that each scenario happens in each kind of cluster, costs time or not as it
// should, and breaks no rule.
func TestScenarios(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		c, err := schedule.Of(provisioned.Plan(t, sharing))
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]Row{}
		for _, s := range Scenarios() {
			row, ok := Measure(s, c, 1, 20)
			if !ok || !row.OK || row.Runs != 20 || row.Min <= 0 || row.Min > row.Median || row.Median > row.Max || row.Nodes >= row.Max {
				t.Errorf("%s, %s: %t, %+v", sharing, s.Name, ok, row)
			}
			rows[s.Name] = row
			if s.fault == nil {
				continue
			}
			f, _ := s.fault(c)
			r, _ := s.Run(c, 1)
			happened := false
			for _, n := range r.Notes {
				happened = happened || n.What == string(f.Kind)
			}
			if _, reached := r.Marks[f.After]; !happened || f.After != "" && !reached {
				t.Errorf("%s, %s: %v did not happen:\n%s", sharing, s.Name, f, r.Text())
			}
		}
		for _, slower := range []string{"bootstrap-power-deploy", "node-power-writing", "worker-power-writing", "holder-power-loss", "boot-network-bootstrap"} {
			if rows[slower].Median <= rows["install"].Median {
				t.Errorf("%s, %s costs nothing: %+v", sharing, slower, rows[slower])
			}
		}
		if rows["install"].Wasted > 0 || rows["boot-network-bootstrap"].Wasted == 0 || rows["install"].Silence > 1 || rows["boot-network-bootstrap"].Silence < 60 {
			t.Errorf("%s: %+v and %+v", sharing, rows["install"], rows["boot-network-bootstrap"])
		}
	}
}

// TestMeasure_Without holds that a cluster without workers has no scenario about them.
func TestMeasure_Without(t *testing.T) {
	p := provisioned.Plan(t, "one")
	p.Provisioning.Hosts = p.Provisioning.Hosts[:3]
	c, err := schedule.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"install": true, "holder-power-loss": false, "worker-power-writing": false} {
		s, _ := Find(name)
		if row, ok := Measure(s, c, 1, 2); ok != want || !row.OK && ok {
			t.Errorf("%s: %t, %+v", name, ok, row)
		}
	}
}

// TestTable holds that a broken rule is a FAIL, with the schedule that runs it again.
func TestTable(t *testing.T) {
	c, err := schedule.Of(provisioned.Plan(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	tally := newTally("install")
	tally.add(world.Result{Joined: 10 * time.Second, Nodes: time.Second, Broken: []world.Broken{{At: time.Second, Rule: "I9 a rule", Why: "a reason"}}, Schedule: schedule.Schedule{Seed: 4}})
	tally.add(world.Result{Joined: -1, Nodes: -1, Blocked: []string{"m0: a reason"}})
	rows := []Row{tally.done()}
	for text, want := range map[string]string{
		Table(100, rows): "FAIL: 1 of 1: install", strings.Join(Failures(c, rows), "\n"): "install: 1s I9 a rule: a reason (seed 4)\nsimulate --provisioning --schedule FILE runs it again, with this in FILE:\nseed 4\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %q", text, want)
		}
	}
	random := Random(c, 3, 50, func(int) {})
	if !random.OK || random.Runs != 50 || strings.Contains(Table(100, []Row{random}), "FAIL") || len(Failures(c, []Row{random})) > 0 {
		t.Errorf("%+v", random)
	}
	broken := Failures(c, []Row{{Scenario: "random", Broken: []string{"a rule (seed 7)"}}})
	if got, want := strings.Join(broken, "\n"), schedule.Random(7, c).String(); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
