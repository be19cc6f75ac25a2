// Package wire reads and writes the packets of hosts that boot and of the servers that answer them:
// DHCP, DHCPv6 and neighbour discovery. It makes no packet that takes a lease.
package wire

import (
	"bytes"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/mdlayher/ndp"

	"github.com/onprem-infra/onprem-infra/shared/offer"
)

// Received is an IP packet as the link brought it.
type Received struct {
	Bytes []byte
	MAC   net.HardwareAddr // of the sender
	VLAN  uint16           // of its tag; 0 without one
	At    time.Time
}

// maxText bounds texts of other hosts. Boot files have less than 128 bytes in DHCP's header, and
// URLs of DHCPv6 may fill a packet.
const maxText = 256

// Read is the server that sent a packet, and false for a packet of any other host, or a malformed
// one.
func Read(r Received) (offer.Server, bool) {
	if len(r.Bytes) == 0 || len(r.MAC) != 6 {
		return offer.Server{}, false
	}
	var s offer.Server
	var ok bool
	if r.Bytes[0]>>4 == 4 {
		s, ok = read4(r.Bytes)
	} else {
		s, ok = read6(r.Bytes)
	}
	s.MAC, s.VLAN, s.First, s.Last = r.MAC.String(), r.VLAN, r.At, r.At
	return s, ok
}

// Asks reports whether a packet is of a host that wants to be configured by DHCP or DHCPv6. A
// client of NewClient is no such host.
func Asks(r Received) bool {
	if len(r.Bytes) == 0 || len(r.MAC) != 6 {
		return false
	}
	parse, server := parse4, uint16(portServer4)
	if r.Bytes[0]>>4 != 4 {
		parse, server = parse6, portServer6
	}
	p, ok := parse(r.Bytes)
	if !ok {
		return false
	}
	d, ok := p.datagram()
	if !ok || d.to != server {
		return false
	}
	if server == portServer6 {
		m, err := dhcpv6.MessageFromBytes(d.body)
		if err != nil || fromServer(m) {
			return false
		}
		id, ok := m.Options.ClientID().(*dhcpv6.DUIDUUID)
		return !ok || !bytes.HasPrefix(id.UUID[:], asker[:])
	}
	m, err := dhcpv4.FromBytes(d.body)
	return err == nil && m.OpCode == dhcpv4.OpcodeBootRequest && !bytes.Contains(
		m.GetOneOption(dhcpv4.OptionClientMachineIdentifier), asker[:])
}

// fromServer reports whether a server sent a message, to whatever port: a client never sends one of
// its kind (RFC 8415, 7.3).
func fromServer(m *dhcpv6.Message) bool {
	return m.MessageType == dhcpv6.MessageTypeAdvertise ||
		m.MessageType == dhcpv6.MessageTypeReply
}

func read4(packet []byte) (offer.Server, bool) {
	p, ok := parse4(packet)
	if !ok {
		return offer.Server{}, false
	}
	d, ok := p.datagram()
	if !ok || d.from != portServer4 && d.from != portProxy {
		return offer.Server{}, false
	}
	m, err := dhcpv4.FromBytes(d.body)
	if err != nil || m.OpCode != dhcpv4.OpcodeBootReply {
		return offer.Server{}, false
	}
	s := offer.Server{Kind: offer.DHCP, Source: p.from, ID: address(m.ServerIdentifier())}
	switch m.MessageType() {
	case dhcpv4.MessageTypeOffer, dhcpv4.MessageTypeAck, dhcpv4.MessageTypeNak:
		s.Message = m.MessageType().String()
	case dhcpv4.MessageTypeNone:
		s.Message = "BOOTREPLY" // of a server that knows BOOTP alone
	default:
		return offer.Server{}, false
	}
	s.Offered = offer.Offered{
		Address: address(m.YourIPAddr), NextServer: address(m.ServerIPAddr),
		BootFile: text(m.BootFileNameOption()), AsksPXE: m.ClassIdentifier() == "PXEClient",
	}
	if s.Offered.BootFile == "" {
		s.Offered.BootFile = text(m.BootFileName)
	}
	if !s.Offered.NextServer.IsValid() {
		name := m.TFTPServerName()
		s.Offered.NextServer, _ = netip.ParseAddr(name) // often a name, which is not resolved
	}
	// a NAK has no address either, and neither has an ACK for a host that only asks for options
	if d.from == portProxy ||
		m.MessageType() == dhcpv4.MessageTypeOffer && !s.Offered.Address.IsValid() {
		s.Kind = offer.ProxyDHCP
	}
	return s, true
}

func read6(packet []byte) (offer.Server, bool) {
	p, ok := parse6(packet)
	if !ok {
		return offer.Server{}, false
	}
	if p.protocol == protocolICMPv6 {
		return readRouter(p)
	}
	d, ok := p.datagram()
	if !ok || d.from != portServer6 {
		return offer.Server{}, false
	}
	m, err := dhcpv6.MessageFromBytes(d.body)
	if err != nil || !fromServer(m) {
		return offer.Server{}, false
	}
	s := offer.Server{Kind: offer.DHCPv6, Source: p.from, Message: m.MessageType.String()}
	if id := m.Options.ServerID(); id != nil {
		s.DUID = text(id.String())
	}
	for _, one := range m.Options.IANA() {
		for _, a := range one.Options.Addresses() {
			if !s.Offered.Address.IsValid() {
				s.Offered.Address = address(a.IPv6Addr)
			}
		}
	}
	s.Offered.BootFile = text(m.Options.BootFileURL())
	return s, true
}

// readRouter accepts advertisements of the link alone (RFC 4861 6.1.2).
func readRouter(p parsed) (offer.Server, bool) {
	if p.hops != ndp.HopLimit || !p.from.IsLinkLocalUnicast() {
		return offer.Server{}, false
	}
	m, err := ndp.ParseMessage(p.payload)
	if err != nil {
		return offer.Server{}, false
	}
	ra, ok := m.(*ndp.RouterAdvertisement)
	if !ok {
		return offer.Server{}, false
	}
	s := offer.Server{Kind: offer.Router, Message: "RA", Source: p.from}
	s.Offered.DefaultRoute = ra.RouterLifetime > 0
	s.Offered.Managed, s.Offered.Other = ra.ManagedConfiguration, ra.OtherConfiguration
	for _, o := range ra.Options {
		switch o := o.(type) {
		case *ndp.PrefixInformation:
			prefix := netip.PrefixFrom(o.Prefix, int(o.PrefixLength))
			s.Offered.Prefixes = append(s.Offered.Prefixes, prefix)
		case *ndp.RouteInformation:
			// a route to everywhere is a default route in another form (RFC 4191)
			s.Offered.DefaultRoute = s.Offered.DefaultRoute ||
				o.PrefixLength == 0 && o.RouteLifetime > 0
		}
	}
	return s, true
}

// address is invalid for none, and for the unspecified one.
func address(ip net.IP) netip.Addr {
	a, ok := netip.AddrFromSlice(ip)
	if a = a.Unmap(); !ok || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

func text(s string) string {
	for i, r := range s {
		if r == 0 || i > maxText { // C programs end texts so
			return s[:i]
		}
	}
	return s
}
