package rundir

import (
	"os"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestSetLeave holds that a request is made and withdrawn, and that another owner's stays.
func TestSetLeave(t *testing.T) {
	dir := Dir(t.TempDir())
	for _, step := range []struct {
		name    string
		foreign bool // another program requests it first
		now     bool
		there   bool
	}{
		{name: "nothing to withdraw"},
		{name: "requested", now: true, there: true},
		{name: "requested again", now: true, there: true},
		{name: "withdrawn"},
		{name: "another's request is not withdrawn", foreign: true, there: true},
		{name: "another's request counts for ours too", now: true, there: true},
		{name: "another's request stays", there: true},
	} {
		if step.foreign {
			if err := dir.RequestLeave(); err != nil {
				t.Fatal(err)
			}
		}
		if err := dir.SetLeave("this program\n", step.now); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if _, err := os.Stat(dir.at(supervised.LeaveFile)); (err == nil) != step.there {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}
