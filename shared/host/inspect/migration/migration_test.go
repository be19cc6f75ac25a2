package migration

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/way"
)

// TestChanges_Text holds that a line is there for each change, and none without one.
func TestChanges_Text(t *testing.T) {
	coming := &Migration{From: way.Way{Timing: "fast", Mode: "unicast"}, To: way.Way{Timing: "lan", Mode: "unicast"}}
	agreed := *coming
	agreed.At = time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	waits := *coming
	waits.Waits = []string{"master-1, master-2 not yet", "kubelets of 2 versions"}
	late := waits
	late.Late = true
	for _, tt := range []struct {
		name  string
		is    Changes
		lines int
		want  string
	}{
		{"nothing", Changes{}, 0, ""},
		{"not agreed", Changes{Migration: coming}, 1, "fast/unicast, in force here, to lan/unicast at one instant, on which they have not agreed yet"},
		{"waits", Changes{Migration: &waits}, 1, "not agreed yet: master-1, master-2 not yet; kubelets of 2 versions\n"},
		{"asked", Changes{Migration: &late}, 1, "migration: adverts arrive later than was proven, and all nodes change from fast/unicast, in force here, to lan/unicast at one instant, on which they have not agreed yet: master-1"},
		{"agreed", Changes{Migration: &agreed}, 1, "to lan/unicast at 2026-03-01 12:05:00Z"},
		{"fell back", Changes{FellBack: "fast"}, 1, "timing lan, not fast: adverts arrived later than was proven"},
		{"both", Changes{Migration: coming, FellBack: "fast"}, 2, "timing lan, not fast"},
	} {
		if got := tt.is.Text("lan"); strings.Count(got, "\n") != tt.lines || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
