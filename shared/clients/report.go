package clients

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// A report is: the version, the VIP's length in bytes, the VIP; then for each client whether it is
// there (1) or gone (0), its address, its port and the VIP's port, in the network's byte order.
const (
	version = 1
	longest = 1180 // bytes of a report: with its seal it fits into a packet on every network
)

type entry struct {
	Client
	gone bool
}

// writer makes reports of one VIP, none longer than longest.
type writer struct {
	head    []byte
	reports [][]byte
}

func newWriter(vip netip.Addr) *writer {
	return &writer{head: append([]byte{version, byte(vip.BitLen() / 8)}, vip.AsSlice()...)}
}

func (w *writer) add(c Client, present bool) {
	one := make([]byte, 1, 21)
	if present {
		one[0] = 1
	}
	one = append(one, c.Remote.Addr().AsSlice()...)
	one = binary.BigEndian.AppendUint16(one, c.Remote.Port())
	one = binary.BigEndian.AppendUint16(one, c.Port)
	last := len(w.reports) - 1
	if last < 0 || len(w.reports[last])+len(one) > longest {
		w.reports = append(w.reports, append(make([]byte, 0, longest), w.head...))
		last++
	}
	w.reports[last] = append(w.reports[last], one...)
}

// read accepts all of a report or nothing of it.
func read(report []byte) (vip netip.Addr, entries []entry, err error) {
	if len(report) < 2 || len(report) > longest || report[0] != version {
		return vip, nil, errors.New("not a report of this version")
	}
	size := int(report[1])
	if size != 4 && size != 16 || len(report) < 2+size {
		return vip, nil, errors.New("a report without a VIP")
	}
	vip, _ = netip.AddrFromSlice(report[2 : 2+size])
	rest, each := report[2+size:], 1+size+4
	if len(rest)%each != 0 {
		return vip, nil, fmt.Errorf("a report of %v that ends within a client", vip)
	}
	for ; len(rest) > 0; rest = rest[each:] {
		a, _ := netip.AddrFromSlice(rest[1 : 1+size])
		ports := rest[1+size:]
		e := entry{gone: rest[0] == 0, Client: Client{
			Remote: netip.AddrPortFrom(a, binary.BigEndian.Uint16(ports)),
			Port:   binary.BigEndian.Uint16(ports[2:]),
		}}
		if rest[0] > 1 || !e.of(vip) {
			return vip, nil, fmt.Errorf("a report of %v with %v, which is no client", vip, e.Remote)
		}
		entries = append(entries, e)
	}
	return vip, entries, nil
}

func errForeign(vip netip.Addr) error {
	return fmt.Errorf("a report of %v, which its sender cannot hold", vip)
}
