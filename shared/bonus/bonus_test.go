package bonus

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestStance holds what an instance's bonus is in every state: one that begins lies below its rank
// for so long, a holder above it, and who has lost the VIP to a better one, or has settled, is what
// it is.
func TestStance(t *testing.T) {
	const settle = 600 * time.Millisecond
	const give = "give"
	type word struct {
		at    time.Duration
		state supervised.State // empty for none
		want  int
	}
	for _, tt := range []struct {
		name  string
		words []word
	}{
		{"that has not spoken", []word{{0, "", Begins}, {time.Hour, "", Begins}}},
		{"that waits", []word{
			{0, supervised.Backup, Begins}, {599 * time.Millisecond, "", Begins},
			{600 * time.Millisecond, "", None}, {time.Hour, "", None},
		}},
		{"whose priority changes while it settles", []word{{0, supervised.Backup, Begins},
			{300 * time.Millisecond, supervised.Backup, Begins},
			{600 * time.Millisecond, "", None}}},
		{"that no router keeps from the VIP", []word{{0, supervised.Backup, Begins},
			{400 * time.Millisecond, supervised.Master, Holder}, {time.Hour, "", Holder}}},
		{"that receives adverts of a better one", []word{{0, supervised.Master, Holder},
			{time.Second, supervised.Backup, None}, {time.Second, "", None},
			{2 * time.Second, supervised.Backup, None}}},
		{"in a fault", []word{{0, supervised.Master, Holder}, {time.Second, supervised.Fault,
			Begins}, {time.Minute, "", Begins}}},
		{"back from a fault", []word{
			{0, supervised.Master, Holder}, {time.Second, supervised.Fault, Begins},
			{2 * time.Second, supervised.Backup, Begins}, {2600 * time.Millisecond, "", None},
		}},
		{"that gives its VIP up", []word{{0, supervised.Master, Holder},
			{time.Second, give, Releases}, {2 * time.Second, supervised.Master, Releases},
			{2 * time.Second, supervised.Fault, Begins}}},
		{"whose daemon has ended", []word{{0, supervised.Backup, Begins}, {time.Hour, "", None},
			{time.Hour, supervised.Init, Begins}, {time.Hour, supervised.Backup, Begins}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w State
			begin := time.Now()
			for _, one := range tt.words {
				now := begin.Add(one.at)
				switch one.state {
				case "":
				case give:
					w = w.Release()
				default:
					w = w.Next(one.state, now)
				}
				if got := w.Number(settle, now); got != one.want {
					t.Errorf("at %s, %s: %d, want %d", one.at, one.state, got, one.want)
				}
			}
		})
	}
}
