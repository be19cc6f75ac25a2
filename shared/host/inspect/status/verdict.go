package status

import (
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/announced"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// verdict judges a report; links is whether this host's links could be read.
func (i inspector) verdict(r Report, links bool) judge.Verdict {
	runs := i.Rooms()
	f := judge.Facts{Clashes: r.Clashes, Expected: runs.VIP && !r.Remote,
		Member: i.Files.Role() != ""}
	_, f.Routed = i.Announces()
	if runs.LB && r.failed.balancer {
		f.Failed = append(f.Failed, "the balancer")
	}
	if runs.DNS && r.failed.names {
		f.Failed = append(f.Failed, "the name server")
	}
	for _, v := range r.VIPs {
		if v.For == vrrp.Provisioning && v.State == "" {
			continue // it is held only where and while hosts are provisioned
		}
		seen := v.Holder.Judged(v.VIP, links)
		for _, a := range v.Adverts {
			if v.For != vrrp.Provisioning && v.Holder.MAC != "" && a.MAC != v.Holder.MAC {
				seen.Disagree = a.MAC
			}
		}
		f.VIPs = append(f.VIPs, seen)
	}
	if d := r.Daemon; d != nil {
		f.Daemon = &judge.Daemon{
			Running: d.Running, MonitorSilent: d.MonitorSilent, Leaving: d.Leaving != "",
			Refused: d.Refused != "", Troubles: d.Troubles,
		}
	}
	f.Announced = announced.Counts(i.Inspector, r.BGP, r.At)
	for _, s := range r.Balancer {
		f.Servers = append(f.Servers, judge.Server{Name: s.Name, Status: s.Status, Up: s.Up})
	}
	for _, n := range r.Names {
		f.Names = append(f.Names, judge.Name{Name: n.Name, Right: n.Right})
	}
	for _, m := range r.Rights {
		f.Rights = append(f.Rights,
			judge.Right{What: m.Right, Without: m.Without, Do: cluster.Remedy})
	}
	if r.Provisioning != nil {
		f.Provisioning = r.Provisioning.Faults(r.At)
	}
	if r.Workers != nil {
		f.Provisioning = append(f.Provisioning, r.Workers.Faults()...)
	}
	return judge.Of(f)
}
