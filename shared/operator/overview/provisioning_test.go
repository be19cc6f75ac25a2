package overview

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// TestProvisioning_Block holds that a plan over IPv6 shows the addresses that a host has, and not
// only the first one.
func TestProvisioning_Block(t *testing.T) {
	p := &provision.Plan{Network: "managed", DHCP: &provision.DHCP{Block: 124},
		Hosts: []provision.Host{{Name: "m0", Address: netip.MustParseAddr("fd00::10")}}}
	if text := provisioning(p, layout.Width(100)); !strings.Contains(text, " fd00::10/124\n") {
		t.Errorf("no block in\n%s", text)
	}
	p.DHCP.Block, p.Hosts[0].Address = 0, netip.MustParseAddr("172.22.0.10")
	if text := provisioning(p, layout.Width(100)); !strings.Contains(text, " 172.22.0.10\n") {
		t.Errorf("no address in\n%s", text)
	}
}
