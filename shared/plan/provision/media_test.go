package provision

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// TestHost_Media holds in which clusters the plan has the address from which BMCs fetch ISOs: not in
// one of any Kubernetes, where it is that of the node on which Ironic runs.
func TestHost_Media(t *testing.T) {
	const media = "redfish-virtualmedia://198.51.100.1/1"
	for title, tt := range map[string]struct {
		openShift bool
		network   provisioning.Mode
		role      string
		want      string
	}{
		"any Kubernetes":      {false, provisioning.Managed, machine.Worker, ""},
		"its control plane":   {false, provisioning.Managed, machine.Master, "https://192.0.2.5:6183"},
		"OpenShift":           {true, provisioning.Managed, machine.Worker, "https://192.0.2.5:6183"},
		"without the network": {false, provisioning.Disabled, machine.Worker, "https://192.0.2.5:6183"},
	} {
		in := Input{OpenShift: tt.openShift, APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, Settings: provisioning.Settings{Network: tt.network}}
		p := &Plan{Network: tt.network}
		if tt.network != provisioning.Disabled {
			p.addresses(in)
		}
		a, err := bmc.Parse(media)
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.host(in, machine.Host{Name: "h", Role: tt.role, BMC: machine.BMC{Address: a}}, false)
		if err != nil || h.Media != tt.want {
			t.Errorf("%s: %q, %v", title, h.Media, err)
		}
	}
}
