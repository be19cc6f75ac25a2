package wished

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var vip, other = netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("198.51.100.6")

// TestWithdraws holds when the daemon has to answer soon: while it withdraws something, or is about to.
func TestWithdraws(t *testing.T) {
	t.Parallel()
	w := &Wish{Wish: spoken.Wish{Routes: []spoken.Route{{VIP: vip}}}}
	for want, states := range map[bool][]speak.State{
		true: {{other: {Phase: speak.Announced}}, {other: {Phase: speak.Demoted}}, {vip: {Phase: speak.Withdrawn}}},
		false: {nil, {vip: {Phase: speak.Announced}}, {vip: {Phase: speak.Demoted}}, {vip: {Phase: speak.Withdrawn, Clear: time.Now()}},
			{other: {Phase: speak.Idle}}, {other: {Phase: speak.Waiting}}},
	} {
		for _, state := range states {
			if got := w.Withdraws(state); got != want {
				t.Errorf("%+v: %t", state, got)
			}
		}
	}
}

// TestReceive holds that a monitor is alive while it writes another time, wherever the host's clock is set; that one which
// writes nothing more is silent; and that what a monitor left behind before the start is no heartbeat.
func TestReceive(t *testing.T) {
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	type beat struct{ now, written, received time.Duration }
	const never, s = -time.Hour, time.Second
	for name, beats := range map[string][]beat{
		"the clock goes forward":                {{0, 0, 0}, {s, 3600 * s, s}, {2 * s, 3601 * s, 2 * s}, {9 * s, 3601 * s, 2 * s}},
		"the clock goes back":                   {{0, 0, 0}, {s, -3600 * s, s}, {20 * s, -3600 * s, s}},
		"it ended after a clock that went back": {{0, 3600 * s, 0}, {20 * s, 3600 * s, 0}},
		"it ended long ago":                     {{0, -11 * s, never}, {s, -11 * s, never}, {2 * s, 2 * s, 2 * s}},
		"it ended just now":                     {{0, -9 * s, 0}, {9 * s, -9 * s, 0}},
	} {
		one := &Wish{}
		for i, b := range beats {
			one.Receive(spoken.Wish{Beat: at(b.written).UTC().Round(0)}, at(b.now))
			want := at(b.received)
			if b.received == never {
				want = time.Time{}
			}
			if got := one.Speak(false).Beat; !got.Equal(want) {
				t.Errorf("%s, beat %d: %v, want %v", name, i, got.Sub(start), b.received)
			}
		}
	}
}
