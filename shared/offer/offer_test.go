package offer

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

var (
	first = Server{Kind: DHCP, Message: "OFFER", ID: netip.MustParseAddr("172.22.0.1"),
		Source: netip.MustParseAddr("172.22.0.1"), MAC: "52:54:00:00:53:01",
		First: time.Unix(1, 0), Last: time.Unix(1, 0)}
	second = Server{Kind: DHCPv6, Message: "ADVERTISE", DUID: "x",
		Source: netip.MustParseAddr("fe80::2"), MAC: "52:54:00:00:53:02"}
)

// TestExpected holds that a server is expected by any of its addresses and by its MAC, in whatever
// form either was written.
func TestExpected(t *testing.T) {
	address := func(text string) Expected {
		return Expected{Addresses: []netip.Addr{netip.MustParseAddr(text)}}
	}
	for _, tt := range []struct {
		name     string
		expected Expected
		server   Server
		want     bool
	}{
		{"none is expected", Expected{}, first, false},
		{"by address", address("172.22.0.1"), first, true},
		{"P-32: by an address in IPv6's long form", address("0000:0000:0000:0000:0000:ffff:ac16:0001"), first, true},
		{"by another address", address("172.22.0.2"), first, false},
		{"by an address in long form", address("fe80:0000:0000:0000:0000:0000:0000:0002"), second, true},
		{"by an address with a zone", address("fe80::2%eth0"), second, true},
		{"by MAC", Expected{MACs: []mac.MAC{{0x52, 0x54, 0, 0, 0x53, 1}}}, first, true},
		{"P-24: by MAC in capitals", Expected{MACs: []mac.MAC{{0x52, 0x54, 0, 0, 0x53, 0x0a}}}, Server{MAC: "52-54-00-00-53-0A"}, true},
		{"by another MAC", Expected{MACs: []mac.MAC{{0x52, 0x54, 0, 0, 0x53, 1}}}, second, false},
		{"a server without a MAC", Expected{MACs: []mac.MAC{{}}}, Server{}, false},
		{"DHCPv6 by the server of its boot file", address("fd00:22::3"), Server{Kind: DHCPv6, Source: netip.MustParseAddr("fe80::3"), Offered: Offered{BootFile: "tftp://[fd00:22::3]/snponly.efi"}}, true},
		{"DHCPv6 by the server of another boot file", address("fd00:22::3"), Server{Kind: DHCPv6, Source: netip.MustParseAddr("fe80::3"), Offered: Offered{BootFile: "tftp://[fd00:22::4]/snponly.efi"}}, false},
		{"DHCPv6 without a boot file", address("fd00:22::3"), Server{Kind: DHCPv6, Source: netip.MustParseAddr("fe80::3")}, false},
		{"DHCPv6 with a boot file that is no URL", address("fd00:22::3"), Server{Kind: DHCPv6, Offered: Offered{BootFile: "://\x00"}}, false},
		{"DHCP names its address itself", address("172.22.0.1"), Server{Kind: DHCP, Source: netip.MustParseAddr("172.22.0.9"), Offered: Offered{BootFile: "http://172.22.0.1/x"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.expected.Has(tt.server); got != tt.want {
				t.Error(got)
			}
		})
	}
}

// TestList holds that packets of one server make one, with what any of them offers, and that a host
// which invents servers does not keep others from the list.
func TestList(t *testing.T) {
	var l List
	l.Add(first)
	later := first
	later.First, later.Last, later.Message = time.Unix(2, 0), time.Unix(2, 0), "ACK"
	later.Offered = Offered{BootFile: "a.efi", AsksPXE: true,
		Address: netip.MustParseAddr("172.22.0.9"), NextServer: netip.MustParseAddr("172.22.0.1")}
	l.Add(later)
	last := first
	last.Last, last.Offered.BootFile = time.Unix(3, 0), "b.efi"
	l.Add(last)
	elsewhere := second
	elsewhere.Source = netip.MustParseAddr("fd00::2")
	l.Add(second)
	l.Add(elsewhere)
	all, more := l.Servers()
	if len(all) != 2 || more || !all[0].First.Equal(time.Unix(1, 0)) ||
		!all[0].Last.Equal(time.Unix(3, 0)) || all[0].Offered.BootFile != "a.efi" ||
		!all[0].Offered.AsksPXE || !all[0].Offered.Address.IsValid() ||
		!all[0].Offered.NextServer.IsValid() || all[1].Source != elsewhere.Source {
		t.Errorf("kept %+v, more %v", all, more)
	}
	for i := range 1000 {
		invented := first
		invented.ID = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		l.Add(invented)
	}
	if all, more := l.Servers(); len(all) != limitOfHost+1 || !more {
		t.Errorf("of a host that invents servers %d are kept, more %v", len(all), more)
	}
	for i := range 1000 {
		invented := second
		invented.MAC = fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255)
		l.Add(invented)
	}
	if all, _ := l.Servers(); len(all) != limit {
		t.Errorf("%d are kept", len(all))
	}
}
