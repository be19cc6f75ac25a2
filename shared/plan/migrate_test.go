package plan

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// migrant is a cluster with these settings; each may be empty.
func migrant(timing string, mode spec.Mode, from spec.Former) spec.Cluster {
	c := smallest()
	c.Timing, c.VRRP, c.MigrateFrom = timing, mode, from
	return c
}

// TestMigrates holds that the plan has both ways, and that everything of the former one is as if
// nothing were to come.
func TestMigrates(t *testing.T) {
	p := mustCompile(t, migrant("lan", "", spec.Former{Timing: "compat"}))
	if p.Way().String() != "lan/unicast" || p.MigrateFrom.String() != "compat/unicast" || p.Former == nil {
		t.Fatalf("%s from %s, former %v", p.Way(), p.MigrateFrom, p.Former)
	}
	if got, want := string(indented(t, *p.Former)), string(indented(t, mustCompile(t, migrant("compat", "", spec.Former{})))); got != want {
		t.Errorf("the former plan is\n%s\nwant\n%s", got, want)
	}
	if _, err := Compile(migrant("lan", "", spec.Former{Timing: "slow"})); err == nil || !strings.Contains(err.Error(), "slow") {
		t.Errorf("a former timing that does not exist: %v", err)
	}
}
