//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// keepalivedConf is what keepalived reads, on hosts of either phase.
const keepalivedConf = keepalived.HostDir + "/" + keepalived.File

// peersOf are the peers of an instance in keepalived's configuration; nil if it has no such
// instance, or that is in multicast mode.
func peersOf(conf keepalived.Config, name vrrp.InstanceName) []netip.Addr {
	for _, i := range conf.Instances {
		if i.Name == name && i.Source.IsValid() {
			return append([]netip.Addr{}, i.Peers...)
		}
	}
	return nil
}

// keepalived is what its parent says, and whether that parent answers.
func (l *doctorLook) keepalived(ctx context.Context, f *facts.Facts, kind role.Role, status supervised.Status) {
	d := &facts.Keepalived{Wanted: l.rooms(kind).VIP && !f.Host.Remote, Running: status.PID != 0, Applied: status.Applied, Heartbeat: !status.MonitorSilent, Troubles: status.Troubles}
	there, err := exists(l.host.at(election.RunDir, supervised.StatusFile))
	if err != nil {
		return // status has said so
	}
	if d.Started = there; status.Refused != nil {
		d.Refusal = status.Refused.Output
	}
	if kind != role.Bootstrap { // there podman asks, and no port is open
		bound, cancel := context.WithTimeout(ctx, doctorWithin)
		defer cancel()
		if err := l.asks.alive(bound, l.plan.Ports[port.Supervise], "/healthz"); err != nil {
			d.Fault = err.Error()
		}
	}
	f.Daemons.Keepalived = d
}

// limits are those of the file system in which keepalived's parent and monitor leave files, and of
// the files that root's programs may watch.
func (l *doctorLook) limits(f *facts.Facts, kind role.Role) {
	if !l.rooms(kind).VIP || f.Host.Remote {
		return
	}
	dir := l.host.at(election.RunDir)
	if there, err := exists(dir); err != nil || !there {
		return // its parent has never run, which another check says
	}
	bytes, files, err := l.asks.room(dir)
	if err != nil {
		l.unseen("room for files", err)
		return
	}
	f.Machine.Limits = &facts.Limits{Dir: election.RunDir, Bytes: bytes, Files: files}
	if err := l.asks.watchable(dir); err != nil {
		f.Machine.Limits.Unwatchable = err.Error()
	}
}

// monitors are those that stand beside this node's daemons. On the bootstrap machine systemd and
// the daemon's units see to them.
func (l *doctorLook) monitors(ctx context.Context, f *facts.Facts, kind role.Role) {
	if kind == role.Bootstrap {
		return
	}
	runs := l.rooms(kind)
	var asked sync.WaitGroup
	for _, m := range []struct {
		name, port string
		runs       bool
	}{{"vip (container keepalived-monitor)", port.MonitorVIP, runs.VIP && !f.Host.Remote}, {"lb (container haproxy-monitor)", port.MonitorLB, runs.LB}, {"dns (container coredns-monitor)", port.MonitorDNS, runs.DNS}} {
		if !m.runs {
			continue
		}
		f.Daemons.Monitors = append(f.Daemons.Monitors, facts.Monitor{Name: m.name})
		at, number := len(f.Daemons.Monitors)-1, l.plan.Ports[m.port]
		asked.Go(func() {
			bound, cancel := context.WithTimeout(ctx, doctorWithin)
			defer cancel()
			if err := l.asks.alive(bound, number, "/healthz"); err != nil {
				f.Daemons.Monitors[at].Fault = err.Error()
			}
		})
	}
	asked.Wait()
}

// balancer is this node's HAProxy, and whether anything leads to it.
func (l *doctorLook) balancer(ctx context.Context, f *facts.Facts, kind role.Role) {
	if !l.rooms(kind).LB {
		return
	}
	bound, cancel := context.WithTimeout(ctx, doctorWithin)
	defer cancel()
	b := &facts.Balancer{}
	stats, err := l.stats(bound)
	if err != nil {
		b.Fault = err.Error()
	}
	for _, s := range stats {
		if s.Backend == haproxy.Masters && !s.Disabled() && s.Up() {
			b.Up = append(b.Up, s.Server)
		}
	}
	present, err := l.asks.present()
	if err != nil {
		l.unseen("the redirect to the balancer", err)
	} else {
		f.Daemons.Redirected = &present
	}
	f.Daemons.Balancer = b
}

// servers asks every API server of the control plane, as the balancers do.
func (l *doctorLook) servers(ctx context.Context, f *facts.Facts, kind role.Role, members []facts.Member) {
	if kind == role.Bootstrap {
		return // while it is needed there are none
	}
	all := apiServers(l.plan, members)
	states, whys := make([]health.API, len(all)), make([]string, len(all))
	var asked sync.WaitGroup
	for i, at := range all {
		asked.Go(func() {
			bound, cancel := context.WithTimeout(ctx, doctorWithin)
			defer cancel()
			states[i], whys[i] = l.asks.server(bound, at.String())
		})
	}
	asked.Wait()
	for i, at := range all {
		if states[i] == health.Unknown {
			l.unseen("whether API servers work", errors.New(whys[i]))
			continue
		}
		f.Daemons.Servers = append(f.Daemons.Servers, facts.Server{Address: at, Ready: states[i] == health.Ready, Why: fmt.Sprintf("%s: %s", states[i], whys[i])})
	}
}

// tracks are the checks of this node, as its monitor has told keepalived, and as they are.
func (l *doctorLook) tracks(ctx context.Context, f *facts.Facts, kind role.Role) {
	if kind == role.Bootstrap || !l.rooms(kind).VIP || f.Host.Remote {
		return
	}
	var asked sync.WaitGroup
	var mu sync.Mutex
	for _, w := range vip.Weights(l.plan, kind) {
		asked.Go(func() {
			bound, cancel := context.WithTimeout(ctx, doctorWithin)
			defer cancel()
			found, why := l.asks.check(bound, w.Check)
			if found == health.Untold {
				l.unseen("the check "+string(w.Check), errors.New(why))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			f.Daemons.Checks = append(f.Daemons.Checks, facts.Check{Name: w.Check, Tracked: l.host.tracked(w.Check, w.Fault), Passes: found == health.Passed, Why: why})
		})
	}
	asked.Wait()
	slices.SortFunc(f.Daemons.Checks, func(a, b facts.Check) int { return strings.Compare(string(a.Name), string(b.Name)) })
}

// files compares this host's with those of the plan.
func (l *doctorLook) files(f *facts.Facts, kind role.Role) {
	if kind == "" {
		l.unseen("files", errors.New("this host has none of our pods or units, and its role is not known"))
		return
	}
	host, done, err := hostFiles(orNone(l.host.root, "/"))
	if err != nil {
		l.unseen("files", err)
		return
	}
	defer done()
	var there *plan.Plan
	if text, err := readFile(l.host.at(plan.Path)); err == nil {
		if p, err := planOf(text); err == nil {
			there = &p
		}
	}
	report, err := hostDrift(host, l.whole, kind, there)
	if err != nil {
		l.unseen("files", err)
		return
	}
	for _, c := range report.Changes {
		if c.Kind == drift.Unreadable {
			l.unseen("the file "+c.Path, errors.New(c.Note))
			continue
		}
		f.Machine.Files = append(f.Machine.Files, facts.File{Path: c.Path, How: strings.TrimSuffix(string(c.Kind)+": "+c.Note, ": ")})
	}
}
