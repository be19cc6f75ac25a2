package nft

import "testing"

// TestTables holds that one table of redirects comes and goes without the other.
func TestTables(t *testing.T) {
	within(t, func(t *testing.T) {
		has := func(when string, table Table, want bool) {
			t.Helper()
			if got, err := table.Present(rules()); err != nil || got != want {
				t.Errorf("%s: %s is there: %t (%v), want %t", when, table, got, err, want)
			}
		}
		gone := func(when string, want bool) {
			t.Helper()
			if removed, err := Ironic.Remove(); err != nil || removed != want {
				t.Errorf("%s: removed %t (%v), want %t", when, removed, err, want)
			}
		}
		gone("before there is one", false)
		for _, table := range []Table{API, Ironic} {
			if changed, err := table.Ensure(rules()); err != nil || !changed {
				t.Errorf("%s: %t, %v", table, changed, err)
			}
		}
		has("both", API, true)
		has("both", Ironic, true)
		if _, err := Ironic.Ensure(rules().Off()); err != nil {
			t.Error(err)
		}
		has("the other one is off", API, true)
		has("it is off", Ironic, false)
		gone("it is there", true)
		gone("again", false)
		has("the other one is gone", API, true)
	})
}
