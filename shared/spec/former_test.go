package spec

import (
	"reflect"
	"testing"
)

// TestBefore holds that a migration is read, and that the cluster before it differs in nothing
// else.
func TestBefore(t *testing.T) {
	text := edit{"  platform: none", "  platform: none\n  timing: lan\n  vrrp: unicast\n  migrateFrom: {timing: compat}"}.of(t, goodCluster)
	cluster, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) > 0 {
		t.Fatal(lines(findings))
	}
	if want := (Former{Timing: "compat"}); cluster.MigrateFrom != want {
		t.Errorf("it migrates from %+v", cluster.MigrateFrom)
	}
	want := cluster
	want.Timing, want.MigrateFrom = "compat", Former{}
	if before, ok := cluster.Before(); !ok || !reflect.DeepEqual(before, want) {
		t.Errorf("before it is %+v, %t", before, ok)
	}
	cluster.MigrateFrom = Former{VRRP: Multicast}
	if before, ok := cluster.Before(); !ok || before.VRRP != Multicast || before.Timing != "lan" {
		t.Errorf("before another mode it is %+v, %t", before, ok)
	}
	cluster.MigrateFrom = Former{}
	if before, ok := cluster.Before(); ok {
		t.Errorf("without a migration there is a before: %+v", before)
	}
}
