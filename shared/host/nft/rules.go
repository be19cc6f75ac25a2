package nft

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Every comparison uses the 16-byte register; NAT reads its port from the second one.
const register, second = unix.NFT_REG_1, unix.NFT_REG_2

// chain is one of our chains with its rules.
type chain struct {
	name     string
	kind     nftables.ChainType
	hook     *nftables.ChainHook
	priority *nftables.ChainPriority
	rules    [][]expr.Any
}

// chains are the whole table. The node's own connections pass output and never prerouting; they
// go to the VIP over lo exactly when this node holds it. The chain prerouting finds out the same
// from the node's addresses: without the VIP, what the node forwards for its pods must reach the
// holder as it was sent, because there it may go to the API server itself.
func chains(r redirect.Rules) []chain {
	early := nftables.ChainPriorityRef(*nftables.ChainPriorityNATDest - 1)
	const nat, filter = nftables.ChainTypeNAT, nftables.ChainTypeFilter
	came := chain{"came", filter, nftables.ChainHookPrerouting, early, nil}
	sent := chain{"sent", filter, nftables.ChainHookOutput, early, nil}
	pre := chain{"prerouting", nat, nftables.ChainHookPrerouting,
		nftables.ChainPriorityNATDest, nil}
	out := chain{"output", nat, nftables.ChainHookOutput, nftables.ChainPriorityNATDest, nil}
	in := chain{"input", filter, nftables.ChainHookInput, nftables.ChainPriorityFilter, nil}
	for _, d := range r.Redirects {
		to := append(toVIP(d), local()...)
		if d.Sources == nil {
			pre.rules = append(pre.rules, slices.Concat(to, rewrite(d)))
		}
		for _, p := range d.Sources {
			pre.rules = append(pre.rules, slices.Concat(to, from(p), rewrite(d)))
		}
		held := onLink(expr.MetaKeyOIFNAME, "lo")
		out.rules = append(out.rules, slices.Concat(toVIP(d), held, rewrite(d)))
	}
	// This one is there without any port to close: the kernel tracks connections only while some
	// rule needs it.
	in.rules = append(in.rules, redirected())
	for _, c := range r.Closed {
		for _, vip := range c.VIPs {
			came.rules = append(came.rules, setMark(vip, c.For))
			sent.rules = append(sent.rules, setMark(vip, c.For))
		}
		ours := slices.Concat(tcpTo(c.Port), redirected(), hasMark())
		in.rules = append(in.rules, append(ours, verdict(expr.VerdictAccept)),
			append(tcpTo(c.Port), &expr.Reject{Type: unix.NFT_REJECT_TCP_RST}))
	}
	return []chain{came, sent, pre, out, in}
}

func verdict(kind expr.VerdictKind) expr.Any { return &expr.Verdict{Kind: kind} }

func meta(key expr.MetaKey) expr.Any { return &expr.Meta{Key: key, Register: register} }

// load reads a part of a header.
func load(base expr.PayloadBase, offset uint32, size int) expr.Any {
	return &expr.Payload{DestRegister: register, Base: base, Offset: offset, Len: uint32(size)}
}

// masked keeps the bits of a mask.
func masked(mask []byte) expr.Any {
	return &expr.Bitwise{SourceRegister: register, DestRegister: register,
		Len: uint32(len(mask)), Mask: mask, Xor: make([]byte, len(mask))}
}

func equal(data []byte) expr.Any {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: register, Data: data}
}

func native(n uint32) []byte  { return binary.NativeEndian.AppendUint32(nil, n) }
func network(n uint16) []byte { return binary.BigEndian.AppendUint16(nil, n) }

func tcpTo(port uint16) []expr.Any {
	return []expr.Any{
		meta(expr.MetaKeyL4PROTO), equal([]byte{unix.IPPROTO_TCP}),
		load(expr.PayloadBaseTransportHeader, 2, 2), equal(network(port)),
	}
}

// header reads the addresses in the IP header of a family.
func header(a netip.Addr) (family byte, source, destination expr.Any) {
	const ip = expr.PayloadBaseNetworkHeader
	if a.Is4() {
		return unix.NFPROTO_IPV4, load(ip, 12, 4), load(ip, 16, 4)
	}
	return unix.NFPROTO_IPV6, load(ip, 8, 16), load(ip, 24, 16)
}

func toVIP(d redirect.Redirect) []expr.Any {
	family, _, destination := header(d.VIP)
	return slices.Concat([]expr.Any{
		meta(expr.MetaKeyNFPROTO), equal([]byte{family}),
		destination, equal(d.VIP.AsSlice()),
	}, tcpTo(d.From))
}

// local matches an address of this node. The kernel keeps the answer in its own byte order.
func local() []expr.Any {
	kind := &expr.Fib{Register: register, ResultADDRTYPE: true, FlagDADDR: true}
	return []expr.Any{kind, equal(native(unix.RTN_LOCAL))}
}

func from(p netip.Prefix) []expr.Any {
	_, source, _ := header(p.Addr())
	mask := net.CIDRMask(p.Bits(), p.Addr().BitLen())
	return []expr.Any{source, masked(mask), equal(p.Masked().Addr().AsSlice())}
}

// onLink matches packets of a link by its name: the number of lo is 1 in every network namespace,
// but the kernel does not promise it.
func onLink(key expr.MetaKey, name string) []expr.Any {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return []expr.Any{meta(key), equal(padded)}
}

// rewrite does what REDIRECT would do, but keeps the address: REDIRECT is not applied to the
// traffic of pods behind some network plugins.
func rewrite(d redirect.Redirect) []expr.Any {
	family, _, _ := header(d.VIP)
	return []expr.Any{
		&expr.Immediate{Register: register, Data: d.VIP.AsSlice()},
		&expr.Immediate{Register: second, Data: network(d.To)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(family), Specified: true,
			RegAddrMin: register, RegAddrMax: register, RegProtoMin: second, RegProtoMax: second},
	}
}

// statusDNAT is IPS_DST_NAT of the kernel's connection tracking.
const statusDNAT = 1 << 5

// redirected matches connections whose destination was rewritten. One that is not tracked is not
// redirected either.
func redirected() []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeySTATUS, Register: register}, masked(native(statusDNAT)),
		&expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: native(0)},
	}
}

// mark is the priority of packets that were sent to the port of a VIP whose connections go to a
// closed port. The kernel keeps a packet's priority on its way to the receiver, which ignores it;
// a sender needs a capability to choose one beyond 6, and its link removes it.
const mark = 0x6f6e7072

// setMark marks packets for this port of the VIP, before any rules have rewritten their
// destination.
func setMark(vip netip.Addr, port uint16) []expr.Any {
	return slices.Concat(toVIP(redirect.Redirect{VIP: vip, From: port}), []expr.Any{
		&expr.Immediate{Register: register, Data: native(mark)},
		&expr.Meta{Key: expr.MetaKeyPRIORITY, Register: register, SourceRegister: true},
	})
}

// hasMark matches packets with the mark. That their destination was rewritten is not enough: other
// rules rewrite destinations too, and a Service of the cluster may have the closed port of a VIP as
// its endpoint. A rule could compare a connection's first destination, but the library does not
// read such rules back.
func hasMark() []expr.Any {
	return []expr.Any{meta(expr.MetaKeyPRIORITY), equal(native(mark))}
}
