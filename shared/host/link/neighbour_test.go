package link

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

const farMAC = "02:00:5e:00:53:0b"

// wire is two machines on one link, ens3 in each.
type wire struct{ own, far netns.Namespace }

func newWire(t *testing.T) wire {
	t.Helper()
	w := wire{own: netns.New(t), far: netns.New(t)}
	w.own.IP(t, fmt.Sprintf("link add ens3 type veth peer name ens3 netns %s\n", w.far.Path()))
	w.far.IP(t, "link set ens3 address "+farMAC+"\nlink set ens3 up\naddr add 192.0.2.11/24 dev ens3\naddr add 2001:db8::11/64 dev ens3 nodad\n")
	w.own.IP(t, "link set ens3 up\naddr add 192.0.2.10/24 dev ens3\naddr add 2001:db8::10/64 dev ens3 nodad\n")
	return w
}

// unprivileged takes every capability from the thread, and from no other one of the process.
func unprivileged() error {
	const unprivileged = 65534
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, unprivileged, unprivileged,
		unprivileged); errno != 0 {
		return errno
	}
	return nil
}

func (w wire) ask(address netip.Addr) error {
	return w.own.In(func() error {
		if err := unprivileged(); err != nil {
			return err
		}
		return Ask("ens3", address)
	})
}

func (w wire) known(t *testing.T, address netip.Addr) (n addr.Neighbour) {
	t.Helper()
	err := w.own.In(func() (err error) {
		if err := unprivileged(); err != nil {
			return err
		}
		n, err = Neighbour("ens3", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// until asks now and then, as a program does that waits, and expects an answer.
func (w wire) until(t *testing.T, address netip.Addr, want addr.Neighbour, bound time.Duration) {
	t.Helper()
	begin := time.Now()
	for got := w.known(t, address); got != want; got = w.known(t, address) {
		if time.Since(begin) > bound {
			t.Fatalf("%s: %+v after %s, want %+v", address, got, bound, want)
		}
		if err := w.ask(address); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%s: %+v after %s", address, want, time.Since(begin).Round(10*time.Millisecond))
}

// TestNeighbour_Announced holds that a host which announces an address from its loopback interface asks its link all
// the same which other host has it there.
func TestNeighbour_Announced(t *testing.T) {
	w := newWire(t)
	w.own.IP(t, "link set lo up\naddr add 192.0.2.11/32 dev lo scope host\naddr add 2001:db8::11/128 dev lo nodad preferred_lft 0\n")
	for _, vip := range []string{"192.0.2.11", "2001:db8::11"} {
		w.until(t, netip.MustParseAddr(vip), addr.Neighbour{MAC: farMAC}, 10*time.Second)
	}
}

// TestNeighbour follows the life of an address on another host, with each family: no host has it, a
// host takes it, the entry becomes stale, and the host gives it up. Nothing of it needs a privilege.
func TestNeighbour(t *testing.T) {
	held, absent := addr.Neighbour{MAC: farMAC}, addr.Neighbour{Absent: true}
	for _, tt := range []struct{ name, vip, family, width string }{
		{name: "IPv4", vip: "192.0.2.5", family: "ipv4", width: "32"},
		{name: "IPv6", vip: "2001:db8::5", family: "ipv6", width: "128"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, vip := newWire(t), netip.MustParseAddr(tt.vip)
			if got := w.known(t, vip); got != (addr.Neighbour{}) {
				t.Errorf("before the first request: %+v", got)
			}
			if err := w.ask(vip); err != nil {
				t.Fatal(err)
			}
			for asked := time.Now(); ; time.Sleep(80 * time.Millisecond) {
				got := w.known(t, vip)
				if time.Since(asked) > 2*time.Second { // the kernel asks three times, a second apart
					break
				}
				if got != (addr.Neighbour{}) {
					t.Fatalf("it cannot be known yet: %+v", got)
				}
			}
			eventuallyKnown(t, w, vip, absent)

			take, give := "addr add "+tt.vip+"/"+tt.width+" dev ens3",
				"addr del "+tt.vip+"/"+tt.width+" dev ens3"
			if tt.family == "ipv6" {
				take += " nodad"
			}
			w.far.IP(t, take)
			w.until(t, vip, held, 2*time.Second)

			// What was known long ago counts until the kernel has asked anew, as it does 5 s after
			// the next datagram.
			w.own.IP(t, "neigh change "+tt.vip+" dev ens3 nud stale")
			if err := w.ask(vip); err != nil {
				t.Fatal(err)
			}
			if got := w.known(t, vip); got != held {
				t.Errorf("asked anew: %+v", got)
			}
			w.far.IP(t, give)
			eventuallyKnown(t, w, vip, absent)
			w.far.IP(t, take)
			w.until(t, vip, held, 2*time.Second)

			w.own.IP(t, "neigh replace "+tt.vip+" lladdr 02:00:5e:00:53:ff dev ens3 nud permanent")
			if got := w.known(t, vip); got != (addr.Neighbour{}) {
				t.Errorf("an entry that a person made is no answer: %+v", got)
			}
		})
	}
}

// eventuallyKnown waits without asking again.
func eventuallyKnown(t *testing.T, w wire, vip netip.Addr, want addr.Neighbour) {
	t.Helper()
	begin := time.Now()
	for w.known(t, vip) != want {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%s: %+v after 20 s, want %+v", vip, w.known(t, vip), want)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%s: %+v after %s", vip, want, time.Since(begin).Round(10*time.Millisecond))
}

// TestAskElsewhere asks for what no host of the link can answer.
func TestAskElsewhere(t *testing.T) {
	w := newWire(t)
	w.own.IP(t, "route add default via 192.0.2.11\n-6 route add default via 2001:db8::11\n")
	for _, address := range []string{"203.0.113.5", "2001:db8:f::5"} {
		vip := netip.MustParseAddr(address)
		if err := w.ask(vip); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		if got := w.known(t, vip); got != (addr.Neighbour{}) {
			t.Errorf("%s is behind a router: %+v", address, got)
		}
	}
	vip := netip.MustParseAddr("192.0.2.5")
	err := w.own.In(func() error { return Ask("ens9", vip) })
	if err == nil || !strings.Contains(err.Error(), "192.0.2.5 on ens9") {
		t.Errorf("a link that is not there: %v", err)
	}
	if err := w.own.In(func() error { _, err := Neighbour("ens9", vip); return err }); err == nil ||
		!strings.Contains(err.Error(), "find 192.0.2.5: list the neighbours on ens9") {
		t.Errorf("a link that is not there: %v", err)
	}
}

// TestAskOnTheLink has a second way to the network: the question goes where it was meant to go.
func TestAskOnTheLink(t *testing.T) {
	w, other := newWire(t), netns.New(t)
	w.own.IP(t, fmt.Sprintf("link add ens4 type veth peer name ens4 netns %s\n", other.Path()))
	other.IP(t, "link set ens4 up\naddr add 192.0.2.5/32 dev ens4\naddr add 2001:db8::5/128 dev ens4 nodad\n")
	w.own.IP(t, "link set ens4 up\naddr add 192.0.2.12/24 dev ens4\naddr add 2001:db8::12/64 dev ens4 nodad\nroute add 192.0.2.5/32 dev ens4\n-6 route add 2001:db8::5/128 dev ens4\n")
	w.far.IP(t, "addr add 192.0.2.5/32 dev ens3\naddr add 2001:db8::5/128 dev ens3 nodad\n")
	for _, address := range []string{"192.0.2.5", "2001:db8::5"} {
		w.until(t, netip.MustParseAddr(address), addr.Neighbour{MAC: farMAC}, 2*time.Second)
	}
}
