package loopback

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestHeld_Busy holds that addresses are known on a host of which other interfaces change all the time: the kernel reports
// of many of its lists that they are none.
func TestHeld_Busy(t *testing.T) {
	t.Parallel()
	host, err := lab.New(t).Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	lines := "link add many type veth peer name far\n"
	for i := range 2000 {
		lines += fmt.Sprintf("addr add 10.0.%d.%d/32 dev many\n", i/250, i%250+1)
	}
	batch := host.Command(t.Context(), "ip", "-batch", "-")
	batch.Stdin = strings.NewReader(lines)
	if out, err := batch.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { stopped <- host.Do(func() error { return change(stop) }) }()
	vip := netip.MustParseAddr("198.51.100.5")
	interrupted := 0
	err = host.Do(func() error {
		lo, err := loopback()
		if err != nil {
			return err
		}
		if err := Add(vip); err != nil {
			return err
		}
		for begun := time.Now(); interrupted < 5 && time.Since(begun) < 20*time.Second; {
			if _, err := netlink.AddrList(lo, netlink.FAMILY_ALL); errors.Is(err, netlink.ErrDumpInterrupted) {
				interrupted++
			}
			if held, err := Held([]netip.Addr{vip}); err != nil || len(held) != 1 {
				return fmt.Errorf("held: %v, %w", held, err)
			}
		}
		return nil
	})
	close(stop)
	if err := errors.Join(err, <-stopped); err != nil || interrupted == 0 {
		t.Errorf("%v; of the kernel's lists %d were none", err, interrupted)
	}
}

// change gives a link an address, and takes it, again and again.
func change(stop <-chan struct{}) error {
	many, errLink := netlink.LinkByName("many")
	a, err := netlink.ParseAddr("203.0.113.9/32")
	for err = errors.Join(err, errLink); err == nil; err = errors.Join(netlink.AddrAdd(many, a), netlink.AddrDel(many, a)) {
		select {
		case <-stop:
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
	return err
}
