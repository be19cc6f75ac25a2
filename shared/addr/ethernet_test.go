package addr

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// TestFindEthernet holds which link is meant by a name or a MAC.
func TestFindEthernet(t *testing.T) {
	const other = "52:54:00:00:53:0b"
	card := mac.MAC{0x52, 0x54, 0, 0, 0x53, 0x0a}
	with := func(e Ethernet, addresses ...string) Ethernet {
		for _, a := range addresses {
			e.Addresses = append(e.Addresses, netip.MustParsePrefix(a))
		}
		return e
	}
	port := Ethernet{Name: "ens3", MAC: card, Port: true}
	bridge := Ethernet{Name: "br-ex", MAC: card}
	vlan := Ethernet{Name: "ens3.100", MAC: card}
	own := []netip.Addr{netip.MustParseAddr("fd00::1")}
	for _, tt := range []struct {
		name  string
		all   []Ethernet
		named string
		own   []netip.Addr
		want  string // the link, or what the error names
		fails bool
	}{
		{"by name", []Ethernet{port, bridge}, "ens3", nil, "ens3", false},
		{"no such name", []Ethernet{port, bridge}, "ens9", nil, "br-ex (52:54:00:00:53:0a), ens3 (52:54:00:00:53:0a)", true},
		{"by MAC", []Ethernet{{Name: "ens4", MAC: mac.MAC{0x52, 0x54, 0, 0, 0x53, 0x0b}}, port}, card.String(), nil, "ens3", false},
		{"P-24: by MAC in capitals", []Ethernet{port}, "52:54:00:00:53:0A", nil, "ens3", false},
		{"P-24: by MAC with hyphens", []Ethernet{port}, "52-54-00-00-53-0A", nil, "ens3", false},
		{"no such MAC", []Ethernet{port}, other, nil, "no link has the MAC 52:54:00:00:53:0b", true},
		{"no such MAC among links of one", []Ethernet{port, bridge}, other, nil, "no link has the MAC", true},
		{"no links", nil, card.String(), nil, "no link has the MAC", true},
		{"P-30: the bridge has the address", []Ethernet{port, with(bridge, "172.22.0.1/24", "fe80::1/64")}, card.String(), nil, "br-ex", false},
		{"P-30: the port has one of its own", []Ethernet{with(port, "172.22.0.1/24"), bridge}, card.String(), nil, "ens3", false},
		{"P-30: both have one, and the stated address decides", []Ethernet{with(vlan, "172.22.0.1/24"), with(bridge, "fd00:0::1/64")}, card.String(), own, "br-ex", false},
		{"P-30: neither has one", []Ethernet{port, bridge}, card.String(), own, "br-ex", false},
		{"link-local addresses decide nothing", []Ethernet{with(port, "fe80::1/64"), bridge}, card.String(), nil, "br-ex", false},
		{"a bridge and a VLAN without addresses", []Ethernet{port, bridge, vlan}, card.String(), nil, "several links have the MAC 52:54:00:00:53:0a: br-ex (52:54:00:00:53:0a), ens3.100", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FindEthernet(tt.all, tt.named, tt.own...)
			if tt.fails && (err == nil || !strings.Contains(err.Error(), tt.want)) ||
				!tt.fails && (err != nil || got.Name != tt.want) {
				t.Errorf("%s, %v; want %s", got.Name, err, tt.want)
			}
		})
	}
}
