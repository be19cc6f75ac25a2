package sharing

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// TestCard holds by what a node's card on the provisioning network is known.
func TestCard(t *testing.T) {
	of := func(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }
	eth := func(name string, n byte, port bool) addr.Ethernet {
		return addr.Ethernet{Name: name, MAC: of(n), Port: port}
	}
	hosts := []provision.Host{{Name: "m0", MAC: of(1)}, {Name: "m1", MAC: of(2)}}
	for _, tt := range []struct {
		name, named string
		cards       []addr.Ethernet
		want, wrong string
	}{
		{"by the MAC of a host", "eno9", []addr.Ethernet{eth("eth0", 9, false), eth("eno2", 2, false)}, "eno2", ""},
		{"the bridge above the card", "", []addr.Ethernet{eth("eno2", 2, true), eth("br0", 2, false)}, "br0", ""},
		{"by the name, of a node that is no host", "eno9", []addr.Ethernet{eth("eth0", 8, false), eth("eno9", 9, false)}, "eno9", ""},
		{"no card", "", []addr.Ethernet{eth("eth0", 9, false)}, "", "set spec.provisioning.interface"},
		{"no card of the name", "eno9", []addr.Ethernet{eth("eth0", 9, false)}, "", "no link has the name eno9"},
		{"the cards of two hosts", "", []addr.Ethernet{eth("eth0", 1, false), eth("eno2", 2, false)}, "", "the boot MACs of several hosts"},
	} {
		p := &provision.Plan{Interface: tt.named, Hosts: hosts}
		got, err := Card(p, tt.cards)
		if got.Name != tt.want || (err != nil) != (tt.wrong != "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %q, %v", tt.name, got.Name, err)
		}
	}
}
