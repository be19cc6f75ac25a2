//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// statusWithin bounds each thing that is asked.
const statusWithin = time.Second

// statusLook looks at a host. What it asks of others than files is here, so that a test can answer.
type statusLook struct {
	plan  plan.Plan
	host  nodeVIPHost
	now   func() time.Time
	links func() (addr.Snapshot, error)
	ask   func(ctx context.Context, link string, vip netip.Addr) (addr.Neighbour, error)
	hear  func(ctx context.Context, link string, hear func(overhear.Heard)) error
	stats func(ctx context.Context) ([]haproxy.Stat, error)
	name  func(ctx context.Context, name string) ([]netip.Addr, error)
}

func newStatusLook(p plan.Plan) *statusLook {
	stats := probe.NewHTTP(fmt.Sprintf("http://127.0.0.1:%d/haproxy_stats;csv", p.Ports[port.LBStats]), (&net.Dialer{}).DialContext)
	server := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS])
	return &statusLook{
		plan: p, now: time.Now, links: link.Snapshot, ask: askNeighbour, hear: overhear.Adverts,
		stats: func(ctx context.Context) ([]haproxy.Stat, error) {
			text, err := stats.Good(ctx)
			if err != nil {
				return nil, err
			}
			return haproxy.ParseStats(text)
		},
		name: func(ctx context.Context, name string) ([]netip.Addr, error) { return probe.Lookup(ctx, server, name) },
	}
}

// askNeighbour asks for an address on a link and waits until somebody has answered, or the kernel
// says that nobody does.
func askNeighbour(ctx context.Context, on string, vip netip.Addr) (addr.Neighbour, error) {
	if err := link.Ask(on, vip); err != nil {
		return addr.Neighbour{}, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := link.Neighbour(on, vip)
		if err != nil || n != (addr.Neighbour{}) {
			return n, err
		}
		select {
		case <-ctx.Done():
			return addr.Neighbour{Absent: true}, nil
		case <-tick.C:
		}
	}
}

// unseen notes what could not be looked at.
func (r *statusReport) unseen(what string, err error) {
	r.Unseen = append(r.Unseen, what+": "+withoutURL(err))
}

// withoutURL is an error's text without the request that Go's HTTP client puts before the reason:
// what was asked for is said in words.
func withoutURL(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return err.Error()
	}
	return strings.Replace(err.Error(), request.Error(), request.Err.Error(), 1)
}

// report looks once: first at what this host has written down, then, side by side, at what others
// answer. It takes as long as the slowest of these, which is a second for what does not answer.
func (l *statusLook) report(ctx context.Context) statusReport {
	p := l.plan
	r := statusReport{Cluster: p.Cluster.Name, Timing: p.Timing.Profile, Mode: string(p.VRRP.Mode), NodeIPs: []netip.Addr{}, VIPs: []statusVIP{}, Clashes: []clash.Finding{}, Unseen: []string{}}
	var err error
	var agreed []netip.Addr
	if agreed, r.Remote, err = l.host.Agreed(); err != nil {
		r.unseen("the node's addresses", err)
	}
	r.NodeIPs = append(r.NodeIPs, agreed...)
	links, err := l.links()
	if err != nil {
		r.unseen("links and addresses", err)
	}
	r.NodeWhy = l.whyAddresses(links, agreed)
	status := l.daemon(&r)
	entries := l.entries(&r)
	l.elections(&r, election.Observation{Links: links, Agreed: agreed}, status, entries)
	l.gate(&r, links)
	var unread error
	if r.Rights, unread = l.host.rights(); unread != nil {
		r.unseen("the rights of this node", unread)
	}
	l.others(ctx, &r)
	l.staticPods(&r)
	r.At = l.now().UTC()
	r.Verdict = l.verdict(r, err == nil)
	return r
}

// others looks side by side at what other hosts and other programs say. What could not be seen is
// noted in one order, whichever of them ends first.
func (l *statusLook) others(ctx context.Context, r *statusReport) {
	looks := []func(context.Context, *statusReport){l.heard, l.holders, l.balancer, l.names}
	seen := make([]statusReport, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		seen[i].VIPs = slices.Clone(r.VIPs)
		all.Go(func() { look(ctx, &seen[i]) })
	}
	all.Wait()
	heard, asked := seen[0], seen[1]
	r.Hears, r.Clashes, r.Balancer, r.Names = heard.Hears, append(r.Clashes, heard.Clashes...), seen[2].Balancer, seen[3].Names
	r.silent = silence{balancer: seen[2].silent.balancer, names: seen[3].silent.names}
	for i := range r.VIPs {
		v := &r.VIPs[i]
		v.Adverts, v.Peers, v.Holder = heard.VIPs[i].Adverts, heard.VIPs[i].Peers, asked.VIPs[i].Holder
		n := v.Holder
		for _, a := range v.Adverts {
			if a.MAC == n.MAC && n.MAC != "" && a.Priority != 0 {
				v.Holder.Address = a.From
			}
		}
	}
	for _, s := range seen {
		r.Unseen = append(r.Unseen, s.Unseen...)
	}
}

// daemon reads what keepalived's parent says. A host on which it has said nothing has no keepalived
// of ours.
func (l *statusLook) daemon(r *statusReport) supervised.Status {
	path := election.RunDir + "/" + supervised.StatusFile
	if there, err := exists(l.host.at(path)); err == nil && !there {
		r.unseen("keepalived", fmt.Errorf("there is no %s: it has not been started on this host", path))
		return supervised.Status{}
	}
	s, err := l.host.Status()
	if err != nil {
		r.unseen("keepalived", err)
		return supervised.Status{}
	}
	r.Daemon = &statusDaemon{Running: s.PID != 0, Restarts: s.Restarts, Leaving: s.Leaving, MonitorSilent: s.MonitorSilent, Troubles: s.Troubles}
	if s.Refused != nil {
		r.Daemon.Refused = s.Refused.Output
	}
	return s
}

// entries are the journal's. A host that keeps none is no fault.
func (l *statusLook) entries(r *statusReport) []journal.Entry {
	text, err := os.ReadFile(l.host.at(journal.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		r.unseen("the journal", err)
		return nil
	}
	j, err := journal.Decode(text)
	if err != nil {
		r.unseen("part of the journal", err)
	}
	return j.Entries()
}

// whyAddresses says why the node is known by what it is known by. What was chosen at its boot stays
// for that boot, whatever would be chosen now.
func (l *statusLook) whyAddresses(links addr.Snapshot, agreed []netip.Addr) (out []statusWhy) {
	choice, _ := addr.ForNode(links, nodeOf(l.plan).Wish) // its error is that there is none, which the rulings say
	for _, a := range agreed {
		why := statusWhy{Address: a, Why: "it was chosen when this host was booted, and is on no link now"}
		for _, r := range choice.Rulings {
			if r.Prefix.Addr() == a {
				why.Link, why.Why = r.Link, r.Why
			}
		}
		out = append(out, why)
	}
	return out
}

// elections are the VIPs, and what this host is in the election of each.
func (l *statusLook) elections(
	r *statusReport, o election.Observation, status supervised.Status, entries []journal.Entry,
) {
	for e, virtual := range election.All(l.plan) {
		v := l.vip(e, virtual, o, status)
		for _, entry := range entries {
			if entry.Clash != "" {
				continue
			}
			if entry.Instance == string(v.Instance) && entry.State == v.State {
				v.Since, v.Why = entry.At, entry.Why
			} else if entry.Instance == string(v.Instance) {
				v.Since, v.Why = time.Time{}, ""
			}
		}
		r.VIPs = append(r.VIPs, v)
	}
}

// vip is what this host is in the election of one VIP.
func (l *statusLook) vip(
	e election.Election, v election.VIP, o election.Observation, status supervised.Status,
) statusVIP {
	on, _ := e.Choose(v, o) // without a choice there is no link
	out := statusVIP{VIP: v.Address, For: e.Kind, ID: e.ID, Instance: v.Instance, Link: on.Link}
	out.router = e.ClashInstance(v, on, nil)
	out.Here = o.Links.LinkOf(v.Address) != ""
	if now, ok := status.Instances[string(v.Instance)]; ok {
		out.State, out.Priority = now.State, now.Priority
		out.Parts = l.parts(e, o, out, status)
	}
	return out
}

// gate says whether this node may stand for the API VIP. Nodes that are none of the control plane
// have no gate.
func (l *statusLook) gate(r *statusReport, links addr.Snapshot) {
	text, err := os.ReadFile(l.host.at(vip.MemoryPath))
	if errors.Is(err, fs.ErrNotExist) {
		return // no monitor has learnt anything here
	}
	var memory vip.Memory
	if err == nil {
		memory, err = vip.DecodeMemory(text)
	}
	self := member.Self(member.ControlPlane(memory.Nodes), links, l.plan.VIPs.All())
	switch {
	case err != nil:
		r.unseen("whether this node stands for the API's VIP", err)
	case memory.Open:
		r.Gate = "open"
	case self != "":
		r.Gate = "closed"
	}
}

// holders asks the network who has each VIP, all at once. Nobody answers this host for what it has
// itself.
func (l *statusLook) holders(ctx context.Context, r *statusReport) {
	failed := make([]error, len(r.VIPs))
	var all sync.WaitGroup
	for i := range r.VIPs {
		all.Go(func() { failed[i] = l.holder(ctx, &r.VIPs[i]) })
	}
	all.Wait()
	for i, err := range failed {
		if err != nil {
			r.unseen(fmt.Sprintf("who answers for %s", r.VIPs[i].VIP), err)
		}
	}
}

// holder asks for one VIP.
func (l *statusLook) holder(ctx context.Context, v *statusVIP) error {
	if v.Here {
		v.Holder.Self = true
		return nil
	}
	if !v.router.Near { // the kernel would send the question to a router
		return errors.New("it is in no network of this host")
	}
	bound, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	n, err := l.ask(bound, v.Link, v.VIP)
	v.Holder.MAC, v.Holder.Nobody = n.MAC, n.Absent
	return err
}

// balancer are the API servers behind this node's HAProxy.
func (l *statusLook) balancer(ctx context.Context, r *statusReport) {
	if l.plan.LoadBalancer != spec.Managed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	stats, err := l.stats(ctx)
	if err != nil {
		r.silent.balancer = !errors.Is(err, fs.ErrPermission)
		r.unseen("the balancer (control plane nodes alone have one)", err)
		return
	}
	for _, s := range stats {
		if s.Backend == haproxy.Masters && !s.Disabled() {
			r.Balancer = append(r.Balancer, statusPeer{Name: s.Server, Address: s.Address, Status: s.Status, Up: s.Up(), Check: s.Check, Sessions: s.Sessions})
		}
	}
}

// names are what this host's DNS server answers for the cluster's own names. The one server that
// does not answer is said once.
func (l *statusLook) names(ctx context.Context, r *statusReport) {
	for _, record := range l.plan.Records {
		name := string(record.Name)
		if record.Wildcard {
			name = "onprem-infra-status." + name
		}
		bound, cancel := context.WithTimeout(ctx, statusWithin)
		got, err := l.name(bound, name)
		cancel()
		if err != nil {
			r.silent.names = true
			r.unseen("names that this host's DNS server answers", err)
			return
		}
		want := slices.SortedFunc(slices.Values(record.Addresses), netip.Addr.Compare)
		r.Names = append(r.Names, statusName{Name: name, Want: want, Answers: append([]netip.Addr{}, got...), Right: slices.Equal(got, want)})
	}
}
