package loopback_test

import (
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestHide holds that a host which has a VIP of its own network on the loopback interface answers no ARP for it,
// as the holder of the VIP does, and that routed packets reach it all the same.
func TestHide(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	host, err := l.Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Add("other", netip.MustParsePrefix("192.0.2.11/24"))
	if err != nil {
		t.Fatal(err)
	}
	vip := netip.MustParseAddr("192.0.2.5")
	listener, err := host.Listen("192.0.2.10:7000")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	do := func(what func() error) {
		t.Helper()
		if err := host.Do(what); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := other.Command(t.Context(), "ip", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("ip %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	answers := func(within time.Duration) bool {
		t.Helper()
		run("neighbour", "flush", "all")
		conn, err := other.Dial(t.Context(), "udp", vip.String()+":9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for begun := time.Now(); time.Since(begun) < within; time.Sleep(50 * time.Millisecond) {
			_, _ = conn.Write([]byte("x")) // it is the question before it that counts
			if strings.Contains(run("neighbour", "show", vip.String()), "lladdr") {
				return true
			}
		}
		return false
	}
	do(func() error { return loopback.Add(vip) })
	if !answers(10 * time.Second) {
		t.Error("without a word the host does not answer: the test cannot fail")
	}
	for range 2 { // that it is so already is no error
		do(func() error { return loopback.Hide("eth0") })
	}
	if answers(time.Second) {
		t.Error("the host answers ARP for an address of its loopback interface")
	}
	run("neighbour", "flush", "all")
	run("route", "add", vip.String(), "via", "192.0.2.10")
	listener.Close()
	served, err := host.Listen(vip.String() + ":7000")
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	conn, err := other.Dial(t.Context(), "tcp", vip.String()+":7000")
	if err != nil {
		t.Fatalf("routed packets do not reach it: %v", err)
	}
	conn.Close()
	if err := host.Do(func() error { return loopback.Hide("none") }); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none: there is no such link") {
		t.Errorf("%v", err)
	}
}
