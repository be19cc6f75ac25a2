package advert

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ips(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// Packets as they stand in the RFCs' pictures; the checksums were worked out by another program.
const (
	// 192.168.0.30 holds 192.168.0.1 as router 1, with priority 100 and a second between two
	// adverts.
	packetV2 = "45c00028 00000000 ff7019e4 c0a8001e e0000012 21016401 0001ba52 c0a80001 00000000 00000000"
	// 192.0.2.11 holds 192.0.2.5 as router 30, priority 191, every 100 ms.
	packetV3 = "45c00020 00010000 ff70f94d c000020b c0000203 311ebf01 000ac944 c0000205"
	// fe80::11 holds 2001:db8::5, of the same router.
	packetIPv6 = `60000000 001870ff fe80000000000000 0000000000000011 ff02000000000000 0000000000000012
		311ebf01 000ae3e8 20010db800000000 0000000000000005`
)

func TestRead(t *testing.T) {
	two := func() []byte { // VIPs, and the padding of Ethernet
		p := build(
			Advert{
				From:     ips("192.0.2.11")[0],
				To:       GroupIPv4(),
				Hops:     255,
				Version:  vrrp.V2,
				ID:       7,
				Priority: 0,
				Interval: 2 * time.Second,
				VIPs:     ips("192.0.2.5", "192.0.2.6"),
			},
		)
		return append(p, 1, 2, 3, 4, 5, 6)
	}()
	for _, tt := range []struct {
		name   string
		packet []byte
		want   Advert
	}{
		{"version 2", bytesOf(t, packetV2), Advert{From: ips("192.168.0.30")[0], To: GroupIPv4(), Hops: 255, Version: vrrp.V2, ID: 1, Priority: 100, Interval: time.Second,
			VIPs: ips("192.168.0.1"), Sound: true}},
		{"version 3", bytesOf(t, packetV3), Advert{From: ips("192.0.2.11")[0], To: ips("192.0.2.3")[0], Hops: 255, Version: vrrp.V3, ID: 30, Priority: 191,
			Interval: 100 * time.Millisecond, VIPs: ips("192.0.2.5"), Sound: true}},
		{"IPv6", bytesOf(t, packetIPv6), Advert{From: ips("fe80::11")[0], To: GroupIPv6(), Hops: 255, Version: vrrp.V3, ID: 30, Priority: 191, Interval: 100 * time.Millisecond,
			VIPs: ips("2001:db8::5"), Sound: true}},
		{"several addresses, a farewell, padding", two, Advert{From: ips("192.0.2.11")[0], To: GroupIPv4(), Hops: 255, Version: vrrp.V2, ID: 7, Interval: 2 * time.Second,
			VIPs: ips("192.0.2.5", "192.0.2.6"), Sound: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.packet)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestReadCut holds that a packet that lacks anything is none, wherever it was cut.
func TestReadCut(t *testing.T) {
	for _, text := range []string{packetV2, packetV3, packetIPv6} {
		whole := bytesOf(t, text)
		for n := range whole {
			if a, err := Read(whole[:n]); err == nil {
				t.Errorf("%x of %d bytes: %+v", whole[:n], n, a)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, packet string
		at           int
		to           byte
		want         string
	}{
		{"another version of IP", packetV2, 0, 0x55, "IP has no version 5"},
		{"a header that is none", packetV2, 0, 0x44, "a header of 16 bytes"},
		{"a packet shorter than its header", packetV2, 3, 19, "a header of 20 bytes in 19"},
		{"another protocol", packetV2, 9, 6, "protocol 6"},
		{"another protocol of IPv6", packetIPv6, 6, 58, "protocol 58"},
		{"a first fragment", packetV2, 6, 0x20, "fragment"},
		{"a later fragment", packetV2, 7, 1, "fragment"},
		{"another type", packetV2, 20, 0x22, "type 2"},
		{"another version", packetV2, 20, 0x41, "no version 4"},
		{"version 2 of IPv6", packetIPv6, 40, 0x21, "no version 2 for fe80::11"},
		{"more addresses than there are", packetV3, 23, 2, "cut short"},
		{"no room for the password", packetV2, 23, 2, "cut short"},
		{"a length that does not hold the addresses", packetIPv6, 5, 23, "cut short"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := bytesOf(t, tt.packet)
			p[tt.at] = tt.to
			a, err := Read(p)
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				!reflect.DeepEqual(a, Advert{}) {
				t.Errorf("%+v, %v; want an error with %q", a, err, tt.want)
			}
		})
	}
}

// TestAccepted holds which adverts routers accept: keepalived, by our packet filter, receives no
// IPv4 advert that a router has forwarded.
func TestAccepted(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*Advert)
		limited bool
		want    bool
	}{
		{"sound, from the link", func(*Advert) {}, false, true},
		{"damaged", func(a *Advert) { a.Sound = false }, false, false},
		{"of no router", func(a *Advert) { a.ID = 0 }, false, false},
		{"from beyond a router", func(a *Advert) { a.Hops = 254 }, false, false},
		{"of IPv6, with the kernel's hops", func(a *Advert) { a.From, a.Hops = netip.MustParseAddr("fe80::9"), 64 }, false, true},
		{"of IPv6, where all send with 255", func(a *Advert) { a.From, a.Hops = netip.MustParseAddr("fe80::9"), 64 }, true, false},
		{"of IPv6 from the link, where all send with 255", func(a *Advert) { a.From = netip.MustParseAddr("fe80::9") }, true, true},
	} {
		a := Advert{From: netip.MustParseAddr("192.0.2.9"), ID: 9, Hops: Near, Sound: true}
		tt.change(&a)
		if a.Accepted(tt.limited) != tt.want {
			t.Errorf("%s: accepted %t", tt.name, !tt.want)
		}
	}
}

// TestSound holds that the checksum covers all of an advert, and for version 3 its source and
// destination.
func TestSound(t *testing.T) {
	for _, tt := range []struct {
		name, packet string
		at           int
		want         bool
	}{
		{"a priority", packetV2, 22, false}, {"an address", packetV2, 31, false},
		{"a password", packetV2, 33, false},
		{"version 2 does not count the sender", packetV2, 15, true},
		{"another sender", packetV3, 15, false}, {"another sender of IPv6", packetIPv6, 23, false},
		{"an interval", packetIPv6, 45, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := bytesOf(t, tt.packet)
			p[tt.at] ^= 4
			if a, err := Read(p); err != nil || a.Sound != tt.want {
				t.Errorf("sound %t, %v", a.Sound, err)
			}
		})
	}
	p := bytesOf(t, packetV3) // a router that counts the message alone
	binary.BigEndian.PutUint16(p[26:], 0)
	binary.BigEndian.PutUint16(p[26:], ^checksum.Sum(0, p[20:]))
	if a, err := Read(p); err != nil || !a.Sound {
		t.Errorf("a checksum without IP's addresses: %+v, %v", a, err)
	}
}

// build writes an advert as its sender does.
func build(a Advert) []byte {
	message := []byte{
		byte(a.Version)<<4 | typeAdvert,
		byte(a.ID),
		a.Priority,
		byte(len(a.VIPs)),
		0,
		0,
		0,
		0,
	}
	if a.Version == vrrp.V2 {
		message[5] = byte(a.Interval / time.Second)
	} else {
		binary.BigEndian.PutUint16(message[4:], uint16(a.Interval/(10*time.Millisecond)))
	}
	for _, vip := range a.VIPs {
		message = append(message, vip.AsSlice()...)
	}
	if a.Version == vrrp.V2 {
		message = append(message, make([]byte, password)...)
	}
	begin := uint32(0)
	if a.Version == vrrp.V3 {
		begin = uint32(
			checksum.Sum(uint32(checksum.Sum(uint32(len(message))+Protocol, a.From.AsSlice())), a.To.AsSlice()))
	}
	binary.BigEndian.PutUint16(message[6:], ^checksum.Sum(begin, message))
	var header []byte
	if a.From.Is4() {
		header = make([]byte, leastIPv4)
		header[0], header[8], header[9] = 0x45, a.Hops, Protocol
		binary.BigEndian.PutUint16(header[2:], uint16(leastIPv4+len(message)))
		copy(header[12:], a.From.AsSlice())
		copy(header[16:], a.To.AsSlice())
	} else {
		header = make([]byte, onlyIPv6)
		header[0], header[6], header[7] = 0x60, Protocol, a.Hops
		binary.BigEndian.PutUint16(header[4:], uint16(len(message)))
		copy(header[8:], a.From.AsSlice())
		copy(header[24:], a.To.AsSlice())
	}
	return append(header, message...)
}

// FuzzRead holds that whatever is read as an advert is one: its sender would write the same, and
// nothing behind its end was looked at.
func FuzzRead(f *testing.F) {
	for _, text := range []string{packetV2, packetV3, packetIPv6} {
		f.Add(bytesOf(f, text))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, packet []byte) {
		a, err := Read(packet)
		if err != nil {
			if !reflect.DeepEqual(a, Advert{}) {
				t.Fatalf("%+v beside %v", a, err)
			}
			return
		}
		again, err := Read(append(build(a), 0xff))
		if err != nil || !again.Sound {
			t.Fatalf("%+v, written again: %+v, %v", a, again, err)
		}
		if again.Sound = a.Sound; !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v, written again: %+v", a, again)
		}
		for _, vip := range a.VIPs {
			if vip.BitLen() != a.From.BitLen() {
				t.Fatalf("%s announces %s", a.From, vip)
			}
		}
	})
}
