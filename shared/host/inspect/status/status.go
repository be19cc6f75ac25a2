// Package status reports what a host sees of its cluster's VIPs, and judges it.
package status

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/installation"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// inspector inspects a host for a report.
type inspector struct{ *inspect.Inspector }

// Inspect reports once: first what the files of this host have, then, concurrently, what others
// answer. It takes as long as the slowest probe.
func Inspect(ctx context.Context, host *inspect.Inspector) Report {
	i := inspector{host}
	p, unseen := i.Plan, &inspect.Unseen{}
	r := Report{
		Cluster: p.Cluster.Name, Timing: p.Timing.Profile, Mode: string(p.VRRP.Mode),
		VIPs: []VIP{}, Clashes: []clash.Finding{}, Node: Node{NodeIPs: []netip.Addr{}},
	}
	agreed, remote, err := i.Files.Agreed()
	unseen.Add("the node's addresses", err)
	r.NodeIPs, r.Remote = append(r.NodeIPs, agreed...), remote
	links, unread := i.Links()
	unseen.Add("links and addresses", unread)
	r.Reasons = i.addressReasons(links, agreed)
	supervisor, err := i.Supervisor()
	unseen.Add("keepalived", err)
	if err == nil {
		r.Daemon = daemon(supervisor)
	}
	entries, err := i.journal()
	unseen.Add("part of the journal", err)
	o := election.Observation{Links: links, Agreed: agreed}
	for _, v := range i.VIPs(o, supervisor, entries) {
		r.VIPs = append(r.VIPs, VIP{VIP: v})
	}
	r.Gate, err = i.Gate(links)
	unseen.Add("the eligibility gate of this node", err)
	r.Rights, err = i.Files.MissingRights()
	unseen.Add("the rights of this node", err)
	i.ask(ctx, &r, unseen)
	r.StaticPods, err = i.staticPods()
	unseen.Add("static pods", err)
	r.At = i.Now().UTC()
	r.Provisioning = installation.Read(i.Files, provisions.Hosts(p), r.At, unseen)
	r.Unseen = unseen.List()
	r.Verdict = i.verdict(r, unread == nil)
	return r
}

// ask asks other hosts and other programs concurrently. What they do not answer is noted in one
// order, whichever answers first.
func (i inspector) ask(ctx context.Context, r *Report, unseen *inspect.Unseen) {
	var state clash.State
	var fromRouters, fromHolders inspect.Unseen
	var errBalancer, errNames error
	var all sync.WaitGroup
	all.Go(func() { state = i.routers(ctx, r.VIPs, &fromRouters) })
	all.Go(func() { i.holders(ctx, r.VIPs, &fromHolders) })
	all.Go(func() { r.Balancer, errBalancer = i.balancer(ctx) })
	all.Go(func() { r.Names, errNames = i.names(ctx) })
	all.Wait()
	unseen.Merge(&fromRouters)
	unseen.Merge(&fromHolders)
	unseen.Add("the balancer (control plane nodes alone have one)", errBalancer)
	unseen.Add("names that this host's DNS server answers", errNames)
	r.failed.balancer = errBalancer != nil && !errors.Is(errBalancer, fs.ErrPermission)
	r.failed.names = errNames != nil
	r.Reach = clash.Reach(i.Plan.VRRP.Mode != spec.Multicast)
	r.Clashes = append(r.Clashes, state.Findings...)
	nodes := i.nodeNames()
	for n := range r.VIPs {
		r.VIPs[n].addRouters(state, nodes)
	}
}
