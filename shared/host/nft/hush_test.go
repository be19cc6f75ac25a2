package nft

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestHush lends an address to a host: who asks for it gets an answer and a connection, but not
// while it is hushed, and so again when whoever hushed it has been killed.
func TestHush(t *testing.T) {
	host, neighbour := netns.New(t), netns.New(t)
	host.IP(t, "link set lo up\nlink add e0 type veth peer name e0 netns "+neighbour.Path()+"\nlink set e0 up\naddr add 192.0.2.10/24 dev e0\n"+
		"route add local 192.0.2.5/32 dev lo table local\nroute add local 192.0.2.6/32 dev lo table local\n")
	neighbour.IP(t, "link set e0 up\naddr add 192.0.2.11/24 dev e0\n")
	listener := listen(t, host, "0.0.0.0:6443")
	defer listener.Close()
	vip, other := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("192.0.2.6")
	for _, tt := range []struct {
		name    string
		do      func() error
		answers bool
	}{
		{"lent", func() error { return nil }, true},
		{"hushed", func() error { return Hush(true, vip) }, false},
		{"no more", Unhush, true},
		{"no more, again", Unhush, true},
		{"silent and not deaf", func() error { return Hush(false, vip) }, false},
		{"no more after silence", Unhush, true},
		{"silent before another one", func() error { return Hush(false, vip, other) }, false},
		{"in the place of another one", func() error {
			return errors.Join(Hush(false, vip), Hush(false, other))
		}, true},
		{"silent after another one", func() error { return Hush(false, other, vip) }, false},
		{"hushed by two", func() error {
			if err := Hush(true, vip); err != nil {
				return err
			}
			return Hush(true, vip)
		}, false},
		{"forgotten", func() error { time.Sleep(2100 * time.Millisecond); return nil }, true},
		{"hushed in the place of what was forgotten",
			func() error { return Hush(true, vip) }, false},
	} {
		if err := host.In(tt.do); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		known, connected := asks(t, neighbour, vip, tt.answers)
		if known != tt.answers || connected != tt.answers {
			t.Errorf("%s: answered by ARP %t, by TCP %t, want %t", tt.name, known,
				connected, tt.answers)
		}
	}
	// What is not the host's own any more is passed on to whoever has it now.
	host.IP(t, "route del local 192.0.2.5/32 dev lo table local\n")
	neighbour.IP(t, "link set lo up\naddr add 192.0.2.5/32 dev lo\nroute add 198.51.100.0/24 via 192.0.2.10\n")
	if err := host.In(func() error {
		return errors.Join(os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644),
			Hush(true, vip))
	}); err != nil {
		t.Fatal(err)
	}
	client := netns.New(t)
	client.IP(t, "link add e0 type veth peer name e1 netns "+host.Path()+"\nlink set e0 up\naddr add 198.51.100.11/24 dev e0\nroute add default via 198.51.100.10\n")
	host.IP(t, "link set e1 up\naddr add 198.51.100.10/24 dev e1\n")
	defer listen(t, neighbour, "0.0.0.0:6443").Close()
	if err := client.In(func() error {
		// before it is forgotten
		c, err := net.DialTimeout("tcp", "192.0.2.5:6443", 1500*time.Millisecond)
		if err == nil {
			c.Close()
		}
		return err
	}); err != nil {
		t.Errorf("what is for the new holder is not passed on: %v", err)
	}
	if known, connected := asks(t, neighbour, other, true); !known || !connected {
		t.Errorf("another address is hushed too: ARP %t, TCP %t", known, connected)
	}
	if err := host.In(func() error {
		return Hush(true, netip.MustParseAddr("2001:db8::5"))
	}); err == nil {
		t.Error("IPv6 was hushed by ARP")
	}
}

func listen(t *testing.T, ns netns.Namespace, address string) (l net.Listener) {
	t.Helper()
	err := ns.In(func() (err error) {
		l, err = net.Listen("tcp", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// asks says whether an address is answered for, by ARP and by TCP. Who expects an answer asks again
// for a while.
func asks(t *testing.T, ns netns.Namespace, address netip.Addr,
	patient bool) (known, connected bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; {
		known, connected = ask(t, ns, address)
		if !patient || known && connected || time.Now().After(end) {
			return known, connected
		}
	}
}

func ask(t *testing.T, ns netns.Namespace, address netip.Addr) (known, connected bool) {
	t.Helper()
	ns.IP(t, "neigh flush all\n")
	ns.In(func() error {
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(address, 6443).String(),
			200*time.Millisecond)
		if err == nil {
			connected = true
			c.Close()
		}
		text, err := os.ReadFile("/proc/thread-self/net/arp")
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(text)) {
			if words := strings.Fields(line); words[0] == address.String() && words[2] != "0x0" {
				known = true
			}
		}
		return nil
	})
	return known, connected
}
