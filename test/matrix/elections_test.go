package matrix

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestElections holds what a node stands for by the cluster.json that the operator gives it: a
// master for each VIP, a worker for those of the ingress, a remote worker, which has the same
// files, for none. On OpenStack with both families the two of a VIP move together, and nowhere
// else. One control plane node alone stands where the topology may have one, also before the second
// one has come.
func TestElections(t *testing.T) {
	o, err := newOperator(tree(t, spec.Cluster{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells() {
		if c.noVIPs || c.balancer != spec.Managed || c.records != spec.Internal {
			continue
		}
		config, err := o.render(c.controllerConfig(), "master")
		if err != nil {
			t.Fatal(err)
		}
		var p plan.Plan
		for _, f := range set(t, config).Files() {
			if f.Path == plan.Path {
				given, findings := spec.Parse(f.Path, f.Contents, spec.Knobs{})
				if findings.HasErrors() {
					t.Fatalf("%s: %v", c, findings)
				}
				p = compiled(t, given)
			}
		}
		pairs := len(c.api())
		small := c.topology.is != spec.HighlyAvailable
		for _, tt := range []struct {
			what           string
			role           role.Role
			remote         bool
			masters        int
			stands, groups int
		}{
			{"a master", role.Master, false, c.topology.masters, 2 * pairs, 2},
			{"a worker", role.Worker, false, c.topology.masters, pairs, 1},
			{"a remote worker", role.Worker, true, c.topology.masters, 0, 0},
			{"the first master", role.Master, false, 1, map[bool]int{true: 2 * pairs, false: pairs}[small], map[bool]int{true: 2, false: 1}[small]},
		} {
			if pairs < 2 || c.platform != spec.OpenStack {
				tt.groups = 0
			}
			stands, groups := c.elects(p, tt.role, tt.remote, tt.masters)
			if len(stands) != tt.stands || len(groups) != tt.groups {
				t.Errorf("%s: %s stands for %v in the groups %v, want %d and %d", c, tt.what, stands, groups, tt.stands, tt.groups)
			}
		}
	}
}

// elects is what a node of a cluster stands for, and in which groups. Its gate is open, and the API
// has named so many masters and one worker.
func (c cell) elects(p plan.Plan, r role.Role, remote bool, masters int) (stands, groups []string) {
	at := func(i int) (all []netip.Addr) {
		for _, network := range c.networks() {
			prefix := netip.MustParsePrefix(network)
			all = append(all, netip.MustParseAddr(strings.TrimSuffix(prefix.Addr().String(), "0")+fmt.Sprint(10+i)))
		}
		return all
	}
	var nodes []member.Node
	for i := range masters + 1 {
		nodes = append(nodes, member.Node{ControlPlane: i > 0, Candidate: addr.Candidate{Name: fmt.Sprintf("n%d", i), InternalIPs: at(i)}})
	}
	own := at(map[role.Role]int{role.Master: 1, role.Worker: 0}[r])
	link := addr.Link{Index: 2, Name: "ens3", Up: true}
	for i, network := range c.networks() {
		link.Addresses = append(link.Addresses, addr.Address{Prefix: netip.PrefixFrom(own[i], netip.MustParsePrefix(network).Bits())})
	}
	room := vip.New(vip.Options{
		Role: r, Memory: nodestate.Memory{Open: true, BootstrapGone: true},
		Migration: migrate.New(p, migrate.Usual(), migrate.Memory{}), Now: time.Now,
	})
	desired, _ := room.Decide(vip.Snapshot{
		At: time.Unix(1000, 0), Links: addr.Snapshot{Links: []addr.Link{link}}, Agreed: own, Remote: remote, Served: true, Nodes: vip.Answer[[]member.Node]{Is: nodes, OK: true},
		Candidates: vip.Answer[[]notice.Candidate]{Is: []notice.Candidate{{Name: "n0", Addresses: at(0)}}, OK: true},
	})
	for _, i := range desired.Config.Instances {
		stands = append(stands, string(i.Name))
	}
	for _, g := range desired.Config.Groups {
		if len(g.Members) == 2 && !slices.Contains(groups, string(g.Name)) {
			groups = append(groups, string(g.Name))
		}
	}
	return stands, groups
}
