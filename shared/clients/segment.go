package clients

import (
	"encoding/binary"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
)

// Segment is an IP packet with an empty TCP segment from the VIP to a client: SYN and ACK, as if
// the connection began. Whatever its sequence numbers are, the client's kernel answers it on a
// connection (RFC 5961 4.2). A stateful packet filter on the way passes it on, and puts back the
// address of a client behind its NAT: it may answer a SYN that the filter has not seen. A plain
// ACK that is out of the window is dropped there.
func Segment(vip netip.Addr, c Client, sequence, acknowledged uint32) []byte {
	const (
		tcp, hops, synAck = 6, 64, 0x12
		size              = 20
	)
	var packet []byte
	if vip.Is4() {
		packet = make([]byte, 20+size)
		packet[0] = 4<<4 | 5
		binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
		packet[6] = 0x40 // not to be fragmented
		packet[8], packet[9] = hops, tcp
		copy(packet[12:], vip.AsSlice())
		copy(packet[16:], c.Remote.Addr().AsSlice())
		binary.BigEndian.PutUint16(packet[10:], checksum.Of(packet[:20]))
	} else {
		packet = make([]byte, 40+size)
		packet[0] = 6 << 4
		binary.BigEndian.PutUint16(packet[4:], size)
		packet[6], packet[7] = tcp, hops
		copy(packet[8:], vip.AsSlice())
		copy(packet[24:], c.Remote.Addr().AsSlice())
	}
	segment := packet[len(packet)-size:]
	binary.BigEndian.PutUint16(segment, c.Port)
	binary.BigEndian.PutUint16(segment[2:], c.Remote.Port())
	binary.BigEndian.PutUint32(segment[4:], sequence)
	binary.BigEndian.PutUint32(segment[8:], acknowledged)
	segment[12], segment[13] = size/4<<4, synAck
	binary.BigEndian.PutUint16(segment[14:], 1) // a window that is not zero
	pseudo := checksum.Sum(tcp+size, append(vip.AsSlice(), c.Remote.Addr().AsSlice()...))
	binary.BigEndian.PutUint16(segment[16:], ^checksum.Sum(uint32(pseudo), segment))
	return packet
}
