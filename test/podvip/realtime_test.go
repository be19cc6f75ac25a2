package podvip

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestRealTime holds that the process that speaks VRRP is real-time where adverts are frequent, and
// that it holds a VIP all the same when the kernel refuses. A reload must not take it from a
// process, nor its life.
func TestRealTime(t *testing.T) {
	t.Parallel()                        // each has a network of its own, and waits most of the time
	own, err := unix.SchedGetAttr(0, 0) // whoever asks for nothing has that of who started it
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		timing string
		refuse bool
		policy uint32
	}{
		{"frequent", vrrp.ProfileLan, false, unix.SCHED_RR},
		{"refused", vrrp.ProfileLan, true, own.Policy},
		{"today's", vrrp.ProfileCompat, false, own.Policy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := open(t, tt.timing)
			n := l.node(1, role.Master)
			l.node(2, role.Master) // never started: an election needs two
			if tt.refuse {
				n.forbid("SYS_NICE")
			}
			n.end()
			n.start()
			n.balancer.Store(&balancer{up: true, check: "L7OK"})
			l.until("the VIP", time.Minute, func() bool { return n.status().Instances["ostest_API_0"].State == supervised.Master })
			speaker, err := n.Child("keepalived/keepalived", "keepalived")
			if err != nil {
				t.Fatal(err)
			}
			got, err := unix.SchedGetAttr(speaker.PID, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.Policy != tt.policy {
				t.Errorf("keepalived's VRRP process has scheduling policy %d, want %d", got.Policy, tt.policy)
			}
			n.reloads("m3", "192.0.2.13")
			if again, err := n.Child("keepalived/keepalived", "keepalived"); err != nil || again.PID != speaker.PID {
				t.Errorf("after a reload the VRRP process is %+v, %v, and was %+v", again, err, speaker)
			}
			var pause unix.Rlimit
			if err := unix.Prlimit(speaker.PID, unix.RLIMIT_RTTIME, nil, &pause); err != nil || pause.Cur != unix.RLIM_INFINITY {
				t.Errorf("after a reload the kernel kills it when it has run for %d us, %v", pause.Cur, err)
			}
			if logged := strings.Contains(n.Log("keepalived/keepalived"), "stays as it is"); logged != tt.refuse {
				t.Errorf("a refusal is said: %v, want %v", logged, tt.refuse)
			}
		})
	}
}

// reloads registers another node, and waits until keepalived has read that it is a peer.
func (n *node) reloads(name, address string) {
	n.l.t.Helper()
	before := strings.Count(n.Log("keepalived/keepalived"), "Reload complete")
	n.l.api.Register(name, []string{n.l.plan.ControlPlaneLabel}, address)
	n.l.until("the reload", time.Minute, func() bool { return strings.Count(n.Log("keepalived/keepalived"), "Reload complete") > before })
}

// forbid takes a capability out of the manifest.
func (n *node) forbid(capability string) {
	n.l.t.Helper()
	path := filepath.Join(n.Root, "etc/kubernetes/manifests/keepalived.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		n.l.t.Fatal(err)
	}
	var kept [][]byte
	for line := range bytes.Lines(text) {
		if string(bytes.TrimSpace(line)) != "- "+capability {
			kept = append(kept, line)
		}
	}
	without := bytes.Join(kept, nil)
	if len(without) == len(text) {
		n.l.t.Fatalf("%s does not ask for %s", path, capability)
	}
	if err := os.WriteFile(path, without, 0o644); err != nil {
		n.l.t.Fatal(err)
	}
}
