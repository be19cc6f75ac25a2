package vip

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
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

// aged are control plane nodes by the ranks that they claim, the oldest first.
func aged(ranks ...string) (out []member.Node) {
	for i, rank := range ranks {
		n := node(1+i, true)
		n.Rank, n.Created = rank, time.Unix(int64(1000+i), 0)
		out = append(out, n)
	}
	return out
}

func (w *world) claimed() string { return fmt.Sprint(w.claims) }

// TestRank follows a node's rank from its first turn: the last one until the API shows its claim,
// and then its own, also after a reboot without an API and whoever joins and leaves.
func TestRank(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	c := w.plan.VRRP.ControlPlane.Candidates()
	priority := func(step string, rank int) {
		t.Helper()
		d := w.reconcile()
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
	w.nodes = Answer[[]member.Node]{}
	w.again(role.Master)
	priority("no rank yet, a reboot, the API is away", 4)
	if len(w.claims) > 0 {
		t.Errorf("the API is away, and it claims %s", w.claimed())
	}
	w.nodes = now
	w.nodes.Is[0].Rank = "2"
	priority("the API shows the claim", 2)
	if w.pending != (member.Claim{}) {
		t.Errorf("it has its rank, and the claim of %d is not withdrawn", w.pending.Rank)
	}
	w.nodes.Is = w.nodes.Is[:2] // the best one has it still, another has left, and so have the workers
	priority("one has left", 2)
	w.nodes.Is = append(aged("2", "0", "", "1"), node(9, false))
	priority("others have joined", 2)
	if len(w.claims) > 0 {
		t.Errorf("it has its rank and claims %s", w.claimed())
	}

	w.nodes = Answer[[]member.Node]{}
	w.again(role.Master)
	priority("a reboot, the API is away", 2)
	if len(w.claims) > 0 {
		t.Errorf("the API is away, and it claims %s", w.claimed())
	}
	w.again(role.Master)
	w.nodes = answered(aged("", "0", "3"))
	priority("another reboot, and its Node was made anew", 2)
	if got := w.claimed(); got != "[{n1 2}]" {
		t.Errorf("claims %s", got)
	}
	w.nodes = answered(aged("2", "0", "2"))
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

// TestFindSelf holds that a node claims on its own Node: not by a VIP that some Node has among its
// addresses, and not on one of a former name.
func TestFindSelf(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	w.links.Links[0].Addresses = append(w.links.Links[0].Addresses, w.links.Links[0].Addresses[0])
	w.links.Links[0].Addresses[2].Prefix = prefixes("192.0.2.5/32")[0]
	w.nodes.Is = aged("", "", "")
	w.nodes.Is[2].InternalIPs = append(w.nodes.Is[2].InternalIPs, ip("192.0.2.5"))
	former := w.nodes.Is[0]
	former.Name, former.Created = "another", time.Unix(1, 0)
	w.nodes.Is = append([]member.Node{former}, w.nodes.Is...)
	w.reconcile()
	if got := w.claimed(); got != "[{n1 0}]" {
		t.Errorf("claims %s", got)
	}
}

// TestFindSelf_HostileWorker has a worker, the youngest Node of all, claim the addresses of another
// node: that one goes by its credentials, and where a control plane node's name no Node, by those
// of the control plane alone.
func TestFindSelf_HostileWorker(t *testing.T) {
	for _, tt := range []struct {
		role role.Role
		self string
	}{{role.Master, "n1"}, {role.Master, ""}, {role.Worker, "n1"}} {
		w := newWorld(t, lan(), tt.role)
		w.self = tt.self
		w.nodes.Is = aged("0", "1", "2")
		evil := member.Node{Candidate: addr.Candidate{Name: "evil", InternalIPs: ips("192.0.2.11", "2001:db8::11"), Annotated: ips("192.0.2.11")}, Created: time.Unix(9e8, 0), Rank: "2"}
		w.nodes.Is = append(w.nodes.Is, evil)
		s, err := w.room.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := w.room.Decide(s)
		if got := w.room.findSelf(s); got != "n1" || d.Memory.Rank != "0" || d.Claim != (member.Claim{}) {
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
	d := w.reconcile()
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
			w.nodes = answered(nodes(tt.nodes, 2))
			w.passes[vrrp.CheckLB], w.passes[vrrp.CheckBoth] = tt.lb, tt.up
			w.reconcile() // listens of the nodes
			w.reconcile()
			if got := fmt.Sprint(w.unserved); got != tt.want {
				t.Errorf("unserved are %s, want %s", got, tt.want)
			}
		})
	}
}
