package link

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestEthernets holds what is read of a bridge and its port with one MAC, of a link that is down,
// and of one without carrier; the loopback is no Ethernet.
func TestEthernets(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	card := mac.MAC{2, 0, 0, 0, 0x53, 0x0a}
	ns.IP(t, "link set lo up\n"+
		"link add ens3 type veth peer name far\nlink set ens3 address "+card.String()+" mtu 1400\n"+
		"link add name br-ex address "+card.String()+" type bridge\nlink set ens3 master br-ex\n"+
		"link set far up\nlink set ens3 up\nlink set br-ex up\naddr add 172.22.0.1/24 dev br-ex\n"+
		"link add ens4 type veth peer name far4\nlink set ens4 up\n")
	var all []addr.Ethernet
	if err := ns.In(func() (err error) { all, err = Ethernets(); return err }); err != nil {
		t.Fatal(err)
	}
	at := map[string]addr.Ethernet{}
	for _, e := range all {
		at[e.Name] = e
	}
	port, bridge, open := at["ens3"], at["br-ex"], at["ens4"]
	if len(all) != 5 || port.MAC != card || port.MTU != 1400 || !port.Port || !port.Enabled || !port.Carrier {
		t.Errorf("%d links, the port %+v", len(all), port)
	}
	if bridge.MAC != card || bridge.Port || !slices.Contains(bridge.Addresses, netip.MustParsePrefix("172.22.0.1/24")) {
		t.Errorf("the bridge %+v", bridge)
	}
	if !open.Enabled || open.Carrier || at["far4"].Enabled {
		t.Errorf("without carrier %+v, down %+v", open, at["far4"])
	}
}
