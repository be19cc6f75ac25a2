package nft

import (
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// nearTable is the name of a table of IPv4.
const nearTable = "onprem-infra-vrrp"

// The protocol of VRRP (RFC 3768 5.2.4), and the TTL that only a packet of the same network still has (5.2.3).
const (
	vrrp    = 112
	nearTTL = 255
)

// nearRule drops VRRP packets that have passed a router.
func nearRule() []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: register}, equal([]byte{vrrp}),
		&expr.Payload{DestRegister: register, Base: expr.PayloadBaseNetworkHeader, Offset: 8, Len: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: register, Data: []byte{nearTTL}},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// DropFarVRRP has IPv4 VRRP packets dropped whose TTL is not 255: they have passed a router, and nobody who takes part in an election is behind
// one. It says whether it had to. The rule stays when this program ends: it is right on every node. IPv6 is left alone, as today's nodes send with
// the kernel's hop limit, which anybody's packet can have.
func DropFarVRRP() (changed bool, err error) {
	c, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open netfilter: %w", err)
	}
	t := &nftables.Table{Name: nearTable, Family: nftables.TableFamilyIPv4}
	input := &nftables.Chain{Name: "input", Table: t, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter}
	there, err := exists(c, *t)
	if err != nil {
		return false, err
	}
	if there {
		rules, err := c.GetRules(t, input)
		if err == nil {
			if same, err := equalRules(rules, [][]expr.Any{nearRule()}); err == nil && same {
				return false, nil
			}
		}
	}
	c.AddTable(t) // so that there is one to remove
	c.DelTable(t)
	c.AddTable(t)
	c.AddChain(input)
	c.AddRule(&nftables.Rule{Table: t, Chain: input, Exprs: nearRule()})
	if err := c.Flush(); err != nil {
		return false, fmt.Errorf("write table %s: %w", nearTable, err)
	}
	return true, nil
}
