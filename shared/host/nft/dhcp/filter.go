// Package dhcp has the kernel's packet filter restrict a host's DHCP server, whichever it is, to
// the hosts of its phase, and to the time for which this host may answer.
package dhcp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/nft/listed"
	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Filter is what a host's DHCP server, of either family, receives and sends on a link.
//
// Requests are known by the source of their frames, before any server receives them: a client of
// DHCPv6 names itself by an identifier that is not its card's address, and dnsmasq extends leases
// also of hosts that it does not know. Servers that read raw frames, as ISC's does, receive them
// all the same. So do servers behind a relay, whose frames are not the hosts'.
type Filter struct {
	Link  string
	Hosts []mac.MAC // those whose requests are received
	// Except inverts Hosts: their requests are dropped, and those of all other hosts received.
	Except bool
	// Fenced drops the server's answers but for the times that Allow opens.
	Fenced bool
}

// The table, of the family inet (IPv4 and IPv6), and its parts. The name is ours.
const (
	tableName = "onprem-infra-dhcp"
	hostsSet  = "hosts"
	openSet   = "open"
	requests  = "requests"
	answers   = "answers"
)

// ports are where servers of DHCP and DHCPv6 receive, and from where they send.
var ports = []uint16{67, 547}

const register = unix.NFT_REG_1

func table() *nftables.Table {
	return &nftables.Table{Name: tableName, Family: nftables.TableFamilyINet}
}

func hosts() *nftables.Set {
	return &nftables.Set{Table: table(), Name: hostsSet, KeyType: nftables.TypeEtherAddr}
}

func open() *nftables.Set {
	return &nftables.Set{Table: table(), Name: openSet, KeyType: nftables.TypeInetService,
		HasTimeout: true}
}

// Keep makes the kernel filter by f, and reports whether it changed anything. Another set of
// hosts replaces the former one in one transaction, and leaves the fence as it is. Any other
// difference replaces the whole table, which closes the fence.
func Keep(f Filter) (changed bool, err error) {
	c, err := nftables.New()
	if err != nil {
		return false, fmt.Errorf("open netfilter: %w", err)
	}
	same, err := holdsRules(c, f)
	if err != nil {
		return false, err
	}
	if same {
		have, err := c.GetSetElements(hosts())
		if err != nil {
			return false, fmt.Errorf("list the hosts of table %s: %w", tableName, err)
		}
		if equalHosts(have, elements(f.Hosts)) {
			return false, nil
		}
		c.FlushSet(hosts())
		err = c.SetAddElements(hosts(), elements(f.Hosts))
		return true, flush(c, err)
	}
	c.AddTable(table()) // so that there is one to remove
	c.DelTable(table())
	c.AddTable(table())
	err = errors.Join(c.AddSet(hosts(), elements(f.Hosts)), c.AddSet(open(), nil))
	for _, name := range []string{requests, answers} {
		chain := c.AddChain(chainOf(name))
		for _, exprs := range rules(f)[name] {
			c.AddRule(&nftables.Rule{Table: table(), Chain: chain, Exprs: exprs})
		}
	}
	return true, flush(c, err)
}

// flush sends the transaction, unless it could not be made.
func flush(c *nftables.Conn, err error) error {
	if err == nil {
		err = c.Flush()
	}
	if err != nil {
		return fmt.Errorf("write table %s: %w", tableName, err)
	}
	return nil
}

// Allow opens the fence for a time, counted from now. The kernel closes it then, unless Allow is
// called again: a host whose monitor died or was cut off answers no longer than that.
func Allow(d time.Duration) error {
	var all []nftables.SetElement
	for _, p := range ports {
		all = append(all, nftables.SetElement{Key: network(p), Timeout: d})
	}
	return setOpen(all)
}

// Close closes the fence at once. That there is none is no error.
func Close() error {
	if err := setOpen(nil); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

func setOpen(all []nftables.SetElement) error {
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open netfilter: %w", err)
	}
	c.FlushSet(open()) // an element that exists would keep its former time
	if len(all) > 0 {
		err = c.SetAddElements(open(), all)
	}
	return flush(c, err)
}

// Remove removes the table. That there is none is no error.
func Remove() error {
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open netfilter: %w", err)
	}
	c.AddTable(table())
	c.DelTable(table())
	return flush(c, nil)
}

// elements are the keys of hosts, sorted, each once.
func elements(macs []mac.MAC) (all []nftables.SetElement) {
	sorted := slices.SortedFunc(slices.Values(macs), mac.MAC.Compare)
	for _, m := range slices.Compact(sorted) {
		all = append(all, nftables.SetElement{Key: m[:]})
	}
	return all
}

func equalHosts(have, want []nftables.SetElement) bool {
	key := func(a, b nftables.SetElement) int { return bytes.Compare(a.Key, b.Key) }
	slices.SortFunc(have, key)
	return slices.EqualFunc(have, want, func(a, b nftables.SetElement) bool {
		return bytes.Equal(a.Key, b.Key)
	})
}

func is[T comparable](have, want *T) bool {
	return have != nil && want != nil && *have == *want
}

// holdsRules reports whether the table has these chains and rules.
func holdsRules(c *nftables.Conn, f Filter) (bool, error) {
	all, err := c.ListChainsOfTableFamily(nftables.TableFamilyINet)
	if err != nil {
		return false, fmt.Errorf("list netfilter chains: %w", err)
	}
	found := 0
	for _, chain := range all {
		if chain.Table.Name != tableName {
			continue
		}
		found++
		want := chainOf(chain.Name)
		if chain.Type != want.Type || !is(chain.Hooknum, want.Hooknum) ||
			!is(chain.Priority, want.Priority) ||
			chain.Policy != nil && *chain.Policy != nftables.ChainPolicyAccept {
			return false, nil
		}
		have, err := c.GetRules(table(), chain)
		if err != nil {
			return false, fmt.Errorf("list netfilter rules of %s: %w", tableName, err)
		}
		same, err := listed.Equal(have, rules(f)[chain.Name])
		if err != nil {
			return false, fmt.Errorf("compare table %s: %w", tableName, err)
		}
		if !same {
			return false, nil
		}
	}
	return found == 2, nil
}
