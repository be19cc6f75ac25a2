package client

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
)

// hosts are two of a plan, whose DHCP server gives them these addresses; empty for none.
func hosts(addresses ...string) []provision.Host {
	all := []provision.Host{
		{Name: "master-0", MAC: mac.MAC{2, 0, 0, 0, 0, 1}, BMC: "redfish://192.0.2.101/redfish/v1/Systems/1"},
		{Name: "worker-0", MAC: mac.MAC{2, 0, 0, 0, 0, 2}, BMC: "redfish://192.0.2.102/redfish/v1/Systems/1"},
	}
	for i, a := range addresses {
		all[i].Address = netip.MustParseAddr(a)
	}
	return all
}

func get(client, file string) access.Access {
	return access.Access{Client: netip.MustParseAddr(client), Method: "GET", File: file, Status: 200}
}

func TestHosts_Addresses(t *testing.T) {
	four, six := []string{"172.22.0.11", "172.22.0.12"}, []string{"fd00:22::10", "fd00:22::20"}
	for _, tt := range []struct {
		reserved     []string
		client, want string
	}{
		{four, "172.22.0.11", "master-0"}, {four, "172.22.0.12", "worker-0"}, {four, "172.22.0.13", ""}, {four, "192.0.2.101", "master-0"}, {four, "192.0.2.103", ""},
		{six, "fd00:22::10", "master-0"}, {six, "fd00:22::1f", "master-0"}, {six, "fd00:22::20", "worker-0"}, {six, "fd00:22::3", ""}, {six, "fd00:22::30", ""},
		{nil, "172.22.0.11", ""}, {nil, "192.0.2.102", "worker-0"},
	} {
		for _, file := range []string{"images/agent.kernel", "images/os.raw"} {
			if name, card := Of(hosts(tt.reserved...)).Host(get(tt.client, file)); name != tt.want || (card == mac.MAC{}) != (name == "") {
				t.Errorf("%s is %q (%s), want %q", tt.client, name, card, tt.want)
			}
		}
	}
}

// TestHosts_Scripts holds that a host without an address of ours is known by its script, that an image is
// nobody's by that, and that an address which another host has by then is that one's.
func TestHosts_Scripts(t *testing.T) {
	const ours, ironics, of1 = "hosts/02-00-00-00-00-01.ipxe", "pxelinux.cfg/02-00-00-00-00-01", "hosts/02-00-00-00-00-02.ipxe"
	const kernel, ramdisk, image, program = "images/agent.kernel", "images/agent.initramfs", "images/os.raw", "snponly.efi"
	const x, y = "203.0.113.1", "203.0.113.2"
	type request struct{ client, file, want string }
	for name, requests := range map[string][]request{
		"the files of iPXE":         {{x, "boot.ipxe", ""}, {x, ours, "master-0"}, {x, ironics, "master-0"}, {x, kernel, "master-0"}, {x, ramdisk, "master-0"}},
		"its program comes before":  {{x, ours, "master-0"}, {x, program, ""}},
		"the image":                 {{x, ours, "master-0"}, {x, image, ""}, {y, image, ""}},
		"two hosts":                 {{x, ours, "master-0"}, {y, of1, "worker-0"}, {x, kernel, "master-0"}, {y, kernel, "worker-0"}},
		"an address of another one": {{x, ours, "master-0"}, {x, of1, "worker-0"}, {x, kernel, "worker-0"}},
		"another address":           {{x, ours, "master-0"}, {y, ours, "master-0"}, {x, kernel, ""}, {y, kernel, "master-0"}},
		"no host of the plan":       {{x, "hosts/02-00-00-00-00-09.ipxe", ""}, {x, kernel, ""}},
		"no MAC":                    {{x, "hosts/x.ipxe", ""}, {x, "pxelinux.cfg/default", ""}, {x, "x/02-00-00-00-00-01", ""}},
	} {
		c := Of(hosts())
		for i, r := range requests {
			if got, _ := c.Host(get(r.client, r.file)); got != r.want {
				t.Errorf("%s: request %d: %s of %s is %q's, want %q", name, i, r.file, r.client, got, r.want)
			}
		}
	}
}

// TestHosts_Broken holds that a transfer which iPXE breaks off is the host's.
func TestHosts_Broken(t *testing.T) {
	c := Of(hosts())
	c.Host(get("203.0.113.1", "hosts/02-00-00-00-00-01.ipxe"))
	a := get("203.0.113.1", "images/agent.initramfs")
	a.Broken = true
	if got, _ := c.Host(a); got != "master-0" {
		t.Errorf("it is %q's", got)
	}
}

// TestHosts_OtherServer holds that an address which is reserved for one host, and was given to another by a
// server that is not ours, makes the image no host's: it may be on the disk of either.
func TestHosts_OtherServer(t *testing.T) {
	c := Of(hosts("172.22.0.11", "172.22.0.12"))
	got := ""
	for _, file := range []string{"images/os.raw", "hosts/02-00-00-00-00-02.ipxe", "images/agent.kernel", "images/os.raw", "hosts/02-00-00-00-00-01.ipxe", "images/os.raw"} {
		name, _ := c.Host(get("172.22.0.11", file))
		got += fmt.Sprintf("%q ", name)
	}
	if want := `"master-0" "worker-0" "worker-0" "" "master-0" "master-0" `; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
