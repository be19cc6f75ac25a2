package nft

import (
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// farTable is the name of two tables, one of IPv4 and one of IPv6.
const farTable = "onprem-infra-vrrp"

// The protocol of VRRP (RFC 5798 5.1.1.4), and the TTL and hop limit that only a packet of the same
// network still has (5.1.1.3 and 5.1.2.3).
const (
	protocolVRRP = 112
	nearHops     = 255
)

// Far names the virtual routers, by family, whose adverts are dropped if they have passed a router.
// Others of the same IDs elsewhere are left alone: a host may run a keepalived of its user's own,
// and the kernel's hop limit, which that may send with, is not 255.
type Far struct {
	IPv4, IPv6 []vrrp.ID
	Groups     []Group
}

// Group is a virtual router that takes adverts from everybody on its link, by multicast. Those that
// name another VIP, or more than one, are of another cluster with the same ID: they are dropped.
// keepalived did so until 2.3.2; since then it only logs them, and gives way to a higher priority.
type Group struct {
	Link string
	ID   vrrp.ID
	VIP  netip.Addr
}

// FarFilter holds the rules for that. The zero value has seen nothing; one is for one Far, and
// for one goroutine.
type FarFilter struct {
	known      bool
	generation uint32 // that the rules were read in
}

// Keep has the kernel drop the adverts of far, and no others, before any program receives them. It
// says whether it had to change anything. While nothing in the packet filter changes it costs one
// question. The rules stay when this program ends: they are right as long as the host has a part in
// these elections, and keepalived may outlive its parent by a moment.
func (f *FarFilter) Keep(far Far) (changed bool, err error) {
	now, err := generation()
	if err != nil || f.known && f.generation == now {
		return false, err
	}
	f.known = false
	c, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open netfilter: %w", err)
	}
	for _, one := range []struct {
		family nftables.TableFamily
		hops   uint32 // where the header has them
		ids    []vrrp.ID
	}{{nftables.TableFamilyIPv4, 8, far.IPv4}, {nftables.TableFamilyIPv6, 7, far.IPv6}} {
		rules := append(farRules(one.hops, one.ids), groupRules(one.family, far.Groups)...)
		again, err := keepFar(c, one.family, rules)
		if err != nil {
			return changed, fmt.Errorf("write table %s: %w", farTable, err)
		}
		changed = changed || again
	}
	f.known, f.generation = !changed, now
	return changed, nil
}

// farRules drop the adverts of virtual routers that have another number of hops.
func farRules(hops uint32, ids []vrrp.ID) (rules [][]expr.Any) {
	for _, id := range ids {
		rules = append(rules, []expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: register}, equal([]byte{protocolVRRP}),
			&expr.Payload{DestRegister: register, Base: expr.PayloadBaseTransportHeader, Offset: 1, Len: 1},
			equal([]byte{byte(id)}),
			&expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: hops, Len: 1},
			&expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: []byte{nearHops}},
			&expr.Verdict{Kind: expr.VerdictDrop},
		})
	}
	return rules
}

// groupRules drop the adverts of virtual routers on their links that are about other addresses than
// their VIP. An advert has how many these are at 3, and the first one at 8 (RFC 5798 5.2).
func groupRules(family nftables.TableFamily, groups []Group) (rules [][]expr.Any) {
	for _, g := range groups {
		if g.VIP.Is4() != (family == nftables.TableFamilyIPv4) {
			continue
		}
		link := make([]byte, unix.IFNAMSIZ)
		copy(link, g.Link)
		for _, field := range []struct {
			at   uint32
			want []byte
		}{{3, []byte{1}}, {8, g.VIP.AsSlice()}} {
			rules = append(rules, []expr.Any{
				&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: register}, equal(link),
				&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: register}, equal([]byte{protocolVRRP}),
				&expr.Payload{DestRegister: register, Base: expr.PayloadBaseTransportHeader, Offset: 1, Len: 1},
				equal([]byte{byte(g.ID)}),
				&expr.Payload{DestRegister: register, Base: expr.PayloadBaseTransportHeader, Offset: field.at, Len: uint32(len(field.want))},
				&expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: field.want},
				&expr.Verdict{Kind: expr.VerdictDrop},
			})
		}
	}
	return rules
}

// keepFar makes one family's table hold these rules. Without any there is no table.
func keepFar(c *nftables.Conn, family nftables.TableFamily, rules [][]expr.Any) (changed bool, err error) {
	t := &nftables.Table{Name: farTable, Family: family}
	there, err := exists(c, *t)
	if err != nil || !there && len(rules) == 0 {
		return false, err
	}
	want := chain{name: "input", kind: nftables.ChainTypeFilter,
		hook: nftables.ChainHookInput, priority: nftables.ChainPriorityFilter, rules: rules}
	if there && len(rules) > 0 {
		if same, err := hasChain(c, t, want); err != nil || same {
			return false, err
		}
	}
	c.AddTable(t) // so that there is one to remove
	c.DelTable(t)
	if len(rules) > 0 {
		c.AddTable(t)
		made := c.AddChain(&nftables.Chain{Name: want.name, Table: t, Type: want.kind,
			Hooknum: want.hook, Priority: want.priority})
		for _, exprs := range rules {
			c.AddRule(&nftables.Rule{Table: t, Chain: made, Exprs: exprs})
		}
	}
	return true, c.Flush()
}

// hasChain says whether a table that exists has this chain, whatever else is in it. It asks for
// that one alone: a node may have thousands of chains, and other programs change some once a
// second. The library gives no type to the kernel's answer that there is none, so any failure
// counts as that.
func hasChain(c *nftables.Conn, t *nftables.Table, want chain) (bool, error) {
	have, err := c.ListChain(t, want.name)
	if err != nil || !alike(have, want) {
		return false, nil
	}
	rules, err := c.GetRules(t, have)
	if err != nil {
		return false, fmt.Errorf("list netfilter rules of %s %s: %w", t.Name, want.name, err)
	}
	return equalRules(rules, want.rules)
}
