package nft

import (
	"testing"

	"github.com/google/nftables"
)

// TestDropFarVRRP holds that the rule is written when it is not there, or is another one, and only then. That it drops the right packets is for
// the daemons' tests.
func TestDropFarVRRP(t *testing.T) {
	within(t, func(t *testing.T) {
		drop := func(what string, want bool) {
			t.Helper()
			if changed, err := DropFarVRRP(); err != nil || changed != want {
				t.Errorf("%s: changed %t, %v, want %t", what, changed, err, want)
			}
		}
		drop("the first time", true)
		drop("the second time", false)
		c, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		c.FlushTable(&nftables.Table{Name: nearTable, Family: nftables.TableFamilyIPv4})
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		drop("somebody has emptied the table", true)
		c.DelTable(&nftables.Table{Name: nearTable, Family: nftables.TableFamilyIPv4})
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		drop("somebody has removed the table", true)
		drop("at rest", false)
		ensure(t, rules(), true)
		drop("beside the balancer's rules", false)
	})
}
