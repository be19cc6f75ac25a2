package speakdir_test

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestMonitor holds that the speaker sees from the first wish on whether its monitor lives, that one which ends in
// order leaves nothing but its wish, and that the wish of another one is written while the first one ends yet.
func TestMonitor(t *testing.T) {
	d := speakdir.Dir(t.TempDir())
	one, two := &speakdir.Monitor{Dir: d}, &speakdir.Monitor{Dir: d}
	there := func(what string, want bool) {
		t.Helper()
		is, err := file.Exists(d.At(spoken.MonitorFile))
		dead, errDead := file.Abandoned(d.At(spoken.MonitorFile))
		if err != nil || errDead != nil || is != want || dead {
			t.Errorf("%s: %t, abandoned %t, %v, %v", what, is, dead, err, errDead)
		}
	}
	wish := func(m *speakdir.Monitor, at int64) {
		t.Helper()
		err := m.Wish(spoken.Wish{Beat: time.Unix(at, 0)})
		text, errRead := file.Read(d.At(spoken.WishFile))
		if is, errWish := spoken.Decode[spoken.Wish](text); err != nil || errRead != nil || errWish != nil || is.Beat.Unix() != at {
			t.Errorf("%d: %v, %v, %v, %s", at, err, errRead, errWish, text)
		}
	}
	if err := one.End(); err != nil {
		t.Errorf("one that has wanted nothing: %v", err)
	}
	there("none", false)
	wish(one, 1)
	there("it lives", true)
	wish(two, 2)
	if err := one.End(); err != nil {
		t.Error(err)
	}
	there("the first one has ended", false)
	wish(two, 3)
	there("the second one lives", true)
	if err := two.End(); err != nil {
		t.Error(err)
	}
	there("all have ended", false)
}
