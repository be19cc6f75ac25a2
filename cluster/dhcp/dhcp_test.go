package dhcp

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// TestOrders holds that the server is on with the address and not without, and whom it answers.
func TestOrders(t *testing.T) {
	master, worker := mac.MAC{2, 0, 0, 0, 0, 1}, mac.MAC{2, 0, 0, 0, 0, 2}
	p := plan.Plan{Provisioning: &provision.Plan{Network: provisioning.Managed, Address: provisioning.One,
		IP: netip.MustParseAddr("172.22.0.3"), DHCP: &provision.DHCP{},
		Hosts: []provision.Host{{Name: "worker-0", MAC: worker, Phase: provision.Cluster}, {Name: "master-0", MAC: master, Phase: provision.Bootstrap}}}}
	has := func(text string, a addr.Address) addr.Snapshot {
		a.Prefix = netip.MustParsePrefix(text)
		return addr.Snapshot{Links: []addr.Link{{Name: "eno2", Up: true, Addresses: []addr.Address{a}}}}
	}
	for _, tt := range []struct {
		name   string
		links  addr.Snapshot
		leaves bool
		on     bool
		why    string
	}{
		{"with the address", has("172.22.0.3/24", addr.Address{}), false, true, "this node has 172.22.0.3"},
		{"without", has("172.22.0.30/24", addr.Address{}), false, false, "waits for 172.22.0.3"},
		{"while the kernel probes for another host", has("172.22.0.3/24", addr.Address{Tentative: true}), false, false, "waits for the end of the probe for another host with 172.22.0.3"},
		{"when it ends", has("172.22.0.3/24", addr.Address{}), true, false, "this program ends"},
	} {
		o := Orders(p, tt.links, tt.leaves)
		if o.Wants(orders.DHCP) != tt.on || o.Why != tt.why || !slices.Equal(o.Hosts, []mac.MAC{master, worker}) {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
	p.Provisioning.Address = provisioning.Two // the bootstrap machine may answer beside it
	if o := Orders(p, has("172.22.0.3/24", addr.Address{}), false); !slices.Equal(o.Hosts, []mac.MAC{worker}) {
		t.Errorf("two addresses: %+v", o)
	}
	p.Provisioning.DHCP = nil // another server answers, and ours serves the boot programs
	if o := Orders(p, has("172.22.0.3/24", addr.Address{}), false); !o.Wants(orders.DHCP) || len(o.Hosts) > 0 {
		t.Errorf("unmanaged: %+v", o)
	}
}
