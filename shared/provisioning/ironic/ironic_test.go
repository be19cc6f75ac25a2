package ironic

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/golden"
)

func valid() Settings {
	return Settings{
		API: netip.MustParseAddrPort("172.22.0.2:6385"), HTTP: netip.MustParseAddrPort("172.22.0.2:6180"),
		Hosts: []Host{{Driver: "redfish", Boot: PXE}, {Driver: "ipmi", Boot: PXE}, {Driver: "redfish", Boot: PXE}},
		Times: Times{CallBack: 30 * time.Minute, Retry: 10 * time.Minute, Heartbeat: 30 * time.Second},
		Paths: Machine(),
	}
}

func with(change func(*Settings)) Settings {
	s := valid()
	change(&s)
	return s
}

func TestRender(t *testing.T) {
	for name, s := range map[string]Settings{
		"pxe": valid(),
		"virtual-media-ipv6": with(func(s *Settings) {
			s.API, s.HTTP = netip.MustParseAddrPort("[fd00:22::2]:6385"), netip.MustParseAddrPort("[fd00:22::2]:6180")
			s.Hosts = []Host{{Driver: "redfish-virtualmedia", Boot: VirtualMedia}, {Driver: "idrac-virtualmedia", Boot: VirtualMedia}, {Driver: "redfish-uefihttp", Boot: UEFIHTTP}}
			s.Media, s.GRUB = netip.MustParseAddrPort("[2001:db8::5]:6183"), "EFI/centos/grub.cfg"
		}),
		"cluster": with(func(s *Settings) {
			s.Operator, s.Six = true, true
			s.Hosts = append(s.Hosts, Host{"idrac-virtualmedia", VirtualMedia, true}, Host{"redfish-virtualmedia", VirtualMedia, true}, Host{"redfish-uefihttp", UEFIHTTP, true})
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
			text := bytes.Join([][]byte{Config(s), Template(s), Script()}, []byte("--------\n"))
			golden.Check(t, text)
		})
	}
}

// Only what the hosts need is loaded, whatever their order.
func TestConfig_Interfaces(t *testing.T) {
	for _, tt := range []struct {
		hosts []Host
		want  []string
		never []string
	}{
		{[]Host{{Driver: "ipmi", Boot: PXE}}, []string{"enabled_hardware_types = ipmi\n", "enabled_boot_interfaces = ipxe\n", "enabled_power_interfaces = ipmitool\n"}, []string{"idrac", "redfish,", "bootloader", "external_http_url"}},
		{[]Host{{Driver: "idrac-redfish", Boot: PXE}}, []string{"enabled_hardware_types = idrac\n", "enabled_management_interfaces = idrac-redfish\n", "enabled_vendor_interfaces = idrac-redfish,no-vendor\n"}, []string{"ipmitool\n"}},
		{[]Host{{Driver: "ilo5-redfish", Boot: PXE}, {Driver: "redfish-uefihttp", Boot: UEFIHTTP}}, []string{"enabled_hardware_types = redfish\n", "enabled_boot_interfaces = http-ipxe,ipxe\n"}, []string{"ilo", "redfish-https"}},
	} {
		text := string(Config(with(func(s *Settings) { s.Hosts = tt.hosts })))
		for _, line := range tt.want {
			if !strings.Contains(text, line) {
				t.Errorf("%v: no %q in\n%s", tt.hosts, line, text)
			}
		}
		for _, word := range tt.never {
			if strings.Contains(text, word) {
				t.Errorf("%v: %q in\n%s", tt.hosts, word, text)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"no address":           {func(s *Settings) { s.API = netip.AddrPort{} }, "api: invalid AddrPort is not"},
		"any address":          {func(s *Settings) { s.HTTP = netip.MustParseAddrPort("0.0.0.0:80") }, "http: 0.0.0.0:80 is not"},
		"two families":         {func(s *Settings) { s.HTTP = netip.MustParseAddrPort("[fd00::1]:80") }, "different families"},
		"no hosts":             {func(s *Settings) { s.Hosts = nil }, "there are none"},
		"another driver":       {func(s *Settings) { s.Hosts[0].Driver = "snmp" }, `no hardware type for the driver "snmp"`},
		"another way":          {func(s *Settings) { s.Hosts[0].Boot = "floppy" }, `"floppy" is not a way`},
		"IPMI, virtual media":  {func(s *Settings) { s.Hosts[1].Boot = VirtualMedia }, `"ipmi" boots by PXE only`},
		"media without server": {func(s *Settings) { s.Hosts[0].Boot = VirtualMedia }, "media: invalid AddrPort"},
		"a server for nothing": {func(s *Settings) { s.Media = s.HTTP }, "leave 172.22.0.2:6180 out"},
		"a short heartbeat":    {func(s *Settings) { s.Times.Heartbeat = time.Second }, "every 1s"},
		"a short retry":        {func(s *Settings) { s.Times.Retry = s.Times.Heartbeat }, "booted again after 30s"},
		"a short call-back":    {func(s *Settings) { s.Times.CallBack = s.Times.Retry }, "ends before its host"},
		"a path":               {func(s *Settings) { s.Paths.State = "/a $b" }, `state: "/a $b"`},
		"images elsewhere":     {func(s *Settings) { s.Paths.Images = "/images" }, "is not below"},
		"our boot script":      {func(s *Settings) { s.Paths.Script = "/run/boot.ipxe" }, "write over the boot.ipxe"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := with(tt.change).Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if err := (Settings{}).Validate(); err == nil || strings.Count(err.Error(), "\n") < 8 {
		t.Errorf("not all findings at once: %v", err)
	}
}

// TestTrustArchive holds that the archive is what cpio unpacks, at the place where a kernel wants
// it, and equal for an equal certificate.
func TestTrustArchive(t *testing.T) {
	certificate := []byte("-----BEGIN CERTIFICATE-----\n")
	packed := TrustArchive(certificate)
	if len(packed)%4 != 0 || !bytes.Equal(packed, TrustArchive(certificate)) {
		t.Errorf("%d bytes, or others the next time", len(packed))
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	plain, err := io.ReadAll(r)
	if err != nil || len(plain)%4 != 0 {
		t.Fatalf("%d bytes, %v", len(plain), err)
	}
	found := unpack(t, plain)
	for name, want := range map[string]string{
		"etc/ironic-python-agent/ironic.crt":             string(certificate),
		"etc/ironic-python-agent.d/ironic-tls.conf":      agentConfig,
		"etc/ironic-python-agent.conf.d/ironic-tls.conf": agentConfig,
	} {
		if got := found[name]; got != "100644 "+want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, dir := range []string{"etc", "etc/ironic-python-agent", "etc/ironic-python-agent.d", "etc/ironic-python-agent.conf.d"} {
		if found[dir] != "40755 " {
			t.Errorf("%s: %q", dir, found[dir])
		}
	}
}

// unpack reads cpio's format newc as the kernel does: the mode of each file in octal, and its
// content.
func unpack(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	for at := 0; ; {
		const magic, size = "070701", 110
		if len(archive) < at+size || string(archive[at:at+len(magic)]) != magic {
			t.Fatalf("no header at byte %d of %d", at, len(archive))
		}
		field := func(i int) int {
			n, err := strconv.ParseUint(string(archive[at+6+8*i:at+14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
		up := func(n int) int { return (n + 3) / 4 * 4 }
		name := string(archive[at+size : at+size+field(11)-1])
		content := at + up(size+field(11))
		if name == "TRAILER!!!" {
			return found
		}
		dir, _, below := strings.Cut(path.Dir(name), "/")
		if _, made := found[path.Dir(name)]; !made && (below || dir != ".") {
			t.Errorf("%s comes before its directory", name)
		}
		found[name] = fmt.Sprintf("%o %s", field(1), archive[content:content+field(6)])
		at = content + up(field(6))
	}
}
