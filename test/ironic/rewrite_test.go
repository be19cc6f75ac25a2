package ironic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// TestLongRewrite has the real Ironic do what the phase machine asks for when a person allows the disk
// of a host to be written anew: an adopted host is switched off, is available again, and nothing of it
// looks like a deployment whose image is written.
func TestLongRewrite(t *testing.T) {
	s, a := withBMC(t)
	do := func(r node.Request) { t.Helper(); a.do(t, r) }
	await := func(want node.State) node.Node { t.Helper(); return a.await(t, want) }
	image := node.Image{URL: fmt.Sprintf("http://%s/images/os.raw", s.Settings.HTTP), SHA256: strings.Repeat("ab", 32), Format: "raw"}
	do(node.Request{Verb: node.Manage})
	await(node.Manageable)
	do(node.Request{Verb: node.Pin, Disk: node.Pinned{Serial: "S1"}})
	do(node.Request{Verb: node.Adopt, Image: image})
	await(node.Active)
	do(node.Request{Verb: node.BootDisk})
	do(node.Request{Verb: node.Undeploy})
	n := await(node.Available)
	if n.Step.Written() || n.Image != "" || n.Error != "" || n.Power != node.Off || n.Maintenance.On || n.Disk != (node.Pinned{Serial: "S1"}).String() {
		t.Errorf("after its deployment has ended: %+v", n)
	}
	do(node.Request{Verb: node.Manage})
	await(node.Manageable)
	do(node.Request{Verb: node.Pin, Disk: node.Pinned{Serial: "S2"}})
	do(node.Request{Verb: node.Provide})
	if n = await(node.Available); n.Disk != (node.Pinned{Serial: "S2"}).String() {
		t.Errorf("its disk is %s", n.Disk)
	}
}
