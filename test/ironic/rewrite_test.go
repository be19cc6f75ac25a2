package ironic

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/onprem-infra/onprem-infra/shared/host/ironic"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestLongRewrite has the real Ironic do what the phase machine asks for when a person allows the disk
// of a host to be written anew: an adopted host is switched off, is available again, and nothing of it
// looks like a deployment whose image is written.
func TestLongRewrite(t *testing.T) {
	bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: "p4ss-W0rd", Vendor: "FAKE", Product: "FAKE", Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	running := fakebmc.Start(t, bmc, fakebmc.Certificate{})
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) { s.Hosts = []ironic.Host{{Driver: "redfish", Boot: ironic.PXE}} },
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), string(running.PEM))
			for _, name := range []string{"agent.kernel", "agent.initramfs"} {
				write(t, filepath.Join(state, "http/images", name), name)
			}
		},
	})
	outside := func(path string) string { return filepath.Join(s.State, strings.TrimPrefix(path, layout.State)) }
	a := api.New(api.Options{URL: s.URL, Certificate: outside(layout.Certificate), Account: outside(layout.Account)})
	card, err := mac.Parse(fakebmc.Sample(1).Ports[0].MAC)
	if err != nil {
		t.Fatal(err)
	}
	image := node.Image{URL: fmt.Sprintf("http://%s/images/os.raw", s.Settings.HTTP), SHA256: strings.Repeat("ab", 32), Format: "raw"}
	do := func(r node.Request) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			all, err := a.Nodes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := node.Of(all, "master-0", card); ok {
				r.UUID = n.UUID
			}
			if err = a.Do(t.Context(), r); err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %v", r.Verb, err)
			}
		}
	}
	await := func(want node.State) (n node.Node) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			all, err := a.Nodes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n, _ = node.Of(all, "master-0", card); n.State == want && !n.Locked {
				return n
			}
		}
		t.Fatalf("it is %q, want %q: %s", n.State, want, n.Error)
		return n
	}
	do(node.Request{Verb: node.Create, MAC: card, Spec: node.Spec{Name: "master-0", Driver: "redfish",
		Interfaces: map[string]string{"deploy_interface": "direct", "boot_interface": "ipxe", "network_interface": "noop", "bios_interface": "no-bios",
			"raid_interface": "no-raid", "inspect_interface": "agent", "firmware_interface": "no-firmware"},
		Info: map[string]any{"redfish_address": running.URL, "redfish_system_id": "/redfish/v1/Systems/" + fakebmc.Sample(1).ID, "redfish_username": secret.New("admin"),
			"redfish_password": secret.New("p4ss-W0rd"), "redfish_verify_ca": layout.BMCCA},
		Properties: map[string]string{"capabilities": "boot_mode:uefi"}}})
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
