package matrix

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	runs     = "/etc/kubernetes/manifests/"
	disabled = "/etc/kubernetes/disabled-manifests/"
	unitDir  = "/etc/systemd/system/"
)

// enabled is the enablement matrix: which goods there are and where, by whether there are VIPs and
// whose balancer has them. A path that ends in a unit's name is one that is enabled. What stands
// for no role is on all nodes.
var enabled = []struct {
	what                              string
	roles                             []role.Role
	managed, userManaged, withoutVIPs string // a path, or nothing
}{
	{"keepalived", []role.Role{role.Master, role.Worker}, runs + "keepalived.yaml", disabled + "keepalived.yaml", ""},
	{"HAProxy", []role.Role{role.Master}, runs + "haproxy.yaml", disabled + "haproxy.yaml", ""},
	{"CoreDNS", nil, runs + "coredns.yaml", runs + "coredns.yaml", ""},
	{"the VIP leaves first", []role.Role{role.Master, role.Worker}, unitDir + "onprem-vip-leave.service", "", ""},
	{"health scripts", []role.Role{role.Master, role.Worker}, "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ingress.sh", "", ""},
	{"the API's health scripts", []role.Role{role.Master}, "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ocp_script.sh", "", ""},
	// One unit for all that choose a node's addresses, so also where upstream's base and vSphere
	// variants would.
	{"the node's addresses", nil, unitDir + "nodeip-configuration.service", unitDir + "nodeip-configuration.service", unitDir + "nodeip-configuration.service"},
	{"resolv.conf", nil, unitDir + "on-prem-resolv-prepender.path", unitDir + "on-prem-resolv-prepender.path", ""},
	{"NetworkManager's hook", nil, "/etc/NetworkManager/dispatcher.d/30-resolv-prepender", "/etc/NetworkManager/dispatcher.d/30-resolv-prepender", ""},
	{"NetworkManager's setting", nil, "/etc/NetworkManager/conf.d/99-SHORT.conf", "/etc/NetworkManager/conf.d/99-SHORT.conf", ""},
	{"kubelet's wait", nil, unitDir + "kubelet.service.d/10-mco-on-prem-wait-resolv.conf", unitDir + "kubelet.service.d/10-mco-on-prem-wait-resolv.conf", ""},
	// Whether there is a bridge to wait for is known on the node alone, and the unit looks for it.
	{"the bridge", nil, unitDir + "wait-for-br-ex-up.service", unitDir + "wait-for-br-ex-up.service", unitDir + "wait-for-br-ex-up.service"},
	{"keepalived at first", []role.Role{role.Bootstrap}, unitDir + "onprem-keepalived.service", "", ""},
	{"CoreDNS at first", []role.Role{role.Bootstrap}, unitDir + "onprem-coredns.service", unitDir + "onprem-coredns.service", ""},
}

// TestEnabled holds the matrix in every cell, and that there is no pod in another place and no pod
// of ours beside those.
func TestEnabled(t *testing.T) {
	for _, c := range cells() {
		described, _ := c.described(t)
		p := compiled(t, described)
		for _, r := range p.Roles() {
			set := goods(t, p, r)
			expected := map[string]bool{}
			for _, row := range enabled {
				want := map[bool]string{true: row.managed, false: row.userManaged}[c.balancer == spec.Managed]
				switch {
				case c.noVIPs, r == role.Bootstrap && c.platform == spec.VSphere && c.balancer == spec.UserManaged: // vSphere brings DNS of its own then
					want = row.withoutVIPs
				}
				roles := row.roles
				if roles == nil {
					roles = role.Nodes()
				}
				if want == "" || !slices.Contains(roles, r) {
					continue
				}
				want = strings.ReplaceAll(want, "SHORT", c.platform.Short())
				expected[want] = true
				if err := there(set, want); err != nil {
					t.Errorf("%s, %s: %s: %v", c, r, row.what, err)
				}
			}
			for _, row := range enabled {
				for _, at := range []string{row.managed, row.userManaged, row.withoutVIPs} {
					at = strings.ReplaceAll(at, "SHORT", c.platform.Short())
					if at != "" && !expected[at] && there(set, at) == nil {
						t.Errorf("%s, %s: %s: %s is there", c, r, row.what, at)
					}
				}
			}
		}
	}
}

// there is nil when a set has a path, and when that of a unit, enabled.
func there(set asset.Set, at string) error {
	if !slices.Contains(set.Paths(), at) {
		return fmt.Errorf("%s is not there", at)
	}
	for _, u := range set.Units() {
		if unitDir+u.Name == at && !u.Enabled {
			return fmt.Errorf("%s is not enabled", at)
		}
	}
	return nil
}

// TestShapes holds what each shape of a control plane is: whether one node alone elects itself, so
// that a cluster of one is served, which roles there are, and that a kind of cluster which the
// installer refuses is warned of and no other kind is.
func TestShapes(t *testing.T) {
	alone := map[string]bool{"arbiter": true, "two-node": true, "single-node": true}
	for _, c := range cells() {
		described, findings := c.described(t)
		p := compiled(t, described)
		if p.Topology != c.topology.is || p.Elects(1) != alone[c.topology.name] || !p.Elects(2) {
			t.Errorf("%s: topology %s, one node elects itself: %v, two do: %v", c, p.Topology, p.Elects(1), p.Elects(2))
		}
		if has := slices.Contains(p.Roles(), role.Arbiter); has != (c.topology.arbiters > 0) {
			t.Errorf("%s: roles %v", c, p.Roles())
		}
		warning := ""
		switch {
		case c.refused(): // it is described in our own form
		case c.platform == spec.OVirt:
			warning = "today's installer refuses oVirt"
		case c.platform == spec.BareMetal && c.topology.masters == 1:
			warning = "the installer refuses a single control plane node on baremetal"
		}
		if (warning != "") != (len(findings) == 1) || len(findings) > 1 || len(findings) == 1 && !strings.Contains(findings[0].Text, warning) {
			t.Errorf("%s: findings %v, want %q", c, findings, warning)
		}
		if want := c.families; string(p.Families) != want {
			t.Errorf("%s: families %s", c, p.Families)
		}
		if again, findings := spec.Parse(plan.Path, plan.Encode(p), spec.Knobs{}); len(findings) > 0 || !slices.Equal(plan.Encode(compiled(t, again)), plan.Encode(p)) {
			t.Errorf("%s: a host finds fault with its cluster.json: %v", c, findings)
		}
	}
}

// TestSecondPair holds the addition of a second pair of VIPs to a cluster that lives: no file
// changes but cluster.json, so nothing is begun anew but what reads it. The templates for the
// Machine Config Operator are the same ones before and after.
func TestSecondPair(t *testing.T) {
	for _, c := range cells() {
		if c.noVIPs || !strings.HasPrefix(c.families, "DualStack") {
			continue
		}
		described, _ := c.described(t)
		after := compiled(t, described)
		first := slices.IndexFunc(described.APIVIPs, func(a netip.Addr) bool { return a.Is6() == after.Families.IPv6First() })
		described.APIVIPs, described.IngressVIPs = described.APIVIPs[first:first+1], described.IngressVIPs[first:first+1]
		before := compiled(t, described)
		for _, r := range after.Roles() {
			was, is := goods(t, before, r).Tree(), goods(t, after, r).Tree()
			for i := range max(len(was), len(is)) {
				switch {
				case i >= len(was) || i >= len(is) || was[i].Path != is[i].Path:
					t.Fatalf("%s, %s: other files are there", c, r)
				case (string(was[i].Contents) != string(is[i].Contents)) != (is[i].Path == plan.Path):
					t.Errorf("%s, %s: %s changes", c, r, is[i].Path)
				}
			}
		}
	}
}
