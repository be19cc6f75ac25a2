//go:build remote

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// migrant is a node whose loop turns, as its monitor does, with what a real API says, with the
// credentials of its kubelet. Its machine is FAKE.
type migrant struct {
	*ranked
	mu        sync.Mutex
	proposals []string
	changed   time.Time
	late      string // why it asks for the Fallback
}

func (m *migrant) asks() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.late
}

func (m *migrant) Propose(config keepalived.Config) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.proposals = append(m.proposals, string(keepalived.Render(config)))
	return nil
}

func (m *migrant) Keep(kept nodestate.Memory) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ranked.Keep(kept)
}

func (m *migrant) rank() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Rank
}

func (m *migrant) last() (config string, changed time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.proposals) > 0 {
		config = m.proposals[len(m.proposals)-1]
	}
	return config, m.changed
}

// migrants joins nodes to a cluster that migrates.
type migrants struct {
	*testing.T
	cluster *kubeapi.Cluster
	server  *kubeapi.Server
	plan    plan.Plan
	clock   migrate.Clock
	ctx     context.Context
	running *sync.WaitGroup
}

// register makes a Node.
func (g migrants) register(r role.Role, name, address string) {
	g.Helper()
	labels := map[string]string{}
	if r == role.Master {
		labels[g.plan.ControlPlaneLabel] = ""
	}
	err := g.server.Apply(g.Context(), &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}},
	})
	if err != nil {
		g.Fatal(err)
	}
}

// begin has the monitor of a node begin with the file that migrates.
func (g migrants) begin(r role.Role, name, address string) *migrant {
	g.Helper()
	id, err := g.cluster.Sign(kubeapi.Node(name))
	path := filepath.Join(g.TempDir(), "kubeconfig")
	if err := errors.Join(err, os.WriteFile(path, g.cluster.Kubeconfig(g.server.URL(), id), 0o600)); err != nil {
		g.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	host := onDisk(g.T, map[string]string{vip.MigrationPath + ".other": ""})
	m := &migrant{ranked: &ranked{Cluster: members.New(g.plan, r, kube.NewAPI(path, log), log), address: address, wake: loop.NewWake()}}
	m.room = vip.New(vip.Options{
		Role: r, Migration: migrate.New(g.plan, g.clock, host.Migration(log)),
		Host: m, Cluster: m, Health: m, Now: time.Now, Late: m.asks,
		After: func(d time.Duration) { time.AfterFunc(d, func() { loop.Wake(m.wake) }) },
		Changed: func(plan.Plan) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.changed = time.Now()
		},
	})
	steps := loop.Steps[vip.Snapshot, vip.Desired]{
		Observe: m.room.Observe, Decide: m.room.Decide, Publish: m.room.Publish, Apply: m.room.Apply,
	}
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { return m.NodeWatch.Run(ctx, m.wake) }, m.Ranks.Run, m.Intents.Run,
		func(ctx context.Context) error { return loop.Run(ctx, steps, m.wake, vip.Interval, log) },
	} {
		g.running.Go(func() { _ = run(g.ctx) })
	}
	return m
}

func (g migrants) join(r role.Role, name, address string) *migrant {
	g.Helper()
	g.register(r, name, address)
	return g.begin(r, name, address)
}

// await waits until something is true of all nodes.
func (g migrants) await(what string, nodes []*migrant, is func(*migrant) bool) {
	g.Helper()
	for _, n := range nodes {
		for end := time.Now().Add(60 * time.Second); !is(n); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				config, _ := n.last()
				g.Fatalf("%s: not %s\n%s", what, n.address, config)
			}
		}
	}
}

// TestMigration holds, in a real cluster and with the rights that nodes have, that control plane
// nodes and workers agree on an instant and all change there, their ranks being claimed before; and
// that a node which joins later with the same file speaks as they do.
func TestMigration(t *testing.T) {
	described := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.None, Timing: vrrp.ProfileLan, VRRP: spec.Unicast,
		MigrateFrom: spec.Former{Timing: vrrp.ProfileCompat, VRRP: spec.Multicast}, MachineNetworks: candidatesPlan.MachineNetworks,
		APIVIPs: candidatesPlan.VIPs.API, IngressVIPs: candidatesPlan.VIPs.Ingress,
	}
	p, err := plan.Compile(described)
	if err != nil {
		t.Fatal(err)
	}
	c, s := kubeapi.Local(t, kubeapi.Server{})
	if err := s.Apply(t.Context(), kubeapi.Objects(p)...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := migrants{T: t, cluster: c, server: s, plan: p, clock: migrate.Clock{Every: 8 * time.Second, Lead: 4 * time.Second}, ctx: ctx, running: new(sync.WaitGroup)}
	t.Cleanup(func() { cancel(); g.running.Wait() })

	g.register(role.Master, "m2", "192.0.2.22") // which gets the file later
	nodes := []*migrant{g.join(role.Master, "m0", "192.0.2.20"), g.join(role.Master, "m1", "192.0.2.21"), g.join(role.Worker, "w0", "192.0.2.30")}
	former := func(n *migrant) bool {
		config, _ := n.last()
		return strings.Contains(config, "version 2") && !strings.Contains(config, "unicast_peer")
	}
	wanted := func(n *migrant) bool {
		config, _ := n.last()
		return strings.Contains(config, "version 3") && strings.Contains(config, "advert_int 0.1")
	}
	g.await("as before", nodes, former)
	knows := p.Former.Way().String() + " knows " + p.Way().String()
	g.await("all say what they know", nodes[:1], func(n *migrant) bool {
		return n.announced("m0") == knows && n.announced("m1") == knows && n.announced("w0") == knows
	})
	time.Sleep(g.clock.Every + g.clock.Lead) // a migration would begin within it
	g.await("one does not know yet", nodes, former)

	nodes = append(nodes, g.begin(role.Master, "m2", "192.0.2.22"))
	g.await("all have changed", nodes, func(n *migrant) bool { _, at := n.last(); return !at.IsZero() })
	g.await("the control plane speaks so", []*migrant{nodes[0], nodes[1], nodes[3]}, wanted) // nobody has put the worker on the list
	first, last := time.Now(), time.Time{}
	for _, n := range nodes {
		_, at := n.last()
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	t.Logf("all change within %s, the first one %s after a multiple", last.Sub(first), first.Sub(first.Truncate(g.clock.Every)))
	if late := last.Sub(first.Truncate(g.clock.Every)); late > time.Second+vip.Interval { // an advert of the slower way, and a turn
		t.Errorf("the last node changes %s after the instant", late)
	}
	ranks := map[string]bool{}
	for _, n := range []*migrant{nodes[0], nodes[1], nodes[3]} {
		ranks[n.rank()] = true
	}
	if len(ranks) != 3 || ranks[""] {
		t.Errorf("at the instant the nodes had the ranks %v", ranks)
	}
	g.await("all say so", nodes[:1], func(n *migrant) bool {
		way := p.Way().String()
		return n.announced("m0") == way && n.announced("m1") == way && n.announced("m2") == way && n.announced("w0") == way
	})

	late := g.join(role.Worker, "w1", "192.0.2.31")
	g.await("one that joins later", []*migrant{late}, func(n *migrant) bool { return n.announced("w1") == p.Way().String() })
}

// announced is what a Node says, as this node knows it.
func (m *migrant) announced(name string) string {
	known, _ := m.NodeWatch.Known()
	for _, n := range known {
		if n.Name == name {
			return n.Way
		}
	}
	return ""
}

// TestMigrationMemory holds that what is kept comes back, and that what cannot be read ends nothing
// and is said.
func TestMigrationMemory(t *testing.T) {
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	h := onDisk(t, map[string]string{filepath.Dir(vip.MigrationPath) + "/other": ""})
	if m := h.Migration(log); !m.Equal(migrate.Memory{}) || logged.Len() > 0 {
		t.Errorf("without a file %+v: %s", m, logged.String())
	}
	want := migrate.Memory{Speaks: "compat/unicast", To: "lan/unicast", At: time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)}
	if err := h.KeepMigration(want); err != nil {
		t.Fatal(err)
	}
	if m := h.Migration(log); !m.Equal(want) {
		t.Errorf("%+v", m)
	}
	for _, garbage := range []string{"", "{", "[]", `{"at": "noon"}`, "\x00"} {
		logged.Reset()
		if err := os.WriteFile(h.At(vip.MigrationPath), []byte(garbage), 0o644); err != nil {
			t.Fatal(err)
		}
		if m := h.Migration(log); m.Speaks != "" || !strings.Contains(logged.String(), vip.MigrationPath) {
			t.Errorf("%q makes %+v: %s", garbage, m, logged.String())
		}
	}
}

// TestAnnouncer_Migration holds that the speaker of a node has a monitor for as long as the node's files have it: also after
// a migration back to VRRP, whose instant the monitor may have missed.
func TestAnnouncer_Migration(t *testing.T) {
	of := func(from, to spec.Management) plan.Plan {
		c := fakehost.Cluster("lan")
		c.Routing = fakehost.Routed().Routing
		c.Routing.Management, c.MigrateFrom.Management = to, from
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	forth, back := of(spec.ByVRRP, spec.ByBoth), of(spec.ByBoth, spec.ByVRRP)
	agreed := func(p plan.Plan, at time.Time) migrate.Memory {
		return migrate.Memory{Speaks: p.Former.Way().String(), To: p.Way().String(), At: at}
	}
	long, soon := time.Now().Add(-time.Hour), time.Now().Add(time.Minute)
	for _, tt := range []struct {
		name string
		plan plan.Plan
		kept migrate.Memory
		want bool
	}{
		{"forth, before the instant", forth, agreed(forth, soon), true},
		{"forth, after it", forth, agreed(forth, long), true},
		{"back, before the instant", back, agreed(back, soon), true},
		{"back, after it, which the monitor has missed", back, agreed(back, long), true},
		{"back, and the monitor has started anew", back, migrate.Memory{Speaks: back.Way().String()}, true},
		{"VRRP alone", *forth.Former, migrate.Memory{}, false},
	} {
		for _, r := range []role.Role{role.Master, role.Worker} {
			m := &monitor{machine: &machine{log: slog.New(slog.DiscardHandler)}, role: r}
			if got := newAnnouncer(m, migrate.New(tt.plan, migrate.Usual(), tt.kept), nil) != nil; got != tt.want {
				t.Errorf("%s, on a %s: %v", tt.name, r, got)
			}
		}
	}
}

// TestBalancerHasOnePace holds what lets a balancer's monitor run on over a migration: no timing
// looks at it, or has it look, otherwise than another.
func TestBalancerHasOnePace(t *testing.T) {
	for _, profile := range vrrp.Profiles() {
		if compat := vrrp.CompatTiming(); profile.Redirect != compat.Redirect || profile.Server != compat.Server {
			t.Errorf("%s has another pace for the balancer than compat: its monitor must begin anew when nodes have changed", profile.Profile)
		}
	}
}

// TestSameChecks holds that every timing has the same checks: their files and their order outlive a
// change of the timing.
func TestSameChecks(t *testing.T) {
	names := func(p vrrp.Policy) (all []string) {
		for _, w := range append(append([]vrrp.Weight{}, p.ControlPlane.Weights...), p.Ingress.Weights...) {
			all = append(all, election.TrackFile(w.Check, w.Fault))
		}
		return all
	}
	for _, profile := range vrrp.Profiles() {
		if got, want := strings.Join(names(profile.Policy()), " "), strings.Join(names(vrrp.Compat()), " "); got != want {
			t.Errorf("%s has the checks %s, compat has %s", profile.Profile, got, want)
		}
	}
}
