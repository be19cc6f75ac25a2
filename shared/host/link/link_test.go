package link

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

const setup = `link set lo up
link add ens3 type veth peer name far
link add bond0 type veth peer name other
link add br-ex type bridge
link set ens3 up
link set far up
link set bond0 up
link set br-ex up
addr add 192.0.2.10/24 dev ens3
addr add 192.0.2.11/24 dev ens3
addr add 192.0.2.5/32 dev ens3 label ens3:vip
addr add 2001:db8::10/64 dev ens3 nodad
addr add 2001:db8::5/128 dev ens3 nodad preferred_lft 0
addr add ::ffff:192.0.2.77/96 dev ens3 nodad
route add default via 192.0.2.1 dev ens3 metric 100
route add default via fe80::1 dev ens3 metric 200 proto ra
route add 2001:db8:7::/64 dev ens3 proto ra
route add blackhole 203.0.113.0/24
route add 198.51.100.0/24 nexthop via 192.0.2.1 dev ens3 nexthop via 192.0.2.2 dev ens3
`

func snapshot(t *testing.T, ns netns.Namespace) addr.Snapshot {
	t.Helper()
	var s addr.Snapshot
	if err := ns.In(func() (err error) { s, err = Snapshot(); return err }); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSnapshot(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, setup)
	s := snapshot(t, ns)

	var got []string
	index := map[int]string{}
	for _, l := range s.Links {
		index[l.Index] = l.Name
		got = append(got, fmt.Sprintf("%s up=%v", l.Name, l.Up))
		for _, a := range l.Addresses {
			if a.Prefix.Addr().IsLinkLocalUnicast() {
				continue // its bytes are random
			}
			got = append(got, fmt.Sprintf("%s %s label=%s secondary=%v deprecated=%v tentative=%v",
				l.Name, a.Prefix, a.Label, a.Secondary, a.Deprecated, a.Tentative))
		}
	}
	for _, r := range s.Routes {
		if r.Destination.Addr().IsLinkLocalUnicast() || r.Destination.Addr().IsMulticast() {
			continue
		}
		got = append(got, fmt.Sprintf("route %s via %s dev %s metric %d ra=%v", r.Destination,
			r.Gateway, index[r.LinkIndex], r.Metric, r.FromRA))
	}
	want := []string{
		"lo up=true", "ens3 up=true", "far up=true",
		"bond0 up=false", // its peer is down: no carrier
		"other up=false",
		"lo 127.0.0.1/8 label=lo secondary=false deprecated=false tentative=false",
		"ens3 192.0.2.10/24 label=ens3 secondary=false deprecated=false tentative=false",
		"ens3 192.0.2.11/24 label=ens3 secondary=true deprecated=false tentative=false",
		"ens3 192.0.2.5/32 label=ens3:vip secondary=false deprecated=false tentative=false",
		"ens3 2001:db8::10/64 label= secondary=false deprecated=false tentative=false",
		"ens3 2001:db8::5/128 label= secondary=false deprecated=true tentative=false",
		"ens3 ::ffff:192.0.2.77/96 label= secondary=false deprecated=false tentative=false",
		"route 0.0.0.0/0 via 192.0.2.1 dev ens3 metric 100 ra=false",
		"route ::/0 via fe80::1 dev ens3 metric 200 ra=true",
		"route 2001:db8:7::/64 via invalid IP dev ens3 metric 1024 ra=true",
		"route 198.51.100.0/24 via 192.0.2.1 dev ens3 metric 0 ra=false",
		"route 198.51.100.0/24 via 192.0.2.2 dev ens3 metric 0 ra=false",
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("the snapshot lacks %q", w)
		}
	}
	if slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, "203.0.113.0") }) {
		t.Error("a blackhole route leads nowhere and must not be listed")
	}
	if t.Failed() {
		t.Log("got:\n" + strings.Join(got, "\n"))
	}
}

func TestSnapshotTentative(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link add ens3 type veth peer name far\nlink set ens3 up\nlink set far up\naddr add 2001:db8::10/64 dev ens3\n")
	tentative := slices.ContainsFunc(snapshot(t, ns).Links, func(l addr.Link) bool {
		return slices.ContainsFunc(l.Addresses,
			func(a addr.Address) bool {
				return a.Prefix.String() == "2001:db8::10/64" &&
					a.Tentative
			})
	})
	if !tentative {
		t.Error("an address in duplicate address detection is not tentative")
	}
}

// TestRemoveAddress holds K-57: it has neighbours that begin or end like the VIP: exactly the VIP
// goes, wherever it is and whatever its prefix length.
func TestRemoveAddress(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, `link add ens3 type veth peer name far
link add bond0.354 type bridge
link set ens3 up
link set far up
addr add 10.0.0.10/24 dev ens3
addr add 10.0.0.1/32 dev ens3 label vip
addr add 10.0.0.11/32 dev ens3
addr add 10.0.0.1/24 dev bond0.354
addr add 110.0.0.1/32 dev bond0.354
addr add 2001:db8::1/128 dev ens3 nodad
addr add 2001:db8::11/64 dev ens3 nodad
addr add ::ffff:10.0.0.1/128 dev ens3 nodad
addr add 10.0.0.1/32 dev lo scope host
addr add 10.0.0.3/32 dev lo scope host
addr add 10.0.0.4/32 dev lo
addr add 2001:db8::3/128 dev lo nodad preferred_lft 0 valid_lft forever
`)
	// Those of scope host and those deprecated are announced from there, and stay.
	tests := []struct {
		address string
		removed []string
	}{
		{"10.0.0.1", []string{"10.0.0.1/32 of ens3", "10.0.0.1/24 of bond0.354"}},
		{"10.0.0.1", nil},
		{"2001:db8::1", []string{"2001:db8::1/128 of ens3"}},
		{"10.0.0.2", nil},
		{"10.0.0.3", nil},
		{"10.0.0.4", []string{"10.0.0.4/32 of lo"}},
		{"2001:db8::3", nil},
	}
	for _, tt := range tests {
		address := netip.MustParseAddr(tt.address)
		err := ns.In(func() error {
			if _, ok, err := Holder(address); ok != (tt.removed != nil) || err != nil {
				t.Errorf("Holder(%s) before: %v %v", address, ok, err)
			}
			removed, err := RemoveAddress(address)
			if !slices.Equal(removed, tt.removed) {
				t.Errorf("removed %q, want %q", removed, tt.removed)
			}
			if link, ok, _ := Holder(address); ok {
				t.Errorf("%s still holds %s", link, address)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var left []string
	for _, l := range snapshot(t, ns).Links {
		for _, a := range l.Addresses {
			if !a.Prefix.Addr().IsLinkLocalUnicast() {
				left = append(left, a.Prefix.String())
			}
		}
	}
	slices.Sort(left)
	want := []string{"10.0.0.1/32", "10.0.0.10/24", "10.0.0.11/32", "10.0.0.3/32", "110.0.0.1/32", "2001:db8::11/64",
		"2001:db8::3/128", "::ffff:10.0.0.1/128"}
	if !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	if _, err := RemoveAddress(netip.MustParseAddr("::ffff:10.0.0.10")); err == nil {
		t.Error("a mapped address was accepted: netlink would have removed the IPv4 one")
	}
}

func TestWatch(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link add ens3 type veth peer name far\nlink set far up\n")
	ctx, cancel := context.WithCancel(t.Context())
	wake, done := make(chan struct{}, 1), make(chan error, 1)
	go func() { done <- ns.In(func() error { return Watch(ctx, wake) }) }()

	woken := func(by string) {
		t.Helper()
		select {
		case <-wake:
		case <-time.After(5 * time.Second):
			t.Fatalf("%s caused no wake-up", by)
		}
	}
	woken("the beginning")
	for _, change := range []string{"link set ens3 up", "addr add 192.0.2.10/24 dev ens3",
		"addr del 192.0.2.10/24 dev ens3",
		"addr add 2001:db8::1/64 dev ens3 nodad", "route add 203.0.113.0/24 dev ens3",
		"route del 203.0.113.0/24", "link del ens3"} {
		quiet(wake)
		ns.IP(t, change)
		woken(change)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
}

// quiet waits until the last change has had all its effects, such as the link-local address of a
// link that came up.
func quiet(wake <-chan struct{}) {
	for {
		select {
		case <-wake:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

// TestWatchOverflow lets the kernel drop messages and expects that Watch neither ends nor misses later changes.
func TestWatchOverflow(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link add ens3 type veth peer name far\n")
	var socket *nl.NetlinkSocket
	err := ns.In(func() (err error) {
		if socket, err = subscribe(); err != nil {
			return err
		}
		return socket.SetReceiveBufferSize(1, false)
	})
	if err != nil {
		t.Fatal(err)
	}
	flood := func(verb string) {
		var lines strings.Builder
		for i := range 100 {
			fmt.Fprintf(&lines, "addr %s 10.0.0.%d/32 dev ens3\n", verb, i+1)
		}
		ns.IP(t, lines.String())
	}
	flood("add")
	if _, _, err := socket.Receive(); !errors.Is(err, unix.ENOBUFS) {
		t.Fatalf("got %v: nothing overflowed, so the test shows nothing", err)
	}
	drain(t, socket)
	flood("del")

	ctx, cancel := context.WithCancel(t.Context())
	wake, done := make(chan struct{}, 1), make(chan error, 1)
	go func() { done <- listen(ctx, socket, wake) }()
	quiet(wake)
	ns.IP(t, "link set ens3 up")
	select {
	case <-wake:
	case err := <-done:
		t.Fatalf("the overflow ended the watch: %v", err)
	case <-time.After(5 * time.Second):
		t.Error("after the overflow nothing wakes any more")
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("listen: %v", err)
	}
}

// drain reads what is queued: the kernel reports an overflow anew only after that.
func drain(t *testing.T, socket *nl.NetlinkSocket) {
	t.Helper()
	if err := socket.SetReceiveTimeout(&unix.Timeval{Usec: 100_000}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := socket.Receive(); errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	if err := socket.SetReceiveTimeout(&unix.Timeval{}); err != nil {
		t.Fatal(err)
	}
}
