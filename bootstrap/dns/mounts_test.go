package dns

import (
	"path"
	"testing"
)

// TestMountsOfWhatChanges holds P-07: the Corefile is replaced by a rename, so the directory is
// mounted: a mounted file would stay the old one. Nothing else of the host is mounted: a
// resolv.conf would become stale too.
func TestMountsOfWhatChanges(t *testing.T) {
	r, _, _, _ := room(t, "")
	for _, m := range Container(r.Plan).Mounts {
		if m.Source != path.Dir(Config) || m.Target != m.Source {
			t.Errorf("bound is %s as %s, want the directory %s alone", m.Source, m.Target, path.Dir(Config))
		}
	}
}
