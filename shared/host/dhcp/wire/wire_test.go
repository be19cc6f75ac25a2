package wire

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/mdlayher/ndp"

	"github.com/onprem-infra/onprem-infra/shared/offer"
)

var (
	server = net.HardwareAddr{2, 0, 0, 0, 0x53, 1}
	router = netip.MustParseAddr("fe80::1")
	client = Client{MAC: net.HardwareAddr{2, 0, 0, 0, 0x53, 9}, UUID: [16]byte{1, 2, 3},
		Link: net.HardwareAddr{2, 0, 0, 0, 0x53, 8}, Source: LinkLocal(net.HardwareAddr{2, 0, 0, 0, 0x53, 8})}
)

// answer4 is a server's DHCP packet from a port.
func answer4(t testing.TB, port uint16, modify ...dhcpv4.Modifier) []byte {
	t.Helper()
	m, err := dhcpv4.New(append([]dhcpv4.Modifier{dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer),
		dhcpv4.WithYourIP(net.IPv4(172, 22, 0, 20)), dhcpv4.WithServerIP(net.IPv4(172, 22, 0, 9)),
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.IPv4(172, 22, 0, 1)))}, modify...)...)
	if err != nil {
		t.Fatal(err)
	}
	m.OpCode = dhcpv4.OpcodeBootReply
	p := datagram4(portClient4, m.ToBytes())
	copy(p[12:], []byte{172, 22, 0, 3})
	p[20], p[21] = byte(port>>8), byte(port)
	return p
}

func answer6(t testing.TB, kind dhcpv6.MessageType, file string) []byte {
	t.Helper()
	m, err := dhcpv6.NewMessage(
		dhcpv6.WithServerID(&dhcpv6.DUIDUUID{UUID: [16]byte{7}}),
		dhcpv6.WithIANA(dhcpv6.OptIAAddress{IPv6Addr: net.ParseIP("fd00::20")}),
		dhcpv6.WithOption(dhcpv6.OptBootFileURL(file)))
	if err != nil {
		t.Fatal(err)
	}
	m.MessageType = kind
	body := datagram6(router, client.Source, m.ToBytes())
	body[0], body[1], body[2], body[3] = body[2], body[3], body[0], body[1]
	return packet6(router, client.Source, client.Link, protocolUDP, body).Bytes
}

func advertisement(t testing.TB, from netip.Addr, ra *ndp.RouterAdvertisement) []byte {
	t.Helper()
	p, err := neighbourDiscovery(from, allNodes, groupMAC(allNodes), ra)
	if err != nil {
		t.Fatal(err)
	}
	return p.Bytes
}

func read(packet []byte) (offer.Server, bool) {
	return Read(Received{Bytes: packet, MAC: server, VLAN: 7, At: time.Unix(1, 0)})
}

// TestRead holds what is read of each kind of packet.
func TestRead(t *testing.T) {
	none := dhcpv4.WithYourIP(net.IPv4zero)
	of := func(m dhcpv4.MessageType) dhcpv4.Modifier { return dhcpv4.WithMessageType(m) }
	offered := offer.Offered{Address: netip.MustParseAddr("172.22.0.20"), NextServer: netip.MustParseAddr("172.22.0.9")}
	proxied := offer.Offered{NextServer: netip.MustParseAddr("172.22.0.9"), AsksPXE: true, BootFile: "a.efi"}
	boot := []dhcpv4.Modifier{none, dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient")), dhcpv4.WithOption(dhcpv4.OptBootFileName("a.efi"))}
	prefix := &ndp.PrefixInformation{PrefixLength: 64, Prefix: netip.MustParseAddr("fd00::")}
	everywhere := &ndp.RouteInformation{PrefixLength: 0, RouteLifetime: time.Hour, Prefix: netip.IPv6Unspecified()}
	for _, tt := range []struct {
		name    string
		packet  []byte
		kind    offer.Kind // empty if it is no server's
		message string
		offered offer.Offered
	}{
		{"OFFER", answer4(t, 67), offer.DHCP, "OFFER", offered},
		{"ACK", answer4(t, 67, of(dhcpv4.MessageTypeAck)), offer.DHCP, "ACK", offered},
		{"NAK has no address", answer4(t, 67, of(dhcpv4.MessageTypeNak), none), offer.DHCP, "NAK", offer.Offered{NextServer: offered.NextServer}},
		{"BOOTP", answer4(t, 67, dhcpv4.WithoutOption(dhcpv4.OptionDHCPMessageType)), offer.DHCP, "BOOTREPLY", offered},
		{"ProxyDHCP on DHCP's port", answer4(t, 67, boot...), offer.ProxyDHCP, "OFFER", proxied},
		{"ProxyDHCP on its own port", answer4(t, 4011, append(boot, of(dhcpv4.MessageTypeAck))...), offer.ProxyDHCP, "ACK", proxied},
		{"another port", answer4(t, 69), "", "", offer.Offered{}},
		{"a client's message", answer4(t, 67, of(dhcpv4.MessageTypeRequest)), "", "", offer.Offered{}},
		{"ADVERTISE", answer6(t, dhcpv6.MessageTypeAdvertise, "tftp://[fd00::1]/a"), offer.DHCPv6, "ADVERTISE", offer.Offered{Address: netip.MustParseAddr("fd00::20"), BootFile: "tftp://[fd00::1]/a"}},
		{"REPLY", answer6(t, dhcpv6.MessageTypeReply, ""), offer.DHCPv6, "REPLY", offer.Offered{Address: netip.MustParseAddr("fd00::20")}},
		{"SOLICIT", answer6(t, dhcpv6.MessageTypeSolicit, ""), "", "", offer.Offered{}},
		{"a router", advertisement(t, router, &ndp.RouterAdvertisement{RouterLifetime: time.Hour, ManagedConfiguration: true, Options: []ndp.Option{prefix}}), offer.Router, "RA",
			offer.Offered{DefaultRoute: true, Managed: true, Prefixes: []netip.Prefix{netip.MustParsePrefix("fd00::/64")}}},
		{"a router without a default route", advertisement(t, router, &ndp.RouterAdvertisement{OtherConfiguration: true}), offer.Router, "RA", offer.Offered{Other: true}},
		{"a route to everywhere", advertisement(t, router, &ndp.RouterAdvertisement{Options: []ndp.Option{everywhere}}), offer.Router, "RA", offer.Offered{DefaultRoute: true}},
		{"a router beyond the link", advertisement(t, netip.MustParseAddr("2001:db8::1"), &ndp.RouterAdvertisement{RouterLifetime: time.Hour}), "", "", offer.Offered{}},
		{"a long boot file", answer6(t, dhcpv6.MessageTypeReply, strings.Repeat("x", 1000)), offer.DHCPv6, "REPLY", offer.Offered{Address: netip.MustParseAddr("fd00::20"), BootFile: strings.Repeat("x", maxText+1)}},
	} {
		s, ok := read(tt.packet)
		if ok != (tt.kind != "") {
			t.Errorf("%s: %v, %+v", tt.name, ok, s)
		}
		if !ok {
			continue
		}
		if s.Kind != tt.kind || s.Message != tt.message || s.MAC != "02:00:00:00:53:01" ||
			s.VLAN != 7 || !s.First.Equal(time.Unix(1, 0)) || !s.Last.Equal(s.First) ||
			!slices.Equal(s.Offered.Prefixes, tt.offered.Prefixes) {
			t.Errorf("%s: %+v", tt.name, s)
		}
		s.Offered.Prefixes, tt.offered.Prefixes = nil, nil
		if got, want := s.Offered, tt.offered; got.Address != want.Address || got.NextServer != want.NextServer || got.BootFile != want.BootFile ||
			got.AsksPXE != want.AsksPXE || got.DefaultRoute != want.DefaultRoute || got.Managed != want.Managed || got.Other != want.Other {
			t.Errorf("%s: offers %+v, want %+v", tt.name, got, want)
		}
		switch tt.kind {
		case offer.DHCP, offer.ProxyDHCP:
			if s.ID.String() != "172.22.0.1" || s.Source.String() != "172.22.0.3" {
				t.Errorf("%s: from %s by %s", tt.name, s.ID, s.Source)
			}
		case offer.DHCPv6:
			if s.DUID == "" || s.Source != router {
				t.Errorf("%s: from %q by %s", tt.name, s.DUID, s.Source)
			}
		}
	}
	forwarded := advertisement(t, router, &ndp.RouterAdvertisement{RouterLifetime: time.Hour})
	forwarded[7] = 254
	if s, ok := read(forwarded); ok {
		t.Errorf("a forwarded advertisement: %+v", s)
	}
}

// TestReply holds that the client answers which MAC has its address, and no other question.
func TestReply(t *testing.T) {
	ask := func(target netip.Addr) Received {
		p, err := neighbourDiscovery(router, client.Source, client.Link, &ndp.NeighborSolicitation{TargetAddress: target})
		if err != nil {
			t.Fatal(err)
		}
		return Received{Bytes: p.Bytes, MAC: server}
	}
	answer, ok := Reply(client, ask(client.Source))
	if !ok || !slices.Equal(answer.To, server) {
		t.Fatalf("%v, %+v", ok, answer)
	}
	p, ok := parse6(answer.Bytes)
	if !ok || p.from != client.Source || p.hops != ndp.HopLimit {
		t.Errorf("%v, %+v", ok, p)
	}
	m, err := ndp.ParseMessage(p.payload)
	if a, ok := m.(*ndp.NeighborAdvertisement); err != nil || !ok || a.TargetAddress != client.Source || !a.Solicited {
		t.Errorf("%+v, %v", m, err)
	}
	if answer, ok := Reply(client, ask(netip.MustParseAddr("fe80::99"))); ok {
		t.Errorf("it answers for another address: %+v", answer)
	}
	if answer, ok := Reply(client, Received{Bytes: advertisement(t, router, &ndp.RouterAdvertisement{}), MAC: server}); ok {
		t.Errorf("it answers a router: %+v", answer)
	}
}

// TestRequests holds what servers decide by, and that no request can take a lease.
func TestRequests(t *testing.T) {
	for _, a := range []Arch{BIOS, UEFI, UEFIHTTP} {
		discovers, err := Discovers(client, a)
		if err != nil || len(discovers) != 2 {
			t.Fatalf("%v, %v", discovers, err)
		}
		for i, port := range []byte{67, 4011 & 255} {
			p, ok := parse4(discovers[i].Bytes)
			if !ok || p.payload[3] != port {
				t.Errorf("to port %d: %v, %v", port, ok, p)
				continue
			}
			d, _ := p.datagram()
			m, err := dhcpv4.FromBytes(d.body)
			if err != nil || m.MessageType() != dhcpv4.MessageTypeDiscover || !m.IsBroadcast() ||
				!slices.Equal(m.ClientHWAddr, client.MAC) || m.ClientArch()[0] != 0 && Arch(m.ClientArch()[0]) != a ||
				len(m.GetOneOption(dhcpv4.OptionClientMachineIdentifier)) != 17 || len(m.GetOneOption(dhcpv4.OptionClientNetworkInterfaceIdentifier)) != 3 ||
				strings.HasPrefix(m.ClassIdentifier(), "HTTPClient:") != (a == UEFIHTTP) || m.Options.Has(dhcpv4.OptionRapidCommit) {
				t.Errorf("%v, %v", m, err)
			}
		}
		solicit, err := Solicit(client, a)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := parse6(solicit.Bytes)
		m, err := dhcpv6.MessageFromBytes(p.payload[headUDP:])
		if err != nil || m.MessageType != dhcpv6.MessageTypeSolicit || len(m.Options.Get(dhcpv6.OptionRapidCommit)) > 0 ||
			len(m.Options.ArchTypes()) != 1 || len(m.Options.VendorClass(343)) != 1 {
			t.Errorf("%v, %v", m, err)
		}
	}
}

// TestAsks holds that what hosts ask of all servers is told from what servers answer, what hosts ask
// of routers, and what another watcher asks.
func TestAsks(t *testing.T) {
	requests := func(c Client) (all []Packet) {
		discovers, err := Discovers(c, UEFI)
		solicit, err6 := Solicit(c, UEFI)
		if err := errors.Join(err, err6); err != nil {
			t.Fatal(err)
		}
		return []Packet{discovers[0], solicit}
	}
	asks := func(packet []byte) bool { return Asks(Received{Bytes: packet, MAC: client.Link}) }
	for i, p := range requests(client) {
		if !asks(p.Bytes) {
			t.Errorf("%d: a host that asks is not seen", i)
		}
		for size := range p.Bytes {
			if asks(p.Bytes[:size]) {
				t.Errorf("%d: a packet cut at %d bytes asks", i, size)
			}
		}
	}
	for i, p := range requests(NewClient(nil, client.Link)) {
		if asks(p.Bytes) {
			t.Errorf("%d: another watcher asks", i)
		}
	}
	solicitation, err := RouterSolicitation(client)
	if err != nil {
		t.Fatal(err)
	}
	advertise := answer6(t, dhcpv6.MessageTypeAdvertise, "")
	misled := slices.Clone(advertise) // to the port of servers
	binary.BigEndian.PutUint16(misled[headIPv6+2:], portServer6)
	for _, packet := range [][]byte{solicitation.Bytes, answer4(t, 67), advertise, misled} {
		if asks(packet) {
			t.Errorf("asks: %x", packet)
		}
	}
}

// FuzzRead holds that no packet makes it panic or keep more than it should.
func FuzzRead(f *testing.F) {
	f.Add(answer4(f, 67))
	f.Add(answer4(f, 4011, dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient"))))
	f.Add(answer6(f, dhcpv6.MessageTypeAdvertise, "tftp://[fd00::1]/a"))
	f.Add(advertisement(f, router, &ndp.RouterAdvertisement{Options: []ndp.Option{ndp.NewMTU(1500)}}))
	p, err := neighbourDiscovery(router, client.Source, client.Link, &ndp.NeighborSolicitation{TargetAddress: client.Source})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.Bytes)
	asked, err := Discovers(client, BIOS)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asked[0].Bytes)
	f.Fuzz(func(t *testing.T, packet []byte) {
		r := Received{Bytes: packet, MAC: server}
		Reply(client, r)
		s, ok := Read(r)
		if asks := Asks(r); asks && ok {
			t.Errorf("a server that asks: %+v", s)
		}
		if ok && (s.Kind == "" || s.Message == "" || !s.Source.IsValid()) ||
			len(s.Offered.BootFile) > 4*maxText+4 || len(s.DUID) > 4*maxText+4 {
			t.Errorf("%+v", s)
		}
	})
}
