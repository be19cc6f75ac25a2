package netboot

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// filter has a server's host receive requests of these cards only.
func filter(t *testing.T, on *lab.Host, fenced bool, macs ...mac.MAC) {
	t.Helper()
	err := on.Do(func() error {
		_, err := dhcp.Keep(dhcp.Filter{Link: "eth0", Hosts: macs, Fenced: fenced})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilter has two servers that know all hosts, as those of a pool do. The filters alone give
// each host one answer, and a server does not even log a host of the other phase.
func TestFilter(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := add(t, l, "bootstrap", "172.22.0.2/24"), add(t, l, "cluster", "172.22.0.3/24")
	filter(t, a, false, card(10))
	filter(t, b, false, card(20))
	first := serve(t, a, network4("172.22.0.2", card(10), card(20)))
	second := serve(t, b, network4("172.22.0.3", card(10), card(20)))
	w := openWire(t, add(t, l, "client"), "172.22.0.3")
	for number, from := range map[byte]string{10: "172.22.0.2", 20: "172.22.0.3"} {
		offer := w.one(t, discover(t, card(number)))
		if got := offer.ServerIdentifier().String(); got != from {
			t.Errorf("host %d is answered by %s, want %s", number, got, from)
		}
	}
	if got := w.ask(t, discover(t, card(30)), 0); len(got) != 0 {
		t.Errorf("an unknown host got %s", kinds(got))
	}
	for s, others := range map[*server][]byte{first: {20, 30}, second: {10, 30}} {
		for _, number := range others {
			if strings.Contains(s.text(), card(number).String()) {
				t.Errorf("%s has received host %d", s.network.Server, number)
			}
		}
	}
}

// TestFilter_Except holds that a server which receives all but some hosts answers others alone.
func TestFilter_Except(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a := add(t, l, "server", "172.22.0.2/24")
	if err := a.Do(func() error {
		_, err := dhcp.Keep(dhcp.Filter{Link: "eth0", Hosts: []mac.MAC{card(10)}, Except: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s := serve(t, a, network4("172.22.0.2", card(10), card(20)))
	w := openWire(t, add(t, l, "client"))
	if got := w.one(t, discover(t, card(20))).ServerIdentifier().String(); got != "172.22.0.2" {
		t.Errorf("another host is answered by %s", got)
	}
	if got := w.ask(t, discover(t, card(10)), 0); len(got) != 0 || strings.Contains(s.text(), card(10).String()) {
		t.Errorf("a host that is left out got %s", kinds(got))
	}
}

// TestFilter6 holds what dnsmasq does not do by itself: the rebinding of a host of the other phase
// is answered by one server.
func TestFilter6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := add(t, l, "bootstrap", "fd00:22::2/64"), add(t, l, "cluster", "fd00:22::3/64")
	filter(t, a, false, card(10))
	filter(t, b, false, card(20))
	serve(t, a, network6("fd00:22::2", card(10), card(20)))
	second := serve(t, b, network6("fd00:22::3", card(10), card(20)))
	c := addClient6(t, l, "client", card(10))
	offer := c.one(t, c.solicit(t, 1, firmware6(7, "PXEClient")...))
	if got := offer.Options.BootFileURL(); got != "tftp://[fd00:22::2]/snponly.efi" {
		t.Errorf("got %q", got)
	}
	reply := c.one(t, request6(t, offer))
	if got := extended(c.ask(t, rebind6(reply), 1)); got != leased(reply) || got == "" {
		t.Errorf("rebinding got %q, want %q once", got, leased(reply))
	}
	if strings.Contains(second.text(), "DHCPSOLICIT") ||
		strings.Contains(second.text(), "DHCPREBIND") {
		t.Error("the cluster's server has received the bootstrap machine's host")
	}
}

// TestFence holds that a server behind a closed fence answers no one, and that it does while the
// fence is open: the time ends without anyone's help.
func TestFence(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	on := add(t, l, "server", "172.22.0.2/24")
	filter(t, on, true, card(10))
	s := serve(t, on, network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	allow := func(d time.Duration) {
		if err := on.Do(func() error { return dhcp.Allow(d) }); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.ask(t, discover(t, card(10)), 0); len(got) != 0 {
		t.Errorf("a closed fence let out %s", kinds(got))
	}
	s.await(t, "DHCPOFFER") // which the kernel dropped
	allow(time.Minute)
	w.one(t, discover(t, card(10)))
	allow(200 * time.Millisecond)
	time.Sleep(300 * time.Millisecond)
	if got := w.ask(t, discover(t, card(10)), 0); len(got) != 0 {
		t.Errorf("%s after the time", kinds(got))
	}
}
