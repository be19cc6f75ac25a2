package nft

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
	"golang.org/x/sys/unix"
)

// A program that did the same before this one marked its rules with a comment and nothing else: in
// tables of its own, and before 2026 in those of iptables.
const (
	leftoverTable   = "ocp_nat"
	iptablesTable   = "nat"
	leftoverComment = "OCP_API_LB_REDIRECT"
)

// RemoveLeftovers removes what another program with the same purpose has left: its table in either
// family, and its rules in the table that iptables uses. Both rewrite the same connections as ours,
// perhaps to a port on which no program listens any more. It returns what it removed. What it
// cannot read it leaves alone and names in the error.
func RemoveLeftovers() (removed []string, err error) {
	c, err := connect()
	if err != nil {
		return nil, err
	}
	names := map[nftables.TableFamily]string{
		nftables.TableFamilyIPv4: "ip", nftables.TableFamilyIPv6: "ip6",
	}
	for family, name := range names {
		tables, errTables := removeTable(c, &nftables.Table{Name: leftoverTable, Family: family})
		rules, errRules := removeRules(c, family)
		if errTables != nil || errRules != nil {
			err = errors.Join(err, fmt.Errorf("remove rules %s of family %s: %w",
				leftoverComment, name, errors.Join(errTables, errRules)))
		}
		if n := tables + rules; n > 0 {
			removed = append(removed, fmt.Sprintf("%d rules or tables of family %s", n, name))
		}
	}
	return removed, err
}

// removeTable removes a table and returns how many it has removed: one or none.
func removeTable(c *nftables.Conn, t *nftables.Table) (int, error) {
	there, err := exists(c, *t)
	if err != nil || !there {
		return 0, err
	}
	c.DelTable(t)
	if err := c.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return 0, err
	}
	return 1, nil
}

// removeRules reads only the two chains that the rules were put into: a node may have ten
// thousand other ones, of services.
func removeRules(c *nftables.Conn, family nftables.TableFamily) (int, error) {
	t := nftables.Table{Name: iptablesTable, Family: family}
	there, err := exists(c, t)
	if err != nil || !there {
		return 0, err
	}
	n := 0
	for _, name := range []string{"PREROUTING", "OUTPUT"} {
		from := &nftables.Chain{Name: name, Table: &t}
		rules, err := c.GetRules(&t, from)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return n, err
		}
		for _, rule := range rules {
			if !marked(rule) {
				continue
			}
			err := c.DelRule(&nftables.Rule{Table: &t, Chain: from, Handle: rule.Handle})
			if err != nil {
				return n, err
			}
			if err := c.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// marked reports whether a rule has the comment: where nft keeps it, beside the rule, or where
// iptables does, as a match that always holds.
func marked(rule *nftables.Rule) bool {
	if bytes.Contains(rule.UserData, []byte(leftoverComment)) {
		return true
	}
	for _, e := range rule.Exprs {
		m, ok := e.(*expr.Match)
		if !ok || m.Name != "comment" {
			continue
		}
		switch info := m.Info.(type) {
		case *xt.Comment:
			if string(*info) == leftoverComment {
				return true
			}
		case *xt.Unknown:
			if bytes.HasPrefix(*info, []byte(leftoverComment)) {
				return true
			}
		}
	}
	return false
}
