package clients

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
)

// TestSegment holds the bytes of both families. A kernel judges them in shared/host/clients.
func TestSegment(t *testing.T) {
	for _, tt := range []struct {
		vip, remote string
		want        string
	}{
		{"192.0.2.5", "198.51.100.7:40000", ""},
		{"2001:db8::5", "[2001:db8:1::7]:40000", ""},
	} {
		vip := netip.MustParseAddr(tt.vip)
		packet := Segment(vip, Client{Remote: netip.MustParseAddrPort(tt.remote), Port: 6443}, 1, 2)
		head := len(packet) - 20
		if vip.Is4() && checksum.Sum(0, packet[:20]) != 0xffff {
			t.Errorf("%s: the header's checksum is wrong", tt.vip)
		}
		pseudo := checksum.Sum(6+20, append(vip.AsSlice(), netip.MustParseAddrPort(tt.remote).Addr().AsSlice()...))
		if checksum.Sum(uint32(pseudo), packet[head:]) != 0xffff {
			t.Errorf("%s: the segment's checksum is wrong", tt.vip)
		}
		if got := hex.EncodeToString(packet[head : head+16]); got != "192b9c4000000001000000025012"+"0001" {
			t.Errorf("%s: %s", tt.vip, got)
		}
	}
}
