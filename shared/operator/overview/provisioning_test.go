package overview

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// TestProvisioning_Block holds that a plan over IPv6 shows the addresses that a host has, and not
// only the first one.
func TestProvisioning_Block(t *testing.T) {
	p := &provision.Plan{Network: "managed", DHCP: &provision.DHCP{Block: 124},
		Hosts: []provision.Host{{Name: "m0", Address: netip.MustParseAddr("fd00::10")}}}
	if text := provisioning(plan.Plan{Provisioning: p}, layout.Width(100)); !strings.Contains(text, " fd00::10/124\n") {
		t.Errorf("no block in\n%s", text)
	}
	p.DHCP.Block, p.Hosts[0].Address = 0, netip.MustParseAddr("172.22.0.10")
	if text := provisioning(plan.Plan{Provisioning: p}, layout.Width(100)); !strings.Contains(text, " 172.22.0.10\n") {
		t.Errorf("no address in\n%s", text)
	}
}

// TestOthers holds that a plan shows which addresses hosts get that are not listed, and few of many
// parts.
func TestOthers(t *testing.T) {
	a := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{172, 22, 0, n}) }
	d := &provision.DHCP{Unknown: "refuse"}
	if got := others(d); got != "refuse" {
		t.Errorf("without a pool: %s", got)
	}
	d.Unknown = "pool"
	for n := byte(10); n < 60; n += 10 {
		d.Pool = append(d.Pool, subnet.Span{First: a(n), Last: a(n + 5)})
	}
	const want = "in the cluster 172.22.0.10-172.22.0.15, 172.22.0.20-172.22.0.25, 172.22.0.30-172.22.0.35, 2 more parts of it"
	if got := others(d); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if d.Pool = d.Pool[:1]; others(d) != "in the cluster 172.22.0.10-172.22.0.15" {
		t.Errorf("one part: %s", others(d))
	}
}

// TestProvisioning_Two holds that a plan promises nothing of a cluster's DHCP server that is not ours.
func TestProvisioning_Two(t *testing.T) {
	p := &provision.Plan{Network: "managed", Address: "two", DHCP: &provision.DHCP{Unknown: "pool"}, Hosts: []provision.Host{{Name: "w0"}}}
	text := strings.Join(strings.Fields(provisioning(plan.Plan{Provisioning: p}, layout.Width(100))), " ")
	if !strings.Contains(text, "other hosts: refuse, by the bootstrap machine. The cluster's server is not ours, and may answer any host") ||
		!strings.Contains(text, "w0 none of ours") {
		t.Error(text)
	}
	p.Address = "one"
	if text := provisioning(plan.Plan{Provisioning: p}, layout.Width(100)); !strings.Contains(text, "other hosts: pool") {
		t.Error(text)
	}
}

// TestProvisioning_NotByCluster holds that a plan does not state that a cluster provisions workers which
// has no Ironic that hosts reach, nor that they report to the API VIP.
func TestProvisioning_NotByCluster(t *testing.T) {
	p := plan.Plan{Shape: plan.Shape{Distribution: "kubernetes"}, Provisioning: &provision.Plan{Network: "disabled",
		Hosts: []provision.Host{{Name: "w0", Phase: provision.Cluster, Driver: "ipmi", Boot: provision.VirtualMedia, Ironic: "https://192.0.2.5:6385"}}}}
	shown := func() string {
		return strings.Join(strings.Fields(provisioning(p, layout.Width(100))), " ")
	}
	if text := shown(); !strings.HasSuffix(text, "w0 none of ours none of ours ipmi virtual media none of ours") {
		t.Error(text)
	}
	p.Distribution, p.Platform = "openshift", "baremetal"
	if text := shown(); !strings.HasSuffix(text, "w0 cluster none of ours ipmi virtual media 192.0.2.5:6385") {
		t.Error(text)
	}
}

// TestProvisioning_Balanced holds that a plan states by which ports the cluster's Ironic is reached.
func TestProvisioning_Balanced(t *testing.T) {
	const want = "the API VIP's holder; the cluster's by HAProxy's ports 9448 and 9449\n"
	for ports, balanced := range map[*map[string]uint16]bool{new(port.Numbers(nil)): true, {}: false} {
		text := provisioning(plan.Plan{Provisioning: &provision.Plan{Network: "disabled"}, Ports: *ports}, layout.Width(100))
		if strings.Contains(text, want) != balanced || !strings.Contains(text, "the API VIP's holder") {
			t.Errorf("balanced %t:\n%s", balanced, text)
		}
	}
}
