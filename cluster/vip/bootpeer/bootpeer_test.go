package bootpeer

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var start = time.Unix(1000, 0)

// TestUpdate_Heartbeat holds that a machine is a peer while its heartbeat changes by the local
// clock, and again when it goes on.
func TestUpdate_Heartbeat(t *testing.T) {
	var s State
	address := netip.MustParseAddr("192.0.2.9")
	for _, tt := range []struct {
		after time.Duration
		beat  string
		want  bool
	}{
		{0, "1", true}, {StaleAfter - 1, "1", true}, {StaleAfter, "1", false}, {StaleAfter + 1, "2", true},
	} {
		s.Update(Published{Addresses: []netip.Addr{address}, Beat: tt.beat}, start.Add(tt.after))
		if s.IsPeer() != tt.want {
			t.Errorf("%s after the first beat, beat %s: peer %t", tt.after, tt.beat, s.IsPeer())
		}
	}
	if s.Update(Published{}, start) || s.IsPeer() {
		t.Error("a lost object is a peer, or proof that the machine is gone")
	}
	if !s.Update(Published{Left: true}, start) {
		t.Error("a machine that left is not gone")
	}
}

// TestPeers holds that a VIP's peers are of its family, in the machine networks, none of the others,
// and few.
func TestPeers(t *testing.T) {
	var s State
	var all []netip.Addr
	for _, text := range []string{"2001:db8::9", "192.0.2.5", "198.51.100.9", "192.0.2.9", "192.0.2.10",
		"192.0.2.11"} {
		all = append(all, netip.MustParseAddr(text))
	}
	s.Update(Published{Addresses: all, Beat: "1"}, start)
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	if got := s.Peers(all[1], networks, all[1:2]); !slices.Equal(got, all[3:5]) {
		t.Errorf("peers %v, want %v", got, all[3:5])
	}
}

// TestNoteHolding holds that only an uninterrupted time as the holder proves that the machine is
// gone, and that it is reported only where nothing is published.
func TestNoteHolding(t *testing.T) {
	var s State
	at := func(state supervised.State, after time.Duration) bool {
		status := supervised.Status{Instances: map[string]supervised.Instance{"a": {State: state}}}
		return s.NoteHolding([]vrrp.InstanceName{"a"}, status, start.Add(after))
	}
	if at(supervised.Master, 0) || at(supervised.Backup, time.Second) || at(supervised.Master, 2*time.Second) ||
		at(supervised.Master, ProofAfter) || s.ShouldReport(Published{}) {
		t.Error("proven too early")
	}
	if !at(supervised.Master, ProofAfter+2*time.Second) || !s.ShouldReport(Published{}) {
		t.Error("not proven after a minute")
	}
	if s.ShouldReport(Published{Left: true}) || s.ShouldReport(Published{Addresses: make([]netip.Addr, 1)}) {
		t.Error("reported beside what the machine published")
	}
}
