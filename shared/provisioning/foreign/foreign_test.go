package foreign

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/offer"
)

func seen(kind offer.Kind, mac string, at int64) Server {
	return Of(offer.Server{Kind: kind, MAC: mac, Source: netip.MustParseAddr("fe80::1%eth0"), Last: time.Unix(at, 0)})
}

func TestList(t *testing.T) {
	var l List
	for i, s := range []Server{seen(offer.DHCPv6, "02:00:00:00:00:01", 1), seen(offer.Router, "02:00:00:00:00:01", 2), seen(offer.DHCPv6, "02:00:00:00:00:01", 3)} {
		if first := l.Add(s); first != (i < 2) {
			t.Errorf("%+v: first %t", s, first)
		}
	}
	got := l.Servers[0]
	if len(l.Servers) != 2 || got.Count != 2 || got.First.Unix() != 1 || got.Last.Unix() != 3 || got.Family != "IPv6" || got.Address.String() != "fe80::1" {
		t.Errorf("kept %+v", l)
	}
	id := offer.Server{Kind: offer.DHCP, ID: netip.MustParseAddr("172.22.0.9"), Source: netip.MustParseAddr("172.22.0.8")}
	if s := Of(id); s.Address != id.ID || s.Family != "IPv4" {
		t.Errorf("of %+v is %+v", id, s)
	}
	again, err := Decode(Encode(l))
	if err != nil || !reflect.DeepEqual(again, l) {
		t.Errorf("read %+v, %v, want %+v", again, err, l)
	}
}

// TestList_Bounded holds that a host which invents servers fills no memory, and that the file of a
// full list is read again.
func TestList_Bounded(t *testing.T) {
	var l List
	l.Add(seen(offer.DHCP, "first", 0))
	for i := range 1000 {
		s := seen(offer.ProxyDHCP, fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255), int64(i))
		s.Address, s.VLAN, s.Count = netip.MustParseAddr("fe80:1111:2222:3333:4444:5555:6666:7777"), 4095, 1<<62
		l.Add(s)
		l.Add(seen(offer.DHCP, "first", int64(i)))
	}
	if again, err := Decode(Encode(l)); err != nil || len(again.Servers) != limit || !again.More || again.Servers[0].MAC != "first" {
		t.Errorf("%d servers, %v", len(again.Servers), err)
	}
}

func TestDecode_Refused(t *testing.T) {
	if l, err := Decode(nil); err != nil || len(l.Servers) != 0 {
		t.Errorf("no file: %v, %v", l, err)
	}
	for _, text := range []string{"x", `{"servers":[{"address":"x"}]}`, strings.Repeat(" ", MaxFile+1), `{"servers":[` + strings.TrimSuffix(strings.Repeat("{},", 65), ",") + "]}"} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

// FuzzDecode holds that what is read is written as what reads as the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(List{Servers: []Server{seen(offer.DHCP, "02:00:00:00:00:01", 1)}}))
	f.Fuzz(func(t *testing.T, file []byte) {
		l, err := Decode(file)
		if err != nil {
			return
		}
		if again, err := Decode(Encode(l)); err == nil && len(again.Servers) != len(l.Servers) {
			t.Errorf("%+v, then %+v", l, again)
		}
	})
}
