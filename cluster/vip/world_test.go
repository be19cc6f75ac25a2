package vip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func ips(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, ip(text))
	}
	return out
}

// world is a FAKE machine in a FAKE cluster: it says what it is told to, and remembers what is done
// to it.
type world struct {
	t    *testing.T
	plan plan.Plan
	room *Room
	at   time.Time

	links  addr.Snapshot
	cards  []addr.Ethernet
	other  occupant.Finding
	agreed []netip.Addr
	remote bool
	status supervised.Status
	broken error // of the links
	late   string

	self       string // by its credentials
	nodes      Answer[[]member.Node]
	candidates Answer[[]notice.Candidate]
	bootstrap  Answer[bootpeer.Published]

	passes   map[vrrp.CheckName]bool
	dead     bool // the checks
	served   bool
	founding Founding

	tracks    map[string]bool // by file
	trackless error
	beats     int
	memory    nodestate.Memory
	moved     migrate.Memory
	announced notice.Intent
	changed   int
	kept      int
	reported  []string // the Nodes on which it was told that the bootstrap machine is gone
	claims    []member.Claim
	pending   member.Claim // the last one, zero when it was withdrawn
	unserved  []vrrp.InstanceName
	listens   []clash.Instance
	received  clash.Snapshot
	proposals [][]byte
}

func (w *world) Links() (addr.Snapshot, error) { return w.links, w.broken }

func (w *world) Found() occupant.Finding { return w.other }

func (w *world) Cards() ([]addr.Ethernet, error) { return w.cards, w.broken }

func (w *world) Agreed() ([]netip.Addr, bool, error) { return w.agreed, w.remote, nil }

func (w *world) Status() (supervised.Status, error) { return w.status, nil }

func (w *world) Propose(config keepalived.Config) error {
	w.proposals = append(w.proposals, keepalived.Render(config))
	return nil
}

func (w *world) Track(check vrrp.CheckName, fault, passes bool) error {
	w.tracks[election.TrackFile(check, fault)] = passes
	return w.trackless
}

func (w *world) SetUnserved(instances []vrrp.InstanceName) error {
	w.unserved = instances
	return nil
}

func (w *world) Beat(uint64) error {
	w.beats++
	return nil
}

func (w *world) Keep(m nodestate.Memory) error {
	w.memory = m
	w.kept++
	return nil
}

func (w *world) KeepMigration(m migrate.Memory) error {
	w.moved = m
	return nil
}

func (w *world) Listen(instances []clash.Instance) { w.listens = instances }

func (w *world) OtherRouters() clash.Snapshot { return w.received }

func (w *world) Self() string                           { return w.self }
func (w *world) Nodes() ([]member.Node, bool)           { return w.nodes.Is, w.nodes.OK }
func (w *world) Candidates() ([]notice.Candidate, bool) { return w.candidates.Is, w.candidates.OK }
func (w *world) Bootstrap() (bootpeer.Published, bool)  { return w.bootstrap.Is, w.bootstrap.OK }

func (w *world) ReportBootstrapGone(node string) { w.reported = append(w.reported, node) }

func (w *world) Announce(_ string, intent notice.Intent) { w.announced = intent }

func (w *world) ClaimRank(c member.Claim) {
	if w.pending = c; c != (member.Claim{}) {
		w.claims = append(w.claims, c)
	}
}

func (w *world) Passes(check vrrp.CheckName) bool { return w.passes[check] }
func (w *world) Alive() bool                      { return !w.dead }
func (w *world) Served() bool                     { return w.served }

// cluster is a dual-stack one of three control plane nodes.
func cluster() spec.Cluster {
	return spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat,
		MachineNetworks: prefixes("192.0.2.0/24", "2001:db8::/64"),
		APIVIPs:         ips("192.0.2.5", "2001:db8::5"), IngressVIPs: ips("192.0.2.6", "2001:db8::6"),
	}
}

// family takes one family out of a dual-stack cluster.
func family(c spec.Cluster, name string) spec.Cluster {
	switch name {
	case "IPv4":
		c.MachineNetworks, c.APIVIPs, c.IngressVIPs = c.MachineNetworks[:1], c.APIVIPs[:1], c.IngressVIPs[:1]
	case "IPv6":
		c.MachineNetworks, c.APIVIPs, c.IngressVIPs = c.MachineNetworks[1:], c.APIVIPs[1:], c.IngressVIPs[1:]
	}
	return c
}

// node is the i-th node, with addresses of both families.
func node(i int, controlPlane bool) member.Node {
	return member.Node{ControlPlane: controlPlane, Candidate: addr.Candidate{
		Name: fmt.Sprintf("n%d", i), InternalIPs: ips(fmt.Sprintf("192.0.2.%d", 10+i), fmt.Sprintf("2001:db8::%d", 10+i)),
	}}
}

// nodes are so many control plane nodes and so many workers.
func nodes(masters, workers int) (out []member.Node) {
	for i := range masters + workers {
		out = append(out, node(1+i, i < masters))
	}
	return out
}

func answered[T any](is T) Answer[T] { return Answer[T]{Is: is, OK: true} }

// newWorld is the first node, whose gate is open, in a cluster of three control plane nodes and two
// workers that the API has named.
func newWorld(t *testing.T, c spec.Cluster, r role.Role) *world {
	t.Helper()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, plan: p, at: time.Unix(1000, 0), passes: map[vrrp.CheckName]bool{}, tracks: map[string]bool{}, served: true, other: occupant.Finding{Known: true}, nodes: answered(nodes(3, 2))}
	w.links = addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "eth0", Up: true, Addresses: []addr.Address{
		{Prefix: netip.MustParsePrefix("192.0.2.11/24")}, {Prefix: netip.MustParsePrefix("2001:db8::11/64")},
	}}}}
	w.restart(r, nodestate.Memory{})
	return w
}

// restart is another start of the program.
func (w *world) restart(r role.Role, m nodestate.Memory) {
	w.room = New(Options{
		Role: r, Header: "header", Memory: m,
		Migration: migrate.New(w.plan, migrate.Usual(), w.moved), Host: w, Cluster: w, Health: w, Occupant: w,
		Founding: w.founding, Late: func() string { return w.late }, After: func(time.Duration) {}, Changed: func(plan.Plan) { w.changed++ }, Now: func() time.Time { return w.at },
	})
}

// again is a start with what the last run kept.
func (w *world) again(r role.Role) {
	w.t.Helper()
	memory, err := nodestate.Decode(nodestate.Encode(w.memory))
	if err != nil {
		w.t.Fatal(err)
	}
	w.restart(r, memory)
}

// decide observes and decides; what cannot be observed is the zero value.
func (w *world) decide() (Desired, []string) {
	w.t.Helper()
	s, err := w.room.Observe(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	d, why := w.room.Decide(s)
	return d, why
}

// reconcile is one round.
func (w *world) reconcile() Desired {
	w.t.Helper()
	d, _ := w.decide()
	if err := w.room.Publish(context.Background(), d); err != nil {
		w.t.Fatal(err)
	}
	if err := w.room.Apply(context.Background(), d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// peers are the peers of a VIP's instance, and whether there is one.
func peers(d Desired, vip string) ([]netip.Addr, bool) {
	for _, i := range d.Config.Instances {
		if i.VIP == ip(vip) {
			return i.Peers, true
		}
	}
	return nil, false
}

// instance is the instance of a VIP.
func instance(t *testing.T, d Desired, vip string) keepalived.Instance {
	t.Helper()
	for _, i := range d.Config.Instances {
		if i.VIP == ip(vip) {
			return i
		}
	}
	t.Fatalf("no instance for %s in %+v", vip, d.Config)
	return keepalived.Instance{}
}

var errBroken = errors.New("netlink is broken")
