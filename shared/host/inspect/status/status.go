// Package status reports what a host sees of its cluster's VIPs, and judges it.
package status

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/announced"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/holder"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/installation"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
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
	r.NodeIPs, r.Remote, r.Changes = append(r.NodeIPs, agreed...), remote, i.Changes
	links, unread := i.Links()
	unseen.Add("links and addresses", unread)
	r.Reasons = i.addressReasons(links, agreed)
	supervisor, err := i.Supervisor()
	runs := i.Rooms()
	if runs.VIP || !runs.Speaks { // else it has no keepalived
		unseen.Add("keepalived", err)
	}
	if err == nil {
		r.Daemon = daemon(supervisor)
	}
	if runs.Speaks {
		r.BGP = new(announced.Report(i.Inspector, links, unseen))
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
	known := i.ask(ctx, &r, unseen)
	r.StaticPods, err = i.staticPods()
	unseen.Add("static pods", err)
	r.At = i.Now().UTC()
	r.Provisioning = installation.Read(i.Files, provisions.Hosts(p), r.At, unseen)
	if known != nil {
		r.Workers = workers.Of(*known, r.At)
	}
	r.Unseen = unseen.List()
	r.Verdict = i.verdict(r, unread == nil)
	return r
}

// ask asks other hosts and other programs concurrently. What they do not answer is noted in one
// order, whichever answers first. It returns what the API has of hosts; nil if that was not asked
// for, or is not known.
func (i inspector) ask(ctx context.Context, r *Report, unseen *inspect.Unseen) *workers.World {
	var state clash.State
	var holders []holder.Holder
	var fromRouters, fromHolders, fromAPI inspect.Unseen
	var known *workers.World
	var errBalancer, errNames error
	var all sync.WaitGroup
	all.Go(func() { state = i.routers(ctx, r.VIPs, &fromRouters) })
	all.Go(func() { holders = i.holders(ctx, r.VIPs, &fromHolders) })
	all.Go(func() { r.Balanced, errBalancer = i.balancer(ctx) })
	all.Go(func() { r.Names, errNames = i.names(ctx) })
	all.Go(func() { known = i.workers(ctx, &fromAPI) })
	all.Wait()
	unseen.Merge(&fromRouters)
	unseen.Merge(&fromHolders)
	unseen.Add("the balancer (control plane nodes alone have one)", errBalancer)
	unseen.Add("names that this host's DNS server answers", errNames)
	unseen.Merge(&fromAPI)
	r.failed.balancer = errBalancer != nil && !errors.Is(errBalancer, fs.ErrPermission)
	r.failed.names = errNames != nil
	r.Reach = clash.Reach(i.Plan.VRRP.Mode != spec.Multicast)
	r.Clashes = append(r.Clashes, state.Findings...)
	nodes := i.nodeNames()
	for n := range r.VIPs {
		r.VIPs[n].Holder = holders[n]
		r.VIPs[n].addRouters(state, nodes)
	}
	return known
}

// apiTimeout bounds all requests about hosts: an object of one may have its whole inventory.
const apiTimeout = 20 * time.Second

// workers are the hosts that the cluster provisions.
func (i inspector) workers(ctx context.Context, unseen *inspect.Unseen) *workers.World {
	if i.Workers == nil {
		return nil
	}
	const what = "hosts that the cluster provisions"
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	w, err := i.Workers(ctx, i.Now())
	unseen.Add(what, err)
	if err != nil {
		return nil
	}
	for _, odd := range w.Unread {
		unseen.Add(what, errors.New(odd))
	}
	return &w
}
