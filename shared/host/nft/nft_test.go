package nft

import (
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"github.com/google/nftables/xt"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// rules are those of a dual-stack cluster with two VIPs of one family.
func rules() redirect.Rules {
	vip := netip.MustParseAddr
	r := redirect.Rules{Closed: []redirect.Closed{{Port: 9446, For: 22623,
		VIPs: []netip.Addr{vip("192.0.2.5"), vip("2001:db8::5")}}}}
	for _, v := range []string{"192.0.2.5", "192.0.2.7", "2001:db8::5"} {
		r.Redirects = append(r.Redirects, redirect.Redirect{VIP: vip(v), From: 6443, To: 9445})
	}
	r.Redirects = append(r.Redirects,
		redirect.Redirect{VIP: vip("192.0.2.5"), From: 22623, To: 9446,
			Sources: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"),
				netip.MustParsePrefix("198.51.100.0/22")}},
		redirect.Redirect{VIP: vip("2001:db8::5"), From: 22623, To: 9446,
			Sources: []netip.Prefix{netip.MustParsePrefix("2001:db8::/61")}})
	return r
}

// within runs f in a network of its own.
func within(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	ns := netns.New(t)
	if err := ns.In(func() error { f(t); return nil }); err != nil {
		t.Fatal(err)
	}
}

func ensure(t *testing.T, r redirect.Rules, want bool) {
	t.Helper()
	changed, err := Ensure(r)
	if err != nil || changed != want {
		t.Errorf("Ensure: changed %t, %v, want %t", changed, err, want)
	}
}

func present(t *testing.T, r redirect.Rules, want bool) {
	t.Helper()
	if got, err := Present(r); err != nil || got != want {
		t.Errorf("Present: %t, %v, want %t", got, err, want)
	}
}

// TestEnsure holds H-15 and H-16 for one caller: what is there is exactly what was asked for last.
func TestEnsure(t *testing.T) {
	within(t, func(t *testing.T) {
		present(t, rules(), false)
		ensure(t, rules(), true)
		present(t, rules(), true)
		ensure(t, rules(), false)
		ensure(t, rules().Off(), true)
		present(t, rules(), false)
		present(t, rules().Off(), true)
		ensure(t, rules(), true)
		ensure(t, redirect.Rules{}, true)
		present(t, rules(), false)
		present(t, redirect.Rules{}, true)
		ensure(t, redirect.Rules{}, false)
	})
}

// TestContent holds W-19: rules that differ in anything are other rules, and are replaced.
func TestContent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*redirect.Rules)
	}{
		{"another VIP", func(r *redirect.Rules) { r.Redirects[0].VIP = netip.MustParseAddr("192.0.2.6") }},
		{"another VIP of IPv6", func(r *redirect.Rules) { r.Redirects[2].VIP = netip.MustParseAddr("2001:db8::6") }},
		{"another port", func(r *redirect.Rules) { r.Redirects[0].From = 7443 }},
		{"another port of the balancer", func(r *redirect.Rules) { r.Redirects[0].To = 9443 }},
		{"one VIP less", func(r *redirect.Rules) { r.Redirects = r.Redirects[1:] }},
		{"another source", func(r *redirect.Rules) { r.Redirects[3].Sources[1] = netip.MustParsePrefix("198.51.100.0/23") }},
		{"every source", func(r *redirect.Rules) { r.Redirects[3].Sources = nil }},
		{"nothing closed", func(r *redirect.Rules) { r.Closed = nil }},
		{"another port closed", func(r *redirect.Rules) { r.Closed[0].Port = 9447 }},
		{"closed but for another port", func(r *redirect.Rules) { r.Closed[0].For = 22624 }},
		{"closed but for another VIP",
			func(r *redirect.Rules) { r.Closed[0].VIPs[1] = netip.MustParseAddr("2001:db8::6") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				other := rules()
				tt.change(&other)
				ensure(t, other, true)
				present(t, rules(), false)
				ensure(t, rules(), true)
				present(t, rules(), true)
				present(t, other, false)
			})
		})
	}
}

// TestForeignHand changes our table behind our back.
func TestForeignHand(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(c *nftables.Conn, chains map[string]*nftables.Chain)
	}{
		{"a rule more", func(c *nftables.Conn, ch map[string]*nftables.Chain) {
			c.AddRule(&nftables.Rule{Table: API.kernels(), Chain: ch["prerouting"],
				Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}}})
		}},
		{"an empty chain", func(c *nftables.Conn,
			ch map[string]*nftables.Chain) {
			c.FlushChain(ch["output"])
		}},
		{"a chain more", func(c *nftables.Conn, _ map[string]*nftables.Chain) {
			c.AddChain(&nftables.Chain{Name: "more", Table: API.kernels()})
		}},
		{"a chain less", func(c *nftables.Conn, ch map[string]*nftables.Chain) {
			c.FlushChain(ch["input"])
			c.DelChain(ch["input"])
		}},
		{"a chain that drops", func(c *nftables.Conn, ch map[string]*nftables.Chain) {
			drop := nftables.ChainPolicyDrop
			c.FlushChain(ch["input"])
			c.AddChain(&nftables.Chain{Name: "input", Table: API.kernels(), Type: nftables.ChainTypeFilter,
				Hooknum:  nftables.ChainHookInput,
				Priority: nftables.ChainPriorityFilter, Policy: &drop})
		}},
		{"no table", func(c *nftables.Conn, _ map[string]*nftables.Chain) { c.DelTable(API.kernels()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				ensure(t, rules(), true)
				c, err := nftables.New()
				if err != nil {
					t.Fatal(err)
				}
				byName := map[string]*nftables.Chain{}
				for _, want := range chains(rules()) {
					byName[want.name] = &nftables.Chain{Name: want.name, Table: API.kernels()}
				}
				tt.do(c, byName)
				if err := c.Flush(); err != nil {
					t.Fatal(err)
				}
				present(t, rules(), false)
				ensure(t, rules(), true)
				present(t, rules(), true)
			})
		})
	}
}

// TestConcurrent holds H-16: many callers at once, of which each asks for the same, then half of
// them for nothing.
func TestConcurrent(t *testing.T) {
	ns := netns.New(t)
	at := func(n int, f func(i int) error) {
		t.Helper()
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if err := ns.In(func() error { return f(i) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	count := func() (n int) {
		at(1, func(int) error {
			c, err := nftables.New()
			if err != nil {
				return err
			}
			for _, want := range chains(rules()) {
				got, err := c.GetRules(API.kernels(), &nftables.Chain{Name: want.name, Table: API.kernels()})
				if err != nil {
					return err
				}
				n += len(got)
			}
			return nil
		})
		return n
	}
	for range 5 {
		at(16, func(int) error { _, err := Ensure(rules()); return err })
		if got, want := count(), 6+5+3+4; got != want {
			t.Fatalf("%d rules, want %d", got, want)
		}
		at(16, func(i int) error {
			wanted := rules()
			if i%2 == 0 {
				wanted = redirect.Rules{}
			}
			_, err := Ensure(wanted)
			return err
		})
		at(16, func(int) error { _, err := Ensure(redirect.Rules{}); return err })
		if got := count(); got != 1 { // which concerns no new connection
			t.Fatalf("%d rules are left", got)
		}
	}
}

// TestLeftovers holds H-19: another program's rules go, those beside them stay.
func TestLeftovers(t *testing.T) {
	within(t, func(t *testing.T) {
		c, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		comment := userdata.AppendString(nil, userdata.TypeComment, leftoverComment)
		for _, family := range []nftables.TableFamily{nftables.TableFamilyIPv4,
			nftables.TableFamilyIPv6} {
			own := c.AddTable(&nftables.Table{Name: leftoverTable, Family: family})
			pre := natChain(c, own, "ocp_prerouting", nftables.ChainHookPrerouting)
			c.AddRule(&nftables.Rule{Table: own, Chain: pre, UserData: comment,
				Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}}})
			nat := c.AddTable(&nftables.Table{Name: iptablesTable, Family: family})
			for name, hook := range map[string]*nftables.ChainHook{"PREROUTING": nftables.ChainHookPrerouting, "OUTPUT": nftables.ChainHookOutput} {
				chain := natChain(c, nat, name, hook)
				mark, other := xt.Comment(leftoverComment), xt.Comment("kube-proxy")
				for _, info := range []*xt.Comment{&mark, &other, &mark} {
					c.AddRule(&nftables.Rule{Table: nat, Chain: chain, Exprs: []expr.Any{
						&expr.Match{Name: "comment", Info: info},
						&expr.Verdict{Kind: expr.VerdictAccept}}})
				}
			}
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{2 + 8, 0} {
			removed, err := RemoveLeftovers()
			if err != nil || (len(removed) > 0) != (want > 0) {
				t.Errorf("removed %q, %v", removed, err)
			}
		}
		for _, family := range []nftables.TableFamily{nftables.TableFamilyIPv4,
			nftables.TableFamilyIPv6} {
			if there, err := exists(c, nftables.Table{Name: leftoverTable,
				Family: family}); there || err != nil {
				t.Errorf("family %d: table %s: %t, %v", family, leftoverTable, there, err)
			}
			nat := &nftables.Table{Name: iptablesTable, Family: family}
			for _, name := range []string{"PREROUTING", "OUTPUT"} {
				left, err := c.GetRules(nat, &nftables.Chain{Name: name, Table: nat})
				if err != nil || len(left) != 1 {
					t.Errorf("family %d: %s has %d rules, %v, want the foreign one", family,
						name, len(left), err)
				}
			}
		}
	})
}

func natChain(c *nftables.Conn, t *nftables.Table, name string,
	hook *nftables.ChainHook) *nftables.Chain {
	return c.AddChain(&nftables.Chain{Name: name, Table: t, Type: nftables.ChainTypeNAT,
		Hooknum: hook, Priority: nftables.ChainPriorityNATDest})
}

// TestWithoutPermission holds K-62: a question that gets no answer is an error, and no rule is
// taken for absent.
func TestWithoutPermission(t *testing.T) {
	within(t, func(t *testing.T) {
		ensure(t, rules(), true)
		asNobody := func(what string, f func() error) {
			t.Helper()
			if err := f(); err == nil || !strings.Contains(err.Error(), "not permitted") {
				t.Errorf("%s: %v", what, err)
			}
		}
		restore := dropCapabilities(t)
		asNobody("Present", func() error { _, err := Present(rules()); return err })
		asNobody("Ensure", func() error { _, err := Ensure(rules()); return err })
		asNobody("RemoveLeftovers", func() error { _, err := RemoveLeftovers(); return err })
		restore()
		present(t, rules(), true)
	})
}

// dropCapabilities takes the effective capabilities from this thread, which is the test's own.
func dropCapabilities(t *testing.T) (restore func()) {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	if err := unix.Capget(&header, &had[0]); err != nil {
		t.Fatal(err)
	}
	none := had
	none[0].Effective, none[1].Effective = 0, 0
	if err := unix.Capset(&header, &none[0]); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Capset(&header, &had[0]); err != nil {
			t.Fatal(err)
		}
	}
}
