// Package nft is the only door to the kernel's packet filter: it writes our rules, each purpose's
// in a table of its own, and removes those that other programs for the same purposes have left.
package nft

import (
	"fmt"
	"slices"

	"github.com/google/nftables"

	"github.com/onprem-infra/onprem-infra/shared/host/nft/listed"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Table is the name of one of our tables that redirect connections. They are of the family inet,
// for IPv4 and IPv6.
type Table string

// The tables of redirects. The balancer's two are apart, as each may have to go while the other
// stays.
const (
	API    Table = "onprem-infra"
	Ironic Table = "onprem-infra-ironic"
)

func (t Table) kernels() *nftables.Table {
	return &nftables.Table{Name: string(t), Family: nftables.TableFamilyINet}
}

// Ensure makes the table hold exactly these rules and reports whether it changed it. A table that
// differs in any way is replaced as a whole by one transaction, also by concurrent callers: no
// packet meets a part of the rules. The bytes that the kernel keeps are compared, so that only
// content counts.
//
// Connections that were redirected before stay so, whatever the rules become: the kernel keeps each
// one's own rewriting as long as there are chains for it and a rule that needs connection tracking.
// So these stay when nothing is redirected.
func (t Table) Ensure(r redirect.Rules) (changed bool, err error) {
	c, same, err := t.holds(r)
	if err != nil || same {
		return false, err
	}
	replace(c, t.kernels(), chains(r))
	if err := c.Flush(); err != nil {
		return false, fmt.Errorf("replace table %s: %w", t, err)
	}
	return true, nil
}

// Present reports whether the table holds exactly these rules. An error means that it cannot be
// known, never that they are absent.
func (t Table) Present(r redirect.Rules) (bool, error) {
	_, same, err := t.holds(r)
	return same, err
}

// Remove removes the table, and reports whether there was one. Connections that its rules have
// redirected are no longer rewritten.
func (t Table) Remove() (removed bool, err error) {
	c, err := connect()
	if err != nil {
		return false, err
	}
	n, err := removeTable(c, t.kernels())
	if err != nil {
		return false, fmt.Errorf("remove table %s: %w", t, err)
	}
	return n > 0, nil
}

// Ensure is that of the table API.
func Ensure(r redirect.Rules) (changed bool, err error) { return API.Ensure(r) }

// Present is that of the table API.
func Present(r redirect.Rules) (bool, error) { return API.Present(r) }

func connect() (*nftables.Conn, error) {
	c, err := nftables.New()
	if err != nil {
		return nil, fmt.Errorf("open netfilter: %w", err)
	}
	return c, nil
}

func exists(c *nftables.Conn, t nftables.Table) (bool, error) {
	tables, err := c.ListTablesOfFamily(t.Family)
	if err != nil {
		return false, fmt.Errorf("list netfilter tables: %w", err)
	}
	return slices.ContainsFunc(tables, func(have *nftables.Table) bool {
		return have.Name == t.Name && have.Family == t.Family
	}), nil
}

// replace queues the removal of a table, if it exists, and its creation with these chains.
func replace(c *nftables.Conn, t *nftables.Table, chains []chain) {
	remove(c, t)
	c.AddTable(t)
	for _, want := range chains {
		want.add(c, t)
	}
}

// remove queues the removal of a table, if it exists.
func remove(c *nftables.Conn, t *nftables.Table) {
	c.AddTable(t) // so that there is one to remove
	c.DelTable(t)
}

// add queues the creation of a chain.
func (want chain) add(c *nftables.Conn, t *nftables.Table) {
	made := c.AddChain(&nftables.Chain{Name: want.name, Table: t, Type: want.kind,
		Hooknum: want.hook, Priority: want.priority})
	for _, exprs := range want.rules {
		c.AddRule(&nftables.Rule{Table: t, Chain: made, Exprs: exprs})
	}
}

// holds reports whether the table holds these rules, over a connection that it returns.
func (t Table) holds(r redirect.Rules) (c *nftables.Conn, same bool, err error) {
	if c, err = connect(); err != nil {
		return nil, false, err
	}
	all, err := c.ListChainsOfTableFamily(t.kernels().Family)
	if err != nil {
		return c, false, fmt.Errorf("list netfilter chains: %w", err)
	}
	have := map[string]*nftables.Chain{}
	for _, ch := range all {
		if ch.Table.Name == string(t) && ch.Table.Family == t.kernels().Family {
			have[ch.Name] = ch
		}
	}
	wanted := chains(r)
	same = len(have) == len(wanted)
	for _, want := range wanted {
		if ch := have[want.name]; same && err == nil {
			same, err = want.is(c, ch)
		}
	}
	return c, same, err
}

// is reports whether a chain of the kernel's, nil for none, is the wanted one.
func (want chain) is(c *nftables.Conn, have *nftables.Chain) (bool, error) {
	if have == nil || have.Type != want.kind ||
		have.Hooknum == nil || *have.Hooknum != *want.hook ||
		have.Priority == nil || *have.Priority != *want.priority ||
		have.Policy != nil && *have.Policy != nftables.ChainPolicyAccept {
		return false, nil
	}
	rules, err := c.GetRules(have.Table, have)
	if err != nil {
		return false, fmt.Errorf("list netfilter rules of %s %s: %w",
			have.Table.Name, want.name, err)
	}
	same, err := listed.Equal(rules, want.rules)
	if err != nil {
		return false, fmt.Errorf("compare %s %s: %w", have.Table.Name, want.name, err)
	}
	return same, nil
}
