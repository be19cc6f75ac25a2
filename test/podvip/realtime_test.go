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

// TestRealTime holds that the process that speaks VRRP is real-time where adverts are frequent, and that it holds a VIP all the same when the
// kernel refuses.
func TestRealTime(t *testing.T) {
	t.Parallel()
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
			if said := strings.Contains(n.Log("keepalived/keepalived"), "cannot raise priority"); said != tt.refuse {
				t.Errorf("a refusal is said: %v, want %v", said, tt.refuse)
			}
		})
	}
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
