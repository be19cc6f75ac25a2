package redirect

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/port"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

func networks(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// TestOf also changes a port and expects the rules to follow (H-23).
func TestOf(t *testing.T) {
	ports := port.Numbers(nil)
	moved := port.Numbers(map[string]uint16{
		port.API: 7443, port.LB: 7445, port.MachineConfigLB: 7446,
	})
	closed := func(port uint16, vips ...netip.Addr) []Closed {
		return []Closed{{Port: port, For: 22623, VIPs: vips}}
	}
	v4, v6 := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")
	for _, tt := range []struct {
		name     string
		vips     []netip.Addr
		networks []netip.Prefix
		ports    map[string]uint16
		want     Rules
	}{
		{"no VIP", nil, networks("192.0.2.0/24"), ports, Rules{Closed: closed(9446)}},
		{"one family", addrs("192.0.2.5"), networks("192.0.2.0/24"), ports, Rules{
			Redirects: []Redirect{{v4, 6443, 9445, nil}, {
				v4, 22623, 9446, networks("192.0.2.0/24"),
			}}, Closed: closed(9446, v4)}},
		{"both families, in another order", addrs("2001:db8::5", "192.0.2.5"), networks("2001:db8::/64", "198.51.100.0/24", "192.0.2.0/24"), ports, Rules{
			Redirects: []Redirect{
				{v4, 6443, 9445, nil},
				{v4, 22623, 9446, networks("192.0.2.0/24", "198.51.100.0/24")},
				{v6, 6443, 9445, nil}, {v6, 22623, 9446, networks("2001:db8::/64")},
			}, Closed: closed(9446, v4, v6)}},
		{"unknown machine networks", addrs("192.0.2.5"), nil, ports, Rules{
			Redirects: []Redirect{{v4, 6443, 9445, nil}}, Closed: closed(9446)}},
		{"no machine network of the VIP's family", addrs("2001:db8::5"), networks("192.0.2.0/24"), ports, Rules{
			Redirects: []Redirect{{v6, 6443, 9445, nil}}, Closed: closed(9446)}},
		{"other ports", addrs("192.0.2.5"), networks("192.0.2.0/24"), moved, Rules{
			Redirects: []Redirect{{v4, 7443, 7445, nil}, {
				v4, 22623, 7446, networks("192.0.2.0/24"),
			}}, Closed: closed(7446, v4)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Of(tt.vips, tt.networks, tt.ports); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestWithoutMachineConfig holds that without machine config servers only the API is redirected and
// no port is closed.
func TestWithoutMachineConfig(t *testing.T) {
	numbers := port.Numbers(nil)
	delete(numbers, port.MachineConfig)
	delete(numbers, port.MachineConfigLB)
	vip := netip.MustParseAddr("192.0.2.5")
	got := Of([]netip.Addr{vip}, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, numbers)
	want := Rules{Redirects: []Redirect{{VIP: vip, From: 6443, To: 9445}}}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(got.Off(), Rules{}) {
		t.Errorf("got %+v, off %+v", got, got.Off())
	}
}

// TestIronic holds that hosts of any network reach Ironic and the virtual media through the
// balancer, at every VIP, and that a cluster which does not balance them redirects nothing.
func TestIronic(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")
	ports := port.Numbers(map[string]uint16{port.VirtualMediaLB: 9999})
	want := Rules{Redirects: []Redirect{
		{v4, 6385, 9448, nil}, {v4, 6183, 9999, nil}, {v6, 6385, 9448, nil}, {v6, 6183, 9999, nil},
	}}
	if got := Ironic(addrs("2001:db8::5", "192.0.2.5"), ports); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	delete(ports, port.IronicLB)
	delete(ports, port.VirtualMediaLB)
	if got := Ironic(addrs("192.0.2.5"), ports); !reflect.DeepEqual(got, Rules{}) {
		t.Errorf("without Ironic: %+v", got)
	}
}
