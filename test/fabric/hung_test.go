package fabric

import (
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// TestSpeaker_Hung holds that a bgpd which hangs is killed soon after its host serves a VIP no more, that the VIP's
// address stays until no router leads there, and that the host is back after that.
func TestSpeaker_Hung(t *testing.T) {
	t.Parallel()
	f, n := pair(t)
	n[0].up("sessions", "Up")
	pid := n[0].PID(frr.BGP)
	f.must(syscall.Kill(pid, syscall.SIGSTOP))
	n[0].Serve(false, 0)
	killed := until(t, "the hung bgpd is killed", 20*time.Second, func() bool { return ended(pid) })
	if !n[0].held(VIP4) {
		t.Error("the address went before the route")
	}
	t.Logf("killed after %v", killed)
	// A question of the round before may wait for its second.
	if killed > 2200*time.Millisecond {
		t.Errorf("the hung bgpd is killed after %v", killed)
	}
	until(t, "no route leads there", 10*time.Second, func() bool { return len(f.Nexthops(f.Spine, VIP4)) == 1 })
	until(t, "its address is away", 10*time.Second, func() bool { return !n[0].held(VIP4) })
	n[0].Serve(true, 4)
	f.spread(VIP4, 2, 1)
	n[0].up("sessions", "Up")
}
