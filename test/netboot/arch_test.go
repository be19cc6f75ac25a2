package netboot

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestArch4 has a client of each architecture ask, and compares what it decodes: the boot program
// and its server, or the URL and the class without which UEFI ignores it.
func TestArch4(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	s := serve(t, add(t, l, "server", "172.22.0.2/24"), network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	const http = "http://172.22.0.2:6180/"
	pxe := func(arch uint16) []dhcpv4.Modifier {
		return firmware(arch, fmt.Sprintf("PXEClient:Arch:%05d:UNDI:003001", arch))
	}
	uefi := func(arch uint16) []dhcpv4.Modifier {
		return firmware(arch, fmt.Sprintf("HTTPClient:Arch:%05d:UNDI:003001", arch))
	}
	ipxe175 := dhcpv4.WithGeneric(dhcpv4.GenericOptionCode(175), []byte{177, 1, 1})
	for _, tt := range []struct {
		name        string
		with        []dhcpv4.Modifier
		file, class string
	}{
		{"x86 BIOS", pxe(0), "undionly.kpxe", ""},
		{"PR-18: x86 UEFI", pxe(6), "ipxe-ia32.efi", ""},
		{"x64 UEFI", pxe(7), "snponly.efi", ""},
		{"x64 UEFI with the number of EBC", pxe(9), "snponly.efi", ""},
		{"ARM 64 UEFI", pxe(11), "snponly-arm64.efi", ""},
		{"PR-18: x64 UEFI over HTTP", uefi(16), http + "snponly.efi", "HTTPClient"},
		{"ARM 64 UEFI over HTTP", uefi(19), http + "snponly-arm64.efi", "HTTPClient"},
		{"ARM 32 UEFI, which has no program", pxe(10), "", ""},
		{"RISC-V", pxe(27), "", ""},
		{"a number of two bytes that ends like x64", pxe(0x0107), "", ""},
		{"PR-11: iPXE by its option", append(pxe(7), ipxe175), http + "boot.ipxe", ""},
		{"PR-11: iPXE by its user class", append(pxe(0), dhcpv4.WithUserClass("iPXE", false)),
			http + "boot.ipxe", ""},
		{"iPXE after UEFI's HTTP boot", append(uefi(16), ipxe175), http + "boot.ipxe", ""},
		{"an operating system", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			offer := w.one(t, discover(t, card(10), tt.with...))
			if file := bootFile(offer); file != tt.file || offer.ClassIdentifier() != tt.class {
				t.Errorf("got %q and the class %q, want %q and %q", file, offer.ClassIdentifier(),
					tt.file, tt.class)
			}
			if got := offer.YourIPAddr.String(); got != "172.22.0.10" {
				t.Errorf("got the address %s", got)
			}
			if got := offer.ServerIPAddr.String(); got != "172.22.0.2" {
				t.Errorf("next server %s", got)
			}
			if got := offer.SubnetMask().String(); got != "ffffff00" {
				t.Errorf("netmask %s", got)
			}
			if len(offer.Router())+len(offer.DNS()) != 0 {
				t.Errorf("a router %v or a name server %v that no one asked for",
					offer.Router(), offer.DNS())
			}
		})
	}
	for _, want := range []string{"PXEClient:Arch:00027", "tags: no-boot-program, known, boot"} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("the log does not name %s", want)
		}
	}
}

// bootFile is what a client's firmware reads: the option if it is there, else the header's field.
func bootFile(m *dhcpv4.DHCPv4) string {
	if file := m.BootFileNameOption(); file != "" {
		return string(bytes.TrimRight([]byte(file), "\x00"))
	}
	return m.BootFileName
}

// TestArch4_Header holds that a ROM which requests no option for the file finds it in the header.
func TestArch4_Header(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	serve(t, add(t, l, "server", "172.22.0.2/24"), network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	m := discover(t, card(10), firmware(0, "PXEClient:Arch:00000:UNDI:002001")...)
	m.UpdateOption(dhcpv4.OptParameterRequestList(dhcpv4.OptionSubnetMask))
	offer := w.one(t, m)
	if offer.BootFileName != "undionly.kpxe" || offer.BootFileNameOption() != "" {
		t.Errorf("got %q in the header and %q as an option", offer.BootFileName,
			offer.BootFileNameOption())
	}
}

// TestOptions4 holds that hosts get what the network states beside addresses.
func TestOptions4(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network4("172.22.0.2", card(10))
	n.Gateway, n.MTU = netip.MustParseAddr("172.22.0.1"), 9000
	n.DNS = []netip.Addr{netip.MustParseAddr("192.0.2.53")}
	n.NTP = []netip.Addr{netip.MustParseAddr("192.0.2.123")}
	serve(t, add(t, l, "server", "172.22.0.2/24"), n)
	w := openWire(t, add(t, l, "client"))
	offer := w.one(t, discover(t, card(10), firmware(7, "PXEClient")...))
	got := fmt.Sprint(offer.Router(), offer.DNS(), offer.NTPServers(),
		offer.Options.Get(dhcpv4.OptionInterfaceMTU), offer.IPAddressLeaseTime(0))
	if want := "[172.22.0.1] [192.0.2.53] [192.0.2.123] [35 40] 1h0m0s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestArch6 is TestArch4 for DHCPv6, where the file is a URL with its scheme.
func TestArch6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network6("fd00:22::2", card(10))
	n.Reservations[0].Bits = 124
	n.Reservations[0].Address = netip.MustParseAddr("fd00:22::a0")
	n.NTP = []netip.Addr{netip.MustParseAddr("fd00:22::123")}
	n.DNS = []netip.Addr{netip.MustParseAddr("fd00:22::53")}
	s := serve(t, add(t, l, "server", "fd00:22::2/64"), n)
	c := addClient6(t, l, "client", card(10))
	const tftp, http = "tftp://[fd00:22::2]/", "http://[fd00:22::2]:6180/"
	ipxe := dhcpv6.WithUserClass([]byte("iPXE"))
	for i, tt := range []struct {
		name       string
		with       []dhcpv6.Modifier
		url, class string
	}{
		{"PR-06, PR-13: x64 UEFI", firmware6(7, "PXEClient:Arch:00007"), tftp + "snponly.efi", ""},
		{"ARM 64 UEFI", firmware6(11, "PXEClient:Arch:00011"), tftp + "snponly-arm64.efi", ""},
		{"x64 UEFI over HTTP", firmware6(16, "HTTPClient:Arch:00016"), http + "snponly.efi",
			"HTTPClient"},
		{"iPXE", append(firmware6(7, "PXEClient:Arch:00007"), ipxe), http + "boot.ipxe", ""},
		{"RISC-V", firmware6(27, "PXEClient:Arch:00027"), "", ""},
		{"a number of two bytes that ends like x64", firmware6(0x0107, "PXEClient"), "", ""},
		{"an operating system", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := c.one(t, c.solicit(t, byte(i), tt.with...))
			if got.Options.BootFileURL() != tt.url || classes6(got) != tt.class {
				t.Errorf("got %q and the class %q, want %q and %q", got.Options.BootFileURL(),
					classes6(got), tt.url, tt.class)
			}
			if a, err := netip.ParseAddr(leased(got)); err != nil ||
				!netip.MustParsePrefix("fd00:22::a0/124").Contains(a) {
				t.Errorf("got the address %s", leased(got))
			}
			servers := fmt.Sprint(got.Options.DNS(), got.Options.NTPServers())
			if servers != "[fd00:22::53] [fd00:22::123]" {
				t.Errorf("got name and time servers %s", servers)
			}
		})
	}
	s.await(t, "tags: no-boot-program, known, boot")
}

// classes6 are the vendor classes of an answer.
func classes6(m *dhcpv6.Message) string {
	var all []string
	for _, c := range m.Options.VendorClasses() {
		for _, data := range c.Data {
			all = append(all, string(data))
		}
	}
	return strings.Join(all, " ")
}
