package reach

import (
	"errors"
	"net/netip"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

const mac1, mac2, mac3 = "02:00:5e:00:53:01", "02:00:5e:00:53:02", "02:00:5e:00:53:03"

// lan is three hosts on one switch, ens3 in each: 192.0.2.1 to 3 and 2001:db8::1 to 3. The second
// and the third both have 192.0.2.9.
func lan(t *testing.T) (own, second, third netns.Namespace) {
	t.Helper()
	own, second, third = netns.New(t), netns.New(t), netns.New(t)
	second.IP(t, "link add name sw0 type bridge\nlink set sw0 up\nlink set sw0 address "+mac2+"\n")
	for i, ns := range []netns.Namespace{own, third} {
		port := []string{"port1", "port3"}[i]
		second.IP(
			t,
			"link add "+port+" type veth peer name ens3 netns "+ns.Path()+"\nlink set "+port+" master sw0\nlink set "+port+" up\n",
		)
	}
	for _, h := range []struct {
		ns            netns.Namespace
		link, mac, n  string
		also, another string
	}{{own, "ens3", mac1, "1", "", ""}, {second, "sw0", mac2, "2", "192.0.2.9/32", "2001:db8::9/128"}, {third, "ens3", mac3, "3", "192.0.2.9/32", ""}} {
		lines := "link set " + h.link + " address " + h.mac + "\nlink set " + h.link + " up\naddr add 192.0.2." + h.n + "/24 dev " + h.link + "\naddr add 2001:db8::" + h.n + "/64 dev " + h.link + " nodad\n"
		for _, a := range []string{h.also, h.another} {
			if a != "" {
				lines += "addr add " + a + " dev " + h.link + "\n"
			}
		}
		h.ns.IP(t, lines)
	}
	own.IP(t, "addr add 192.0.2.5/32 dev ens3\n")
	for _, way := range [][2]string{{"192.0.2.1", "192.0.2.2"}, {"192.0.2.1", "192.0.2.3"}, {"2001:db8::1", "2001:db8::2"}, {"2001:db8::1", "2001:db8::3"}} {
		begin := time.Now() // a switch that has just begun loses what it gets
		for passes := false; !passes; {
			if err := own.In(func() (err error) {
				passes, err = Echo(netip.MustParseAddr(way[0]), netip.MustParseAddr(way[1]), 64)
				return err
			}); err != nil || time.Since(begin) > time.Minute {
				t.Fatalf("nothing goes from %s to %s: %v", way[0], way[1], err)
			}
		}
	}
	for _, ns := range []netns.Namespace{own, second, third} {
		ns.IP(t, "neigh flush all\n")
	}
	return own, second, third
}

// TestWhoHas holds that all hosts with an address are found, that they learn nothing from the probe,
// and that this host does not find itself.
func TestWhoHas(t *testing.T) {
	need.Root(t)
	own, second, _ := lan(t)
	for _, tt := range []struct {
		address string
		want    []string
	}{
		{"192.0.2.2", []string{mac2}}, {"192.0.2.9", []string{mac2, mac3}}, {"192.0.2.77", nil},
		{"192.0.2.1", nil},
		{"2001:db8::3", []string{mac3}}, {"2001:db8::77", nil},
	} {
		var got []string
		err := own.In(func() (err error) {
			got, err = WhoHas("ens3", netip.MustParseAddr(tt.address))
			return err
		})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.address, got, err, tt.want)
		}
	}
	if err := own.In(func() error { _, err := WhoHas("ens9", netip.MustParseAddr("192.0.2.2")); return err }); err == nil {
		t.Error("there is no ens9")
	}
	if err := second.In(func() error {
		table, err := exec.Command(need.Command(t, "ip"), "neighbour", "show", "192.0.2.1").CombinedOutput()
		if len(table) > 0 {
			t.Errorf("the probed host has learnt %s", table)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestEcho holds that an echo shows whether a host is there, how large a packet may be, and that the
// answer comes back to the address that it was sent from.
func TestEcho(t *testing.T) {
	need.Root(t)
	own, second, third := lan(t)
	second.IP(
		t, "neigh replace 192.0.2.5 lladdr "+mac3+" dev sw0 nud permanent\n",
	) // it sends to 192.0.2.5 at the wrong host
	third.IP(t, "link set ens3 mtu 1400\n")
	for _, tt := range []struct {
		from, to string
		bytes    int
		want     bool
	}{
		{"192.0.2.1", "192.0.2.2", 64, true}, {"192.0.2.1", "192.0.2.2", 1500, true},
		{"192.0.2.1", "192.0.2.77", 64, false},
		{"192.0.2.5", "192.0.2.3", 64, true}, {"192.0.2.5", "192.0.2.2", 64, false},
		{"192.0.2.1", "192.0.2.3", 1500, false}, {"192.0.2.1", "192.0.2.3", 1399, true},
		{"192.0.2.1", "192.0.2.3", 9000, false},
		{"2001:db8::1", "2001:db8::3", 64, true}, {"2001:db8::1", "2001:db8::2", 1500, true},
		{"2001:db8::1", "2001:db8::77", 64, false},
	} {
		var got bool
		err := own.In(func() (err error) {
			got, err = Echo(netip.MustParseAddr(tt.from), netip.MustParseAddr(tt.to), tt.bytes)
			return err
		})
		if err != nil || got != tt.want {
			t.Errorf("%d bytes from %s to %s: %v, %v", tt.bytes, tt.from, tt.to, got, err)
		}
	}
	if err := own.In(func() error {
		_, err := Echo(netip.MustParseAddr("192.0.2.99"), netip.MustParseAddr("192.0.2.2"), 64)
		return err
	}); err == nil {
		t.Error("an address that this host has not")
	}
}

// TestVRRP holds that a host without VRRP refuses it, and that one with it, one behind a packet
// filter and one that is not there do not answer.
func TestVRRP(t *testing.T) {
	need.Root(t)
	own, _, third := lan(t)
	arrives := func(to string) bool {
		var got bool
		if err := own.In(func() (err error) {
			from := "192.0.2.1"
			if netip.MustParseAddr(to).Is6() {
				from = "2001:db8::1"
			}
			got, err = VRRP(netip.MustParseAddr(from), netip.MustParseAddr(to))
			return err
		}); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		return got
	}
	for to, want := range map[string]bool{"192.0.2.2": true, "2001:db8::2": true, "192.0.2.77": false} {
		if got := arrives(to); got != want {
			t.Errorf("%s: %v", to, got)
		}
	}
	if err := third.In(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 112)
		if err == nil {
			t.Cleanup(func() { unix.Close(fd) })
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if arrives("192.0.2.3") {
		t.Error("a host with VRRP has refused it")
	}
}

// TestUnprivileged holds that a program that may not send such packets gets EPERM.
func TestUnprivileged(t *testing.T) {
	need.Root(t)
	own, _, _ := lan(t)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for what, f := range map[string]func() error{
		"who has": func() error { _, err := WhoHas("ens3", b); return err },
		"echo":    func() error { _, err := Echo(a, b, 64); return err },
		"VRRP":    func() error { _, err := VRRP(a, b); return err },
	} {
		err := own.In(func() error {
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
				return errno
			}
			return f()
		})
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
