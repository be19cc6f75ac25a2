package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/beside"
	"github.com/onprem-infra/onprem-infra/test/openshift"
	"github.com/onprem-infra/onprem-infra/units"
)

// eachTree calls f once for each different set of units that a role of some cluster has.
func eachTree(t *testing.T, f func(t *testing.T, what string, c cell, ours []asset.Unit)) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range append(cells(), routedCells()...) {
		described, _ := c.described(t)
		p := compiled(t, described)
		for _, r := range p.Roles() {
			if r == role.Bootstrap {
				continue
			}
			list := goods(t, p, r).Units()
			if c.routed {
				list = append(list, units.Host{OpenShift: true}.Describe()...)
			}
			key := fmt.Sprintf("%s %s %v", c.platform, r, list)
			if !seen[key] {
				seen[key] = true
				f(t, fmt.Sprintf("%s, %s", c, r), c, list)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d kinds of trees were looked at", len(seen))
	}
}

// sequence is what must be started before what, where both are there.
var sequence = []struct{ earlier, later string }{
	{"crio-wipe.service", "onprem-install.service"},
	{"NetworkManager-wait-online.service", "onprem-install.service"},
	{"onprem-install.service", "nodeip-configuration.service"},
	{"onprem-install.service", "onprem-describe.service"},
	{"onprem-describe.service", "nodeip-configuration.service"},
	{"NetworkManager-wait-online.service", "nodeip-configuration.service"},
	{"nodeip-configuration.service", "ovs-configuration.service"},
	{"nodeip-configuration.service", "nmstate-configuration.service"},
	{"nodeip-configuration.service", "crio.service"},
	{"nodeip-configuration.service", "kubelet.service"},
	{"nmstate-configuration.service", "wait-for-node-ip.service"},
	{"ovs-configuration.service", "wait-for-node-ip.service"},
	{"wait-for-node-ip.service", "crio.service"},
	{"wait-for-node-ip.service", "kubelet.service"},
	{"ovs-configuration.service", "wait-for-br-ex-up.service"},
	{"wait-for-br-ex-up.service", "node-valid-hostname.service"},
	{"wait-for-br-ex-up.service", "kubelet.service"},
	{"kubelet.service", "onprem-vip-leave.service"},
}

// TestBootOrder puts each node's units beside all of the operator's, in each form that a release
// has them in: their order has no cycle, which systemd would break by starting less, and each step
// has what it needs before it (N-16, N-17).
func TestBootOrder(t *testing.T) {
	for _, form := range beside.Forms() {
		left, err := beside.LeftOut(form)
		if err != nil {
			t.Fatal(err)
		}
		eachTree(t, func(t *testing.T, what string, c cell, ours []asset.Unit) {
			for _, theirs := range openshift.Nodes(string(c.platform)) {
				all := append(rows(t, ours), beside.Theirs(theirs, left, ours)...)
				if cycle := openshift.Cycle(all); cycle != nil {
					t.Errorf("%s, by %s: each is after the next: %v", what, form, cycle)
					return
				}
				for _, want := range sequence {
					if late(all, want.earlier, want.later) {
						t.Errorf("%s, by %s: %s does not wait for %s", what, form, want.later, want.earlier)
					}
				}
			}
		})
	}
}

// rows are units of ours as rows of the operator's table.
func rows(t *testing.T, ours []asset.Unit) []openshift.Unit {
	t.Helper()
	list, err := beside.Ours(ours)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// late is whether both units are there and the later one does not wait for the earlier.
func late(all []openshift.Unit, earlier, later string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(u openshift.Unit) bool { return u.Name == name })
	}
	return has(earlier) && has(later) && !openshift.Earlier(all, later)[earlier]
}

// TestBootNames holds that our nodes' units name no unit that is not there: of the operator's
// table, of ours, or of those that any system has.
func TestBootNames(t *testing.T) {
	known := map[string]bool{"containerd.service": true, "systemd-networkd.service": true, "network.target": true}
	for _, u := range openshift.Facts() {
		known[u.Name] = true
		for _, name := range strings.Fields(u.After + " " + u.Before + " " + u.WantedBy) {
			known[name] = true
		}
	}
	eachTree(t, func(t *testing.T, what string, _ cell, ours []asset.Unit) {
		for _, u := range ours {
			known[u.Name] = true
		}
		for _, row := range rows(t, ours) {
			lists := []string{row.After, row.Before, row.Wants, row.WantedBy, row.RequiredBy}
			for _, name := range strings.Fields(strings.Join(lists, " ")) {
				if !known[name] {
					t.Errorf("%s: %s names %s, which no node has", what, row.Name, name)
				}
			}
		}
	})
}

// TestOneChoice holds that no other unit chooses a node's addresses beside ours, in neither form:
// what remains of the operator's has a drop-in that keeps it from running where our unit is.
func TestOneChoice(t *testing.T) {
	const choice = "nodeip-configuration.service"
	for _, form := range beside.Forms() {
		left, err := beside.LeftOut(form)
		if err != nil {
			t.Fatal(err)
		}
		eachTree(t, func(t *testing.T, what string, c cell, ours []asset.Unit) {
			for _, u := range beside.Theirs(openshift.Nodes(string(c.platform))[0], left, ours) {
				if !strings.HasPrefix(u.Name, "nodeip-configuration") {
					continue
				}
				i := slices.IndexFunc(ours, func(o asset.Unit) bool { return o.Name == u.Name && len(o.DropIns) == 1 })
				kept := "ConditionPathExists=!" + unitDir + choice
				if i < 0 || !strings.Contains(string(ours[i].DropIns[0].Contents), kept) {
					t.Errorf("%s, by %s: %s chooses addresses beside ours", what, form, u.Name)
				}
			}
			if !slices.ContainsFunc(ours, func(o asset.Unit) bool { return o.Name == choice && len(o.Contents) > 0 }) {
				t.Errorf("%s: %s is not there", what, choice)
			}
		})
	}
}
