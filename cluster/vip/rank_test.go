package vip

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// lan is a dual-stack cluster whose nodes have ranks.
func lan() spec.Cluster {
	c := cluster()
	c.Timing = vrrp.ProfileLan
	return c
}

// aged are control plane nodes by what they claim, the eldest first.
func aged(ranks ...string) (out []Node) {
	for i, rank := range ranks {
		n := node(1+i, true)
		n.Rank, n.Created = rank, time.Unix(int64(1000+i), 0)
		out = append(out, n)
	}
	return out
}

func TestPlaced(t *testing.T) {
	const five = 5
	twins := aged("0", "0")
	twins[1].Created = twins[0].Created
	for _, tt := range []struct {
		name  string
		self  string
		nodes []Node
		kept  string
		want  place
	}{
		{"the first claims the best", "n1", aged(""), "", place{rank: noRank, free: 0}},
		{"the lowest that is free", "n4", aged("0", "2", "1", ""), "", place{rank: noRank, free: 3}},
		{"one that has left", "n3", aged("0", "2", ""), "", place{rank: noRank, free: 1}},
		{"it has what it claimed", "n2", aged("0", "3", "2"), "", place{rank: 3, free: noRank}},
		{"two of one rank: the elder keeps it", "n1", aged("0", "0", ""), "0", place{rank: 0, free: noRank}},
		{"two of one rank: the younger takes another", "n2", aged("0", "0", ""), "0", place{rank: noRank, free: 1}},
		{"two of one age: the name decides", "n1", twins, "", place{rank: 0, free: noRank}},
		{"two of one age: and the other takes another", "n2", twins, "", place{rank: noRank, free: 1}},
		{"three of one rank", "n3", aged("0", "0", "0"), "", place{rank: noRank, free: 1}},
		{"its Node was made anew", "n3", aged("0", "1", ""), "3", place{rank: 3, free: 3}},
		{"its Node was made anew, and the rank is another's", "n3", aged("0", "3", ""), "3", place{rank: noRank, free: 1}},
		{"what it claims is no rank", "n2", aged("0", "7"), "", place{rank: noRank, free: 1}},
		{"what it claims is no rank any more", "n2", aged("0", "best"), "2", place{rank: 2, free: 2}},
		{"what others claim is no rank", "n2", aged("first", ""), "", place{rank: noRank, free: 0}},
		{"more nodes than ranks", "n6", aged("0", "1", "2", "3", "4", ""), "", place{rank: noRank, free: noRank, full: true}},
		{"more nodes than ranks, and one is free again", "n6", aged("0", "", "2", "3", "4", ""), "", place{rank: noRank, free: 1}},
		{"the API does not name it", "n9", aged("0", "1"), "2", place{rank: 2, free: noRank}},
		{"the API does not name it, and its rank is another's", "n9", aged("0", "2"), "2", place{rank: noRank, free: noRank}},
		{"nothing is known", "", nil, "", place{rank: noRank, free: noRank}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := placed(tt.self, tt.nodes, tt.kept, five); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestRanksConverge has nodes join, leave, lose what is on their Nodes and claim at one time, each
// with a view that is late: when all have seen all, every node up to the fifth has a rank of its
// own, and nobody has changed one that nobody else had.
func TestRanksConverge(t *testing.T) {
	const ranks = 5
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 5))
		api, views, kept, made := []Node{}, map[string][]Node{}, map[string]string{}, 0
		turn := func(name string) {
			p := placed(name, views[name], kept[name], ranks)
			if p.rank != noRank {
				kept[name] = notice.EncodeRank(p.rank)
			}
			i := slices.IndexFunc(api, func(n Node) bool { return n.Name == name })
			if i < 0 || p.free == noRank {
				return
			}
			before := api[i].Rank
			if j := slices.IndexFunc(views[name], func(n Node) bool { return n.Name == name }); j < 0 || views[name][j].Rank != before {
				return // a node sees its own claim before it claims again
			}
			clash := slices.ContainsFunc(views[name], func(n Node) bool { return n.Name != name && n.Rank == before })
			if before != "" && !clash {
				t.Fatalf("seed %d: %s gives up rank %s, which nobody else had as it saw it, for %d", seed, name, before, p.free)
			}
			api[i].Rank = notice.EncodeRank(p.free)
		}
		for range 40 {
			switch random.IntN(8) {
			case 0:
				if len(api) < ranks {
					made++
					n := node(made, true)
					n.Created = time.Unix(int64(made/2), 0) // two of one second
					api = append(api, n)
				}
			case 1:
				if len(api) > 0 && random.IntN(3) == 0 {
					i := random.IntN(len(api))
					api = slices.Delete(api, i, i+1)
				}
			case 2:
				if len(api) > 0 && random.IntN(3) == 0 {
					api[random.IntN(len(api))].Rank = "" // its Node was made anew
				}
			case 3, 4:
				for _, n := range api { // in one moment: all see what was
					views[n.Name] = slices.Clone(api)
				}
			default:
				if len(api) > 0 {
					one := api[random.IntN(len(api))].Name
					if random.IntN(2) == 0 {
						views[one] = slices.Clone(api)
					}
					turn(one)
				}
			}
		}
		for range ranks {
			for _, n := range slices.Clone(api) {
				views[n.Name] = slices.Clone(api)
			}
			for _, n := range slices.Clone(api) {
				turn(n.Name)
			}
		}
		seen := map[string]bool{}
		for _, n := range api {
			if n.Rank == "" || seen[n.Rank] {
				t.Fatalf("seed %d: %d nodes end with the ranks %v", seed, len(api), api)
			}
			seen[n.Rank] = true
		}
	}
}

func (w *world) claimed() string { return fmt.Sprint(w.claims) }

// TestRank follows a node's rank from its first turn: the last one until the API shows its claim,
// and then its own, also after a reboot without an API and whoever joins and leaves.
func TestRank(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	c := w.plan.VRRP.ControlPlane.Candidates()
	priority := func(step string, rank int) {
		t.Helper()
		d := w.turn()
		for _, vip := range []string{"192.0.2.5", "2001:db8::5"} {
			if got, want := int(instance(t, d, vip).Priority), int(c.Base)+c.Rank(rank); got != want {
				t.Errorf("%s: priority %d for %s, want %d", step, got, vip, want)
			}
		}
	}
	w.nodes.Is = append(aged("", "0", "1"), node(4, false))
	priority("no rank yet", 4)
	priority("no rank yet, a turn later", 4)
	if got := w.claimed(); got != "[{n1 2} {n1 2}]" {
		t.Errorf("claims %s", got)
	}
	w.claims = nil
	now := w.nodes
	w.nodes = Heard[[]Node]{}
	w.again(role.Master)
	priority("no rank yet, a reboot, the API is away", 4)
	if len(w.claims) > 0 {
		t.Errorf("the API is away, and it claims %s", w.claimed())
	}
	w.nodes = now
	w.nodes.Is[0].Rank = "2"
	priority("the API shows the claim", 2)
	if w.pending != (Claim{}) {
		t.Errorf("it has its rank, and the claim of %d is not withdrawn", w.pending.Rank)
	}
	w.nodes.Is = w.nodes.Is[:2] // the best one has it still, another has left, and so have the workers
	priority("one has left", 2)
	w.nodes.Is = append(aged("2", "0", "", "1"), node(9, false))
	priority("others have joined", 2)
	if len(w.claims) > 0 {
		t.Errorf("it has its rank and claims %s", w.claimed())
	}

	w.nodes = Heard[[]Node]{}
	w.again(role.Master)
	priority("a reboot, the API is away", 2)
	if len(w.claims) > 0 {
		t.Errorf("the API is away, and it claims %s", w.claimed())
	}
	w.again(role.Master)
	w.nodes = said(aged("", "0", "3"))
	priority("another reboot, and its Node was made anew", 2)
	if got := w.claimed(); got != "[{n1 2}]" {
		t.Errorf("claims %s", got)
	}
	w.nodes = said(aged("2", "0", "2"))
	priority("a younger one has it too", 2)
	w.nodes.Is[2].Created = time.Unix(1, 0)
	priority("an elder one has it too", 4)
	if got := w.claimed(); got != "[{n1 2} {n1 1}]" {
		t.Errorf("claims %s", got)
	}
}

// TestMoreNodesThanRanks holds that a node for which no rank is free is no candidate for the API
// VIP until one is: with the priority of another node it would take the VIP at the same time.
func TestMoreNodesThanRanks(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	candidate := func(step string, want bool) {
		t.Helper()
		d, why := w.decide()
		api := slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.VIP == ip("192.0.2.5") })
		ingress := slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.VIP == ip("192.0.2.6") })
		reason := slices.Contains(why, "no API instance: other nodes have all 5 ranks")
		if api != want || reason == want || !ingress {
			t.Errorf("%s: API instance %t, ingress instance %t, reasons %q", step, api, ingress, why)
		}
	}
	w.nodes.Is = aged("", "0", "1", "2", "3", "4")
	candidate("all ranks are taken", false)
	w.nodes.Is[2].Down = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	_, why := w.decide()
	dead := "no API instance: other nodes have all 5 ranks; Node n3, which has rank 1, has not been Ready since 2026-01-02T03:04:05Z: " +
		"if its machine does not come back, delete the Node"
	if !slices.Contains(why, dead) {
		t.Errorf("a dead node has a rank: reasons %q, want %q", why, dead)
	}
	w.nodes.Is = w.nodes.Is[:5]
	candidate("a node has left", true)
	c := cluster()
	c.Timing = vrrp.ProfileCompat
	w = newWorld(t, c, role.Master)
	w.nodes.Is = aged("", "0", "1", "2", "3", "4")
	candidate("compat has no ranks", true)
}

// TestItself holds that a node claims on its own Node: not by a VIP that some Node has among its
// addresses, and not on one of a former name.
func TestItself(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	w.links.Links[0].Addresses = append(w.links.Links[0].Addresses, w.links.Links[0].Addresses[0])
	w.links.Links[0].Addresses[2].Prefix = prefixes("192.0.2.5/32")[0]
	w.nodes.Is = aged("", "", "")
	w.nodes.Is[2].InternalIPs = append(w.nodes.Is[2].InternalIPs, ip("192.0.2.5"))
	former := w.nodes.Is[0]
	former.Name, former.Created = "another", time.Unix(1, 0)
	w.nodes.Is = append([]Node{former}, w.nodes.Is...)
	w.turn()
	if got := w.claimed(); got != "[{n1 0}]" {
		t.Errorf("claims %s", got)
	}
}

// TestSelf holds who a machine is: a VIP that it holds is nobody's name, and what a network plugin
// once saw on another host, an egress address for instance, makes it no other node as long as it
// has one of its own.
func TestSelf(t *testing.T) {
	here := addr.Snapshot{Links: []addr.Link{{Name: "eth0", Addresses: []addr.Address{
		{Prefix: prefixes("192.0.2.5/32")[0]}, {Prefix: prefixes("192.0.2.11/24")[0]}, {Prefix: prefixes("192.0.2.200/32")[0]},
	}}}}
	node := func(name string, born int64, internal, annotated string) Node {
		n := Node{Node: addr.Node{Name: name}, Created: time.Unix(born, 0)}
		if internal != "" {
			n.InternalIPs = []netip.Addr{ip(internal)}
		}
		if annotated != "" {
			n.Annotated = []netip.Addr{ip(annotated)}
		}
		return n
	}
	for _, tt := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"nobody", nil, ""},
		{"a node with the VIP that is here", []Node{node("a", 1, "192.0.2.5", "192.0.2.5")}, ""},
		{"its own address", []Node{node("a", 1, "192.0.2.10", ""), node("b", 1, "192.0.2.11", "")}, "b"},
		{"known by its network plugin alone", []Node{node("a", 1, "", "192.0.2.10"), node("b", 1, "", "192.0.2.11")}, "b"},
		{"a younger one had an address that is here now", []Node{node("a", 2, "192.0.2.10", "192.0.2.200"), node("b", 1, "192.0.2.11", "")}, "b"},
		{"its former name", []Node{node("a", 2, "192.0.2.11", ""), node("b", 1, "192.0.2.11", "")}, "a"},
	} {
		if got := Self(tt.nodes, here, []netip.Addr{ip("192.0.2.5")}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestItself_HostileWorker has a worker, the youngest Node of all, claim the addresses of another
// node: that one goes by its credentials, and where a control plane node's name no Node, by those
// of the control plane alone.
func TestItself_HostileWorker(t *testing.T) {
	for _, tt := range []struct {
		role role.Role
		self string
	}{{role.Master, "n1"}, {role.Master, ""}, {role.Worker, "n1"}} {
		w := newWorld(t, lan(), tt.role)
		w.self = tt.self
		w.nodes.Is = aged("0", "1", "2")
		evil := Node{Node: addr.Node{Name: "evil", InternalIPs: ips("192.0.2.11", "2001:db8::11"), Annotated: ips("192.0.2.11")}, Created: time.Unix(9e8, 0), Rank: "2"}
		w.nodes.Is = append(w.nodes.Is, evil)
		s, err := w.room.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := w.room.Decide(s)
		if got := w.room.Itself(s); got != "n1" || d.Memory.Rank != "0" || d.Claim != (Claim{}) {
			t.Errorf("%s, credentials of %q: it is %q with rank %q, claims %+v", tt.role, tt.self, got, d.Memory.Rank, d.Claim)
		}
	}
}

// TestHolderTracks holds that each instance of a ranked election follows a file of its own, in
// which the supervisor writes whether it holds its VIP; that of a group's members the group follows
// one, as it would count for each; and that ingress candidates are spread by their addresses.
func TestHolderTracks(t *testing.T) {
	for _, tt := range []struct {
		name     string
		platform spec.Platform
		want     string
	}{
		{"each by itself", spec.BareMetal, "API_0:holder_api_0 API_1:holder_api_1 INGRESS_0:holder_ingress_0 INGRESS_1:holder_ingress_1"},
		{"together", spec.OpenStack, "VG_API:holder_api_0 VG_INGRESS:holder_ingress_0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := lan()
			c.Platform = tt.platform
			w := newWorld(t, c, role.Master)
			d, why := w.decide()
			var got []string
			follow := func(name vrrp.InstanceName, tracks []vrrp.CheckName) {
				for _, track := range tracks {
					if strings.HasPrefix(string(track), "holder") {
						got = append(got, strings.TrimPrefix(string(name), "ostest_")+":"+string(track))
					}
				}
			}
			for _, g := range d.Config.Groups {
				follow(g.Name, g.Tracks)
			}
			for _, i := range d.Config.Instances {
				follow(i.Name, i.Tracks)
				if e := w.plan.VRRP.IngressNodes.Candidates(); i.VIP == ip("192.0.2.6") || i.VIP == ip("2001:db8::6") {
					if want := e.Base + vrrp.Priority(e.Rank(e.Spread(ip("192.0.2.11")))); i.Priority != want {
						t.Errorf("%s has the priority %d, want %d; %q", i.Name, i.Priority, want, why)
					}
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("followed are %v, want %s", got, tt.want)
			}
			files := map[vrrp.CheckName]keepalived.Track{}
			for _, track := range d.Config.Tracks {
				if _, twice := files[track.Name]; twice {
					t.Errorf("%s is there twice", track.Name)
				}
				files[track.Name] = track
			}
			want := keepalived.Track{Name: "holder_api_0", File: "/run/onprem-infra/keepalived/holder/ostest_API_0", Weight: w.plan.VRRP.ControlPlane.Holder}
			if files["holder_api_0"] != want || want.Weight == 0 {
				t.Errorf("the file is %+v, want %+v", files["holder_api_0"], want)
			}
		})
	}
}

// TestCompatHasNoRanks holds that nodes of today see neither ranks nor bonus: what they are told is
// what it was.
func TestCompatHasNoRanks(t *testing.T) {
	c := cluster()
	c.Timing = vrrp.ProfileCompat
	w := newWorld(t, c, role.Master)
	w.nodes.Is = aged("0", "0", "1")
	d := w.turn()
	text := string(keepalived.Render(d.Config))
	if len(w.claims) > 0 || d.Memory.Rank != "" || strings.Contains(text, "holder") {
		t.Errorf("claims %v, remembers rank %q\n%s", w.claims, d.Memory.Rank, text)
	}
	for _, i := range d.Config.Instances {
		if want := map[bool]vrrp.Priority{true: 40, false: 20}[strings.Contains(string(i.Name), "API")]; i.Priority != want {
			t.Errorf("%s has the priority %d, want %d", i.Name, i.Priority, want)
		}
	}
}

// TestUnserved holds when the supervisor hears that the API is not served here: with neither a
// balancer nor an API server, on a control plane node that is not alone, and beside nodes of ours
// only.
func TestUnserved(t *testing.T) {
	for _, tt := range []struct {
		name   string
		timing string
		role   role.Role
		lb, up bool
		nodes  int
		want   string
	}{
		{"nothing serves", vrrp.ProfileLan, role.Master, false, false, 3, "[ostest_API_0 ostest_API_1]"},
		{"the API server alone", vrrp.ProfileLan, role.Master, false, true, 3, "[]"},
		{"all is well", vrrp.ProfileVM, role.Master, true, true, 3, "[]"},
		{"nobody else is there", vrrp.ProfileLan, role.Master, false, false, 1, "[]"},
		{"beside nodes of today", vrrp.ProfileCompat, role.Master, false, false, 3, "[]"},
		{"a worker", vrrp.ProfileLan, role.Worker, false, false, 3, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster()
			c.Timing = tt.timing
			w := newWorld(t, c, tt.role)
			w.nodes = said(nodes(tt.nodes, 2))
			w.passes[vrrp.CheckLB], w.passes[vrrp.CheckBoth] = tt.lb, tt.up
			w.turn() // hears of the nodes
			w.turn()
			if got := fmt.Sprint(w.unserved); got != tt.want {
				t.Errorf("unserved are %s, want %s", got, tt.want)
			}
		})
	}
}
