package sessions

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// lan is a host with a VIP of each family, and a neighbour.
func lan(t *testing.T) (host, neighbour netns.Namespace) {
	t.Helper()
	host, neighbour = netns.New(t), netns.New(t)
	host.IP(t, "link set lo up\nlink add e0 type veth peer name e0 netns "+neighbour.Path()+
		"\nlink set e0 up\naddr add 192.0.2.10/24 dev e0\naddr add 192.0.2.5/32 dev e0\n"+
		"addr add 2001:db8::10/64 dev e0 nodad\naddr add 2001:db8::5/128 dev e0 nodad\n")
	neighbour.IP(t, "link set e0 up\naddr add 192.0.2.11/24 dev e0\n"+
		"addr add 2001:db8::11/64 dev e0 nodad\n")
	return host, neighbour
}

// connect opens a connection from a client to a server, each on its host.
func connect(t *testing.T, server, client netns.Namespace, to netip.Addr) net.Conn {
	t.Helper()
	var listener net.Listener
	if err := server.In(func() (err error) {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(to, 0).String())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var c net.Conn
	if err := client.In(func() (err error) {
		c, err = net.DialTimeout("tcp", listener.Addr().String(), 10*time.Second)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); accepted.Close() })
	return c
}

// untilReset waits until a connection has been reset.
func untilReset(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, err := c.Read(make([]byte, 1))
	if !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, unix.ECONNABORTED) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
}

// TestReleased ends the connections of a VIP that this host has not any more: its client gets a
// reset, a connection of another address goes on, and no loan is left, also if the VIP was lent for
// a handover.
func TestReleased(t *testing.T) {
	ip := need.Command(t, "ip")
	for _, tt := range []struct {
		vip, own, family string
		lend             bool
	}{
		{vip: "192.0.2.5", own: "192.0.2.10", family: "-4"},
		{vip: "192.0.2.5", own: "192.0.2.10", family: "-4", lend: true},
		{vip: "2001:db8::5", own: "2001:db8::10", family: "-6"},
		{vip: "2001:db8::5", own: "2001:db8::10", family: "-6", lend: true},
	} {
		host, neighbour := lan(t)
		vip := netip.MustParseAddr(tt.vip)
		ended := connect(t, host, neighbour, vip)
		goesOn := connect(t, host, neighbour, netip.MustParseAddr(tt.own))
		if err := host.In(func() error {
			s := New(slog.New(slog.NewTextHandler(t.Output(), nil)))
			if tt.lend {
				s.Lend([]netip.Addr{vip})
			}
			if _, err := link.RemoveAddress(vip); err != nil {
				return err
			}
			s.Released(vip)
			if len(s.lent) > 0 {
				t.Errorf("%s, lent %v: %v is still noted as lent", vip, tt.lend, s.lent)
			}
			routes, err := exec.Command(ip, tt.family, "route", "show", "table", "local").Output()
			if strings.Contains(string(routes), vip.String()+" ") {
				t.Errorf("%s, lent %v: there is still a route: %s", vip, tt.lend, routes)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		untilReset(t, ended)
		goesOn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := goesOn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: a connection of another address ended: %v", vip, err)
		}
	}
}

// TestReleased_Held holds that a VIP which this host has keeps its connections and takes new ones when
// a release is reported late, and when a leave that lent it is withdrawn.
func TestReleased_Held(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	for what, change := range map[string]func(*Sessions, netip.Addr){
		"reported late": (*Sessions).Released,
		"reported late, lent": func(s *Sessions, vip netip.Addr) {
			s.Lend([]netip.Addr{vip})
			s.Released(vip)
		},
		"a leave is withdrawn": func(s *Sessions, vip netip.Addr) {
			s.Lend([]netip.Addr{vip})
			s.TakeBack()
		},
	} {
		host, neighbour := lan(t)
		for _, address := range []string{"192.0.2.5", "2001:db8::5"} {
			vip := netip.MustParseAddr(address)
			goesOn := connect(t, host, neighbour, vip)
			if err := host.In(func() error { change(New(log), vip); return nil }); err != nil {
				t.Fatal(err)
			}
			goesOn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := goesOn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s, %s: a connection ended: %v", vip, what, err)
			}
			neighbour.IP(t, "neigh flush all\n")
			connect(t, host, neighbour, vip)
		}
	}
}

// TestReleased_Others has keepalived remove two of three VIPs that are lent, and report one: while its
// connections end, the host no longer receives what is sent to the other one either. The third one
// goes on, and is lent still.
func TestReleased_Others(t *testing.T) {
	host, neighbour := lan(t)
	host.IP(t, "addr add 192.0.2.6/32 dev e0\naddr add 192.0.2.7/32 dev e0\n")
	reported, other, held := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("192.0.2.6"),
		netip.MustParseAddr("192.0.2.7")
	s := New(slog.New(slog.NewTextHandler(t.Output(), nil)))
	hears := func(vip netip.Addr) bool {
		neighbour.IP(t, "neigh flush all\n")
		return neighbour.In(func() error {
			_, err := net.DialTimeout("tcp", netip.AddrPortFrom(vip, 9).String(), 2*time.Second)
			if errors.Is(err, unix.ECONNREFUSED) {
				return nil
			}
			return err
		}) == nil
	}
	if err := host.In(func() error {
		s.Lend([]netip.Addr{reported, other, held})
		_, err := link.RemoveAddress(reported)
		_, errOther := link.RemoveAddress(other)
		return errors.Join(err, errOther)
	}); err != nil {
		t.Fatal(err)
	}
	if !hears(reported) || !hears(other) {
		t.Fatal("nothing is lent, so the test shows nothing")
	}
	if err := host.In(func() error { s.Released(reported); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, vip := range []netip.Addr{reported, other, held} {
		if got := hears(vip); got != (vip == held) {
			t.Errorf("it receives what is sent to %s: %t", vip, got)
		}
	}
	if !slices.Equal(s.lent, []netip.Addr{held}) {
		t.Errorf("%v are noted as lent, want %s", s.lent, held)
	}
}

// TestTaken ends a program's connection with the former holder of a VIP when this host takes it.
func TestTaken(t *testing.T) {
	host, neighbour := lan(t)
	vip := netip.MustParseAddr("192.0.2.5")
	host.IP(t, "addr del 192.0.2.5/32 dev e0\n")
	neighbour.IP(t, "addr add 192.0.2.5/32 dev e0\n")
	own := connect(t, neighbour, host, vip)
	host.IP(t, "addr add 192.0.2.5/32 dev e0\n")
	if err := host.In(func() error {
		New(slog.New(slog.DiscardHandler)).Taken(vip)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	untilReset(t, own)
}

// TestUnlearned has a VIP change its holder while this host knows another host's link address for
// it, as it does when several took it at once: what arrives here must not go to that one.
func TestUnlearned(t *testing.T) {
	ip := need.Command(t, "ip")
	changes := map[string]func(*Sessions, netip.Addr){
		"taken": (*Sessions).Taken,
		"released": func(s *Sessions, vip netip.Addr) {
			if _, err := link.RemoveAddress(vip); err != nil {
				t.Error(err)
			}
			s.Released(vip)
		},
	}
	for what, change := range changes {
		host, _ := lan(t)
		for _, address := range []string{"192.0.2.5", "2001:db8::5"} {
			known := func(state string) string {
				host.IP(t, "neigh replace "+address+" lladdr 02:00:5e:00:53:ff dev e0 nud "+state+"\n")
				var entries []byte
				if err := host.In(func() (err error) {
					change(New(slog.New(slog.NewTextHandler(t.Output(), nil))), netip.MustParseAddr(address))
					entries, err = exec.Command(ip, "neigh", "show", address, "dev", "e0").Output()
					return err
				}); err != nil {
					t.Fatal(err)
				}
				return string(entries)
			}
			if entry := known("reachable"); strings.Contains(entry, "lladdr") {
				t.Errorf("%s %s: still known: %s", address, what, entry)
			}
			if entry := known("incomplete"); !strings.Contains(entry, "INCOMPLETE") {
				t.Errorf("%s %s: nothing waits for an answer any more: %q", address, what, entry)
			}
			if entry := known("permanent"); !strings.Contains(entry, "02:00:5e:00:53:ff") {
				t.Errorf("%s %s: an entry that a person made is gone: %q", address, what, entry)
			}
		}
	}
}
