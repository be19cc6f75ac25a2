// Package nft is the only door to the kernel's packet filter: it holds exactly the redirect rules
// that the balancer asks for, in a table of its own, and removes those that other programs for the
// same purpose have left.
package nft

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

var table = nftables.Table{Name: tableName, Family: nftables.TableFamilyINet}

// Ensure makes our table hold exactly these rules and says whether it had to. What differs in any
// way is replaced as a whole by one transaction: no packet meets the old rules without the new, and
// any number of callers at once leave what one of them would. The bytes that are compared are those
// that the kernel keeps, so that nothing but the rules' content identifies them.
//
// Connections that were redirected before stay so, whatever the rules become: the kernel keeps each
// one's own rewriting for as long as there are chains for it and a rule that makes it follow
// connections, and so these stay when nothing is redirected.
func Ensure(r redirect.Rules) (changed bool, err error) {
	c, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open netfilter: %w", err)
	}
	same, err := holds(c, r)
	if err != nil || same {
		return false, err
	}
	replace(c, r)
	if err := c.Flush(); err != nil {
		return false, fmt.Errorf("replace table %s: %w", tableName, err)
	}
	return true, nil
}

// Present says whether our table holds exactly these rules. An error means that nobody knows, never
// that they are absent.
func Present(r redirect.Rules) (bool, error) {
	c, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open netfilter: %w", err)
	}
	return holds(c, r)
}

func exists(c *nftables.Conn, t nftables.Table) (bool, error) {
	tables, err := c.ListTablesOfFamily(t.Family)
	if err != nil {
		return false, fmt.Errorf("list netfilter tables: %w", err)
	}
	return slices.ContainsFunc(tables, func(have *nftables.Table) bool { return have.Name == t.Name && have.Family == t.Family }), nil
}

// replace queues the table's end, if there is one, and its new beginning.
func replace(c *nftables.Conn, r redirect.Rules) {
	c.AddTable(&table)
	c.DelTable(&table)
	c.AddTable(&table)
	for _, want := range chains(r) {
		made := c.AddChain(&nftables.Chain{Name: want.name, Table: &table, Type: want.kind, Hooknum: want.hook, Priority: want.priority})
		for _, exprs := range want.rules {
			c.AddRule(&nftables.Rule{Table: &table, Chain: made, Exprs: exprs})
		}
	}
}

func holds(c *nftables.Conn, r redirect.Rules) (bool, error) {
	all, err := c.ListChainsOfTableFamily(table.Family)
	if err != nil {
		return false, fmt.Errorf("list netfilter chains: %w", err)
	}
	have := map[string]*nftables.Chain{}
	for _, ch := range all {
		if ch.Table.Name == tableName && ch.Table.Family == table.Family {
			have[ch.Name] = ch
		}
	}
	wanted := chains(r)
	if len(have) != len(wanted) {
		return false, nil
	}
	for _, want := range wanted {
		ch, ok := have[want.name]
		if !ok || !alike(ch, want) {
			return false, nil
		}
		rules, err := c.GetRules(&table, ch)
		if err != nil {
			return false, fmt.Errorf("list netfilter rules of %s %s: %w", tableName, want.name, err)
		}
		same, err := equalRules(rules, want.rules)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

func alike(have *nftables.Chain, want chain) bool {
	return have.Type == want.kind && have.Hooknum != nil && *have.Hooknum == *want.hook && have.Priority != nil && *have.Priority == *want.priority &&
		(have.Policy == nil || *have.Policy == nftables.ChainPolicyAccept)
}

func equalRules(have []*nftables.Rule, want [][]expr.Any) (bool, error) {
	if len(have) != len(want) {
		return false, nil
	}
	for i, rule := range have {
		a, err := encode(rule.Exprs)
		if err != nil {
			return false, err
		}
		b, err := encode(want[i])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(a, b) {
			return false, nil
		}
	}
	return true, nil
}

// encode is a rule as bytes, the same for one that we made and for the same one as the kernel tells
// it.
func encode(exprs []expr.Any) ([]byte, error) {
	var out []byte
	for _, e := range exprs {
		b, err := expr.Marshal(byte(table.Family), e)
		if err != nil {
			return nil, fmt.Errorf("read a netfilter rule of %s: %w", tableName, err)
		}
		out = append(out, b...)
	}
	return out, nil
}
