package provisioning

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

const ownMAC, otherMAC = "52:54:00:00:53:01", "52:54:00:00:53:02"

var card = mac.MAC{0x52, 0x54, 0, 0, 0x53, 1} // ownMAC

func server(kind offer.Kind, mac string, change ...func(*offer.Server)) offer.Server {
	s := offer.Server{Kind: kind, Message: "OFFER", MAC: mac, Source: netip.MustParseAddr("172.22.0.9")}
	if kind == offer.DHCP || kind == offer.DHCPv6 {
		s.Offered.Address = netip.MustParseAddr("172.22.0.66")
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func boots(s *offer.Server)     { s.Offered.BootFile = "evil\x1b[2J.efi" }
func asksPXE(s *offer.Server)   { s.Offered.AsksPXE = true }
func tagged(s *offer.Server)    { s.VLAN = 100 }
func leads(s *offer.Server)     { s.Offered.DefaultRoute = true }
func relayed(s *offer.Server)   { s.ID = netip.MustParseAddr("198.51.100.1") }
func expectOwn() offer.Expected { return offer.Expected{MACs: []mac.MAC{card}} }

// TestExamine holds which servers, links and ports are found wrong in each mode, and how much that
// matters.
func TestExamine(t *testing.T) {
	good := addr.Ethernet{Name: "ens3", MAC: card, MTU: 1500, Enabled: true, Carrier: true}
	linkWith := func(change func(*addr.Ethernet)) *addr.Ethernet { e := good; change(&e); return &e }
	mtu := func(n int) *addr.Ethernet { return linkWith(func(e *addr.Ethernet) { e.MTU = n }) }
	servers := func(mode offer.Mode, expected offer.Expected, all ...offer.Server) facts.Provisioning {
		return facts.Provisioning{Mode: mode, Expected: expected, Link: &good, Asked: true, Servers: all}
	}
	with := func(change func(*facts.Provisioning)) facts.Provisioning {
		f := facts.Provisioning{Mode: offer.Managed, Named: "ens3", Link: &good, Asked: true}
		change(&f)
		return f
	}
	own := netip.MustParseAddr("172.22.0.1")
	none := offer.Expected{}
	for _, tt := range []struct {
		name  string
		facts facts.Provisioning
		want  string // checks and severities
		text  string // that some finding has
	}{
		{"nothing was inspected", facts.Provisioning{}, "", ""},
		{"all is well", with(func(*facts.Provisioning) {}), "", ""},
		{"a switch port without an untagged VLAN", with(func(f *facts.Provisioning) { f.Switch = &lldp.Neighbor{Chassis: "c", Port: "p7", Announced: true} }), "prov-vlan warning", `port "p7"`},
		{"a switch port with one", with(func(f *facts.Provisioning) { f.Switch = &lldp.Neighbor{Announced: true, Untagged: 100} }), "", ""},
		{"a switch that does not announce VLANs", with(func(f *facts.Provisioning) { f.Switch = &lldp.Neighbor{} }), "", ""},
		{"the cluster's DHCPv6 server and its router", servers(offer.Managed, offer.Expected{Addresses: []netip.Addr{netip.MustParseAddr("fd00:22::3")}},
			server(offer.Router, otherMAC), server(offer.DHCPv6, otherMAC, func(s *offer.Server) { s.Offered.BootFile = "http://[fd00:22::3]:6180/boot.ipxe" })), "", ""},
		{"its router alone", servers(offer.Managed, offer.Expected{Addresses: []netip.Addr{netip.MustParseAddr("fd00:22::3")}}, server(offer.Router, otherMAC)), "ra-foreign error", ""},
		{"no link", facts.Provisioning{NoLink: "no link has the name ens3"}, "prov-link error", "no link has the name ens3"},
		{"a link that is down", with(func(f *facts.Provisioning) {
			f.Link = linkWith(func(e *addr.Ethernet) { e.Enabled, e.Carrier = false, false })
		}), "prov-link error", "ip link set ens3 up"},
		{"no carrier", with(func(f *facts.Provisioning) { f.Link = linkWith(func(e *addr.Ethernet) { e.Carrier = false }) }), "prov-link error", "no carrier"},
		{"a small MTU", with(func(f *facts.Provisioning) { f.Link = mtu(1400) }), "prov-mtu error", "it is 1400"},
		{"P-22: another MTU than is stated", with(func(f *facts.Provisioning) { f.MTU = 9000 }), "prov-mtu error", "9000 is stated"},
		{"the stated MTU", with(func(f *facts.Provisioning) { f.Link, f.MTU = mtu(9000), 9000 }), "", ""},
		{"a large MTU that is not stated", with(func(f *facts.Provisioning) { f.Link = mtu(9000) }), "", ""},
		{"P-38: another host has the address", with(func(f *facts.Provisioning) {
			f.Holders = []facts.AddressHolder{{Address: own, MACs: []string{otherMAC}}}
		}), "prov-taken error", otherMAC},
		{"an expected host has the address", with(func(f *facts.Provisioning) {
			f.Expected, f.Holders = expectOwn(), []facts.AddressHolder{{Address: own, MACs: []string{ownMAC}}}
		}), "", ""},
		{"another link has the network", with(func(f *facts.Provisioning) {
			f.CIDR = netip.MustParsePrefix("172.22.0.0/24")
			f.Others = []addr.Ethernet{{Name: "ens5", Addresses: []netip.Prefix{netip.MustParsePrefix("172.22.1.9/16")}}}
		}), "prov-overlap error", "the link ens5 of this host has 172.22.1.9/16"},
		{"another link has another network", with(func(f *facts.Provisioning) {
			f.CIDR = netip.MustParsePrefix("fe80::/64")
			f.Others = []addr.Ethernet{{Name: "ens5", Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/24"), netip.MustParsePrefix("fe80::1/64")}}}
		}), "", ""},
		{"a port that libvirt has", with(func(f *facts.Provisioning) {
			f.Ports = []facts.HeldPort{{Number: 67, Network: "udp", Needs: "DHCP", Program: "dnsmasq (process 7)", Link: "ens3"}}
		}), "prov-ports error", "<dhcp> is removed"},
		{"a port that a hidden program has", with(func(f *facts.Provisioning) {
			f.Ports = []facts.HeldPort{{Number: 6385, Network: "tcp", Needs: "Ironic"}}
		}), "prov-ports error", "not visible from here has it"},
		{"the port of the user's own DHCP server", with(func(f *facts.Provisioning) {
			f.Mode, f.Asked, f.Ports = offer.Unmanaged, false, []facts.HeldPort{{Number: 67, Network: "udp", Needs: "DHCP"}, {Number: 547, Network: "udp", Needs: "DHCPv6"}}
		}), "", ""},
		{"the port of TFTP, and the user's own DHCP server", with(func(f *facts.Provisioning) {
			f.Mode, f.Asked, f.Ports = offer.Unmanaged, false, []facts.HeldPort{{Number: 69, Network: "udp", Needs: "TFTP"}}
		}), "prov-ports error", "port 69/udp"},
		{"the ports of what hosts with virtual media alone do not need", with(func(f *facts.Provisioning) {
			f.Mode, f.Asked, f.Ports = offer.Disabled, false, []facts.HeldPort{{Number: 67, Network: "udp", Needs: "DHCP"}, {Number: 69, Network: "udp", Needs: "TFTP"}}
		}), "", ""},
		{"a port that the installation's own service has", with(func(f *facts.Provisioning) {
			f.Live, f.Ports = true, []facts.HeldPort{{Number: 6385, Network: "tcp", Needs: "Ironic"}}
		}), "", ""},

		{"P-10 managed: a DHCP server", servers(offer.Managed, expectOwn(), server(offer.DHCP, otherMAC, boots)), "dhcp-foreign error", `"evil\x1b[2J.efi"`},
		{"managed: a DHCP server behind a relay", servers(offer.Managed, none, server(offer.DHCP, otherMAC, relayed)), "dhcp-foreign error", "198.51.100.1 (by 172.22.0.9, " + otherMAC + ")"},
		{"P-16 managed: a DHCP server with a proxy on its host", servers(offer.Managed, none, server(offer.DHCP, otherMAC, asksPXE)), "dhcp-foreign error", "boot files at its port 4011"},
		{"managed: a DHCPv6 server", servers(offer.Managed, none, server(offer.DHCPv6, otherMAC)), "dhcp-foreign error", ""},
		{"managed: a server of another VLAN", servers(offer.Managed, none, server(offer.DHCP, otherMAC, tagged)), "dhcp-foreign warning", "the tag of VLAN 100"},
		{"managed: the own server", servers(offer.Managed, expectOwn(), server(offer.DHCP, ownMAC, boots), server(offer.ProxyDHCP, ownMAC), server(offer.Router, ownMAC)), "", ""},
		{"P-16 managed: a proxy", servers(offer.Managed, expectOwn(), server(offer.ProxyDHCP, otherMAC, boots)), "dhcp-proxy error", "hosts prefer its boot file"},
		{"managed: a router", servers(offer.Managed, expectOwn(), server(offer.Router, otherMAC)), "ra-foreign error", ""},
		{"P-21 managed: the own server leads out", servers(offer.Managed, expectOwn(), server(offer.Router, ownMAC, leads)), "ra-default error", "ra-param"},

		{"unmanaged: the only server", servers(offer.Unmanaged, none, server(offer.DHCP, otherMAC)), "", ""},
		{"unmanaged: one server with two addresses", servers(offer.Unmanaged, none, server(offer.DHCP, otherMAC), server(offer.DHCP, otherMAC, relayed)), "", ""},
		{"unmanaged: one server for each family", servers(offer.Unmanaged, none, server(offer.DHCP, otherMAC), server(offer.DHCPv6, ownMAC)), "", ""},
		{"unmanaged: two servers", servers(offer.Unmanaged, none, server(offer.DHCP, ownMAC), server(offer.DHCP, otherMAC)), "dhcp-foreign warning", "several answer"},
		{"unmanaged: another one beside the expected one", servers(offer.Unmanaged, expectOwn(), server(offer.DHCP, ownMAC), server(offer.DHCP, otherMAC)), "dhcp-foreign error", otherMAC},
		{"unmanaged: no server", servers(offer.Unmanaged, none), "dhcp-missing warning", ""},
		{"unmanaged: not asked", facts.Provisioning{Mode: offer.Unmanaged, Link: &good}, "", ""},
		{"unmanaged: a router", servers(offer.Unmanaged, none, server(offer.DHCP, otherMAC), server(offer.Router, otherMAC, leads)), "", ""},
		{"unmanaged: a proxy", servers(offer.Unmanaged, none, server(offer.DHCP, otherMAC), server(offer.ProxyDHCP, ownMAC)), "dhcp-proxy warning", ""},
		{"unmanaged: an unexpected proxy", servers(offer.Unmanaged, expectOwn(), server(offer.DHCP, ownMAC), server(offer.ProxyDHCP, otherMAC)), "dhcp-proxy error", ""},

		{"disabled: a DHCP server", servers(offer.Disabled, none, server(offer.DHCP, otherMAC)), "", ""},
		{"disabled: a DHCP server with a boot file", servers(offer.Disabled, none, server(offer.DHCP, otherMAC, boots)), "dhcp-foreign warning", "virtual media"},
		{"disabled: a proxy", servers(offer.Disabled, none, server(offer.ProxyDHCP, otherMAC)), "dhcp-proxy warning", ""},
		{"disabled: a router", servers(offer.Disabled, none, server(offer.Router, otherMAC, leads)), "", ""},
		{"several things", with(func(f *facts.Provisioning) {
			f.Servers = []offer.Server{server(offer.Router, otherMAC), server(offer.ProxyDHCP, otherMAC), server(offer.DHCP, otherMAC)}
			f.Link = mtu(1280)
		}), "prov-mtu error, dhcp-foreign error, dhcp-proxy error, ra-foreign error", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var texts strings.Builder
			for _, f := range Examine(tt.facts) {
				got = append(got, string(f.Check)+" "+string(f.Severity))
				texts.WriteString(f.Subject + " " + f.Seen + " " + f.Do + "\n")
				if !strings.HasPrefix(f.Vantage, "from this host") || tt.facts.Link != nil && !strings.Contains(f.Vantage, "ens3 ("+ownMAC+")") {
					t.Errorf("seen %q", f.Vantage)
				}
				if f.Subject == "" || f.Seen == "" || f.Do == "" || !slices.Contains(All(), f.Check) {
					t.Errorf("%+v", f)
				}
			}
			if joined := strings.Join(got, ", "); joined != tt.want || !strings.Contains(texts.String(), tt.text) || strings.Contains(texts.String(), "\x1b") {
				t.Errorf("found %q, want %q with %q:\n%s", joined, tt.want, tt.text, texts.String())
			}
		})
	}
}
