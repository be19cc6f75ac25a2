package wire

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
)

const (
	protocolUDP    = 17
	protocolICMPv6 = 58

	headIPv4 = 20
	headIPv6 = 40
	headUDP  = 8
)

// datagram4 is an IPv4 packet of a client without an address to all hosts of the link. UDP's
// checksum may be left out.
func datagram4(port uint16, body []byte) []byte {
	size := headIPv4 + headUDP + len(body)
	p := make([]byte, headIPv4+headUDP, size)
	p[0] = 0x45
	binary.BigEndian.PutUint16(p[2:], uint16(size))
	p[8], p[9] = 64, protocolUDP
	copy(p[16:20], []byte{255, 255, 255, 255})
	binary.BigEndian.PutUint16(p[10:], checksum.Of(p[:headIPv4]))
	binary.BigEndian.PutUint16(p[headIPv4:], portClient4)
	binary.BigEndian.PutUint16(p[headIPv4+2:], port)
	binary.BigEndian.PutUint16(p[headIPv4+4:], uint16(headUDP+len(body)))
	return append(p, body...)
}

// datagram6 is what an IPv6 packet to DHCPv6 servers carries, with its checksum (RFC 8200 8.1).
func datagram6(from, to netip.Addr, body []byte) []byte {
	p := make([]byte, headUDP, headUDP+len(body))
	binary.BigEndian.PutUint16(p, portClient6)
	binary.BigEndian.PutUint16(p[2:], portServer6)
	binary.BigEndian.PutUint16(p[4:], uint16(headUDP+len(body)))
	p = append(p, body...)
	pseudo := slices.Concat(from.AsSlice(), to.AsSlice(),
		binary.BigEndian.AppendUint32(nil, uint32(len(p))), []byte{0, 0, 0, protocolUDP}, p)
	sum := checksum.Of(pseudo)
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(p[6:], sum)
	return p
}

// packet6 is an IPv6 packet that no router forwards.
func packet6(from, to netip.Addr, mac net.HardwareAddr, protocol byte, body []byte) Packet {
	p := make([]byte, headIPv6, headIPv6+len(body))
	p[0] = 0x60
	binary.BigEndian.PutUint16(p[4:], uint16(len(body)))
	p[6], p[7] = protocol, 255
	copy(p[8:], from.AsSlice())
	copy(p[24:], to.AsSlice())
	return Packet{TypeIPv6, mac, append(p, body...)}
}

// parsed is an IP packet. Checksums are not compared: between hosts of one machine the kernel
// leaves them out, and a network card drops what is damaged.
type parsed struct {
	from     netip.Addr
	protocol byte
	hops     byte
	payload  []byte
}

func parse4(b []byte) (parsed, bool) {
	if len(b) < headIPv4 || b[0]>>4 != 4 {
		return parsed{}, false
	}
	head, size := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	fragment := binary.BigEndian.Uint16(b[6:]) & 0x3fff // its offset, and whether more follow
	if head < headIPv4 || size < head || size > len(b) || fragment != 0 {
		return parsed{}, false
	}
	return parsed{netip.AddrFrom4([4]byte(b[12:])), b[9], b[8], b[head:size]}, true
}

// parse6 reads a packet without extension headers: servers of the link send none.
func parse6(b []byte) (parsed, bool) {
	if len(b) < headIPv6 || b[0]>>4 != 6 {
		return parsed{}, false
	}
	size := headIPv6 + int(binary.BigEndian.Uint16(b[4:]))
	if size > len(b) {
		return parsed{}, false
	}
	return parsed{netip.AddrFrom16([16]byte(b[8:])), b[6], b[7], b[headIPv6:size]}, true
}

// datagram is what UDP carries, and between which ports.
type datagram struct {
	from, to uint16
	body     []byte
}

func (p parsed) datagram() (d datagram, ok bool) {
	if p.protocol != protocolUDP || len(p.payload) < headUDP {
		return datagram{}, false
	}
	size := int(binary.BigEndian.Uint16(p.payload[4:]))
	if size < headUDP || size > len(p.payload) {
		return datagram{}, false
	}
	return datagram{binary.BigEndian.Uint16(p.payload), binary.BigEndian.Uint16(p.payload[2:]),
		p.payload[headUDP:size]}, true
}
