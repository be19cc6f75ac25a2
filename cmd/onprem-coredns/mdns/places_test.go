package mdns

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestPlaces_Addresses holds that places have the addresses that Go's own library finds, on each kind of link.
func TestPlaces_Addresses(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link set lo up\nlink add eth0 type veth peer name peer0\nlink set eth0 addrgenmode none\nlink set peer0 addrgenmode none\nlink set peer0 up\n"+
		"link set eth0 up\naddress add fe80::1/64 dev eth0 nodad\naddress add 192.0.2.1/24 dev eth0\naddress add 192.0.2.5/32 dev eth0\naddress add 2001:db8::1/64 dev eth0 nodad\n"+
		"address add 198.51.100.1 peer 198.51.100.2/32 dev peer0\naddress add 2001:db8:1::1 peer 2001:db8:1::2/128 dev peer0")
	if err := ns.In(func() error {
		got, err := new(listener).places()
		if err != nil {
			return err
		}
		if len(got) != 2 {
			t.Errorf("%d places, want eth0 and peer0", len(got))
		}
		for _, p := range got {
			i, err := net.InterfaceByName(p.name)
			if err != nil {
				return err
			}
			all, err := i.Addrs()
			if err != nil {
				return err
			}
			var want wire.Link
			for _, a := range all {
				want = append(want, netip.MustParsePrefix(a.String()))
			}
			if !slices.Equal(p.link, want) {
				t.Errorf("%s has %v, want %v", p.name, p.link, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestPlaces_Many holds that a node with an interface for each of 250 pods does not spend its time on
// listing them every two seconds: it took half a second each.
func TestPlaces_Many(t *testing.T) {
	need.Root(t)
	const pods, most = 250, 50 * time.Millisecond
	ns := netns.New(t)
	var batch strings.Builder
	for i := range pods {
		fmt.Fprintf(&batch, "link add pod%d type veth peer name in%d\nlink set pod%d up\nlink set in%d up\naddress add fe80::1/64 dev pod%d nodad\n", i, i, i, i, i)
	}
	ns.IP(t, batch.String()+"link add eth0 type veth peer name peer0\nlink set peer0 up\nlink set eth0 up\naddress add 192.0.2.1/24 dev eth0")
	l := &listener{settings: settings{bind: netip.MustParseAddr("192.0.2.1")}}
	best := time.Hour
	if err := ns.In(func() error {
		for range 5 {
			began := processor(t)
			places, err := l.places()
			if err != nil {
				return err
			}
			if best = min(best, processor(t)-began); len(places) != 1 {
				t.Errorf("%d places, want that of the address", len(places))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if best > most {
		t.Errorf("it took %v, want %v at most", best, most)
	}
	t.Logf("%d interfaces took %v of a core", 2*pods, best)
}

// processor is the time for which this thread has run: other programs may have the cores meanwhile.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
