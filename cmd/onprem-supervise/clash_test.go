package main

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestForeignVIPs has another cluster on the network whose virtual routers have the same ID and a
// higher priority, both by multicast and without a password. Each keeps its own VIPs: keepalived
// 2.3.3 or later becomes BACKUP after adverts about other VIPs, and 2.2.7 does not.
func TestForeignVIPs(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	others := strings.NewReplacer(vip4, "192.0.2.7", vip6, "2001:db8::7")
	keepalived := []string{need.Command(t, "keepalived"), "-D"}
	other := newSupervisor(t, keepalived, "192.0.2.7", "2001:db8::7")
	other.start(l.neighbour)
	other.propose(others.Replace(router(other.dir, 11, 90, "0.1", "", "")))
	other.untilMaster(10 * time.Second)

	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(router(s.dir, 10, 70, "0.1", "", ""))
	s.untilMaster(10 * time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	higher := s.propose(router(s.dir, 10, 110, "0.1", "", ""))
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == higher })
	time.Sleep(2 * time.Second) // several master-down times
	if n := held.low(); n != 2 {
		t.Errorf("of 2 VIPs %d were held at the least", n)
	}
	for name, i := range other.status().Instances {
		if i.State != supervised.Master {
			t.Errorf("the other cluster's %s is %s", name, i.State)
		}
	}
}
