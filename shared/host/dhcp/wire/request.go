package wire

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"github.com/mdlayher/ndp"
)

// The ports of the protocols.
const (
	portServer4 = 67
	portClient4 = 68
	portProxy   = 4011 // of PXE 2.1: ProxyDHCP beside a DHCP server on one host
	portClient6 = 546
	portServer6 = 547
)

// Arch is a client's architecture (RFC 4578 2.1), by which servers choose the boot file.
type Arch uint16

// The architectures of the hosts that are installed today.
const (
	BIOS     = Arch(iana.INTEL_X86PC)
	UEFI     = Arch(iana.EFI_X86_64)
	UEFIHTTP = Arch(iana.EFI_X86_64_HTTP) // boots by HTTP instead of TFTP
)

// class is the vendor class of a client. Servers must answer a client that boots by HTTP with the
// same class (UEFI 2.10 24.7.3).
func (a Arch) class() string {
	if a == UEFIHTTP {
		return fmt.Sprintf("HTTPClient:Arch:%05d:UNDI:003016", a)
	}
	return fmt.Sprintf("PXEClient:Arch:%05d:UNDI:003016", a)
}

// undi is the version of the network driver's interface that the vendor class names (RFC 4578 2.2).
var undi = []byte{1, 3, 16}

// Client is what the requests describe.
type Client struct {
	MAC  net.HardwareAddr // as DHCP has it
	UUID [16]byte         // of the machine
	// Source is the link-local address that IPv6 answers go to, and Link the MAC that has it.
	Source netip.Addr
	Link   net.HardwareAddr
}

// asker begins the UUID of NewClient's clients, and so marks their requests: a watcher that sends
// requests after a host's must not make another watcher send some.
var asker = [8]byte{'o', 'n', 'p', 'r', 'e', 'm', '-', 'i'}

// NewClient is a client of a MAC, which is a random one if it is empty. Servers answer it as any
// host; a watcher does not follow its requests.
func NewClient(mac, link net.HardwareAddr) Client {
	c := Client{MAC: mac, Link: link, Source: LinkLocal(link)}
	rand.Read(c.UUID[copy(c.UUID[:], asker[:]):])
	if len(c.MAC) != 6 {
		c.MAC = make(net.HardwareAddr, 6)
		rand.Read(c.MAC)
		c.MAC[0] = c.MAC[0]&^1 | 2 // unicast, and locally administered
	}
	return c
}

// Packet is an IP packet that is to be sent to a MAC.
type Packet struct {
	Type  uint16 // of the Ethernet frame
	To    net.HardwareAddr
	Bytes []byte
}

// The types of Ethernet frames.
const (
	TypeIPv4 = 0x0800
	TypeIPv6 = 0x86dd
)

var broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// pxeOptions are what PXE clients ask for (PXE 2.1, table 2-3), as far as servers decide by it.
var pxeOptions = []dhcpv4.OptionCode{
	dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer,
	dhcpv4.OptionBootFileSize, dhcpv4.OptionRootPath, dhcpv4.OptionVendorSpecificInformation,
	dhcpv4.OptionIPAddressLeaseTime, dhcpv4.OptionServerIdentifier,
	dhcpv4.OptionClassIdentifier, dhcpv4.OptionTFTPServerName, dhcpv4.OptionBootfileName,
	dhcpv4.OptionClientMachineIdentifier,
}

// Discovers are a client's DHCPDISCOVER to DHCP servers and to ProxyDHCP's port, where some servers
// answer it and others, like dnsmasq, only a REQUEST. They ask for broadcast answers, as no host
// has the client's MAC. They take no lease: that needs a REQUEST.
func Discovers(c Client, a Arch) ([]Packet, error) {
	m, err := dhcpv4.New(
		dhcpv4.WithMessageType(dhcpv4.MessageTypeDiscover),
		dhcpv4.WithHwAddr(c.MAC),
		dhcpv4.WithBroadcast(true),
		dhcpv4.WithRequestedOptions(pxeOptions...),
		dhcpv4.WithOption(dhcpv4.OptMaxMessageSize(1472)),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier(a.class())),
		dhcpv4.WithOption(dhcpv4.OptClientArch(iana.Arch(a))),
		dhcpv4.WithGeneric(dhcpv4.OptionClientNetworkInterfaceIdentifier, undi),
		dhcpv4.WithGeneric(
			dhcpv4.OptionClientMachineIdentifier, append([]byte{0}, c.UUID[:]...)),
	)
	if err != nil {
		return nil, fmt.Errorf("make a DHCPDISCOVER: %w", err)
	}
	var all []Packet
	for _, port := range []uint16{portServer4, portProxy} {
		all = append(all, Packet{TypeIPv4, broadcast, datagram4(port, m.ToBytes())})
	}
	return all, nil
}

// Solicit is a client's SOLICIT to all DHCPv6 servers. It lacks Rapid Commit (RFC 8415 21.14), so
// that no server gives it a lease.
func Solicit(c Client, a Arch) (Packet, error) {
	m, err := dhcpv6.NewMessage(
		dhcpv6.WithClientID(&dhcpv6.DUIDUUID{UUID: c.UUID}),
		dhcpv6.WithRequestedOptions(dhcpv6.OptionBootfileURL, dhcpv6.OptionBootfileParam,
			dhcpv6.OptionVendorOpts, dhcpv6.OptionDNSRecursiveNameServer),
		dhcpv6.WithOption(&dhcpv6.OptIANA{IaId: [4]byte(c.MAC[len(c.MAC)-4:])}),
		dhcpv6.WithOption(dhcpv6.OptElapsedTime(0)),
		dhcpv6.WithOption(dhcpv6.OptClientArchType(iana.Arch(a))),
		dhcpv6.WithOption(&dhcpv6.OptVendorClass{
			EnterpriseNumber: 343, // Intel, which PXE clients name
			Data:             [][]byte{[]byte(a.class())},
		}),
	)
	if err != nil {
		return Packet{}, fmt.Errorf("make a SOLICIT: %w", err)
	}
	m.MessageType = dhcpv6.MessageTypeSolicit
	return packet6(c.Source, allServers, groupMAC(allServers),
		protocolUDP, datagram6(c.Source, allServers, m.ToBytes())), nil
}

// allRouters is ff02::2, allNodes ff02::1 (RFC 4291 2.7.1), allServers ff02::1:2 (RFC 8415 7.1).
var (
	allNodes   = netip.AddrFrom16([16]byte{0xff, 2, 15: 1})
	allRouters = netip.AddrFrom16([16]byte{0xff, 2, 15: 2})
	allServers = netip.AddrFrom16([16]byte{0xff, 2, 13: 1, 15: 2})
)

// RouterSolicitation asks routers for their advertisements.
func RouterSolicitation(c Client) (Packet, error) {
	return neighbourDiscovery(c.Source, allRouters, groupMAC(allRouters), &ndp.RouterSolicitation{
		Options: []ndp.Option{&ndp.LinkLayerAddress{Direction: ndp.Source, Addr: c.Link}},
	})
}

// Reply is the client's neighbour advertisement to a host that asks which MAC its address has: a
// server needs it to send an answer. It is false for any other packet.
func Reply(c Client, r Received) (Packet, bool) {
	p, ok := parse6(r.Bytes)
	if !ok || p.protocol != protocolICMPv6 || p.hops != ndp.HopLimit || len(r.MAC) != 6 {
		return Packet{}, false
	}
	m, err := ndp.ParseMessage(p.payload)
	if err != nil {
		return Packet{}, false
	}
	question, ok := m.(*ndp.NeighborSolicitation)
	if !ok || question.TargetAddress.WithZone("") != c.Source {
		return Packet{}, false
	}
	to := p.from
	if to.IsUnspecified() { // another host checks if the address is free: it is not
		to = allNodes
	}
	answer, err := neighbourDiscovery(c.Source, to, r.MAC, &ndp.NeighborAdvertisement{
		Solicited: to == p.from, Override: true, TargetAddress: c.Source,
		Options: []ndp.Option{&ndp.LinkLayerAddress{Direction: ndp.Target, Addr: c.Link}},
	})
	return answer, err == nil
}

func neighbourDiscovery(
	from, to netip.Addr, mac net.HardwareAddr, m ndp.Message,
) (Packet, error) {
	body, err := ndp.MarshalMessageChecksum(m, from, to)
	if err != nil {
		return Packet{}, fmt.Errorf("make a message of neighbour discovery: %w", err)
	}
	return packet6(from, to, mac, protocolICMPv6, body), nil
}

// LinkLocal is the link-local address that follows from a MAC (RFC 4291, appendix A).
func LinkLocal(mac net.HardwareAddr) netip.Addr {
	a := [16]byte{0xfe, 0x80}
	copy(a[8:11], mac[:3])
	binary.BigEndian.PutUint16(a[11:], 0xfffe)
	copy(a[13:], mac[3:6])
	a[8] ^= 2
	return netip.AddrFrom16(a)
}

// groupMAC is the MAC of an IPv6 multicast group (RFC 2464 7).
func groupMAC(group netip.Addr) net.HardwareAddr {
	a := group.As16()
	return net.HardwareAddr{0x33, 0x33, a[12], a[13], a[14], a[15]}
}

// Groups are the MACs of the multicast groups of which packets are read: those that a client is a
// member of, and the one to which hosts ask for DHCPv6.
func Groups(c Client) []net.HardwareAddr {
	all := []net.HardwareAddr{groupMAC(allNodes), groupMAC(allServers)}
	if solicited, err := ndp.SolicitedNodeMulticast(c.Source); err == nil {
		all = append(all, groupMAC(solicited))
	}
	return all
}
