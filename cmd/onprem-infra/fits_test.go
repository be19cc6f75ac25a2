//go:build remote

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/nodeip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/holder"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/example"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// longest are addresses that take as many characters as an address can.
func longest(n int) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("fd2e:6f44:5dd8:c956:f816:3eff:fe1b:1%03x", n))
}

// TestStatusFitsATerminal holds that no line of status is wrapped by a terminal, with the longest
// addresses.
func TestStatusFitsATerminal(t *testing.T) {
	age := 12345
	r := status.Report{Cluster: strings.Repeat("c", 54), At: fakehost.Begin,
		Node:   status.Node{NodeIPs: []netip.Addr{netip.MustParseAddr("192.168.111.222"), longest(1)}, Gate: inspect.GateClosed},
		Daemon: &status.Daemon{Running: true, Restarts: 3, MonitorSilent: true}, Reach: clash.Reach(true)}
	for i, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS} {
		v := status.VIP{VIP: inspect.VIP{Address: longest(i), For: kind, State: supervised.Backup, Since: fakehost.Begin,
			Why: "another router with a higher priority was heard", Priority: 249},
			Holder: holder.Holder{Address: longest(16 + i), MAC: "52:54:00:00:00:10"}}
		v.Adverts = []status.Advert{{From: longest(16 + i), MAC: "52:54:00:00:00:11", Priority: 249, Version: 3, IntervalMs: 1000, AgeMs: 999}}
		v.Parts = []inspect.Part{{Name: "base", Adds: 31, Counts: true}, {Name: "default_ingress", Adds: 110, Since: fakehost.Begin, Why: "the kubelet names no pod of the default router"}}
		for n := range 5 {
			v.Peers = append(v.Peers, status.Member{Address: longest(32 + n), Node: "master-0.ostest.example.com", AgeMs: &age})
		}
		r.VIPs = append(r.VIPs, v)
	}
	r.Balancer = []status.Backend{{Name: "master-0.ostest.example.com", Address: netip.AddrPortFrom(longest(2), 6443), Status: "DOWN", Sessions: 12345}}
	r.Ironic = []status.Backend{{Of: "virtual-media", Name: "s0", Address: netip.AddrPortFrom(longest(2), 6183), Status: "DOWN 1/3", Sessions: 12345}}
	r.Names = []status.Name{{Name: "api-int.ostest.example.com", Want: []netip.Addr{longest(3)}, Answers: []netip.Addr{longest(4), longest(5)}}}
	text := r.Text(width())
	for _, line := range tooWide(text) {
		t.Errorf("status: %s", line)
	}
	for _, want := range []string{"\nVIP " + longest(0).String() + "\n    FOR       api\n    HELD BY   " + longest(16).String() + "\n    HERE      BACKUP\n", "\nVIP " + longest(2).String()} {
		if !strings.Contains(text, want) {
			t.Errorf("status has no %q:\n%s", want, text)
		}
	}
	r.VIPs = r.VIPs[:1]
	r.VIPs[0].Address, r.VIPs[0].Holder = netip.MustParseAddr("192.0.2.5"), holder.Holder{Self: true}
	if text := r.Text(width()); !strings.Contains(text, "\nVIP        FOR  HELD BY    HERE    PRIORITY\n192.0.2.5  api  this host  BACKUP  249\n") {
		t.Errorf("status has no table of short addresses:\n%s", text)
	}
}

// TestDoctorFitsATerminal holds it for doctor, with the longest addresses and what HTTP's client
// and an image's digest are in its findings.
func TestDoctorFitsATerminal(t *testing.T) {
	image := "registry.example.com/onprem/onprem-infra@sha256:" + strings.Repeat("0123456789abcdef", 4)
	failed := &url.Error{Op: "Head", URL: "https://registry.example.com/v2/onprem/onprem-infra/manifests/sha256:" + strings.Repeat("0123456789abcdef", 4), Err: errors.New("no such host")}
	f := facts.Facts{Machine: facts.Machine{Images: []facts.Image{{Key: "baremetalRuntimeCfgImage", Reference: image, Fault: inspect.WithoutURL(fmt.Errorf("ask: %w", failed))}}}}
	r := diagnose.Report{At: fakehost.Begin, Cluster: "prod", Live: true, NodeIPs: []netip.Addr{longest(0), longest(1), longest(2)}, Checks: doctor.All(), Findings: doctor.Examine(f),
		Unseen: []string{"the answers for the VIPs: ask who has " + longest(3).String() + " on eth0: operation not permitted: it takes the capability NET_RAW"}}
	text := r.Text(width())
	for _, line := range tooWide(text) {
		t.Errorf("doctor: %s", line)
	}
	for _, want := range []string{"onprem-infra@sha256:0123456789ab…\n", "seen: ask: no such host\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor says nothing like %q:\n%s", want, text)
		}
	}
}

// TestExamplesFitATerminal holds it for each example, and for the plan of one with the longest
// addresses.
func TestExamplesFitATerminal(t *testing.T) {
	config := strings.NewReplacer("2001:db8:1::5", longest(5).String(), "2001:db8:1::6", longest(6).String(), "2001:db8:1::/64", "fd2e:6f44:5dd8:c956::/64")
	for _, kind := range []string{"install-config", "cluster"} {
		for _, families := range example.Families() {
			text := must(t, "", "example", kind, "--families", families)
			for _, line := range tooWide(text) {
				t.Errorf("example %s: %s", kind, line)
			}
			for _, timing := range []string{"lan", "compat"} {
				for _, format := range []string{"text", "yaml"} {
					text := must(t, config.Replace(text), "plan", "-c", "-", "--timing", timing, "-o", format)
					for _, line := range tooWide(text) {
						t.Errorf("plan of %s, %s: %s", kind, families, line)
					}
				}
			}
		}
	}
	for _, platform := range []string{"nutanix", "openstack", "ovirt", "vsphere"} {
		for _, line := range tooWide(must(t, "", "example", "install-config", "--platform", platform)) {
			t.Errorf("example of %s: %s", platform, line)
		}
	}
}

// TestNodeIPFitsATerminal holds it for what node-ip explains.
func TestNodeIPFitsATerminal(t *testing.T) {
	var text strings.Builder
	rulings := []addr.Ruling{{Verdict: addr.Chosen, Link: "enp131s0f0np0.12", Prefix: netip.PrefixFrom(longest(0), 128), Why: "the VIP " + longest(1).String() + " is in its network fd2e:6f44:5dd8:c956::/64"}}
	explain(&text, nodeip.Desired{Choice: addr.NodeAddresses{Rulings: rulings}})
	for _, line := range tooWide(text.String()) {
		t.Errorf("node-ip: %s", line)
	}
	if !strings.Contains(text.String(), longest(0).String()) {
		t.Errorf("%s", text.String())
	}
}
