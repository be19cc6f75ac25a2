//go:build remote

package main

import (
	"context"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provisioning/address"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

const ownCard, otherCard = "52:54:00:00:00:10", "52:54:00:aa:bb:cc"

// provisioningLab is a bootstrap machine with the card ens4, which is down, on a cable to the card
// eth0 of another host.
type provisioningLab struct {
	*testing.T
	own, other netns.Namespace
	dir        hostorders.Dir
	prefix     netip.Prefix

	generation int64
	stop       func()
}

func newProvisioningLab(t *testing.T, prefix string) *provisioningLab {
	t.Helper()
	l := &provisioningLab{T: t, own: netns.New(t), other: netns.New(t), dir: hostorders.Dir(t.TempDir()),
		prefix: netip.MustParsePrefix(prefix), stop: func() {}}
	l.own.IP(t, "link set lo up\nlink add ens4 type veth peer name eth0 netns "+l.other.Path()+
		"\nlink set ens4 address "+ownCard+"\n")
	l.other.IP(t, "link set eth0 address "+otherCard+"\nlink set eth0 up\n"+
		"addr add 172.22.0.77/24 dev eth0\naddr add fd00:1101::77/64 dev eth0 nodad\n")
	t.Cleanup(func() { l.stop() })
	return l
}

// bothFamilies runs a test with an address of each family.
func bothFamilies(t *testing.T, test func(*provisioningLab)) {
	need.Root(t)
	for family, prefix := range map[string]string{"IPv4": "172.22.0.2/24", "IPv6": "fd00:1101::2/64"} {
		t.Run(family, func(t *testing.T) { test(newProvisioningLab(t, prefix)) })
	}
}

// start runs the program on the bootstrap machine until stop. Everything that it asks the kernel
// comes from one goroutine, which is in the machine's network namespace.
func (l *provisioningLab) start() {
	l.Helper()
	card, err := mac.Parse(ownCard)
	if err != nil {
		l.Fatal(err)
	}
	p := plan.Plan{Provisioning: &provision.Plan{Network: provisioning.Managed, CIDR: l.prefix.Masked(),
		Address: provisioning.Two, BootstrapIP: l.prefix.Addr(), MACs: []mac.MAC{card}}}
	m := newMachine("bootstrap/provisioning/address", streams{err: l.Output()})
	m.status.send = func(string) error { return nil }
	steps := stepsOf(m.addressRoom(p, addressHost{dir: l.dir}))
	ctx, cancel := context.WithCancel(l.Context())
	var all sync.WaitGroup
	run := func(what string, do func() error) {
		all.Go(func() {
			if err := l.own.In(do); err != nil {
				l.Errorf("%s: %v", what, err)
			}
		})
	}
	run("the loop", func() error { return loop.Run(ctx, steps, m.wake, everyRound, m.log) })
	run("links", func() error { return link.Watch(ctx, m.wake) })
	run("orders", func() error { return file.Watch(ctx, []string{l.dir.File()}, m.wake) })
	l.stop = sync.OnceFunc(func() { cancel(); all.Wait() })
}

func (l *provisioningLab) order(on ...orders.Part) {
	l.Helper()
	l.generation++
	if err := l.dir.Write(orders.Orders{Generation: l.generation, On: on, Why: "a test"}); err != nil {
		l.Fatal(err)
	}
}

// until waits for a report, and returns how long that took.
func (l *provisioningLab) until(what string, is func(orders.Report) bool) time.Duration {
	l.Helper()
	begin := time.Now()
	for {
		r, err := l.dir.ReadReport(orders.Address)
		if err != nil {
			l.Fatal(err)
		}
		if r.Generation == l.generation && is(r) {
			return time.Since(begin)
		}
		if time.Since(begin) > 20*time.Second {
			l.Fatalf("%s: after 20 s it reports %+v", what, r)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ready(r orders.Report) bool { return r.On && r.Ready }

func because(text string) func(orders.Report) bool {
	return func(r orders.Report) bool { return !r.Ready && strings.Contains(r.Why, text) }
}

// has is the name of the link that has the address, empty if none has.
func (l *provisioningLab) has() (name string) {
	l.Helper()
	if err := l.own.In(func() error {
		s, err := link.Snapshot()
		name = s.LinkOf(l.prefix.Addr())
		return err
	}); err != nil {
		l.Fatal(err)
	}
	return name
}

// answers are the MACs that the other host finds for the address.
func (l *provisioningLab) answers() (macs []string) {
	l.Helper()
	if err := l.other.In(func() (err error) {
		macs, err = reach.WhoHas("eth0", l.prefix.Addr())
		return err
	}); err != nil {
		l.Fatal(err)
	}
	return macs
}

// returned waits until the address is back after another program has removed it.
func (l *provisioningLab) returned(what string) {
	l.Helper()
	begin := time.Now()
	for l.has() == "" {
		if time.Since(begin) > 20*time.Second {
			l.Fatalf("%s: the address is not back within 20 s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.Logf("%s: back after %v", what, time.Since(begin).Round(time.Millisecond))
}

// TestAddress_Lab has the program follow its orders with a real kernel. It removes no address of
// another program.
func TestAddress_Lab(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		l.own.IP(l.T, "addr add 192.0.2.10/24 dev ens4\naddr add 2001:db8::10/64 dev ens4 nodad\n")
		l.start()
		l.until("no orders", func(r orders.Report) bool { return !r.On && r.Ready })
		if name := l.has(); name != "" {
			l.Fatalf("%s has the address without orders", name)
		}
		l.order(orders.Address)
		l.Logf("on after %v", l.until("on", ready))
		if macs := l.answers(); !slices.Equal(macs, []string{ownCard}) {
			l.Errorf("%q answer for the address", macs)
		}
		l.order()
		l.until("off", func(r orders.Report) bool { return !r.On && r.Ready })
		if macs := l.answers(); l.has() != "" || len(macs) > 0 {
			l.Errorf("%s still has the address, %q answer for it", l.has(), macs)
		}
		if err := l.own.In(func() error {
			s, err := link.Snapshot()
			for _, other := range []string{"192.0.2.10", "2001:db8::10"} {
				if s.LinkOf(netip.MustParseAddr(other)) != "ens4" {
					l.Errorf("%s of another program was removed", other)
				}
			}
			return err
		}); err != nil {
			l.Error(err)
		}
	})
}

// TestAddress_LabTaken holds that an address which another host has is not added, that the other
// host is named, and that the address comes when that host has gone.
func TestAddress_LabTaken(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		nodad := ""
		if l.prefix.Addr().Is6() {
			nodad = " nodad"
		}
		l.other.IP(l.T, "addr add "+l.prefix.String()+" dev eth0"+nodad+"\n")
		l.order(orders.Address)
		l.start()
		l.until("taken", because(otherCard))
		if name := l.has(); name != "" {
			l.Fatalf("%s has the address of another host", name)
		}
		l.other.IP(l.T, "addr del "+l.prefix.String()+" dev eth0\n")
		l.until("free", ready)
	})
}

// TestAddress_LabPutBack removes the address as NetworkManager does when it applies a profile: all
// addresses of the link at once, or the first IPv4 address of the network, with which the kernel
// removes the others.
func TestAddress_LabPutBack(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		l.own.IP(l.T, "addr add 172.22.0.9/24 dev ens4\n")
		l.order(orders.Address)
		l.start()
		l.until("on", ready)
		if l.prefix.Addr().Is4() {
			l.own.IP(l.T, "addr del 172.22.0.9/24 dev ens4\n")
			l.returned("after the first address of its network")
			l.until("back", ready)
		}
		for range 3 {
			l.own.IP(l.T, "addr flush dev ens4 scope global\n")
			l.returned("after all addresses")
			l.until("back", ready)
		}
		l.own.IP(l.T, "link set ens4 down\n")
		var macs []string // the report may be one from before, and nothing can be sent without a link
		for end := time.Now().Add(20 * time.Second); len(macs) == 0 && time.Now().Before(end); {
			if err := l.other.In(func() (err error) {
				macs, err = reach.WhoHas("eth0", l.prefix.Addr())
				return err
			}); err != nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
		if !slices.Equal(macs, []string{ownCard}) {
			l.Errorf("%q answer for the address after the link was disabled", macs)
		}
		l.until("the link is enabled again", ready)
	})
}

// TestAddress_LabRestart holds that the address outlives the program, and that a later run knows it
// for its own.
func TestAddress_LabRestart(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		l.order(orders.Address)
		l.start()
		l.until("on", ready)
		l.stop()
		if l.has() != "ens4" {
			l.Fatal("the address went with the program")
		}
		l.order(orders.Address)
		l.start()
		l.until("still on", ready)
		l.stop()
		l.order()
		l.start()
		l.until("off", func(r orders.Report) bool { return !r.On && r.Ready })
		if l.has() != "" {
			l.Error("the address of the former run was not removed")
		}
	})
}

func TestAddress_LabLateCarrier(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		l.other.IP(l.T, "link set eth0 down\n")
		l.order(orders.Address)
		l.start()
		l.until("no carrier", because("no carrier"))
		l.other.IP(l.T, "link set eth0 up\n")
		l.until("with carrier", ready)
	})
}

func TestAddress_LabRenamed(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		l.order(orders.Address)
		l.start()
		l.until("on", ready)
		l.own.IP(l.T, "link set ens4 down\nlink set ens4 name enp2s0\n")
		l.until("renamed", func(r orders.Report) bool {
			return ready(r) && strings.Contains(r.Why, "on enp2s0")
		})
		l.order()
		l.until("off", func(r orders.Report) bool { return !r.On && r.Ready })
		if l.has() != "" {
			l.Error("the address was not removed from the link with the new name")
		}
	})
}

// TestAddress_LabLinkLocal removes the link-local address and leads packets for the address to the
// loopback link, as programs do that set a link up anew.
func TestAddress_LabLinkLocal(t *testing.T) {
	need.Root(t)
	l := newProvisioningLab(t, "fd00:1101::2/64")
	l.order(orders.Address)
	l.start()
	l.until("on", ready)
	l.own.IP(t, "-6 addr flush dev ens4\n")
	l.until("a link-local address is missed", func(r orders.Report) bool { return !r.Ready })
	l.until("back", ready)
	l.own.IP(t, "-6 route add fd00:1101::2/128 dev lo\n")
	begin := time.Now()
	for loopRoutes(l) > 0 {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the route to the loopback link stays")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func loopRoutes(l *provisioningLab) (count int) {
	l.Helper()
	if err := l.own.In(func() error {
		s, err := link.Snapshot()
		for _, r := range s.Routes {
			if r.Destination == netip.PrefixFrom(l.prefix.Addr(), 128) && r.LinkIndex == 1 {
				count++
			}
		}
		return err
	}); err != nil {
		l.Fatal(err)
	}
	return count
}

// TestAddress_LabAnnounced holds that a host which remembers another machine's MAC for the address
// replaces it at once.
func TestAddress_LabAnnounced(t *testing.T) {
	bothFamilies(t, func(l *provisioningLab) {
		own := l.prefix.Addr().String()
		l.other.IP(l.T, "neigh replace "+own+" lladdr 52:54:00:de:ad:01 dev eth0 nud stale\n")
		time.Sleep(time.Second) // the kernel believes no other MAC in the first second
		l.order(orders.Address)
		l.start()
		l.until("on", ready)
		time.Sleep(time.Second) // what would take the address back does so within it
		if err := l.other.In(func() error {
			table, err := exec.Command(need.Command(l.T, "ip"), "neighbour", "show", own).CombinedOutput()
			if !strings.Contains(string(table), ownCard) {
				l.Errorf("the other host remembers %s", table)
			}
			return err
		}); err != nil {
			l.Error(err)
		}
	})
}

// TestAddressHost_Claim holds that what was added is read as it was written, and that a broken file
// is an error and no claim.
func TestAddressHost_Claim(t *testing.T) {
	h := addressHost{dir: hostorders.Dir(t.TempDir())}
	if c, err := h.Claim(); err != nil || c != (address.Claim{}) {
		t.Errorf("before the first: %+v, %v", c, err)
	}
	want := address.Claim{Index: 3, Prefix: netip.MustParsePrefix("172.22.0.2/24")}
	if err := h.Keep(want); err != nil {
		t.Fatal(err)
	}
	if c, err := h.Claim(); err != nil || c != want {
		t.Errorf("%+v, %v", c, err)
	}
	for range 2 {
		if err := h.Forget(); err != nil {
			t.Error(err)
		}
	}
	if c, err := h.Claim(); err != nil || c != (address.Claim{}) {
		t.Errorf("after the last: %+v, %v", c, err)
	}
	if err := file.Write(h.claim(), []byte(`{"index":3`), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := h.Claim(); err == nil || c != (address.Claim{}) {
		t.Errorf("a broken file: %+v, %v", c, err)
	}
}
