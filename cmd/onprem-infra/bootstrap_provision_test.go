//go:build remote

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	hostplan "github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// installing is the plan of a cluster whose worker is listed before its control plane.
func installing(t *testing.T, provisioning, image string) plan.Plan {
	t.Helper()
	text := "apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  baseDomain: example.com\n" +
		"  platform: none\n  machineNetworks: [192.0.2.0/24]\n  apiVIPs: [192.0.2.5]\n  ingressVIPs: [192.0.2.6]\n" +
		"  provisioning: " + provisioning + "\n  hosts:\n"
	for i, role := range []string{"worker", "master"} {
		text += fmt.Sprintf("  - {name: h%d, role: %s, bootMAC: '52:54:00:00:00:0%d', bmc: {address: 'redfish-virtualmedia://198.51.100.%[1]d/a'}}\n", i+1, role, i+1)
	}
	described, findings := spec.Parse("cluster.yaml", []byte(text), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	sum := "@sha256:" + strings.Repeat("a", 64)
	described.Images = map[string]string{spec.IronicImage: "r/ironic:1", spec.IronicAgentImage: "r/agent:1", spec.OSImage: "https://images.example.com/" + image + sum}
	p, err := plan.Compile(described)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSetWants holds that hosts of the cluster are to run, also while this machine installs again, and that
// no BMC's disks are judged.
func TestSetWants(t *testing.T) {
	all := make([]preflight.Target, 2)
	for i := range all {
		all[i].Host, all[i].Want.Ours = fmt.Sprint("m", i), true
	}
	setWants(all, []string{"m1"})
	if all[0].Want.Running || !all[1].Want.Running || all[0].Want.Ours || all[1].Want.Ours {
		t.Errorf("%+v", all)
	}
}

// TestProvisionHost_URL holds that hosts fetch from the bootstrap machine, whose address may be another
// than that of the cluster's Ironic, whichever host is listed first.
func TestProvisionHost_URL(t *testing.T) {
	for provisioning, want := range map[string]string{
		"{network: managed, address: two}":                             "172.22.0.2",
		"{network: managed}":                                           "172.22.0.3",
		"{network: disabled, ip: 192.0.2.30, bootstrapIP: 192.0.2.31}": "192.0.2.31",
		"{network: disabled}":                                          "192.0.2.5",
	} {
		h, err := newProvisionHost(installing(t, provisioning, "os.raw"))
		if err != nil {
			t.Fatal(err)
		}
		if got := h.url(layout.AgentKernel); got != "http://"+want+":6180/images/agent.kernel" {
			t.Errorf("%s: %s, want it at %s", provisioning, got, want)
		}
	}
}

// TestProvisionHost_Image holds that the image of the description is written, and not one of the other
// format that a former description has left.
func TestProvisionHost_Image(t *testing.T) {
	dir := t.TempDir()
	write := func(name, digit string) {
		if err := os.WriteFile(filepath.Join(dir, name+layout.Digest), []byte(strings.Repeat(digit, 64)+"  "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for image, want := range map[string]node.Image{
		"rhcos.raw.gz":   {URL: "http://172.22.0.3:6180/images/os.raw", SHA256: strings.Repeat("b", 64), Format: "raw"},
		"rhcos.qcow2.gz": {URL: "http://172.22.0.3:6180/images/os.qcow2", SHA256: strings.Repeat("c", 64), Format: "qcow2"},
	} {
		h, err := newProvisionHost(installing(t, "{network: managed}", image))
		if err != nil {
			t.Fatal(err)
		}
		write("os.raw", "b")
		write("os.qcow2", "c")
		if got, err := h.image(dir); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", image, got, err, want)
		}
		if err := os.Remove(filepath.Join(dir, "os."+want.Format+layout.Digest)); err != nil {
			t.Fatal(err)
		}
		if got, err := h.image(dir); err == nil || !strings.Contains(err.Error(), "os."+want.Format+" has no digest beside it") {
			t.Errorf("%s is not there: %+v, %v", image, got, err)
		}
	}
}

// TestFetched holds what the servers' events say of a disk: the image, or a range of it, may be on
// it, and a transfer that broke off has not come to its end.
func TestFetched(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for kind, want := range map[string]time.Time{"image": at, "broken": {}, "head": {}, "kernel": {}} {
		if got := fetched([]events.Event{{Time: at, Source: events.HTTP, Kind: kind}}); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

// TestTracesOf_Unnamed holds that an image which a client of an unknown address fetched is shown for every
// host, as it may be any of them, and as fetched by none.
func TestTracesOf_Unnamed(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(1_700_000_000+second, 0) }
	get := func(second int64, host, kind string) events.Event {
		return events.Event{Time: at(second), Host: host, Source: events.HTTP, Kind: kind}
	}
	hosts := []hostplan.Host{{Name: "m0", MAC: mac.MAC{2, 0, 0, 0, 0, 1}}, {Name: "m1", MAC: mac.MAC{2, 0, 0, 0, 0, 2}}}
	card := get(4, "", "image")
	card.MAC = hosts[1].MAC
	all := []events.Event{get(3, "", "image"), get(1, "", "kernel"), get(2, "m0", "image"), card, get(5, "", "broken")}
	got := tracesOf(all, hosts, at(9))
	for name, fetched := range map[string]time.Time{"m0": at(2), "m1": at(4)} {
		if g := got[name]; g.Fetched != fetched || g.Unnamed != at(3) || g.Since != at(1) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if got := tracesOf([]events.Event{get(3, "", "kernel")}, hosts, at(900))["m0"].Cause.Why; !strings.HasPrefix(got, "it was not seen") {
		t.Errorf("%q is claimed of a host that may have fetched a kernel", got)
	}
	if g := tracesOf([]events.Event{get(2, "m0", "image")}, hosts, at(9))["m1"]; !g.Unnamed.IsZero() || !g.Fetched.IsZero() || g.Since != at(2) {
		t.Errorf("the image of another host counts: %+v", g)
	}
}
