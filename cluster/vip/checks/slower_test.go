package checks

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestSlowerThanTheBalancer holds K-48: the balancer has dropped a server, one that hangs too,
// before any check can cost a node the VIP, whatever the phase of the two. Else the VIP moves for a
// fault of a server that no client would have met.
func TestSlowerThanTheBalancer(t *testing.T) {
	text, err := os.ReadFile("../../haproxy/testdata/TestRender-three.golden")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`inter (\S+) fastinter (\S+) fall (\d+)`).FindAllSubmatch(text, -1)
	if len(found) == 0 {
		t.Fatal("the balancer's checks have no pace")
	}
	for _, f := range found {
		inter, err1 := time.ParseDuration(string(f[1]))
		fast, err2 := time.ParseDuration(string(f[2]))
		fall, err3 := strconv.Atoi(string(f[3]))
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%q: %v %v %v", f[0], err1, err2, err3)
		}
		// The fault comes right after a good check; each failing one takes its whole time, which is
		// the interval.
		worst := inter + inter + time.Duration(fall-1)*(fast+inter)
		for _, timing := range vrrp.Profiles() {
			if best := PolicyOf(timing, vrrp.CheckLB).Evicts(); worst >= best {
				t.Errorf("%s, %s: a server is dropped after %v at worst, the VIP leaves after %v at best", timing.Profile, f[0], worst, best)
			}
		}
	}
}
