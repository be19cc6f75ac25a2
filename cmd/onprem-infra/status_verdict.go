//go:build remote

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/judge"
)

// verdict judges what was seen; links says whether this host's links could be read.
func (l *statusLook) verdict(r statusReport, links bool) judge.Verdict {
	runs := l.rooms(l.kind())
	f := judge.Facts{Clashes: r.Clashes, Expected: runs.VIP && !r.Remote}
	if runs.LB && r.silent.balancer {
		f.Silent = append(f.Silent, "the balancer")
	}
	if runs.DNS && r.silent.names {
		f.Silent = append(f.Silent, "the name server")
	}
	for _, v := range r.VIPs {
		seen := judge.VIP{Address: v.VIP, For: v.For, Reached: v.router.Near || !links, Here: v.Here, Nobody: v.Holder.Nobody}
		if v.Holder.MAC != "" {
			seen.Holder = holderText(v)
		}
		for _, a := range v.Adverts {
			if v.Holder.MAC != "" && a.MAC != v.Holder.MAC {
				seen.Disagree = a.MAC
			}
		}
		f.VIPs = append(f.VIPs, seen)
	}
	if d := r.Daemon; d != nil {
		f.Daemon = &judge.Daemon{Running: d.Running, MonitorSilent: d.MonitorSilent, Leaving: d.Leaving != "", Refused: d.Refused != "", Troubles: d.Troubles}
	}
	for _, s := range r.Balancer {
		f.Servers = append(f.Servers, judge.Server{Name: s.Name, Status: s.Status, Up: s.Up})
	}
	for _, n := range r.Names {
		f.Names = append(f.Names, judge.Name{Name: n.Name, Right: n.Right})
	}
	for _, m := range r.Rights {
		f.Rights = append(f.Rights, judge.Right{What: m.Right, Without: m.Without, Do: cluster.Remedy})
	}
	return judge.Of(f)
}

// verdictText is the line that an alert reads, and a line for each further reason.
func verdictText(v judge.Verdict) string {
	var text strings.Builder
	for i, why := range v.Why {
		lead := "  also: "
		if i == 0 {
			lead = strings.ToUpper(string(v.Level)) + ": "
		}
		text.WriteString(folded(lead, strings.Join(strings.Fields(why), " ")))
	}
	return text.String()
}

// alerted is the exit code of a verdict. Its reasons have been printed.
func alerted(v judge.Verdict) error {
	switch v.Level {
	case judge.OK:
		return nil
	case judge.Unknown:
		return fmt.Errorf("look at the VIPs: %w", errors.New("it could not be seen who answers for them: run this on a host of their networks, as root"))
	}
	return negative(nil)
}
