package vip

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/bootvip"
)

// fakeHost is a FAKE: a machine that is what a test says it is.
type fakeHost struct {
	links     addr.Snapshot
	nodes     []addr.Candidate
	verdict   *release.Verdict
	conflicts map[netip.Addr]conflict.Finding
	status    supervised.Status
	proposed  [][]byte
	kept      [][]addr.Candidate
	full      bool
	forgets   bool // cannot keep nodes

	leaves      bool // the supervisor is asked to leave
	unreachable bool // it cannot be asked
	published   [][]netip.Addr

	listened []clash.Instance
	others   clash.Snapshot
	started  []vrrp.InstanceName

	forgetful bool // it cannot keep what is started
}

func (h *fakeHost) Listen(instances []clash.Instance) { h.listened = instances }
func (h *fakeHost) OtherRouters() clash.Snapshot      { return h.others }
func (h *fakeHost) Started() []vrrp.InstanceName      { return h.started }

func (h *fakeHost) Start(instances []vrrp.InstanceName) error {
	if h.forgetful {
		return errors.New("no space left")
	}
	h.started = slices.Compact(slices.Sorted(slices.Values(slices.Concat(h.started, instances))))
	return nil
}

func (h *fakeHost) Links() (addr.Snapshot, error) { return h.links, nil }
func (h *fakeHost) Nodes() []addr.Candidate       { return h.nodes }

func (h *fakeHost) Verdict(context.Context) (release.Verdict, error) {
	if h.verdict == nil {
		return release.Verdict{}, context.Canceled
	}
	return *h.verdict, nil
}

func (h *fakeHost) Conflicts(context.Context) (map[netip.Addr]conflict.Finding, error) {
	return h.conflicts, nil
}

func (h *fakeHost) Status() (supervised.Status, error) { return h.status, nil }

func (h *fakeHost) Keep(nodes []addr.Candidate) error {
	if h.forgets {
		return errors.New("no space left")
	}
	h.kept = append(h.kept, nodes)
	return nil
}

func (h *fakeHost) Propose(config keepalived.Config) error {
	if h.full {
		return errors.New("no space left")
	}
	h.proposed = append(h.proposed, keepalived.Render(config))
	return nil
}

func (h *fakeHost) Release(now bool) error {
	if h.unreachable && now {
		return errors.New("no space left")
	}
	h.leaves = now
	return nil
}

func (h *fakeHost) Announce(addresses []netip.Addr) {
	if n := len(h.published); n == 0 || !slices.Equal(h.published[n-1], addresses) {
		h.published = append(h.published, addresses)
	}
}

// fakeDaemon is a FAKE: it counts what a container engine would be asked.
type fakeDaemon struct {
	ensured []container.Spec
	stops   int
	err     error
}

func (d *fakeDaemon) Ensure(_ context.Context, s container.Spec) error {
	d.ensured = append(d.ensured, s)
	return d.err
}

func (d *fakeDaemon) Stop(context.Context, string) error { d.stops++; return d.err }

// notified is what a service manager was told.
type notified struct {
	ready  int
	status []string
}

func (h *notified) Ready() error             { h.ready++; return nil }
func (h *notified) Status(text string) error { h.status = append(h.status, text); return nil }

var (
	ip      = netip.MustParseAddr
	compile = bootvip.Compile
	dual    = bootvip.Dual
	links   = bootvip.Links
)

func master(name string, addrs ...string) addr.Candidate {
	n := addr.Candidate{Name: name}
	for _, a := range addrs {
		n.InternalIPs = append(n.InternalIPs, ip(a))
	}
	return n
}

var (
	foreign = conflict.Finding{Holder: conflict.Host{Link: "enp1s0", MAC: "02:00:5e:00:53:0b"}}

	hold = release.Verdict{Hold: true, Why: "the local API is ready"}
	host = []string{"192.0.2.10/24", "2001:db8::10/64"}
)

func room(t *testing.T, change func(*spec.Cluster)) (*Room, *fakeHost, *fakeDaemon, *notified) {
	t.Helper()
	h, d, n := &fakeHost{links: links(host...), verdict: &hold}, &fakeDaemon{}, &notified{}
	return New(Options{
		Plan: compile(t, change), Header: "made by a test", Host: h, Daemon: d, Notifier: n, Now: time.Now,
	}), h, d, n
}

func TestDecide(t *testing.T) {
	masters := []addr.Candidate{master("m1", "192.0.2.12", "2001:db8::12"), master("m0", "192.0.2.11", "2001:db8::11")}
	tests := []struct {
		name      string
		change    func(*spec.Cluster)
		links     addr.Snapshot
		nodes     []addr.Candidate
		verdict   release.Verdict
		conflicts map[netip.Addr]conflict.Finding
		run       bool
		instances []string // VIP, interface, source, peers
		why       []string // each a part of one reason
	}{
		{name: "K-22: no node known: the group is the peer", links: links(host...), verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [224.0.0.18]"}, why: []string{"API is ready", "multicast until a control plane node is known"}},
		{name: "nodes known: unicast, peers sorted", links: links(host...), nodes: masters, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.11 192.0.2.12]"}, why: []string{"API is ready", "unicast with 192.0.2.11 192.0.2.12"}},
		{name: "one node is enough", links: links(host...), nodes: masters[:1], verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.12]"}, why: []string{"API is ready", "unicast with 192.0.2.12"}},
		{name: "K-08: each family has its own peers", change: dual, links: links(host...), nodes: masters, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.11 192.0.2.12]", "2001:db8::5 enp1s0 2001:db8::10 [2001:db8::11 2001:db8::12]"},
			why:       []string{"API is ready", "192.0.2.5 on enp1s0", "2001:db8::5 on enp1s0"}},
		{name: "K-16: a node whose status lacks a family is a peer in the other", change: dual, links: links(host...), nodes: []addr.Candidate{master("m0", "192.0.2.11")}, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.11]", "2001:db8::5 enp1s0 2001:db8::10 [ff02::12]"}, why: []string{"API is ready", "unicast", "multicast"}},
		{name: "K-16: a node that only its network plugin knows is a peer by each address that it may speak from", links: links(host...),
			nodes: []addr.Candidate{{Name: "m0", Annotated: []netip.Addr{ip("192.0.2.12"), ip("192.0.2.5"), ip("192.0.2.11")}}}, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.11 192.0.2.12]"}, why: []string{"API is ready", "unicast"}},
		{name: "a cluster that asks for multicast keeps it", change: func(c *spec.Cluster) { c.VRRP = spec.Multicast }, links: links(host...), nodes: masters, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 invalid IP []"}, why: []string{"API is ready", "multicast as the cluster asks"}},
		{name: "this machine is no peer of itself", links: links(host...), nodes: []addr.Candidate{master("m0", "192.0.2.10"), master("m1", "192.0.2.12")}, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.12]"}, why: []string{"API is ready", "unicast with 192.0.2.12"}},
		{name: "N-04: the VIP on the interface is not the own address", links: links("192.0.2.5/32", "192.0.2.6/32", "192.0.2.10/24"), nodes: masters, verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [192.0.2.11 192.0.2.12]"}, why: []string{"API is ready", "unicast"}},
		{name: "no address yet", links: links(), verdict: hold, why: []string{"API is ready", "no instance for 192.0.2.5"}},
		{name: "one family has no address yet", change: dual, links: links("192.0.2.10/24"), verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [224.0.0.18]"}, why: []string{"API is ready", "multicast", "no instance for 2001:db8::5"}},
		{name: "a VIP that another host holds is left to him", links: links(host...), nodes: masters, verdict: hold, conflicts: map[netip.Addr]conflict.Finding{ip("192.0.2.5"): foreign},
			why: []string{"API is ready", "192.0.2.5 is held by another host, 02:00:5e:00:53:0b on enp1s0: take it off that host or choose another API VIP"}},
		{name: "a router that answers for others is no holder", links: links(host...), verdict: hold, conflicts: map[netip.Addr]conflict.Finding{ip("192.0.2.5"): {Router: foreign.Holder}}, run: true,
			instances: []string{"192.0.2.5 enp1s0 192.0.2.10 [224.0.0.18]"}, why: []string{"API is ready", "02:00:5e:00:53:0b on enp1s0 answers for it, and is the gateway"}},
		{name: "and the other VIP does not suffer", change: dual, links: links(host...), verdict: hold, conflicts: map[netip.Addr]conflict.Finding{ip("192.0.2.5"): foreign}, run: true,
			instances: []string{"2001:db8::5 enp1s0 2001:db8::10 [ff02::12]"}, why: []string{"API is ready", "192.0.2.5 is held by another host", "2001:db8::5 on enp1s0"}},
		{name: "a VIP in no network of this machine", links: bootvip.BehindRouter(), verdict: hold, run: true,
			instances: []string{"192.0.2.5 enp1s0 198.51.100.10 [224.0.0.18]"}, why: []string{"API is ready", "no probe can show whether another host holds it"}},
		{name: "released", links: links(host...), nodes: masters, verdict: release.Verdict{Why: "the local API is gone"}, why: []string{"the local API is gone"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _, _, _ := room(t, tt.change)
			got, why := r.Decide(Snapshot{At: time.Now(), Links: tt.links, Nodes: tt.nodes, Verdict: tt.verdict, Conflicts: tt.conflicts})
			if got.Run != tt.run {
				t.Errorf("run %v, want %v", got.Run, tt.run)
			}
			var instances []string
			for _, i := range got.Config.Instances {
				instances = append(instances, i.VIP.String()+" "+string(i.Interface)+" "+i.Source.String()+" ["+election.Join(i.Peers)+"]")
			}
			if !slices.Equal(instances, tt.instances) {
				t.Errorf("instances %q, want %q", instances, tt.instances)
			}
			if !slices.EqualFunc(why, tt.why, strings.Contains) {
				t.Errorf("reasons %q, want %q", why, tt.why)
			}
		})
	}
}

// TestDecideNumbers holds what mixed clusters depend on.
func TestDecideNumbers(t *testing.T) {
	r, h, _, _ := room(t, dual)
	d, _ := r.Decide(Snapshot{Links: h.links, Verdict: hold})
	four, six := d.Config.Instances[0], d.Config.Instances[1]
	if four.Name != "ostest_API_0" || four.ID != 14 || four.Version != 2 || four.Priority != 70 || four.Advert != time.Second || four.AuthPass != "ostest_a" {
		t.Errorf("IPv4: %+v", four)
	}
	if six.Name != "ostest_API_1" || six.ID != 14 || six.Version != 3 || six.Priority != 70 || six.AuthPass != "" {
		t.Errorf("IPv6: %+v", six)
	}
}

// TestDecideProfiles holds what clusters of ours alone depend on: one version for both families, no
// password, the profile's adverts, and a priority above all that their nodes can reach.
func TestDecideProfiles(t *testing.T) {
	for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
		p := compile(t, func(c *spec.Cluster) { dual(c); c.Timing = profile })
		r, h, _, _ := room(t, func(c *spec.Cluster) { dual(c); c.Timing = profile })
		d, _ := r.Decide(Snapshot{Links: h.links, Verdict: hold})
		if len(d.Config.Instances) != 2 {
			t.Fatalf("%s: %+v", profile, d.Config)
		}
		for _, i := range d.Config.Instances {
			if i.Version != vrrp.V3 || i.AuthPass != "" || i.Advert != p.Timing.Model.Advert || i.Refresh != time.Second || i.Priority != 230 || i.Priority <= p.VRRP.ControlPlane.Max {
				t.Errorf("%s: %+v", profile, i)
			}
		}
	}
}

// TestDecideRidesOverAnAddressThatIsReplaced: a DHCP client removes the old address first. Each VIP
// has its own gap.
func TestDecideRidesOverAnAddressThatIsReplaced(t *testing.T) {
	r, _, _, _ := room(t, dual)
	at := time.Now()
	for _, step := range []struct {
		after time.Duration
		links []string
		hold  bool
		want  int // instances
	}{
		{links: host, hold: true, want: 2},
		{after: election.AddressGap - time.Millisecond, links: host[:1], hold: true, want: 2},
		{after: election.AddressGap, links: host[:1], hold: true, want: 1},
		{after: 2*election.AddressGap - time.Millisecond, links: nil, hold: true, want: 1},
		{after: 2 * election.AddressGap, links: nil, hold: true, want: 0},
		{after: 3 * election.AddressGap, links: host, hold: true, want: 2},
		{after: 3 * election.AddressGap, links: host, want: 0}, // a verdict to release does not wait
		{after: 3 * election.AddressGap, links: nil, hold: true, want: 0},
	} {
		d, _ := r.Decide(Snapshot{At: at.Add(step.after), Links: links(step.links...), Verdict: release.Verdict{Hold: step.hold}})
		if got := len(d.Config.Instances); got != step.want || d.Run != (step.want > 0) || d.Released == step.hold {
			t.Errorf("after %v with %v, hold %v: %d instances, run %v, released %v; want %d", step.after, step.links, step.hold, got, d.Run, d.Released, step.want)
		}
	}
}

// TestDecideMovesWithoutTheAPI holds K-12: the machine's address moves to a bridge while the API is
// away, which a broken network alone can be the reason of. The VIP follows at once, with the peers
// that were known, and is dropped in time when there is nowhere to follow to.
func TestDecideMovesWithoutTheAPI(t *testing.T) {
	r, _, _, _ := room(t, nil)
	away := release.Verdict{Hold: true, Why: "the local API is gone, which may be a restart"}
	bridge := links(host...)
	bridge.Links[0].Index, bridge.Links[0].Name = 7, "br-ex"
	at := time.Now()
	for _, step := range []struct {
		name    string
		after   time.Duration
		links   addr.Snapshot
		nodes   []addr.Candidate
		verdict release.Verdict
		want    string // interface and peers
	}{
		{name: "before", links: links(host...), nodes: []addr.Candidate{master("m0", "192.0.2.11")}, verdict: hold, want: "enp1s0 192.0.2.11"},
		{name: "on its way", after: time.Second, links: links(), verdict: away, want: "enp1s0 192.0.2.11"},
		{name: "in the bridge", after: 2 * time.Second, links: bridge, verdict: away, want: "br-ex 192.0.2.11"},
		{name: "lost", after: 2*time.Second + election.AddressGap, links: links(), verdict: away},
	} {
		d, _ := r.Decide(Snapshot{At: at.Add(step.after), Links: step.links, Nodes: step.nodes, Verdict: step.verdict})
		got := ""
		if d.Run {
			got = string(d.Config.Instances[0].Interface) + " " + election.Join(d.Config.Instances[0].Peers)
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// TestDecideNeverForgetsAllNodes: back in multicast, no node that runs keepalived would hear this
// machine.
func TestDecideNeverForgetsAllNodes(t *testing.T) {
	kept := []addr.Candidate{master("m0", "192.0.2.11")}
	r, h, _, _ := room(t, nil)
	o := r.options
	o.Nodes, o.Host = kept, h
	r, at := New(o), time.Unix(1000, 0)
	for _, step := range []struct {
		name  string
		nodes []addr.Candidate
		want  string
	}{
		{name: "a restart, before the API has spoken", want: "192.0.2.11"},
		{name: "another node", nodes: []addr.Candidate{master("m0", "192.0.2.11"), master("m1", "192.0.2.12")}, want: "192.0.2.11 192.0.2.12"},
		{name: "a node was deleted", nodes: []addr.Candidate{master("m1", "192.0.2.12")}, want: "192.0.2.12"},
		{name: "an API that has forgotten all", want: "192.0.2.12"},
	} {
		at = at.Add(time.Second)
		r.Decide(Snapshot{At: at, Links: h.links, Nodes: step.nodes, Verdict: hold})
		at = at.Add(time.Second) // what was deleted is forgotten by then
		d, _ := r.Decide(Snapshot{At: at, Links: h.links, Nodes: step.nodes, Verdict: hold})
		if got := election.Join(d.Config.Instances[0].Peers); got != step.want {
			t.Errorf("%s: peers %s, want %s", step.name, got, step.want)
		}
	}
}
