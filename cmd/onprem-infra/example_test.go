package main

import (
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/example"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ownFields are fields that only the example of that platform has, and that are read: a mistake in
// one, and the finding that only that platform has.
var ownFields = map[spec.Platform]struct{ field, right, wrong, finding string }{
	spec.BareMetal: {"bootMACAddress:", "52:54:00:00:00:11", "52:54:00:00:00:10",
		`error: platform.baremetal.hosts[1].bootMACAddress: "52:54:00:00:00:10" is another host's too, at line `},
	spec.Nutanix: {"subnetUUIDs:", "00000000-0000-0000-0000-000000000004", "subnet-4", `warning: platform.nutanix.subnetUUIDs[0]: "subnet-4" is no UUID`},
	spec.OpenStack: {"externalDNS:", "NAMESERVER", "dns.example.com",
		`warning: platform.openstack.externalDNS[0]: "dns.example.com" is no IP address`},
	spec.OVirt: {"api_vips:", "api_vips:", "apiVIPs:", `error: platform.ovirt.apiVIPs: is not read on this platform: spell it api_vips`},
	spec.VSphere: {"failureDomains:", "      server: vcenter.example.com", "      server: vcentre.example.com",
		`warning: platform.vsphere.failureDomains[0].server: no entry under vcenters has this server`},
}

// nameServers are the name servers in the examples, by families.
var nameServers = map[string]string{
	"ipv4": "198.51.100.53", "dual": "198.51.100.53", "ipv6": "2001:db8:2::53",
}

// TestExampleFindings makes the mistake in each platform's example: its finding comes, at its
// place, and no other.
func TestExampleFindings(t *testing.T) {
	for platform, own := range ownFields {
		for _, families := range example.Families() {
			text := must(t, "", "example", "install-config", "--platform", string(platform), "--families", families)
			right := strings.Replace(own.right, "NAMESERVER", nameServers[families], 1)
			before, _, there := strings.Cut(text, right)
			if !there {
				t.Fatalf("%s %s: there is no %s", platform, families, right)
			}
			findings := invoke(t, strings.Replace(text, right, own.wrong, 1), "validate", "--strict", "-c", "-")
			place := fmt.Sprintf("stdin:%d:", strings.Count(before, "\n")+1)
			found := false
			for line := range strings.Lines(findings.out) {
				_, what, _ := strings.Cut(strings.TrimPrefix(line, place), ": ")
				found = found || strings.HasPrefix(line, place) && strings.HasPrefix(what, strings.Replace(own.finding, "warning:", "error:", 1))
			}
			if findings.code != exitFindings || !found {
				t.Errorf("%s %s: exit %d, no %q at %s in\n%s", platform, families, findings.code, own.finding, place, findings.out)
			}
			more := 0
			if platform == spec.OVirt {
				more = 2 // the list that is not read is missing too, and the platform has its own
			}
			if strings.Count(findings.out, "\n") != 1+more {
				t.Errorf("%s %s: one mistake makes\n%s", platform, families, findings.out)
			}
		}
	}
}

func TestExampleInstallConfig(t *testing.T) {
	for platform, own := range ownFields {
		for families, vips := range map[string]int{"ipv4": 1, "ipv6": 1, "dual": 2} {
			text := must(t, "", "example", "install-config", "--platform", string(platform), "--families", families)
			if platform == spec.OVirt { // of which today's installer knows nothing
				out := must(t, text, "validate", "-c", "-")
				if strings.Count(out, "\n") != 1 || !strings.Contains(out, "warning: platform.ovirt: today's installer refuses oVirt") {
					t.Errorf("%s %s: %s", platform, families, out)
				}
			} else if out := must(t, text, "validate", "--strict", "-c", "-"); out != "" {
				t.Errorf("%s %s: %s", platform, families, out)
			}
			cluster, _ := spec.Parse("x", []byte(text), spec.Knobs{})
			if cluster.Platform != platform || len(cluster.APIVIPs) != vips || len(cluster.MachineNetworks) != vips {
				t.Errorf("%s %s: got %+v", platform, families, cluster)
			}
			for other, o := range ownFields {
				if strings.Contains(text, o.field) != (other == platform) {
					t.Errorf("%s: field %s of %s", platform, own.field, other)
				}
			}
		}
	}
}

func TestExampleCluster(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("bmc-0.yaml", "username: a\npassword: b\n")
	write("bmc-ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	for _, platform := range []string{"baremetal", "none", "nutanix", "openstack", "ovirt", "vsphere"} {
		for _, families := range example.Families() {
			for _, management := range example.Managements() {
				text := must(t, "", "example", "cluster", "--platform", platform, "--families", families, "--vip-management", string(management))
				if out := must(t, text, "validate", "--strict", "-c", "-"); out != "" {
					t.Errorf("%s %s %s: %s", platform, families, management, out)
				}
				// What stands behind a # is a field that works.
				full := strings.NewReplacer("\n  # ", "\n  ", "\n    # ", "\n    ").Replace(text)
				if out := must(t, "", "validate", "--strict", "-c", write("cluster.yaml", full)); out != "" {
					t.Errorf("%s %s %s with every field: %s", platform, families, management, out)
				}
			}
		}
	}
	if got := invoke(t, "", "example", "cluster", "--vip-management", "ospf"); got.code != exitUsage || !strings.Contains(got.err, `"ospf" is not one of: vrrp, bgp, both`) {
		t.Errorf("%+v", got)
	}
}

// TestExampleText compares the examples to the letter: that each is accepted does not show that it
// still says everything.
func TestExampleText(t *testing.T) {
	golden(t, "images", must(t, "", "example", "images"))
	for kind, platforms := range map[string]string{
		"install-config": "baremetal nutanix openstack ovirt vsphere",
		"cluster":        "baremetal none nutanix openstack ovirt vsphere",
	} {
		for platform := range strings.FieldsSeq(platforms) {
			for _, families := range example.Families() {
				text := must(t, "", "example", kind, "--platform", platform, "--families", families)
				golden(t, kind+"-"+platform+"-"+families, text)
			}
		}
	}
	for _, management := range []string{"bgp", "both"} {
		golden(t, "cluster-none-dual-"+management, must(t, "", "example", "cluster", "--families", "dual", "--vip-management", management))
	}
}

// golden compares a text with testdata/TEST/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", t.Name(), name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestExampleImages(t *testing.T) {
	images, findings := spec.ParseImages("x", []byte(must(t, "", "example", "images")))
	if len(findings) > 0 || len(images) != 4 {
		t.Errorf("got %v, %v", images, findings)
	}
}
