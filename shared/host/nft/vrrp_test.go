package nft

import (
	"fmt"
	"testing"

	"github.com/google/nftables"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestFarFilter holds that the rules are written when they are not there, or are others, and only
// then. That they drop the right packets is for the daemons' tests.
func TestFarFilter(t *testing.T) {
	ip, ip6 := nftables.TableFamilyIPv4, nftables.TableFamilyIPv6
	within(t, func(t *testing.T) {
		both, one := Far{IPv4: []vrrp.ID{7, 9}, IPv6: []vrrp.ID{7, 9}}, Far{IPv4: []vrrp.ID{7}}
		var filter FarFilter
		keep := func(what string, far Far, want bool) {
			t.Helper()
			if changed, err := filter.Keep(far); err != nil || changed != want {
				t.Errorf("%s: changed %t, %v, want %t", what, changed, err, want)
			}
		}
		meddle := func(do func(*nftables.Conn)) {
			t.Helper()
			c, err := nftables.New()
			if err != nil {
				t.Fatal(err)
			}
			do(c)
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		there := func(what string, family nftables.TableFamily, want bool) {
			t.Helper()
			c, err := nftables.New()
			if err != nil {
				t.Fatal(err)
			}
			have, err := exists(c, nftables.Table{Name: farTable, Family: family})
			if err != nil || have != want {
				t.Errorf("%s: a table of family %d %t, %v, want %t", what, family, have, err, want)
			}
		}
		keep("the first time", both, true)
		keep("the second time", both, false)
		there("both", ip6, true)
		for _, family := range []nftables.TableFamily{ip, ip6} {
			own := &nftables.Table{Name: farTable, Family: family}
			meddle(func(c *nftables.Conn) { c.FlushTable(own) })
			keep("a program has emptied the table", both, true)
			meddle(func(c *nftables.Conn) { c.DelTable(own) })
			keep("a program has removed the table", both, true)
			keep("at rest", both, false)
		}
		meddle(func(c *nftables.Conn) { c.FlushRuleset() })
		keep("a program has removed all tables", both, true)
		ensure(t, rules(), true)
		keep("beside the balancer's rules", both, false)
		filter = FarFilter{}
		keep("for other routers", one, true)
		there("for IPv4 alone", ip, true)
		there("for IPv4 alone", ip6, false)
		filter = FarFilter{}
		keep("for none", Far{}, true)
		there("for none", ip, false)
		keep("for none at rest", Far{}, false)
	})
}

// TestFarFilter_ManyChains holds that a look at the rules costs no more on a node with many chains
// of other programs.
func TestFarFilter_ManyChains(t *testing.T) {
	within(t, func(t *testing.T) {
		far := Far{IPv4: []vrrp.ID{7}}
		if _, err := new(FarFilter).Keep(far); err != nil {
			t.Fatal(err)
		}
		keep := func() {
			if changed, err := new(FarFilter).Keep(far); err != nil || changed {
				t.Errorf("changed %t, %v", changed, err)
			}
		}
		before := testing.AllocsPerRun(5, keep)
		c, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		other := c.AddTable(&nftables.Table{Name: "services", Family: nftables.TableFamilyIPv4})
		for i := range 100 {
			c.AddChain(&nftables.Chain{Name: fmt.Sprint("service", i), Table: other})
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if after := testing.AllocsPerRun(5, keep); after > 2*before {
			t.Errorf("%.0f allocations beside 100 chains, %.0f without", after, before)
		}
	})
}
