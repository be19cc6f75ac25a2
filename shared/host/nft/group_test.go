package nft

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestGroups sends adverts over the loopback: those of a virtual router with our ID that are about
// another VIP, or about more than ours, do not arrive on its link; all others do.
func TestGroups(t *testing.T) {
	within(t, func(t *testing.T) {
		link, err := net.InterfaceByName("lo")
		if err == nil {
			err = up(link.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ network, at, ours, other string }{
			{"ip4:112", "127.0.0.1", "192.0.2.5", "192.0.2.7"},
			{"ip6:112", "::1", "2001:db8::5", "2001:db8::7"},
		} {
			ours, other := netip.MustParseAddr(tt.ours), netip.MustParseAddr(tt.other)
			group := Group{Link: "lo", ID: 51, VIP: ours}
			elsewhere := Group{Link: "eth7", ID: 52, VIP: ours}
			if _, err := new(FarFilter).Keep(Far{Groups: []Group{group, elsewhere}}); err != nil {
				t.Fatal(err)
			}
			for _, sent := range []struct {
				name    string
				id      vrrp.ID
				vips    []netip.Addr
				arrives bool
			}{
				{"our VIP", 51, []netip.Addr{ours}, true},
				{"another VIP", 51, []netip.Addr{other}, false},
				{"our VIP and another", 51, []netip.Addr{ours, other}, false},
				{"no VIP", 51, nil, false},
				{"another VIP of another router", 50, []netip.Addr{other}, true},
				{"another VIP of a router that is ours on another link", 52,
					[]netip.Addr{other}, true},
			} {
				if got := arrives(t, tt.network, tt.at, sent.id, sent.vips); got != sent.arrives {
					t.Errorf("%s: %s: arrived %t", tt.network, sent.name, got)
				}
			}
		}
	})
}

// arrives sends an advert to an address of this host and says whether a program receives it.
func arrives(t *testing.T, network, at string, id vrrp.ID, vips []netip.Addr) bool {
	t.Helper()
	conn, err := net.ListenPacket(network, at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	advert := []byte{3<<4 | 1, byte(id), 100, byte(len(vips)), 0, 10, 0, 0}
	for _, vip := range vips {
		advert = append(advert, vip.AsSlice()...)
	}
	for len(advert) < 24 { // what follows the header is not the kernel's to judge
		advert = append(advert, 0)
	}
	if _, err := conn.WriteTo(advert, &net.IPAddr{IP: net.ParseIP(at)}); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, _, err = conn.ReadFrom(make([]byte, 128))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

// up switches a link on.
func up(link string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq(link)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
