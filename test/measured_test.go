package test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

// computed is what plan has for a failure, as test/README.md prints it.
func computed(t *testing.T, f racks.Fabric, scenario string) string {
	t.Helper()
	p := f.Plan(t)
	for _, b := range append(append([]bound.Bound{}, p.BGP.Bounds...), p.Timing.Bounds...) {
		if b.Scenario != scenario {
			continue
		}
		if b.DarkMs == 0 {
			return "0"
		}
		return fmt.Sprintf("%d ms", b.DarkMs)
	}
	t.Fatalf("plan has no %s", scenario)
	return ""
}

// TestReadmeMeasured holds the column of computed times beside what was measured to the plan. Each row of the
// table has its line here. Of the routers of plan's bound for bgpd those of another rack are none that clients
// behind the spine wait for; and in a migration nobody may fail.
func TestReadmeMeasured(t *testing.T) {
	one := func(timing string) racks.Fabric {
		return racks.Fabric{Racks: []int{1, 1}, Depth: 1, Mode: routing.ECMP, Timing: timing}
	}
	lan, vm, hold := one(bgp.ProfileLan), one(bgp.ProfileVM), one(bgp.ProfileHold)
	both := racks.Fabric{Racks: []int{1, 1}, Depth: 1, Timing: bgp.ProfileLan, Both: true}
	want := []struct {
		about, profile string
		of             racks.Fabric
		scenario       string // of plan; or else the time itself
	}{
		{"(`bgp-power-loss`)", "`lan`", lan, "bgp-power-loss"}, {"", "`vm`", vm, "bgp-power-loss"}, {"*", "`hold`", hold, "bgp-power-loss"},
		{"(`bgp-router-loss`)", "`lan`", lan, "bgp-router-loss"}, {"", "`vm`", vm, "bgp-router-loss"}, {"*", "`hold`", hold, "bgp-router-loss"},
		{"(`bgp-leave`)", "`lan`", lan, "bgp-graceful"}, {"(`bgp-reboot`)", "`lan`", lan, "bgp-graceful"}, {"(`bgp-upgrade`)", "`lan`", lan, "bgp-graceful"},
		{"(`bgp-kill-bgpd`)", "`lan`", lan, fmt.Sprintf("%d ms", (2 * bgp.Pass).Milliseconds())},
		{"(`bgp-lb-crash`)", "`lan`", lan, "bgp-lb-crash"}, {"(`bgp-node-down`)", "`lan`", lan, "bgp-node-down"},
		{"(`bgp-handover`)", "`lan`", lan, "bgp-handover"}, {"(`bgp-handover-alone`)", "`lan`", lan, "bgp-handover"},
		{"(`bgp-migrate`)", "", both, "0"}, {"(`bgp-migrate-back`)", "", both, "0"},
		{"both: power loss of the holder, on the VIP's link", "`lan`", both, "power-loss"}, {"behind the spine", "`lan`", both, "bgp-power-loss"},
		{"both: nothing serves on the holder (`bgp-node-down`), on the VIP's link", "`lan`", both, "node-down"}, {"behind the spine", "`lan`", both, "bgp-node-down"},
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "| | profile | min | median | max | computed | wanted | failed |\n|---|---|---|---|---|---|---|---|\n"
	_, rest, ok := strings.Cut(string(text), head)
	table, _, _ := strings.Cut(rest, "\n\n")
	rows := strings.Split(table, "\n")
	if !ok || len(rows) != len(want) {
		t.Fatalf("the table has %d rows, want %d below\n%s", len(rows), len(want), head)
	}
	for i, tt := range want {
		cells := strings.Split(rows[i], " |")
		have := func(n int) string { return strings.Trim(cells[n], " |") }
		time := tt.scenario
		if !strings.ContainsAny(time[:1], "0123456789") {
			time = computed(t, tt.of, tt.scenario)
		}
		if !strings.Contains(have(0), tt.about) || have(1) != tt.profile || have(5) != time {
			t.Errorf("row %d: %s\nwant %q, %q, computed %s", i+1, rows[i], tt.about, tt.profile, time)
		}
	}
}
