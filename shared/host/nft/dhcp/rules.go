package dhcp

import (
	"encoding/binary"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Where a frame has its source, and a UDP datagram its ports.
const (
	etherSource, etherSize = 6, 6
	sourcePort, toPort     = 0, 2
)

// chainOf is one of our chains, without a hook for a name that is none of them. Requests are
// filtered before connection tracking: a dropped one leaves no trace.
func chainOf(name string) *nftables.Chain {
	c := &nftables.Chain{Name: name, Table: table(), Type: nftables.ChainTypeFilter}
	switch name {
	case requests:
		c.Hooknum, c.Priority = nftables.ChainHookPrerouting, nftables.ChainPriorityRaw
	case answers:
		c.Hooknum, c.Priority = nftables.ChainHookOutput, nftables.ChainPriorityFilter
	}
	return c
}

// rules are those of each chain.
func rules(f Filter) map[string][][]expr.Any {
	all := map[string][][]expr.Any{}
	for _, p := range ports {
		all[requests] = append(all[requests], append(udp(expr.MetaKeyIIFNAME, f.Link, toPort, p),
			load(expr.PayloadBaseLLHeader, etherSource, etherSize),
			lookup(hostsSet, !f.Except), drop()))
		if f.Fenced {
			all[answers] = append(all[answers], append(
				udp(expr.MetaKeyOIFNAME, f.Link, sourcePort, p), lookup(openSet, true), drop()))
		}
	}
	return all
}

// udp matches datagrams on a link with this port at an offset of their header, and leaves the port
// in the register.
func udp(link expr.MetaKey, name string, offset uint32, port uint16) []expr.Any {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return []expr.Any{
		&expr.Meta{Key: link, Register: register}, equal(padded),
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: register}, equal([]byte{unix.IPPROTO_UDP}),
		load(expr.PayloadBaseTransportHeader, offset, 2), equal(network(port)),
	}
}

func load(base expr.PayloadBase, offset, size uint32) expr.Any {
	return &expr.Payload{DestRegister: register, Base: base, Offset: offset, Len: size}
}

func equal(data []byte) expr.Any {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: data}
}

// lookup matches what a set has, or what is missing there.
func lookup(set string, missing bool) expr.Any {
	return &expr.Lookup{SourceRegister: register, SetName: set, Invert: missing}
}

func drop() expr.Any { return &expr.Verdict{Kind: expr.VerdictDrop} }

func network(n uint16) []byte { return binary.BigEndian.AppendUint16(nil, n) }
