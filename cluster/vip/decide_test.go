package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestMembers holds who stands in which election, beside whom: on a control plane node both VIPs,
// elsewhere the ingress VIP only (K-08, K-24).
func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		name         string
		role         role.Role
		change       func(w *world)
		api, ingress []netip.Addr // nil: no instance
	}{
		{name: "a control plane node", role: role.Master, api: ips("192.0.2.12", "192.0.2.13"), ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "a worker", role: role.Worker, ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "a remote worker", role: role.Worker, change: func(w *world) { w.remote = true }},
		{name: "a node that the API does not name", role: role.Master, change: func(w *world) { w.nodes = answered(nodes(4, 2)[1:]) }},
		{name: "a control plane node that is none to the API", role: role.Master,
			change:  func(w *world) { w.nodes.Is[0].ControlPlane = false },
			ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "a node without an address of the family", role: role.Master,
			change: func(w *world) { w.nodes.Is[1].InternalIPs = ips("2001:db8::12") },
			api:    ips("192.0.2.13"), ingress: ips("192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "a node that only its network plugin knows, by each address that it may speak from", role: role.Master,
			change: func(w *world) {
				w.nodes.Is[1].InternalIPs, w.nodes.Is[1].Annotated = nil, ips("192.0.2.112", "192.0.2.5", "192.0.2.12", "198.51.100.12", "2001:db8::12")
			},
			api: ips("192.0.2.12", "192.0.2.13", "192.0.2.112"), ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15", "192.0.2.112")},
		{name: "this node, which only its network plugin knows", role: role.Master,
			change: func(w *world) {
				w.nodes.Is[0].InternalIPs, w.nodes.Is[0].Annotated = nil, ips("192.0.2.111", "192.0.2.11")
			},
			api: ips("192.0.2.12", "192.0.2.13"), ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "it is alone, with two addresses", role: role.Master,
			change: func(w *world) {
				w.nodes.Is = w.nodes.Is[:1]
				w.nodes.Is[0].InternalIPs, w.nodes.Is[0].Annotated = nil, ips("192.0.2.111", "192.0.2.11")
			}},
		{name: "a node that is known by a VIP", role: role.Master,
			change: func(w *world) { w.nodes.Is[1].InternalIPs = ips("192.0.2.5", "192.0.2.6") },
			api:    ips("192.0.2.13"), ingress: ips("192.0.2.13", "192.0.2.14", "192.0.2.15")},
		{name: "two nodes with one address", role: role.Master,
			change: func(w *world) { w.nodes.Is[3].InternalIPs = w.nodes.Is[2].InternalIPs },
			api:    ips("192.0.2.12", "192.0.2.13"), ingress: ips("192.0.2.12", "192.0.2.13", "192.0.2.15")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), tt.role)
			if tt.change != nil {
				tt.change(w)
			}
			d, why := w.decide()
			for vip, want := range map[string][]netip.Addr{"192.0.2.5": tt.api, "192.0.2.6": tt.ingress} {
				if got, ok := peers(d, vip); ok != (want != nil) || !slices.Equal(got, want) {
					t.Errorf("%s: instance %t, peers %v, want %v; %q", vip, ok, got, want, why)
				}
			}
		})
	}
}

// TestEveryNumberOfNodes holds K-20 and K-22 over topologies, families and numbers of nodes: no
// instance is ever without a peer, none has a dummy or a peer of the other family, and one node
// alone waits for a second but where a control plane may be of one.
func TestEveryNumberOfNodes(t *testing.T) {
	for _, families := range []string{"IPv4", "IPv6", "dual"} {
		for topology, replicas := range map[spec.Topology]int{
			spec.HighlyAvailable: 3, spec.SingleReplica: 1, spec.DualReplica: 2, spec.HighlyAvailableArbiter: 2,
		} {
			for n := range 20 {
				c := family(cluster(), families)
				c.Topology, c.ControlPlaneReplicas = topology, replicas
				w := newWorld(t, c, role.Master)
				w.nodes = answered(nodes(n, 0))
				d, why := w.decide()
				what := fmt.Sprintf("%s, %s, %d nodes", families, topology, n)
				stands := n >= 2 || n == 1 && topology != spec.HighlyAvailable
				if want := len(w.plan.VIPs.API) + len(w.plan.VIPs.Ingress); stands && len(d.Config.Instances) != want || !stands && len(d.Config.Instances) > 0 {
					t.Errorf("%s: %d instances of %d: %q", what, len(d.Config.Instances), want, why)
				}
				for _, i := range d.Config.Instances {
					if len(i.Peers) != max(n-1, 1) || !i.Source.IsValid() || slices.Contains(i.Peers, keepalived.Group(i.VIP)) != (n == 1) {
						t.Errorf("%s: %s has the peers %v", what, i.VIP, i.Peers)
					}
					for _, p := range i.Peers {
						if p.IsUnspecified() || p.Is4() != i.VIP.Is4() || p == i.Source {
							t.Errorf("%s: %s has the peer %s", what, i.VIP, p)
						}
					}
				}
			}
		}
	}
}

// TestGate holds that a node has no API instance before it has seen the API work, whatever it
// hears; that this is never forgotten, neither by a restart nor by a reboot; and that afterwards
// nothing closes it.
func TestGate(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	w.served = false
	for _, check := range []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckMCS} {
		w.passes[check] = true // HAProxy calls its servers up before it has looked
	}
	for range 100 {
		w.at = w.at.Add(time.Minute)
		d, why := w.decide()
		if _, ok := peers(d, "192.0.2.5"); ok || !slices.ContainsFunc(why, func(s string) bool { return strings.Contains(s, "has not seen the API work") }) {
			t.Fatalf("an API instance before the API worked: %q", why)
		}
		if _, ok := peers(d, "192.0.2.6"); !ok {
			t.Fatalf("the ingress VIP has no gate: %q", why)
		}
	}
	w.reconcile()
	w.again(role.Master)
	if _, ok := peers(w.reconcile(), "192.0.2.5"); ok {
		t.Error("a restart opens the gate")
	}
	w.served = true
	if _, ok := peers(w.reconcile(), "192.0.2.5"); !ok {
		t.Fatal("the API works, and there is no instance")
	}
	w.served, w.passes = false, map[vrrp.CheckName]bool{}
	w.reconcile()
	w.again(role.Master)                                                         // and the API is away altogether
	w.nodes, w.bootstrap = Answer[[]member.Node]{}, Answer[bootpeer.Published]{} // after a reboot
	if got, ok := peers(w.reconcile(), "192.0.2.5"); !ok || !slices.Equal(got, ips("192.0.2.12", "192.0.2.13")) {
		t.Errorf("a total outage leaves the VIP without a home: %t, %v", ok, got)
	}
}

// TestGateMemoryLost holds that an instance which runs is not taken away by a monitor that has lost
// its memory.
func TestGateMemoryLost(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	w.served = false
	w.status = supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}
	if _, ok := peers(w.reconcile(), "192.0.2.5"); !ok || !w.memory.Open {
		t.Error("the instance that runs goes")
	}
	w.nodes = Answer[[]member.Node]{}
	w.restart(role.Master, nodestate.Memory{})
	w.proposals = nil
	if d := w.reconcile(); !d.Unchanged || len(w.proposals) != 0 {
		t.Errorf("without a word of the API and without a memory %q is proposed", w.proposals)
	}
}

// TestAPIAway holds K-23: an API that is away, names nobody, or names no control plane changes
// nothing, for as long as that lasts.
func TestAPIAway(t *testing.T) {
	for name, away := range map[string]Answer[[]member.Node]{
		"has not spoken": {}, "names nobody": answered([]member.Node{}), "names workers only": answered(nodes(0, 3)), "lost what it said": {Is: nil, OK: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster(), role.Master)
			w.reconcile()
			kept := w.kept
			w.nodes = away
			for range 10 {
				w.at = w.at.Add(time.Minute)
				w.reconcile()
			}
			w.again(role.Master)
			w.reconcile()
			if len(w.proposals) != 2 || string(w.proposals[0]) != string(w.proposals[1]) || w.kept != kept {
				t.Errorf("%d proposals, %d memories: want one of each, and after the restart the same proposal", len(w.proposals), w.kept)
			}
		})
	}
}

// TestNothingKnown holds K-55: before the first word there is no configuration, and that is no
// fault.
func TestNothingKnown(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	w.nodes = Answer[[]member.Node]{}
	if d := w.reconcile(); !d.Unchanged || len(w.proposals) != 0 || w.beats != 1 {
		t.Errorf("%d proposals, %d beats, %+v", len(w.proposals), w.beats, d)
	}
}

// TestOnce holds K-30: a stable world has one configuration, handed over once.
func TestOnce(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	for i := range 20 {
		w.at = w.at.Add(time.Second)
		w.passes[vrrp.CheckLB] = i%3 == 0
		slices.Reverse(w.nodes.Is) // the order of a list means nothing
		w.reconcile()
	}
	if len(w.proposals) != 1 {
		t.Errorf("%d proposals", len(w.proposals))
	}
}

// TestLocalFirst holds K-25: the node's checks reach keepalived whatever else fails, and a monitor
// that cannot write them, or whose checks are stale, writes no heartbeat.
func TestLocalFirst(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	w.nodes, w.broken = Answer[[]member.Node]{}, errBroken
	w.passes[vrrp.CheckLB], w.passes[vrrp.CheckIngress] = true, true
	publish := func() error { return w.room.Publish(t.Context(), Desired{}) }
	if _, err := w.room.Observe(t.Context()); err == nil {
		t.Error("broken links are no fault")
	}
	if err := publish(); err != nil {
		t.Error(err)
	}
	lb, router := election.TrackFile(vrrp.CheckLB, false), election.TrackFile(vrrp.CheckIngress, true)
	if !w.tracks[lb] || !w.tracks[router] || len(w.tracks) != 6 || w.beats != 1 {
		t.Errorf("tracks %v, %d beats", w.tracks, w.beats)
	}
	w.passes[vrrp.CheckLB] = false
	publish()
	if w.tracks[lb] {
		t.Error("a failed check does not reach keepalived")
	}
	w.dead = true
	stale := publish()
	w.dead, w.trackless = false, errBroken
	if err := publish(); stale == nil || err == nil || w.beats != 2 {
		t.Errorf("%d beats, want 2: none for checks that are stale or cannot be written", w.beats)
	}
}

// TestOwnAddress holds K-19 and K-14: what the node's programs agreed on decides, and it is an
// address that the machine has.
func TestOwnAddress(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.links.Links = append(w.links.Links, addr.Link{Index: 1, Name: "eth1", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.99/24")}}})
	w.nodes.Is[0].InternalIPs = ips("192.0.2.11")
	w.agreed = ips("2001:db8::11", "192.0.2.11")
	if i := instance(t, w.reconcile(), "192.0.2.5"); i.Interface != "eth0" || i.Source != ip("192.0.2.11") {
		t.Errorf("%s on %s, and not what was agreed on", i.Source, i.Interface)
	}
	w.agreed, w.nodes.Is[0].InternalIPs = ips("192.0.2.77"), ips("192.0.2.99") // agreed on in another boot
	if i := instance(t, w.reconcile(), "192.0.2.5"); i.Interface != "eth1" || i.Source != ip("192.0.2.99") {
		t.Errorf("%s on %s, and not the address that the machine has", i.Source, i.Interface)
	}
}

// TestAddressGap holds that an address which is replaced does not cost the VIP, and one that is
// gone does.
func TestAddressGap(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.reconcile()
	w.links.Links[0].Addresses = nil
	w.at = w.at.Add(election.AddressGap - time.Second)
	if d := w.reconcile(); len(d.Config.Instances) != 2 {
		t.Errorf("%d instances in the gap", len(d.Config.Instances))
	}
	w.at = w.at.Add(time.Second)
	if d := w.reconcile(); len(d.Config.Instances) != 0 {
		t.Errorf("%d instances after the gap", len(d.Config.Instances))
	}
}

// TestOutside holds K-18: a VIP in none of the machine's networks has its instance, its peers by
// family, for both VIPs by one code path.
func TestOutside(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.Platform, c.APIVIPs, c.IngressVIPs = spec.VSphere, ips("10.8.0.83"), ips("10.8.0.84")
	c.MachineNetworks = prefixes("10.8.38.0/23")
	w := newWorld(t, c, role.Master)
	w.links = addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens192", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("10.8.38.29/23")}}}},
		Routes: []addr.Route{{LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: ip("10.8.38.1")}}}
	w.nodes = answered([]member.Node{
		{ControlPlane: true, Candidate: addr.Candidate{Name: "a", InternalIPs: ips("10.8.38.29")}},
		{ControlPlane: true, Candidate: addr.Candidate{Name: "b", InternalIPs: ips("10.8.38.30", "2001:db8::30")}},
	})
	d, why := w.decide()
	for _, vip := range []string{"10.8.0.83", "10.8.0.84"} {
		if got, ok := peers(d, vip); !ok || !slices.Equal(got, ips("10.8.38.30")) {
			t.Errorf("%s: %t, %v; %q", vip, ok, got, why)
		}
	}
}

// TestTogether holds K-21: on dual-stack OpenStack both families of a VIP move together, as a group
// that tracks for both; elsewhere, and where one family stands alone, each tracks for itself.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		name     string
		platform spec.Platform
		family   string
		role     role.Role
		alone    bool // the other family's address is not there
		groups   []vrrp.InstanceName
	}{
		{name: "OpenStack", platform: spec.OpenStack, family: "dual", role: role.Master, groups: []vrrp.InstanceName{"VG_API", "VG_INGRESS"}},
		{name: "a worker", platform: spec.OpenStack, family: "dual", role: role.Worker, groups: []vrrp.InstanceName{"VG_INGRESS"}},
		{name: "one family", platform: spec.OpenStack, family: "IPv4", role: role.Master},
		{name: "bare metal", platform: spec.BareMetal, family: "dual", role: role.Master},
		{name: "one family stands", platform: spec.OpenStack, family: "dual", role: role.Master, alone: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := family(cluster(), tt.family)
			c.Platform = tt.platform
			w := newWorld(t, c, tt.role)
			if tt.alone {
				w.links.Links[0].Addresses = w.links.Links[0].Addresses[:1]
			}
			d, why := w.decide()
			var names []vrrp.InstanceName
			for _, g := range d.Config.Groups {
				names = append(names, g.Name)
				if len(g.Members) != 2 || len(g.Tracks) != 3 {
					t.Errorf("%+v", g)
				}
			}
			if !slices.Equal(names, tt.groups) {
				t.Errorf("groups %q, want %q: %q", names, tt.groups, why)
			}
			for _, i := range d.Config.Instances {
				if i.Grouped != (len(tt.groups) > 0) || (len(i.Tracks) == 3) == i.Grouped {
					t.Errorf("%s: grouped %t, tracks %q", i.Name, i.Grouped, i.Tracks)
				}
			}
		})
	}
}

// TestMulticast holds that the mode is one value for every instance (K-09).
func TestMulticast(t *testing.T) {
	c := cluster()
	c.VRRP = spec.Multicast
	d := newWorld(t, c, role.Master).reconcile()
	if len(d.Config.Instances) != 4 {
		t.Fatalf("%+v", d.Config)
	}
	for _, i := range d.Config.Instances {
		if i.Source.IsValid() || len(i.Peers) > 0 || i.Known || i.Near {
			t.Errorf("%+v is unicast", i)
		}
	}
}

// TestNumbersRanked holds the same of clusters of ours alone: one version for both families, no
// password, and the profile's adverts.
func TestNumbersRanked(t *testing.T) {
	for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
		c := cluster()
		c.Timing = profile
		w := newWorld(t, c, role.Master)
		d := w.reconcile()
		if len(d.Config.Instances) != 4 {
			t.Fatalf("%s: %+v", profile, d.Config)
		}
		for _, i := range d.Config.Instances {
			if i.Version != vrrp.V3 || i.AuthPass != "" || i.Advert != w.plan.Timing.Model.Advert || i.Refresh != time.Second {
				t.Errorf("%s: %+v", profile, i)
			}
		}
	}
}

// TestNumbers holds the instances against the plan: base priorities, virtual router IDs, passwords
// and what each check weighs (K-04, K-05, K-50 to K-53).
func TestNumbers(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	d := w.reconcile()
	for vip, want := range map[string]keepalived.Instance{
		"192.0.2.5":   {Name: "ostest_API_0", ID: 14, Priority: 40, Version: vrrp.V2, AuthPass: "ostest_a"},
		"2001:db8::5": {Name: "ostest_API_1", ID: 14, Priority: 40, Version: vrrp.V3},
		"192.0.2.6":   {Name: "ostest_INGRESS_0", ID: 93, Priority: 20, Version: vrrp.V2, AuthPass: "ostest_i"},
		"2001:db8::6": {Name: "ostest_INGRESS_1", ID: 93, Priority: 20, Version: vrrp.V3},
	} {
		got := instance(t, d, vip)
		if got.Name != want.Name || got.ID != want.ID || got.Priority != want.Priority || got.Version != want.Version || got.AuthPass != want.AuthPass ||
			got.Advert != time.Second || got.Interface != "eth0" {
			t.Errorf("%s: %+v, want %+v", vip, got, want)
		}
	}
	weights := map[vrrp.CheckName]int{"lb": 20, "both": 5, "mcs": 3, "default_ingress": 50, "ingress_ready": 10, "ingress": 0}
	for _, track := range d.Config.Tracks {
		want, ok := weights[track.Name]
		delete(weights, track.Name)
		dir := map[bool]string{true: "/track/", false: "/fault/"}[want > 0]
		if !ok || track.Weight != want || track.File != keepalived.Path(supervised.RunDir+dir+string(track.Name)) {
			t.Errorf("%+v", track)
		}
	}
	if len(weights) > 0 || d.Config.Leave != supervised.RunDir+"/track/leave" || d.Config.NotifyFIFO != supervised.RunDir+"/notify.fifo" {
		t.Errorf("missing %v; %+v", weights, d.Config)
	}
}

// TestCandidates is a profile that no cluster has yet: who stands for the ingress VIP is the
// control plane and the candidates, a worker knows no other, and one that is none stands aside.
func TestCandidates(t *testing.T) {
	list := func(numbers ...int) (out []notice.Candidate) {
		for _, i := range numbers {
			n := node(i, false)
			out = append(out, notice.Candidate{Name: n.Name, Addresses: n.InternalIPs})
		}
		return out
	}
	for _, tt := range []struct {
		name       string
		role       role.Role
		candidates Answer[[]notice.Candidate]
		want       []netip.Addr // nil: no instance
	}{
		{name: "a candidate", role: role.Worker, candidates: answered(list(1, 7, 8)), want: ips("192.0.2.17", "192.0.2.18", "192.0.2.22", "192.0.2.23", "192.0.2.24")},
		{name: "no candidate", role: role.Worker, candidates: answered(list(7, 8))},
		{name: "nothing said", role: role.Worker},
		{name: "a control plane node", role: role.Master, candidates: answered(list(7)), want: ips("192.0.2.17", "192.0.2.22", "192.0.2.23", "192.0.2.24")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), tt.role)
			w.plan.Timing.Profile = "another"
			w.restart(tt.role, nodestate.Memory{})
			w.nodes, w.candidates = answered([]member.Node{node(12, true), node(13, true), node(14, true)}), tt.candidates
			if tt.role == role.Master {
				w.nodes.Is = append(w.nodes.Is, node(1, true))
			}
			for _, when := range []string{"", "after a restart without the API"} {
				if got, ok := peers(w.reconcile(), "192.0.2.6"); ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
					t.Errorf("%s: instance %t, peers %v, want %v", when, ok, got, tt.want)
				}
				w.again(tt.role)
				w.nodes, w.candidates = Answer[[]member.Node]{}, Answer[[]notice.Candidate]{}
			}
		})
	}
}
