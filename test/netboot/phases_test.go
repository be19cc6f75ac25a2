package netboot

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// two are the servers of both phases, on one network.
func two(t *testing.T, l *lab.Lab, bootstrap, cluster provisioning.Network) (a, b *server) {
	t.Helper()
	bits := fmt.Sprintf("/%d", bootstrap.Prefix.Bits())
	return serve(t, add(t, l, "bootstrap", bootstrap.Server.String()+bits), bootstrap),
		serve(t, add(t, l, "cluster", cluster.Server.String()+bits), cluster)
}

// TestDisjoint holds that two phases with disjoint sets of hosts do not meet, though both are
// authoritative: each host has one answer to whatever it sends.
func TestDisjoint(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := network4("172.22.0.2", card(10), card(11)), network4("172.22.0.3", card(20), card(21))
	a.Authoritative, b.Authoritative = true, true
	two(t, l, a, b)
	w := openWire(t, add(t, l, "client"), "172.22.0.3")
	for number, from := range map[byte]string{
		10: "172.22.0.2", 11: "172.22.0.2", 20: "172.22.0.3", 21: "172.22.0.3",
	} {
		address := reserved(a.Prefix, card(number))
		offer := w.one(t, discover(t, card(number), firmware(7, "PXEClient")...))
		for _, m := range []*dhcpv4.DHCPv4{discover(t, card(number)), request(t, offer),
			rebind(t, card(number), address), reboot(t, card(number), address)} {
			got := w.one(t, m)
			if got.MessageType() == dhcpv4.MessageTypeNak || got.YourIPAddr.String() !=
				address.String() || got.ServerIdentifier().String() != from {
				t.Errorf("host %d: %s by %s, want %s by %s", number, kinds([]*dhcpv4.DHCPv4{got}),
					got.ServerIdentifier(), address, from)
			}
		}
	}
	unknown := netip.MustParseAddr("172.22.0.99")
	foreign := netip.MustParseAddr("10.1.2.3")
	for _, m := range []*dhcpv4.DHCPv4{discover(t, card(99)), rebind(t, card(99), unknown),
		reboot(t, card(99), unknown), reboot(t, card(99), foreign)} {
		if got := w.ask(t, m, 0); len(got) != 0 {
			t.Errorf("an unknown host got %s", kinds(got))
		}
	}
}

// TestDisjoint6 is TestDisjoint for DHCPv6.
func TestDisjoint6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := network6("fd00:22::2", card(10)), network6("fd00:22::3", card(20))
	a.Authoritative, b.Authoritative = true, true
	two(t, l, a, b)
	for number, from := range map[byte]string{10: "fd00:22::2", 20: "fd00:22::3"} {
		c := addClient6(t, l, fmt.Sprint("client", number), card(number))
		offer := c.one(t, c.solicit(t, 1, firmware6(7, "PXEClient")...))
		want := reserved(a.Prefix, card(number)).String()
		if url := offer.Options.BootFileURL(); leased(offer) != want ||
			url != "tftp://["+from+"]/snponly.efi" {
			t.Errorf("host %d: offered %s and %q, want %s of %s", number, leased(offer), url,
				want, from)
		}
		reply := c.one(t, request6(t, offer))
		if leased(reply) != want {
			t.Errorf("host %d: granted %s, want %s", number, leased(reply), want)
		}
		// dnsmasq extends any lease of its network that a client rebinds, known host or not: both
		// servers answer, and equally. Only the filter of requests keeps them apart there.
		if again := extended(c.ask(t, rebind6(reply), 2)); again != want+" "+want {
			t.Errorf("host %d: extended %s, want %s by both servers", number, again, want)
		}
	}
	c := addClient6(t, l, "client99", card(99))
	if got := c.ask(t, c.solicit(t, 1), 0); len(got) != 0 {
		t.Errorf("an unknown host got %v", got)
	}
}

func request6(t *testing.T, advertise *dhcpv6.Message) *dhcpv6.Message {
	t.Helper()
	m, err := dhcpv6.NewRequestFromAdvertise(advertise)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rebind6 asks any server to extend a lease.
func rebind6(reply *dhcpv6.Message) *dhcpv6.Message {
	m := &dhcpv6.Message{MessageType: dhcpv6.MessageTypeRebind,
		TransactionID: dhcpv6.TransactionID{reply.TransactionID[2], 1, 2}}
	m.AddOption(dhcpv6.OptClientID(reply.Options.ClientID()))
	m.AddOption(reply.Options.OneIANA())
	return m
}

// TestLocal holds that a host which boots from its disk keeps its lease from a server that knows none,
// as after the handover, and that its firmware and iPXE get an address and nothing to boot.
func TestLocal(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network4("172.22.0.2", card(10), card(20))
	n.Authoritative, n.Reservations[0].Local = true, true
	serve(t, add(t, l, "server", "172.22.0.2/24"), n)
	w := openWire(t, add(t, l, "client"))
	address := reserved(n.Prefix, card(10))
	for what, m := range map[string]*dhcpv4.DHCPv4{
		"rebind": rebind(t, card(10), address), "reboot": reboot(t, card(10), address),
	} {
		if got := kinds(w.ask(t, m, 1)); got != "ACK 172.22.0.10" {
			t.Errorf("a %s got %q", what, got)
		}
	}
	ipxe := append(firmware(7, "PXEClient"),
		dhcpv4.WithOption(dhcpv4.OptUserClass("iPXE")))
	for what, with := range map[string][]dhcpv4.Modifier{
		"firmware": firmware(7, "PXEClient"), "BIOS": firmware(0, "PXEClient"),
		"HTTP": firmware(16, "HTTPClient"), "iPXE": ipxe,
	} {
		for number, boots := range map[byte]bool{10: false, 20: true} {
			offer := w.one(t, discover(t, card(number), with...))
			if (bootFile(offer) != "") != boots && !(what == "HTTP" && boots) {
				t.Errorf("%s of host %d: the boot file is %q", what, number, bootFile(offer))
			}
			if got := offer.YourIPAddr.String(); got != reserved(n.Prefix, card(number)).String() {
				t.Errorf("%s of host %d: got %s", what, number, got)
			}
		}
	}
}

// TestLocal6 is TestLocal for DHCPv6.
func TestLocal6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network6("fd00:22::3", card(10), card(20))
	n.Reservations[0].Local = true
	serve(t, add(t, l, "server", "fd00:22::3/64"), n)
	for number, boots := range map[byte]bool{10: false, 20: true} {
		c := addClient6(t, l, fmt.Sprint("client", number), card(number))
		offer := c.one(t, c.solicit(t, 1, firmware6(7, "PXEClient")...))
		if url := offer.Options.BootFileURL(); (url != "") != boots ||
			leased(offer) != reserved(n.Prefix, card(number)).String() {
			t.Errorf("host %d: offered %s and %q", number, leased(offer), url)
		}
	}
}

// TestSameHosts holds that two servers of one set do no harm if neither is authoritative: their
// offers are equal, and only the chosen one answers the request.
func TestSameHosts(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	two(t, l, network4("172.22.0.2", card(10)), network4("172.22.0.3", card(10)))
	w := openWire(t, add(t, l, "client"), "172.22.0.3")
	offers := w.ask(t, discover(t, card(10), firmware(7, "PXEClient")...), 2)
	if got := kinds(offers); got != "OFFER 172.22.0.10, OFFER 172.22.0.10" {
		t.Fatalf("got %s", got)
	}
	for _, o := range offers {
		got := fmt.Sprintf("%s %s %v %s", bootFile(o), o.SubnetMask(), o.Router(),
			o.IPAddressLeaseTime(0))
		if want := "snponly.efi ffffff00 [] 1h0m0s"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := kinds(w.ask(t, request(t, offers[0]), 1)); got != "ACK 172.22.0.10" {
		t.Errorf("the request got %s", got)
	}
}

// TestSameHosts_Authoritative is why Authoritative is bound to a condition: the server that was not
// chosen refuses what the other one grants.
func TestSameHosts_Authoritative(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := network4("172.22.0.2", card(10)), network4("172.22.0.3", card(10))
	a.Authoritative, b.Authoritative = true, true
	two(t, l, a, b)
	w := openWire(t, add(t, l, "client"), "172.22.0.3")
	offers := w.ask(t, discover(t, card(10)), 2)
	if len(offers) != 2 {
		t.Fatalf("got %s", kinds(offers))
	}
	if got := kinds(w.ask(t, request(t, offers[0]), 2)); got != "ACK 172.22.0.10, NAK 0.0.0.0" {
		t.Errorf("the request got %s", got)
	}
}

// TestFreshServer starts a server that knows no lease beside hosts that use theirs.
func TestFreshServer(t *testing.T) {
	t.Parallel()
	for authoritative, want := range map[bool]string{true: "ACK 172.22.0.10", false: ""} {
		answers := 0
		if authoritative {
			answers = 1
		}
		t.Run(fmt.Sprintf("authoritative %t", authoritative), func(t *testing.T) {
			l := lab.New(t)
			n := network4("172.22.0.2", card(10))
			n.Authoritative = authoritative
			serve(t, add(t, l, "server", "172.22.0.2/24"), n)
			w := openWire(t, add(t, l, "client"))
			address := reserved(n.Prefix, card(10))
			if got := kinds(w.ask(t, rebind(t, card(10), address), answers)); got != want {
				t.Errorf("a rebind got %q, want %q", got, want)
			}
			if got := kinds(w.ask(t, reboot(t, card(10), address), answers)); got != want {
				t.Errorf("a reboot got %q, want %q", got, want)
			}
		})
	}
}

// TestFreshServer6 holds that over DHCPv6 a server that knows no lease extends it all the same,
// authoritative or not.
func TestFreshServer6(t *testing.T) {
	t.Parallel()
	for _, authoritative := range []bool{true, false} {
		t.Run(fmt.Sprintf("authoritative %t", authoritative), func(t *testing.T) {
			l := lab.New(t)
			n := network6("fd00:22::2", card(10))
			n.Authoritative = authoritative
			on := add(t, l, "server", "fd00:22::2/64")
			first := serve(t, on, n)
			c := addClient6(t, l, "client", card(10))
			reply := c.one(t, request6(t, c.one(t, c.solicit(t, 1))))
			first.stop(t)
			serve(t, on, n)
			if got := extended(c.ask(t, rebind6(reply), 1)); got != leased(reply) || got == "" {
				t.Errorf("a rebind got %q, want %q", got, leased(reply))
			}
		})
	}
}

// extended are the addresses that answers to a rebind let the client keep.
func extended(answers []*dhcpv6.Message) string {
	var all []string
	for _, m := range answers {
		for _, ia := range m.Options.IANA() {
			for _, a := range ia.Options.Addresses() {
				if a.ValidLifetime > 0 {
					all = append(all, a.IPv6Addr.String())
				}
			}
		}
	}
	return strings.Join(all, " ")
}

// TestStages holds that each stage of a boot gets the reserved address, whatever it calls itself.
func TestStages(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	serve(t, add(t, l, "server", "172.22.0.2/24"), network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	for _, id := range [][]byte{
		nil, {1, 0x52, 0x54, 0, 0, 0, 10}, {255, 1, 2, 3, 4, 0, 4, 9, 9}, {0, 7},
	} {
		var with []dhcpv4.Modifier
		if id != nil {
			with = []dhcpv4.Modifier{dhcpv4.WithOption(dhcpv4.OptClientIdentifier(id))}
		}
		ack := w.one(t, request(t, w.one(t, discover(t, card(10), with...))))
		if got := kinds([]*dhcpv4.DHCPv4{ack}); got != "ACK 172.22.0.10" {
			t.Errorf("the client identifier %x got %s", id, got)
		}
	}
}

// TestStages6 holds that a block serves as many identifiers of a host as it has addresses, and that
// a single address serves one: dnsmasq keeps it for the identifier that leased it.
func TestStages6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network6("fd00:22::2", card(10), card(11))
	n.Reservations[1].Bits = 0
	serve(t, add(t, l, "server", "fd00:22::2/64"), n)
	for number, want := range map[byte]string{
		10: "fd00:22::28 fd00:22::29 fd00:22::2a fd00:22::2b none",
		11: "fd00:22::2c none none none none",
	} {
		c := addClient6(t, l, fmt.Sprint("client", number), card(number))
		var got []string
		for stage := range byte(5) {
			offer := c.one(t, c.solicit(t, stage))
			if leased(offer) == "" {
				got = append(got, "none")
				continue
			}
			got = append(got, leased(c.one(t, request6(t, offer))))
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("host %d: its stages got %s, want %s", number, all, want)
		}
	}
}

// TestBurst has thirty hosts ask at once, twice: each gets its own address, and no refusal.
func TestBurst(t *testing.T) {
	t.Parallel()
	const hosts = 30
	l := lab.New(t)
	var macs []mac.MAC
	for i := range byte(hosts) {
		macs = append(macs, card(i+10))
	}
	n := network4("172.22.0.2", macs...)
	serve(t, add(t, l, "server", "172.22.0.2/24"), n)
	w := openWire(t, add(t, l, "client"))
	answers := map[mac.MAC]*dhcpv4.DHCPv4{}
	collect := func(want dhcpv4.MessageType) {
		for len(answers) < hosts {
			got := w.receive(t, patience)
			if got == nil {
				t.Fatalf("%d of %d hosts got an answer", len(answers), hosts)
			}
			mac := mac.MAC(got.ClientHWAddr)
			address := reserved(n.Prefix, mac).String()
			if got.MessageType() != want || got.YourIPAddr.String() != address {
				t.Errorf("%s got %s", mac, kinds([]*dhcpv4.DHCPv4{got}))
			}
			answers[mac] = got
		}
	}
	w.reach(t)
	for _, m := range macs {
		w.send(t, discover(t, m))
	}
	collect(dhcpv4.MessageTypeOffer)
	offers := answers
	answers = map[mac.MAC]*dhcpv4.DHCPv4{}
	for _, m := range macs {
		w.send(t, request(t, offers[m]))
	}
	collect(dhcpv4.MessageTypeAck)
}

// TestReload holds that SIGHUP alone brings another set of hosts into force, in both directions, and
// that a host of the set boots from its disk from now on.
func TestReload(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	s := serve(t, add(t, l, "server", "172.22.0.2/24"), network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	w.one(t, request(t, w.one(t, discover(t, card(10)))))
	reload := func(times int) {
		t.Helper()
		s.files(t)
		if err := syscall.Kill(s.pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		wait(t, "dnsmasq to read the hosts again", func() bool {
			return strings.Count(s.text(), "read "+s.network.Paths.Hosts) == times
		})
	}
	s.network.Reservations = network4("172.22.0.2", card(20)).Reservations
	reload(2)
	if got := kinds(w.ask(t, discover(t, card(20)), 0)); got != "OFFER 172.22.0.20" {
		t.Errorf("the new host got %q", got)
	}
	if got := kinds(w.ask(t, discover(t, card(10)), 0)); got != "" {
		t.Errorf("the former host got %q", got)
	}
	boots := func() string { return bootFile(w.one(t, discover(t, card(20), firmware(7, "PXEClient")...))) }
	before := boots()
	s.network.Reservations[0].Local = true
	if reload(3); before == "" || boots() != "" {
		t.Errorf("the host gets %q to boot, and from its disk %q", before, boots())
	}
}

// TestPool holds that a network with a pool answers hosts that it does not know, from that pool,
// and still reserves addresses for those that it knows.
func TestPool(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network4("172.22.0.2", card(10))
	n.Pool = []provisioning.Range{
		{First: netip.MustParseAddr("172.22.0.200"), Last: netip.MustParseAddr("172.22.0.200")},
		{First: netip.MustParseAddr("172.22.0.202"), Last: netip.MustParseAddr("172.22.0.202")}}
	serve(t, add(t, l, "server", "172.22.0.2/24"), n)
	w := openWire(t, add(t, l, "client"))
	if got := kinds(w.ask(t, discover(t, card(10)), 0)); got != "OFFER 172.22.0.10" {
		t.Errorf("a known host got %q", got)
	}
	w.send(t, discover(t, card(99), firmware(7, "PXEClient")...))
	offer := w.receive(t, patience) // dnsmasq pings the address first
	if offer == nil || bootFile(offer) != "snponly.efi" ||
		!strings.HasPrefix(offer.YourIPAddr.String(), "172.22.0.20") {
		t.Fatalf("an unknown host got %v", offer)
	}
	// both parts of the pool have an address each, so that two hosts get both, and a third none
	got := map[string]bool{}
	for number := range byte(3) {
		w.send(t, discover(t, card(90+number)))
		if offer := w.receive(t, patience); offer != nil {
			w.send(t, request(t, offer))
			if ack := w.receive(t, patience); ack != nil {
				got[ack.YourIPAddr.String()] = true
			}
		}
	}
	if len(got) != 2 || !got["172.22.0.200"] || !got["172.22.0.202"] {
		t.Errorf("three unknown hosts got %v", got)
	}
}

// TestLateAddress starts the server before its host has the address: it serves when that is there.
func TestLateAddress(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	on := add(t, l, "server")
	s := serve(t, on, network4("172.22.0.2", card(10)))
	w := openWire(t, add(t, l, "client"))
	wait(t, "dnsmasq to receive a request", func() bool {
		w.send(t, discover(t, card(10)))
		time.Sleep(100 * time.Millisecond)
		return strings.Contains(s.text(), "eth0 which has no address")
	})
	if err := on.Give(netip.MustParsePrefix("172.22.0.2/24")); err != nil {
		t.Fatal(err)
	}
	if got := kinds(w.ask(t, discover(t, card(10)), 0)); got != "OFFER 172.22.0.10" {
		t.Errorf("got %q", got)
	}
}
