package layout_test

import (
	"path"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// kept outlives a reboot, and made does not: orders of before would switch DHCP on again.
var (
	kept = []string{layout.HTTP, layout.TFTP, layout.Images, layout.Ironic, layout.Leases, layout.Journal, layout.Certificate, layout.Key, layout.Account,
		layout.Htpasswd, layout.BMCCA, layout.Sources, layout.AgentKernel, layout.AgentInitramfs, layout.OSRaw, layout.OSQcow2}
	made = []string{layout.Orders, layout.Progress, layout.DnsmasqConf, layout.DnsmasqHost, layout.DnsmasqLog, layout.IronicConf, layout.Report("http"), layout.Report("dhcp")}
)

func below(file, dir string) bool { return strings.HasPrefix(file, dir+"/") }

// TestPaths holds that each path is where its kind is kept, clean, and no other one's.
func TestPaths(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range append(append([]string{layout.Hosts}, kept...), made...) {
		if p != path.Clean(p) || !path.IsAbs(p) || seen[p] {
			t.Errorf("%s is not clean, or there twice", p)
		}
		seen[p] = true
	}
	for _, p := range kept {
		if !below(p, layout.State) || below(layout.State, "/run") {
			t.Errorf("%s is lost with a reboot", p)
		}
	}
	for _, p := range made {
		if !below(p, layout.Run) || !below(layout.Run, "/run") {
			t.Errorf("%s outlives a reboot", p)
		}
	}
}

// TestSecrets holds that no server has a file with secrets below its root, nor what shows how far an
// installation is.
func TestSecrets(t *testing.T) {
	for _, secret := range []string{layout.Hosts, layout.Key, layout.Account, layout.Htpasswd, layout.Ironic, layout.Journal, layout.Leases, layout.Run} {
		for _, root := range []string{layout.HTTP, layout.TFTP} {
			if below(secret, root) || secret == root || below(root, secret) {
				t.Errorf("%s is below %s", secret, root)
			}
		}
	}
}

// TestKinds holds that what hosts fetch is known by its name: the cause of a boot that led nowhere, and
// whether a disk may be written, follow from it.
func TestKinds(t *testing.T) {
	for file, want := range map[string]access.Kind{
		layout.AgentKernel: access.Kernel, layout.AgentInitramfs: access.Ramdisk, layout.OSRaw: access.Image, layout.OSQcow2: access.Image,
		layout.OSRaw + layout.Digest: access.File, layout.HTTP + "/" + layout.ProgramBIOS: access.Program, layout.HTTP + "/" + layout.ProgramX64: access.Program,
		layout.HTTP + "/" + layout.ProgramARM64: access.Program, layout.HTTP + "/" + layout.Media + "/boot.iso": access.Media, layout.HTTP + "/" + layout.MediaILO + "/boot.iso": access.Media,
	} {
		name, ok := strings.CutPrefix(file, layout.HTTP+"/")
		if got := (access.Access{Method: "GET", Status: 200, File: name}).Kind(); !ok || got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}
