package nft

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

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
// Adverts with other IDs are left alone: a host may run a keepalived of its user's own, which may
// send with the kernel's hop limit, and that is not 255.
type Far struct {
	IPv4, IPv6 []vrrp.ID
	Groups     []Group
}

// Group is a virtual router that accepts adverts of every router on its link, by multicast. Adverts
// that name another VIP, or more than one, are of another cluster with the same ID: they are
// dropped. keepalived did so until 2.3.2; since then it only logs them, and becomes BACKUP if their
// priority is higher.
type Group struct {
	Link string
	ID   vrrp.ID
	VIP  netip.Addr
}

// FarFilter keeps the kernel's rules for one Far. The zero value has read nothing. It is for one
// goroutine.
type FarFilter struct {
	known      bool
	generation uint32 // that the rules were read in
}

// Keep has the kernel drop the adverts of far, and no others, before any program receives them.
// It reports whether it changed any rule. While nothing in the packet filter changes it costs one
// query. The rules stay when this program ends: they are right as long as the host is a router of
// these VRRP groups, and keepalived may outlive its parent by a moment.
func (f *FarFilter) Keep(far Far) (changed bool, err error) {
	now, err := generation()
	if err != nil || f.known && f.generation == now {
		return false, err
	}
	f.known = false
	c, err := connect()
	if err != nil {
		return false, err
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

// advertOf matches the adverts of a virtual router.
func advertOf(id vrrp.ID) []expr.Any {
	return []expr.Any{
		meta(expr.MetaKeyL4PROTO), equal([]byte{protocolVRRP}),
		load(expr.PayloadBaseTransportHeader, 1, 1), equal([]byte{byte(id)}),
	}
}

// dropUnless drops a packet that has other bytes than these at an offset of a header.
func dropUnless(base expr.PayloadBase, offset uint32, want []byte) []expr.Any {
	return []expr.Any{
		load(base, offset, len(want)),
		&expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: want},
		verdict(expr.VerdictDrop),
	}
}

// farRules drop adverts of virtual routers whose hop limit, at this offset, is not 255.
func farRules(hops uint32, ids []vrrp.ID) (rules [][]expr.Any) {
	for _, id := range ids {
		near := dropUnless(expr.PayloadBaseNetworkHeader, hops, []byte{nearHops})
		rules = append(rules, slices.Concat(advertOf(id), near))
	}
	return rules
}

// groupRules drop the adverts of virtual routers on their links that name other addresses than
// their VIP. Their number is at offset 3, the first one at offset 8 (RFC 5798 5.2).
func groupRules(family nftables.TableFamily, groups []Group) (rules [][]expr.Any) {
	for _, g := range groups {
		if g.VIP.Is4() != (family == nftables.TableFamilyIPv4) {
			continue
		}
		advert := slices.Concat(onLink(expr.MetaKeyIIFNAME, g.Link), advertOf(g.ID))
		one := dropUnless(expr.PayloadBaseTransportHeader, 3, []byte{1})
		first := dropUnless(expr.PayloadBaseTransportHeader, 8, g.VIP.AsSlice())
		rules = append(rules, slices.Concat(advert, one), slices.Concat(advert, first))
	}
	return rules
}

// keepFar makes one family's table hold these rules. Without any there is no table. It reads this
// chain alone: a node may have thousands of chains, and other programs change some once a second.
// The library's error for a missing chain has no type, so any failure counts as that.
func keepFar(
	c *nftables.Conn, family nftables.TableFamily, rules [][]expr.Any,
) (changed bool, err error) {
	t := &nftables.Table{Name: farTable, Family: family}
	there, err := exists(c, *t)
	if err != nil || !there && len(rules) == 0 {
		return false, err
	}
	if len(rules) == 0 {
		remove(c, t)
		return true, c.Flush()
	}
	want := chain{name: "input", kind: nftables.ChainTypeFilter,
		hook: nftables.ChainHookInput, priority: nftables.ChainPriorityFilter, rules: rules}
	if there {
		if have, err := c.ListChain(t, want.name); err == nil {
			if same, err := want.is(c, have); err != nil || same {
				return false, err
			}
		}
	}
	replace(c, t, []chain{want})
	return true, c.Flush()
}
