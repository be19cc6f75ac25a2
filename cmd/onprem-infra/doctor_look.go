//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/sonar"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/progress"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// doctorWithin bounds each thing that is asked, and doctorAPI the API's word of its nodes.
const (
	doctorWithin = 2 * time.Second
	doctorAPI    = 3 * time.Second
)

// doctorLook gathers facts of a host. What it asks of others than files is here, so that a test can
// answer.
type doctorLook struct {
	*statusLook
	live  bool
	whole plan.Plan // that this host's files should be of
	joins bool
	peers []netip.Addr
	again time.Duration // after the first look the second one begins

	whoHas     func(link string, address netip.Addr) ([]string, error)
	echo       func(from, to netip.Addr, bytes int) (bool, error)
	vrrp       func(from, to netip.Addr) (bool, error)
	neighbours func(link string) ([]link.Entry, error)
	nodes      func(ctx context.Context) ([]kube.Node, error)
	rights     func(ctx context.Context, r role.Role) ([]missingRight, error)
	asks       doctorAsks

	progress *progress.Line // nil where nobody looks
	turn     string         // which look it is, for people

	mu    sync.Mutex
	blind []string
}

func newDoctor(p plan.Plan, m *monitor) *doctorLook {
	access := kube.NewAccess(m.credentials(p), m.log)
	return &doctorLook{
		statusLook: newStatusLook(p), whole: p, again: again,
		whoHas: sonar.WhoHas, echo: sonar.Echo, vrrp: sonar.VRRP, neighbours: link.Neighbours, asks: newDoctorAsks(p, nodeServices(p, access)),
		nodes: func(ctx context.Context) ([]kube.Node, error) { return nodesNow(ctx, p, m.credentials(p), m.log) },
		rights: func(ctx context.Context, r role.Role) ([]missingRight, error) {
			return askRights(ctx, p, r, kube.NewAPI(m.credentials(p), m.log))
		},
	}
}

// quiet is a log that nobody reads: what matters is said in the report.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// nodesNow are the control plane's Nodes as the API names them now.
func nodesNow(ctx context.Context, p plan.Plan, credentials string, log *slog.Logger) ([]kube.Node, error) {
	if there, err := exists(credentials); err != nil || !there {
		return nil, errors.Join(err, fmt.Errorf("there is no %s", credentials))
	}
	ctx, cancel := context.WithTimeout(ctx, doctorAPI)
	defer cancel()
	watcher, word := kube.NewAPI(credentials, log).ControlPlane(p.ControlPlaneLabel), make(chan struct{}, 1)
	failed := make(chan error, 1)
	go func() { failed <- watcher.Run(ctx, word) }()
	for {
		if nodes, heard := watcher.Known(); heard {
			return nodes, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the API has not said so within %v", doctorAPI)
		case err := <-failed:
			return nil, errors.Join(err, errors.New("the API has not said so"))
		case <-word:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// unseen notes what could not be looked at.
func (l *doctorLook) unseen(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := what + ": " + withoutURL(err); !slices.Contains(l.blind, text) {
		l.blind = append(l.blind, text)
	}
}

// facts looks once at everything. What does not depend on each other is looked at side by side; all
// of it takes some seconds.
func (l *doctorLook) facts(ctx context.Context) (doctor.Facts, []string) {
	l.blind = nil
	f := doctor.Facts{Plan: l.plan, Live: l.live, Joins: l.joins}
	var r statusReport
	var err error
	if f.Links, err = l.links(); err != nil {
		l.unseen("links and addresses", err)
	}
	kind := l.kind()
	f.Master = kind == role.Master
	if f.Agreed, f.Remote, err = l.host.Agreed(); err != nil {
		l.unseen("the node's addresses", err)
	}
	var status supervised.Status
	if l.live {
		status = l.daemon(&r)
	}
	l.elections(&r, election.Observation{Links: f.Links, Agreed: f.Agreed}, status, nil)
	for _, text := range r.Unseen {
		what, why, _ := strings.Cut(text, ": ")
		l.unseen(what, errors.New(why))
	}
	f.VIPs = l.vips(r.VIPs)
	if l.live {
		f.Members = l.members(ctx, &f)
	}
	var all sync.WaitGroup
	hearings := l.hearings(&f, r.VIPs)
	looks := append(l.looks(ctx, &f, kind, status), func() { l.adverts(ctx, &f, hearings) })
	var ended atomic.Int32
	for _, look := range looks {
		all.Go(func() {
			look()
			l.progress.Step("%s: %d of %d done", l.turn, ended.Add(1), len(looks))
		})
	}
	all.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.blind)
	return f, l.blind
}

// looks are all that stand beside each other: each writes fields of its own.
func (l *doctorLook) looks(ctx context.Context, f *doctor.Facts, kind role.Role, status supervised.Status) []func() {
	members := slices.Clone(f.Members) // network finds more out about them
	always := []func(){
		func() { l.network(f) },
		func() { f.Clocks = l.clocks(ctx, members) },
		func() { l.resolver(ctx, f) },
		func() { l.reach(ctx, f, members) },
		func() { l.machine(ctx, f, kind) },
	}
	if !l.live {
		return append(always, func() { l.before(ctx, f) })
	}
	return append(always,
		func() { l.files(f, kind) },
		func() { l.statics(f, kind) },
		func() { l.limits(f, kind) },
		func() { l.credentials(f, kind) },
		func() { l.keepalived(ctx, f, kind, status) },
		func() { l.runs(ctx, f, kind) },
		func() { l.monitors(ctx, f, kind) },
		func() { l.balancer(ctx, f, kind) },
		func() { l.servers(ctx, f, kind, members) },
		func() { l.tracks(ctx, f, kind) },
		func() { l.rightsOf(ctx, f, kind) },
		func() { l.answers(ctx, f, kind) })
}

// rightsOf are those that the API does not give this node. A bootstrap machine asks with an
// administrator's.
func (l *doctorLook) rightsOf(ctx context.Context, f *doctor.Facts, kind role.Role) {
	if kind == role.Bootstrap {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorAPI)
	defer cancel()
	missing, err := l.rights(ctx, kind)
	if err != nil {
		l.unseen("the rights of this node", err)
	}
	for _, m := range missing {
		f.Rights = append(f.Rights, doctor.Right{What: m.Right, Without: m.Without, Do: cluster.Remedy})
	}
}

// kind is what this host is, by what it has been given; empty for a plain one.
func (l *statusLook) kind() role.Role {
	for _, sign := range []struct {
		path string
		kind role.Role
	}{
		{"/etc/systemd/system/onprem-keepalived.service", role.Bootstrap}, {"/etc/systemd/system/onprem-coredns.service", role.Bootstrap},
		{"/etc/kubernetes/manifests/haproxy.yaml", role.Master}, {"/etc/kubernetes/manifests/keepalived.yaml", role.Worker}, {"/etc/kubernetes/manifests/coredns.yaml", role.Arbiter},
	} {
		if there, err := exists(l.host.at(sign.path)); err == nil && there {
			return sign.kind
		}
	}
	return ""
}

// rooms are what runs on this host.
func (l *statusLook) rooms(kind role.Role) (runs plan.Rooms) {
	switch {
	case kind == role.Bootstrap:
		runs.VIP, runs.DNS = l.plan.BootstrapRuns()
		runs.VIP, runs.DNS = runs.VIP && !l.host.given("keepalived"), runs.DNS && !l.host.given("CoreDNS")
	case kind != "":
		if runs = l.plan.NodeRuns(kind); runs.Disabled {
			runs.VIP, runs.LB = false, false
		}
	}
	return runs
}

// vips are what status knows of them, for the checks.
func (l *doctorLook) vips(all []statusVIP) (out []doctor.VIP) {
	text, err := os.ReadFile(l.host.at(keepalivedConf))
	conf := keepalived.Config{}
	if err == nil {
		conf, err = keepalived.Parse(text)
	}
	if err != nil && l.live && !errors.Is(err, fs.ErrNotExist) {
		l.unseen("keepalived's configuration", err)
	}
	for _, v := range all {
		out = append(out, doctor.VIP{Address: v.VIP, For: v.For, Instance: v.Instance, ID: v.ID, Link: v.Link, Near: v.router.Near, Here: v.Here, State: v.State, Peers: peersOf(conf, v.Instance)})
	}
	return out
}

// members are all hosts that may hold a VIP, as the API names them, or as this host has heard of
// them before.
func (l *doctorLook) members(ctx context.Context, f *doctor.Facts) (out []doctor.Member) {
	vips := l.plan.VIPs.All()
	add := func(name string, addresses []netip.Addr, controlPlane, named bool) {
		addresses = slices.DeleteFunc(slices.Clone(addresses), func(a netip.Addr) bool { return slices.Contains(vips, a) })
		if len(addresses) > 0 && !slices.ContainsFunc(out, func(m doctor.Member) bool { return m.Name == name && name != "" }) {
			self := slices.ContainsFunc(addresses, func(a netip.Addr) bool { return f.Links.LinkOf(a) != "" })
			out = append(out, doctor.Member{Name: name, Addresses: addresses, ControlPlane: controlPlane, Named: named, Self: self})
		}
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		l.unseen("the control plane's nodes", err)
	}
	for _, n := range nodes {
		add(n.Name, slices.Concat(n.InternalIPs, within(n.Annotated, l.plan.MachineNetworks)), n.ControlPlane, true)
		if last := len(out) - 1; last >= 0 && out[last].Name == n.Name {
			out[last].Rank, out[last].Down = n.Rank, down(n)
		}
	}
	if text, err := os.ReadFile(l.host.at(vip.MemoryPath)); err == nil {
		if memory, err := vip.DecodeMemory(text); err == nil {
			for _, n := range memory.Nodes {
				add(n.Name, slices.Concat(n.InternalIPs, within(n.Annotated, l.plan.MachineNetworks)), n.ControlPlane, false)
			}
			for _, c := range memory.Candidates {
				add(c.Name, c.Addresses, false, false)
			}
		}
	}
	for _, v := range f.VIPs {
		for _, p := range v.Peers {
			if !p.IsMulticast() && !slices.ContainsFunc(out, func(m doctor.Member) bool { return slices.Contains(m.Addresses, p) }) {
				add("", []netip.Addr{p}, false, false)
			}
		}
	}
	return out
}

func within(all []netip.Addr, networks []netip.Prefix) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool {
		return !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
	})
}

// ownOn is this host's own address of a family on a link, no VIP among them.
func (l *doctorLook) ownOn(links addr.Snapshot, vip netip.Addr, agreed []netip.Addr) netip.Addr {
	choice, _ := addr.ForVIP(links, vip, l.plan.VIPs.All(), agreed) // no choice has no address
	return choice.Address
}
