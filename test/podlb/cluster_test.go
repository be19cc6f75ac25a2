package podlb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// TestClusterChanges holds, in the pod, that HAProxy's sockets are in a directory of root's alone
// though kubelet made it for everybody, and that the monitor begins anew with what the cluster
// decides while HAProxy runs on and the redirect stays. Three late probes in a row switch that off by
// design, and a busy machine causes them now and then: one of three tries is enough.
func TestClusterChanges(t *testing.T) {
	w := three(t)
	info, err := os.Stat(filepath.Join(w.node.Root, string(haproxy.Run)))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the sockets: %v, %v", info.Mode(), err)
	}
	pid := func(container string) int {
		n, _ := w.node.PID(container) // 0 while it is started anew
		return n
	}
	balancer, monitor := pid("haproxy/haproxy"), pid("haproxy/haproxy-monitor")
	write := func(text []byte) {
		t.Helper()
		if err := w.node.Write(asset.File{Path: plan.Path, Mode: 0o644, Contents: text}); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("{"))
	time.Sleep(time.Second) // it reads the file within it
	if pid("haproxy/haproxy-monitor") != monitor {
		t.Error("what is no decision ended the monitor")
	}
	rules := redirect.Of(w.plan.VIPs.API, w.plan.MachineNetworks, w.plan.Ports)
	on := func() bool { return w.hosts["m1"].Do(func() error { return presence(rules, true) }) == nil }
	off := 1
	for tries := 1; off > 0 && tries <= 3; tries++ {
		w.within("the redirect is on", 20*time.Second, on)
		off, monitor = 0, pid("haproxy/haproxy-monitor")
		write(append(plan.Encode(w.plan), strings.Repeat("\n", tries)...))
		w.within("another monitor", 20*time.Second, func() bool {
			if !on() {
				off++
			}
			p := pid("haproxy/haproxy-monitor")
			return p != 0 && p != monitor
		})
		for begun := time.Now(); time.Since(begun) < time.Second; time.Sleep(10 * time.Millisecond) { // its first looks
			if !on() {
				off++
			}
		}
		if off > 0 {
			t.Logf("while the monitor began anew the redirect was off at %d looks", off)
		}
	}
	if off > 0 {
		t.Error("the redirect was off, three times of three")
	}
	if pid("haproxy/haproxy") != balancer {
		t.Error("HAProxy did not run on")
	}
}
