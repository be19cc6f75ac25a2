package dhcp

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/nftables"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

// keep is Keep, with what it should report.
func keep(t *testing.T, f Filter, want bool) {
	t.Helper()
	if changed, err := Keep(f); err != nil || changed != want {
		t.Errorf("%+v: changed %t, %v, want %t", f, changed, err, want)
	}
}

// TestKeep holds that rules which are right stay, and that every difference is repaired.
func TestKeep(t *testing.T) {
	inside(t, func() error {
		macs := []mac.MAC{card(2), card(1), card(2)}
		f := Filter{Link: "eth0", Hosts: macs, Fenced: true}
		keep(t, f, true)
		keep(t, f, false)
		for _, other := range []Filter{
			{Link: "eth1", Hosts: f.Hosts, Fenced: true}, {Link: "eth0", Hosts: f.Hosts},
			{Link: "eth0", Hosts: f.Hosts[:1], Fenced: true}, {Link: "eth0", Fenced: true},
			{Link: "eth0", Hosts: f.Hosts, Except: true, Fenced: true},
		} {
			keep(t, other, true)
			keep(t, other, false)
		}
		keep(t, f, true)
		c, err := nftables.New()
		if err != nil {
			return err
		}
		c.FlushChain(chainOf(requests))
		if err := c.Flush(); err != nil {
			return err
		}
		keep(t, f, true)
		keep(t, f, false)
		if err := errors.Join(Close(), Remove(), Remove(), Close()); err != nil {
			return err
		}
		if err := Allow(time.Second); err == nil {
			t.Error("a fence that does not exist was opened")
		}
		keep(t, f, true)
		return nil
	})
}

// TestFence sends from the ports of servers over the loopback: nothing leaves while the fence is
// closed, whatever opened it before, and other ports are not affected.
func TestFence(t *testing.T) {
	inside(t, func() error {
		f := Filter{Link: "lo", Hosts: []mac.MAC{{}}, Fenced: true}
		for _, network := range []string{"127.0.0.1:", "[::1]:"} {
			sends := func(when, port string, want bool) {
				if got := passes(t, network+port, network+"0"); got != want {
					t.Errorf("%s: from %s: %t, want %t", when, network+port, got, want)
				}
			}
			keep(t, f, true)
			sends("closed", "67", false)
			sends("closed", "547", false)
			sends("closed", "68", true)
			if err := Allow(time.Minute); err != nil {
				return err
			}
			sends("open", "67", true)
			sends("open", "547", true)
			f.Hosts = append(f.Hosts, card(byte(len(f.Hosts))))
			keep(t, f, true)
			sends("open, with another set of hosts", "67", true)
			if err := Allow(300 * time.Millisecond); err != nil {
				return err
			}
			time.Sleep(400 * time.Millisecond)
			sends("not opened again", "67", false)
			if err := errors.Join(Allow(time.Minute), Close()); err != nil {
				return err
			}
			sends("closed at once", "547", false)
			if err := Remove(); err != nil {
				return err
			}
			sends("removed", "67", true)
		}
		return nil
	})
}

// TestRequests sends to the ports of servers over the loopback, whose frames have the source 0: it
// arrives only if that is one of the hosts, on the link of the filter alone.
func TestRequests(t *testing.T) {
	inside(t, func() error {
		both := []mac.MAC{card(1), {}}
		for name, tt := range map[string]struct {
			filter Filter
			want   bool
		}{
			"a host":                 {Filter{Link: "lo", Hosts: both}, true},
			"another host":           {Filter{Link: "lo", Hosts: both[:1]}, false},
			"no hosts":               {Filter{Link: "lo"}, false},
			"no hosts, another link": {Filter{Link: "eth0"}, true},
		} {
			keep(t, tt.filter, true)
			for _, to := range []string{"127.0.0.1:67", "[::1]:67", "127.0.0.1:547", "[::1]:547"} {
				host, _, _ := net.SplitHostPort(to)
				if got := passes(t, net.JoinHostPort(host, "0"), to); got != tt.want {
					t.Errorf("%s: to %s: %t, want %t", name, to, got, tt.want)
				}
				if !passes(t, net.JoinHostPort(host, "0"), net.JoinHostPort(host, "69")) {
					t.Errorf("%s: another port of %s is closed", name, host)
				}
			}
		}
		return nil
	})
}

// TestWithoutTable holds that a fence which is not there cannot be opened, and counts as closed.
func TestWithoutTable(t *testing.T) {
	inside(t, func() error {
		if Allow(time.Second) == nil {
			t.Error("there is no fence to open")
		}
		if err := Close(); err != nil {
			t.Errorf("a server without a table is not there either: %v", err)
		}
		return nil
	})
}

// passes reports whether a datagram from one address arrives at another.
func passes(t *testing.T, from, to string) bool {
	t.Helper()
	receiver, err := net.ListenPacket("udp", to)
	if err != nil {
		t.Error(err)
		return false
	}
	defer receiver.Close()
	sender, err := net.ListenPacket("udp", from)
	if err != nil {
		t.Error(err)
		return false
	}
	defer sender.Close()
	// What the filter drops on its way out is an error of the sender.
	_, _ = sender.WriteTo([]byte("x"), receiver.LocalAddr())
	if err := receiver.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Error(err)
	}
	_, _, err = receiver.ReadFrom(make([]byte, 1))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	return err == nil
}

// inside runs a test in a network of its own.
func inside(t *testing.T, f func() error) {
	t.Helper()
	ns := netns.New(t)
	ns.IP(t, "link set lo up\n")
	if err := ns.In(f); err != nil {
		t.Fatal(err)
	}
}
