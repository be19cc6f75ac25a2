package both

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

func cluster(t testing.TB, fabric string) schedule.Cluster {
	t.Helper()
	c, err := ClusterOf(racks.Elected()[fabric].Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestScenarios holds that each scenario happens in each fabric that has what it is about, and breaks
// neither a rule nor a bound of either kind of clients.
func TestScenarios(t *testing.T) {
	const runs = 10
	for fabric := range racks.Elected() {
		c := cluster(t, fabric)
		free := map[string]bool{"graceful": true, "reboot": true, "handover": true, "vrrp-to-both": true, "both-to-vrrp": true, "bgp-upgrade": true}
		for _, s := range Scenarios() {
			if !s.Has(c.Plan) {
				continue
			}
			o, ok := Measure(s, c, 1, runs)
			if !ok {
				if s.Name != "bgp-router-loss" && (s.Name != "bgp-uplink-cut" || fabric != "one router") {
					t.Errorf("%s: there is nothing for %s", fabric, s.Name)
				}
				continue
			}
			if !o.Link.OK || !o.Routers.OK || o.Link.Runs != runs || o.Routers.Runs != runs {
				t.Errorf("%s, %s: %d and %d rules broken: %.3q, %.3q", fabric, s.Name, len(o.Link.Broken), len(o.Routers.Broken), o.Link.Broken, o.Routers.Broken)
			}
			spread := !alike(c) && s.Name == "both-to-vrrp" // routers follow one after the other
			if free[s.Name] && o.Routers.Dark > 0 && !spread {
				t.Errorf("%s, %s costs clients behind routers something: %+v", fabric, s.Name, o.Routers)
			}
		}
	}
}

// TestTable holds that rows of both kinds of clients are printed, that a broken rule of either is a
// FAIL, and that its schedule runs again.
func TestTable(t *testing.T) {
	c := cluster(t, "one rack")
	var rows Rows
	for _, name := range []string{"power-loss", "bgp-router-loss"} {
		s, _ := Find(name)
		o, ok := Measure(s, c, 4, 2)
		if !ok {
			t.Fatal(name)
		}
		rows.Link, rows.Routers = append(rows.Link, o.Link), append(rows.Routers, o.Routers)
	}
	rows.Routers = append(rows.Routers, Random(c, 1, 3, func(int) {}))
	if text := rows.Table(120); strings.Count(text, "\nok: ") != 2 || len(rows.Failures(c)) > 0 || len(rows.All()) != 5 || !strings.Contains(text, "3 random schedules, 0 rules broken") {
		t.Errorf("%s\n%v", text, rows.Failures(c))
	}
	rows.Link[0].OK, rows.Link[0].Broken = false, []string{"a rule (power-loss, seed 4)"}
	s, _ := Find("power-loss")
	_, again, _ := s.Set(c, 4)
	if text := rows.Table(120) + strings.Join(rows.Failures(c), "\n"); !strings.Contains(text, "\nFAIL: 1 of 2: power-loss\n") || !strings.Contains(text, "power-loss: a rule (power-loss, seed 4)\n") || !strings.Contains(text, "FILE:\n"+again.String()) {
		t.Error(text)
	}
}
