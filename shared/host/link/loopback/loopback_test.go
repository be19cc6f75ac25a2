package loopback_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestAdd holds that addresses come and go on the loopback interface alone, that others reach the
// host by them, and that it takes none of them as the source of its own connections.
func TestAdd(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	host, err := l.Add("host", netip.MustParsePrefix("192.0.2.10/24"), netip.MustParsePrefix("2001:db8::10/64"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Add("other", netip.MustParsePrefix("192.0.2.11/24"), netip.MustParsePrefix("2001:db8::11/64"))
	if err != nil {
		t.Fatal(err)
	}
	vips := []netip.Addr{netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("2001:db8:1::5")}
	do := func(what func() error) {
		t.Helper()
		if err := host.Do(what); err != nil {
			t.Fatal(err)
		}
	}
	held := func() (got []netip.Addr) {
		t.Helper()
		do(func() (err error) { got, err = loopback.Held(vips); return err })
		return got
	}
	if got := held(); len(got) > 0 {
		t.Errorf("before: %v", got)
	}
	for i, vip := range vips {
		for range 2 { // that it is there is no error
			do(func() error { return loopback.Add(vip) })
		}
		if got := held(); !slices.Equal(got, vips[:i+1]) {
			t.Errorf("after %v: %v", vip, got)
		}
	}
	for i, vip := range vips {
		listener, err := host.Listen(netip.AddrPortFrom(vip, 7000).String())
		if err != nil {
			t.Fatal(err)
		}
		via := []string{"192.0.2.10", "2001:db8::10"}[i]
		if out, err := other.Command(t.Context(), "ip", "route", "add", vip.String(), "via", via).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		conn, err := other.Dial(t.Context(), "tcp", netip.AddrPortFrom(vip, 7000).String())
		if err != nil {
			t.Errorf("%v is not reached: %v", vip, err)
		} else {
			conn.Close()
		}
		listener.Close()
		source := []string{"192.0.2.11", "2001:db8::11"}[i]
		out, err := host.Command(t.Context(), "ip", "route", "get", source).CombinedOutput()
		if err != nil || strings.Contains(string(out), vip.String()) || !strings.Contains(string(out), "src "+via) {
			t.Errorf("the source for %s: %v %s", source, err, out)
		}
	}
	// On a link without an address the kernel takes one of another link's: the loopback's are first.
	for _, args := range []string{"link add plain type veth peer name beyond", "link set plain up", "link set beyond up", "route add 203.0.113.0/24 dev plain", "route add 2001:db8:77::/64 dev plain"} {
		if out, err := host.Command(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	for i, to := range []string{"203.0.113.1", "2001:db8:77::1"} {
		if out, err := host.Command(t.Context(), "ip", "route", "get", to).CombinedOutput(); err != nil || strings.Contains(string(out), "src "+vips[i].String()) {
			t.Errorf("the source for %s over a link without an address: %v %s", to, err, out)
		}
	}
	for range 2 {
		do(func() error { return loopback.Remove(vips[0]) })
	}
	if got := held(); !slices.Equal(got, vips[1:]) {
		t.Errorf("after the removal of the first: %v", got)
	}
}
