// Package advert reads VRRP advertisements, of both versions and both families (RFC 3768, RFC
// 5798).
package advert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Of VRRP in IP's header (RFC 5798 5.1).
const (
	Protocol = 112 // in IPv4's header, and IPv6's next header
	Near     = 255 // the TTL or hop limit, which a router in between would lower
)

// Release is the priority by which a holder releases its VIPs (RFC 5798 5.2.4).
const Release = 0

// GroupIPv4 is VRRP's multicast group (RFC 5798 5.1.1.2).
func GroupIPv4() netip.Addr { return netip.AddrFrom4([4]byte{224, 0, 0, 18}) }

// GroupIPv6 is VRRP's multicast group (RFC 5798 5.1.2.2).
func GroupIPv6() netip.Addr { return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 0x12}) }

// Advert is one advertisement of a virtual router's holder, without the password of version 2.
type Advert struct {
	From, To netip.Addr
	Hops     uint8 // TTL or hop limit, as it came
	Version  vrrp.Version
	ID       vrrp.ID       // 0, which is not allowed, is read as well
	Priority uint8         // 0 is Release, 255 the owner of the address
	Interval time.Duration // between the sender's adverts
	VIPs     []netip.Addr  // in the sender's order; of the family of From
	Sound    bool          // the checksum is right; routers ignore other adverts
}

// Accepted reports whether a router accepts the advert: its checksum is right, its ID is allowed,
// and no router has forwarded it. For IPv6 the last counts only if all routers of the group are
// known to send with a hop limit of 255 (limited).
func (a Advert) Accepted(limited bool) bool {
	return a.Sound && a.ID != 0 && (a.Hops == Near || a.From.Is6() && !limited)
}

// The lengths of what an advert is made of.
const (
	leastIPv4, onlyIPv6 = 20, 40 // of IP's header
	head                = 8      // of VRRP's, before the addresses
	password            = 8      // of version 2, behind the addresses
)

// typeAdvert is the only type of packet that there is (RFC 5798 5.2.2).
const typeAdvert = 1

var errShort = errors.New("it is cut short")

// Read reads an IP packet as it was received on a link, and ignores padding behind its end. In IPv6
// the advert must follow the header. A packet that is no whole advert is an error.
func Read(packet []byte) (Advert, error) {
	a, err := read(packet)
	if err != nil {
		return Advert{}, fmt.Errorf("read a VRRP packet: %w", err)
	}
	return a, nil
}

func read(packet []byte) (Advert, error) {
	if len(packet) == 0 {
		return Advert{}, errShort
	}
	switch packet[0] >> 4 {
	case 4:
		return readIPv4(packet)
	case 6:
		return readIPv6(packet)
	}
	return Advert{}, fmt.Errorf("IP has no version %d", packet[0]>>4)
}

// ReadDelivered reads an advert of IPv6 from a raw socket, without IP's header. The kernel has
// verified its checksum, and does not deliver its hop limit and destination.
func ReadDelivered(from netip.Addr, message []byte) (Advert, error) {
	a := Advert{From: from}
	if err := a.message(message); err != nil {
		return Advert{}, fmt.Errorf("read a VRRP packet: %w", err)
	}
	a.Sound = true
	return a, nil
}

func readIPv4(packet []byte) (Advert, error) {
	if len(packet) < leastIPv4 {
		return Advert{}, errShort
	}
	header, length := int(packet[0]&0xf)*4, int(binary.BigEndian.Uint16(packet[2:]))
	switch {
	case header < leastIPv4 || length < header:
		return Advert{}, fmt.Errorf("a header of %d bytes in %d", header, length)
	case len(packet) < length:
		return Advert{}, errShort
	case packet[9] != Protocol:
		return Advert{}, fmt.Errorf("it is of protocol %d", packet[9])
	case binary.BigEndian.Uint16(packet[6:])&0x3fff != 0: // more fragments, or an offset
		return Advert{}, errors.New("it is a fragment")
	}
	a := Advert{
		Hops: packet[8],
		From: netip.AddrFrom4([4]byte(packet[12:16])),
		To:   netip.AddrFrom4([4]byte(packet[16:20])),
	}
	err := a.message(packet[header:length])
	return a, err
}

func readIPv6(packet []byte) (Advert, error) {
	if len(packet) < onlyIPv6 {
		return Advert{}, errShort
	}
	length := onlyIPv6 + int(binary.BigEndian.Uint16(packet[4:]))
	switch {
	case len(packet) < length:
		return Advert{}, errShort
	case packet[6] != Protocol:
		return Advert{}, fmt.Errorf("it is of protocol %d", packet[6])
	}
	a := Advert{
		Hops: packet[7],
		From: netip.AddrFrom16([16]byte(packet[8:24])),
		To:   netip.AddrFrom16([16]byte(packet[24:40])),
	}
	err := a.message(packet[onlyIPv6:length])
	return a, err
}

// message reads the payload of IP.
func (a *Advert) message(m []byte) error {
	if len(m) < head {
		return errShort
	}
	a.Version, a.ID, a.Priority = vrrp.Version(m[0]>>4), vrrp.ID(m[1]), m[2]
	size, behind := a.From.BitLen()/8, 0
	switch {
	case m[0]&0xf != typeAdvert:
		return fmt.Errorf("it is of type %d", m[0]&0xf)
	case a.Version == vrrp.V2 && a.From.Is4():
		a.Interval, behind = time.Duration(m[5])*time.Second, password
	case a.Version == vrrp.V3:
		a.Interval = time.Duration(binary.BigEndian.Uint16(m[4:])&0xfff) * 10 * time.Millisecond
	default:
		return fmt.Errorf("VRRP has no version %d for %s", a.Version, a.From)
	}
	end := head + int(m[3])*size
	if len(m) < end+behind {
		return errShort
	}
	for at := head; at < end; at += size {
		vip, _ := netip.AddrFromSlice(m[at : at+size])
		a.VIPs = append(a.VIPs, vip)
	}
	a.Sound = a.sound(m)
	return nil
}

// sound verifies the checksum. Version 3 includes IP's addresses; for IPv4 some routers leave them
// out, and keepalived can be configured so.
func (a *Advert) sound(m []byte) bool {
	const right = 0xffff
	plain := checksum.Sum(0, m)
	if a.Version == vrrp.V2 {
		return plain == right
	}
	with := checksum.Sum(uint32(len(m))+Protocol, a.From.AsSlice())
	with = checksum.Sum(uint32(with), a.To.AsSlice())
	return checksum.Sum(uint32(with), m) == right || a.From.Is4() && plain == right
}
