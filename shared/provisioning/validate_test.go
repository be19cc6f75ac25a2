package provisioning

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// TestValidate_Findings has one change a finding: each names its field, and all come at once.
func TestValidate_Findings(t *testing.T) {
	host := func(n *Network, i int) *Reservation { return &n.Reservations[i] }
	pool := func(first, last string) func(*Network) {
		return func(n *Network) {
			n.Pool = []Range{{netip.MustParseAddr("172.22.0.240"), netip.MustParseAddr("172.22.0.241")}, {netip.MustParseAddr(first), netip.MustParseAddr(last)}}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*Network)
		want   string
	}{
		{"no interface", func(n *Network) { n.Interface = "" }, `interface: ""`},
		{"the loopback", func(n *Network) { n.Interface = "lo" }, `interface: "lo"`},
		{"an interface with a comma", func(n *Network) { n.Interface = "a,b" }, "interface: "},
		{"an interface with a line", func(n *Network) { n.Interface = "a\nb" }, "interface: "},
		{"another mode", func(n *Network) { n.Mode = "x" }, `mode: "x" is not a mode`},
		{"no prefix", func(n *Network) { n.Prefix = netip.Prefix{} }, "prefix: "},
		{"host bits", func(n *Network) { n.Prefix = netip.MustParsePrefix("172.22.0.1/24") },
			"prefix: 172.22.0.1/24 has host bits: specify 172.22.0.0/24"},
		{"too small a network", func(n *Network) {
			n.Prefix = netip.MustParsePrefix("172.22.0.0/31")
		}, "prefix: 172.22.0.0/31: specify a prefix length from 8 to 30"},
		{"the server is elsewhere", func(n *Network) { n.Server = addrs("192.0.2.1")[0] },
			"server: 192.0.2.1 is not in 172.22.0.0/24"},
		{"the server is the network", func(n *Network) { n.Server = addrs("172.22.0.0")[0] },
			"server: 172.22.0.0 is the address of the network"},
		{"the server is all hosts", func(n *Network) { n.Server = addrs("172.22.0.255")[0] },
			"server: 172.22.0.255 is the broadcast address"},
		{"no hosts", func(n *Network) { n.Reservations = nil }, "reservations: no host gets"},
		{"no card", func(n *Network) { host(n, 0).MAC = mac.MAC{} }, "reservations[0].mac: "},
		{"a group of cards", func(n *Network) { host(n, 0).MAC = mac.MAC{1} }, "reservations[0].mac: "},
		{"a card twice", func(n *Network) { host(n, 1).MAC = host(n, 0).MAC },
			"reservations[1].mac: 52:54:00:00:00:0b is reservations[0] as well"},
		{"a name twice", func(n *Network) { host(n, 0).Name = "master-0" },
			`reservations[1].name: "master-0" is reservations[0] as well`},
		{"a name of two labels", func(n *Network) { host(n, 0).Name = "a.b" },
			`reservations[0].name: "a.b" is not a host's name`},
		{"a name with a comma", func(n *Network) { host(n, 0).Name = "a,ignore" },
			"reservations[0].name: "},
		{"a name that is a time", func(n *Network) { host(n, 0).Name = "10d" },
			`reservations[0].name: dnsmasq takes "10d" for a setting`},
		{"a name that is an order", func(n *Network) { host(n, 0).Name = "ignore" },
			`reservations[0].name: dnsmasq takes "ignore" for a setting`},
		{"an address elsewhere", func(n *Network) { host(n, 0).Address = addrs("172.23.0.9")[0] },
			"reservations[0].address: 172.23.0.9 is not in 172.22.0.0/24"},
		{"no address", func(n *Network) { host(n, 0).Address = netip.Addr{} },
			"reservations[0].address: "},
		{"an address twice", func(n *Network) { host(n, 1).Address = host(n, 0).Address },
			"reservations[1].address: 172.22.0.11 is an address of reservations[0] as well"},
		{"the server's address", func(n *Network) { host(n, 0).Address = n.Server },
			"reservations[0].address: 172.22.0.2 is the server's"},
		{"the gateway's address", func(n *Network) { n.Gateway = host(n, 1).Address },
			"reservations[1].address: 172.22.0.10 is the gateway's"},
		{"a block over IPv4", func(n *Network) { host(n, 0).Bits = 30 },
			"reservations[0].address: 172.22.0.11: a block of addresses is for IPv6 only"},
		{"a pool reversed", pool("172.22.0.20", "172.22.0.19"), "pool[1]: 172.22.0.20 to 172.22.0.19"},
		{"a pool elsewhere", pool("172.22.0.20", "172.22.1.19"),
			"pool[1].last: 172.22.1.19 is not in"},
		{"a pool with the server", pool("172.22.0.1", "172.22.0.3"), "pool[1]: it has the server's"},
		{"too short a lease", func(n *Network) { n.Lease = time.Minute }, "lease: 1m0s: specify"},
		{"too long a lease", func(n *Network) { n.Lease = 1 << 62 }, "lease: "},
		{"a part of a second", func(n *Network) { n.Lease += time.Millisecond }, "lease: "},
		{"a gateway elsewhere", func(n *Network) { n.Gateway = addrs("192.0.2.1")[0] },
			"gateway: 192.0.2.1 is not in"},
		{"a name server of the other family", func(n *Network) { n.DNS = addrs("2001:db8::1") },
			"dns[0]: 2001:db8::1 is not the address of a server"},
		{"a time server twice", func(n *Network) { n.NTP = addrs("192.0.2.1", "192.0.2.1") },
			"ntp[1]: 192.0.2.1 is there already"},
		{"an MTU below all", func(n *Network) { n.MTU = 500 }, "mtu: 500: specify 576 to 65535"},
		{"no port", func(n *Network) { n.HTTPPort = 0 }, "httpPort: 0 is not a port"},
		{"no programs", func(n *Network) { n.Programs = Programs{} }, "programs: no firmware gets"},
		{"a program elsewhere", func(n *Network) { n.Programs.X64 = "../x" },
			`programs.x64: "../x" is not a plain path`},
		{"a program with a comma", func(n *Network) { n.Programs.BIOS = "a,b" }, "programs.bios: "},
		{"a path that is not plain", func(n *Network) { n.Paths.TFTP = "/a b" }, "paths.tftp: "},
		{"a path from here", func(n *Network) { n.Paths.Leases = "leases" }, "paths.leases: "},
		{"a log from here", func(n *Network) { n.Paths.Log = "log" }, "paths.log: "},
		{"an unclean path", func(n *Network) { n.Paths.Hosts = "/a/../b" }, "paths.hosts: "},
	} {
		t.Run(tt.name, func(t *testing.T) { finding(t, with(valid(), tt.change), tt.want) })
	}
}

func TestValidate_FindingsOfIPv6(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Network)
		want   string
	}{
		{"PR-07: too large a network", func(n *Network) {
			n.Prefix = netip.MustParsePrefix("fd00:22::/56")
		}, "prefix: fd00:22::/56: specify a prefix length from 64 to 126"},
		{"a gateway", func(n *Network) { n.Gateway = addrs("fd00:22::1")[0] },
			"gateway: fd00:22::1: over IPv6 a router announces itself"},
		{"an MTU below all", func(n *Network) { n.MTU = 1279 }, "mtu: 1279: specify 1280"},
		{"a large block", func(n *Network) { n.Reservations[0].Bits = 64 },
			"reservations[0].address: /64: specify a prefix length from 120 to 127"},
		{"a block with host bits", func(n *Network) { n.Reservations[1].Bits = 124 },
			"reservations[1].address: fd00:22::a/124 has host bits: specify fd00:22::/124"},
		{"a block with the server", func(n *Network) {
			n.Reservations[0].Address, n.Reservations[0].Bits = addrs("fd00:22::")[0], 120
		}, "reservations[0].address: fd00:22::2 is the server's"},
		{"blocks that overlap", func(n *Network) {
			n.Reservations[1].Address = addrs("fd00:22::b4")[0]
		}, "reservations[1].address: fd00:22::b4 is an address of reservations[0] as well"},
	} {
		t.Run(tt.name, func(t *testing.T) { finding(t, with(valid6(), tt.change), tt.want) })
	}
}

// finding holds that a finding is among those of a network.
func finding(t *testing.T, n Network, want string) {
	t.Helper()
	err := n.Validate()
	if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool {
		return strings.HasPrefix(line, want) && strings.Contains(line, ": ")
	}) {
		t.Errorf("got %v, want %q", err, want)
	}
	if files, _ := Files(n, "/conf"); files != nil {
		t.Error("it is rendered all the same")
	}
}

// TestValidate_AtOnce holds that findings do not hide each other.
func TestValidate_AtOnce(t *testing.T) {
	err := Network{Mode: Managed, DNS: make([]netip.Addr, 1), Reservations: make([]Reservation, 1),
		Pool: make([]Range, 1)}.Validate()
	for _, want := range []string{"interface", "prefix", "reservations[0].mac", "pool[0].first",
		"reservations[0].address", "lease", "dns[0]", "httpPort", "programs", "paths.hosts"} {
		if err == nil || !strings.Contains("\n"+err.Error(), "\n"+want+": ") {
			t.Errorf("no finding for %s in:\n%v", want, err)
		}
	}
}

// TestValidate_Unmanaged holds that addresses are the user's own matter there.
func TestValidate_Unmanaged(t *testing.T) {
	n := Network{Interface: "eno1", Mode: Unmanaged, Server: valid().Server, Prefix: valid().Prefix,
		HTTPPort: 80, Programs: Programs{X64: "x"}, Paths: Paths{TFTP: "/t", HTTP: "/h"}}
	n.Reservations = []Reservation{{MAC: card("52:54:00:00:00:01")}}
	if err := n.Validate(); err != nil {
		t.Error(err)
	}
}
