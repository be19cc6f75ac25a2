package supervise

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestStance holds what an instance's bonus is in every state: one that begins lies below its rank for so long, a holder above it, and who has lost
// the VIP to a better one, or has settled, is what it is.
func TestStance(t *testing.T) {
	const settle = 600 * time.Millisecond
	const give = "give"
	type word struct {
		at    time.Duration
		state supervised.State // empty for none
		want  string
	}
	for _, tt := range []struct {
		name  string
		words []word
	}{
		{"that has not spoken", []word{{0, "", begins}, {time.Hour, "", begins}}},
		{"that waits", []word{
			{0, supervised.Backup, begins}, {599 * time.Millisecond, "", begins}, {600 * time.Millisecond, "", no}, {time.Hour, "", no},
		}},
		{"whose priority changes while it settles", []word{{0, supervised.Backup, begins}, {300 * time.Millisecond, supervised.Backup, begins}, {600 * time.Millisecond, "", no}}},
		{"that nobody keeps from the VIP", []word{{0, supervised.Backup, begins}, {400 * time.Millisecond, supervised.Master, yes}, {time.Hour, "", yes}}},
		{"that hears a better one", []word{{0, supervised.Master, yes}, {time.Second, supervised.Backup, no}, {time.Second, "", no}, {2 * time.Second, supervised.Backup, no}}},
		{"in a fault", []word{{0, supervised.Master, yes}, {time.Second, supervised.Fault, begins}, {time.Minute, "", begins}}},
		{"back from a fault", []word{
			{0, supervised.Master, yes}, {time.Second, supervised.Fault, begins}, {2 * time.Second, supervised.Backup, begins}, {2600 * time.Millisecond, "", no},
		}},
		{"that gives its VIP up", []word{{0, supervised.Master, yes}, {time.Second, give, quits}, {2 * time.Second, supervised.Master, quits}, {2 * time.Second, supervised.Fault, begins}}},
		{"whose daemon has ended", []word{{0, supervised.Backup, begins}, {time.Hour, "", no}, {time.Hour, supervised.Init, begins}, {time.Hour, supervised.Backup, begins}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w stance
			begin := time.Now()
			for _, one := range tt.words {
				now := begin.Add(one.at)
				switch one.state {
				case "":
				case give:
					w.quits = true
				default:
					w = w.next(one.state, now)
				}
				if got := w.number(settle, now); got != one.want {
					t.Errorf("at %s, %s: %q, want %q", one.at, one.state, got, one.want)
				}
			}
		})
	}
}
