package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// TestNewRow holds that a rule that was broken, and a wait beyond the plan's bound, is the
// answer no.
func TestNewRow(t *testing.T) {
	bound := plan.Plan{Timing: plan.Timing{Bounds: []bound.Bound{{Scenario: "power-loss", Ms: 353, DarkMs: 353}}}}
	for _, tt := range []struct {
		name string
		o    Outcomes
		want string
	}{
		{"within the bound and its grain", Outcomes{Scenario: "power-loss", Wait: Wait{Max: 373 * time.Millisecond}}, ""},
		{"too long", Outcomes{Scenario: "power-loss", Wait: Wait{Max: 374 * time.Millisecond}}, "a client waits 374 ms, but the plan's bound is 353 ms (grain 20 ms)"},
		{"too late", Outcomes{Scenario: "power-loss", Tail: 374 * time.Millisecond}, "a request fails 374 ms after the fault"},
		{"a rule", Outcomes{Scenario: "reboot", Broken: []trace.Broken{{At: time.Second, Rule: trace.OneHolder, Why: "a and b"}}}, "1s: never two holders"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := []Row{NewRow(bound, tt.o)}
			failures := strings.Join(Failures(rows), "\n")
			line := map[bool]string{true: "\nok: 1 of 1", false: "\nFAIL: 1 of 1: " + tt.o.Scenario}[tt.want == ""]
			if rows[0].OK != (tt.want == "") || !strings.Contains(failures, tt.want) ||
				!strings.Contains(Table(100, rows), line) {
				t.Errorf("%s\n%s", Table(100, rows), failures)
			}
		})
	}
}
