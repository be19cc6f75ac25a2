package provisioning

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/arch"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

func addrs(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

func card(text string) mac.MAC {
	m, err := mac.ParseCard(text)
	if err != nil {
		panic(err)
	}
	return m
}

// valid is a phase with two hosts.
func valid() Network {
	return Network{
		Interface: "eno1", Server: netip.MustParseAddr("172.22.0.2"),
		Prefix: netip.MustParsePrefix("172.22.0.0/24"), Mode: Managed, Lease: time.Hour,
		Reservations: []Reservation{
			{MAC: card("52:54:00:00:00:0b"), Address: netip.MustParseAddr("172.22.0.11")},
			{MAC: card("52:54:00:00:00:0A"), Address: netip.MustParseAddr("172.22.0.10"),
				Name: "master-0"},
		},
		HTTPPort: 6180,
		Programs: Programs{BIOS: "undionly.kpxe", IA32: "ia32/ipxe.efi", X64: "snponly.efi",
			ARM32: "arm32.efi", ARM64: "snponly-arm64.efi"},
		Paths: Paths{Hosts: "/etc/onprem-dnsmasq/hosts", Leases: "/var/lib/onprem-dnsmasq/leases",
			TFTP: "/srv/tftp", HTTP: "/srv/http"},
	}
}

func valid6() Network {
	n := valid()
	n.Server, n.Prefix = netip.MustParseAddr("fd00:22::2"), netip.MustParsePrefix("fd00:22::/64")
	n.Reservations = []Reservation{
		{MAC: card("52:54:00:00:00:0b"), Address: netip.MustParseAddr("fd00:22::b0"), Bits: 124},
		{MAC: card("52:54:00:00:00:0a"), Address: netip.MustParseAddr("fd00:22::a"),
			Name: "master-0"},
	}
	return n
}

// with changes a network.
func with(n Network, change func(*Network)) Network {
	change(&n)
	return n
}

// goldens are one network for every golden file.
func goldens() map[string]Network {
	everything := func(n *Network) {
		n.Authoritative, n.MTU = true, 9000
		n.DNS, n.NTP = []netip.Addr{n.Server}, []netip.Addr{n.Server}
	}
	return map[string]Network{
		"ipv4": valid(),
		"ipv4-everything": with(valid(), func(n *Network) {
			everything(n)
			n.Gateway = netip.MustParseAddr("172.22.0.1")
			n.Pool = []Range{{addrs("172.22.0.100")[0], addrs("172.22.0.150")[0]}, {addrs("172.22.0.160")[0], addrs("172.22.0.160")[0]}}
		}),
		"ipv4-two-programs": with(valid(), func(n *Network) {
			n.Programs = Programs{X64: "snponly.efi", ARM64: "snponly-arm64.efi"}
			n.DNS = addrs("192.0.2.53", "192.0.2.54")
		}),
		"ipv4-local": with(valid(), func(n *Network) { n.Reservations[0].Local = true }),
		"ipv6":       valid6(),
		"ipv6-everything": with(valid6(), func(n *Network) {
			everything(n)
			n.Pool = []Range{{addrs("fd00:22::100")[0], addrs("fd00:22::150")[0]}, {addrs("fd00:22::200")[0], addrs("fd00:22::210")[0]}}
		}),
		"ipv6-local": with(valid6(), func(n *Network) { n.Reservations[0].Local = true }),
		"unmanaged":  with(valid(), func(n *Network) { n.Mode = Unmanaged }),
	}
}

func TestRender(t *testing.T) {
	for name, n := range goldens() {
		t.Run(name, func(t *testing.T) {
			files, err := Files(n, "/etc/onprem-dnsmasq/dnsmasq.conf")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, f := range files {
				out.WriteString("-- " + f.Path + " --\n")
				out.Write(f.Contents)
			}
			golden.Check(t, out.Bytes())
		})
	}
}

// TestRender_EachLineCounts holds that each line of the template shows in some golden file.
func TestRender_EachLineCounts(t *testing.T) {
	var pages []any
	for _, n := range goldens() {
		pages = append(pages, pageOf(n))
	}
	golden.EachLineCounts(t, dnsmasqText, pages...)
}

// TestRender_OrderOfHosts holds that the order in which hosts are named changes no file.
func TestRender_OrderOfHosts(t *testing.T) {
	a, b := valid(), valid()
	slices.Reverse(b.Reservations)
	filesA, errA := Files(a, "/conf")
	filesB, errB := Files(b, "/conf")
	if errA != nil || errB != nil || len(filesA) != len(filesB) {
		t.Fatal(errA, errB, len(filesA), len(filesB))
	}
	for i := range filesA {
		if filesA[i].Path != filesB[i].Path ||
			!bytes.Equal(filesA[i].Contents, filesB[i].Contents) {
			t.Errorf("%s differs from %s", filesA[i].Path, filesB[i].Path)
		}
	}
}

// TestRender_HostsApart holds that another set of hosts leaves the configuration as it is: dnsmasq
// reads the list of hosts again on SIGHUP, and its configuration never.
func TestRender_HostsApart(t *testing.T) {
	more := with(valid(), func(n *Network) {
		n.Reservations = append(n.Reservations, Reservation{
			MAC: card("52:54:00:00:00:0c"), Address: addrs("172.22.0.12")[0],
		})
	})
	if a, b := Dnsmasq(valid()), Dnsmasq(more); !bytes.Equal(a, b) {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
	if bytes.Equal(Hosts(valid()), Hosts(more)) {
		t.Error("the list of hosts is the same")
	}
}

// TestRender_ManyHosts holds that dnsmasq's bounds on leases and transfers are no bound for hosts.
func TestRender_ManyHosts(t *testing.T) {
	n := valid()
	for i := range 3000 {
		m := mac.MAC{2, 0, 0, 0, byte(i >> 8), byte(i)}
		n.Reservations = append(n.Reservations, Reservation{MAC: m})
	}
	p := pageOf(n)
	if p.Leases < 16*3002 || p.Transfers < 2*3002 {
		t.Errorf("%d leases and %d transfers for 3002 hosts", p.Leases, p.Transfers)
	}
}

// TestProgram holds the table of architectures. A number without a program gets nothing.
func TestProgram(t *testing.T) {
	programs := valid().Programs
	want := map[arch.Number]string{
		0: programs.BIOS, 6: programs.IA32, 7: programs.X64, 9: programs.X64,
		10: programs.ARM32, 11: programs.ARM64, 15: programs.IA32, 16: programs.X64,
		18: programs.ARM32, 19: programs.ARM64, 20: programs.BIOS,
	}
	for a := range arch.Number(300) {
		got, http := programs.Program(a)
		if got != want[a] || http != (got != "" && a >= 15) {
			t.Errorf("%s gets %q over HTTP %t, want %q", a, got, http, want[a])
		}
	}
}
