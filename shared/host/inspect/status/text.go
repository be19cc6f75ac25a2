package status

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Text is a report for a person, in lines of that width.
func (r Report) Text(width layout.Width) string {
	var text strings.Builder
	text.WriteString(verdictText(width, r.Verdict))
	own := layout.List(r.NodeIPs, "(no address chosen yet)")
	text.WriteString(width.Wrap(fmt.Sprintf("cluster %s, on this host %s, at %s\n",
		r.Cluster, own, r.At.Format(time.DateTime+"Z"))))
	text.WriteString(width.Wrap(r.Changes.Text(r.Timing)))
	var rows [][]string
	for _, v := range r.VIPs {
		state, priority := "is no candidate", ""
		if v.State != "" {
			state, priority = string(v.State), fmt.Sprint(v.Priority)
		}
		rows = append(rows,
			[]string{v.Address.String(), string(v.For), v.Holder.String(), state, priority})
	}
	if len(rows) > 0 || r.BGP == nil {
		head := []string{"VIP", "FOR", "HELD BY", "HERE", "PRIORITY"}
		text.WriteString(width.Table(head, rows) + "\n")
	}
	var rest strings.Builder
	for _, f := range r.Clashes {
		fmt.Fprintf(&rest, "CLASH: %s\n", f)
	}
	for _, w := range r.Reasons {
		fmt.Fprintf(&rest, "this host is known by %s: %s\n", w.Address, w.Why)
	}
	for _, v := range r.VIPs {
		rest.WriteString(electionText(v, r.At))
	}
	if r.BGP != nil {
		rest.WriteString(r.BGP.Text(r.At))
	}
	rest.WriteString(hostText(r))
	if r.Provisioning != nil {
		rest.WriteString(r.Provisioning.Text(r.At))
	}
	if r.Workers != nil {
		rest.WriteString(r.Workers.Text(r.At))
	}
	for _, path := range r.StaticPods {
		fmt.Fprintf(&rest,
			"kubelet runs a daemon instead of ours, from %s: see onprem-infra doctor\n",
			path)
	}
	for _, what := range r.Unseen {
		fmt.Fprintf(&rest, "not seen: %s\n", strings.Join(strings.Fields(what), " "))
	}
	for line := range strings.Lines(rest.String()) {
		text.WriteString(width.Wrap(line))
	}
	return text.String()
}

// verdictText is the line that an alert reads, and a line for each further reason.
func verdictText(width layout.Width, v judge.Verdict) string {
	var text strings.Builder
	for i, why := range v.Why {
		lead := "  also: "
		if i == 0 {
			lead = strings.ToUpper(string(v.Level)) + ": "
		}
		text.WriteString(width.Fold(lead, strings.Join(strings.Fields(why), " ")))
	}
	return text.String()
}

// electionText is what this host is in the election of a VIP, and why.
func electionText(v VIP, now time.Time) string {
	var text strings.Builder
	if v.Why != "" {
		fmt.Fprintf(&text, "%s: %s here%s: %s\n", v.Address, v.State,
			layout.Since(v.Since, now), v.Why)
	}
	if v.Absent != "" {
		fmt.Fprintf(&text, "%s: no candidate here: %s\n", v.Address, v.Absent)
	}
	var counts, not []string
	for _, p := range v.Parts {
		part := fmt.Sprintf("%s %d", p.Name, p.Adds)
		switch {
		case p.Fault && p.Counts:
			continue // it adds nothing
		case p.Fault:
			not = append(not,
				p.Name+" (without it this host is no candidate)"+
					layout.Since(p.Since, now)+because(p.Why))
		case p.Counts:
			counts = append(counts, part)
		case p.Name != "holder":
			not = append(not,
				fmt.Sprintf("%s (%d)%s%s", p.Name, p.Adds, layout.Since(p.Since, now),
					because(p.Why)))
		}
	}
	if len(counts) > 0 {
		fmt.Fprintf(&text, "%s: priority %d = %s\n", v.Address, v.Priority,
			strings.Join(counts, " + "))
	}
	for _, p := range not {
		fmt.Fprintf(&text, "%s: does not pass: %s\n", v.Address, p)
	}
	for _, a := range v.Adverts {
		fmt.Fprintf(&text, "%s: %s announces it by VRRPv%d, priority %d, every %d ms, %d ms ago\n",
			v.Address, a.From, a.Version, a.Priority, a.IntervalMs, a.AgeMs)
		switch h := v.Holder; {
		case v.For == vrrp.Provisioning && h.None:
			fmt.Fprintf(&text, "%s: but no host answers for it on this host's card\n", v.Address)
		case v.For == vrrp.Provisioning: // its adverts are of other cards
		case h.MAC != "" && h.MAC != a.MAC:
			fmt.Fprintf(&text, "%s: but %s answers for it, and %s announces it\n", v.Address,
				h.MAC, a.MAC)
		}
	}
	if len(v.Peers) > 0 {
		fmt.Fprintf(&text, "%s: may move to %s\n", v.Address,
			strings.Join(peerTexts(v.Peers), ", "))
	}
	return text.String()
}

// peerTexts are the other hosts of an election. Only the holder sends adverts.
func peerTexts(peers []Member) (out []string) {
	for _, p := range peers {
		text := p.Address.String()
		if p.Node != "" {
			text = p.Node + " " + text
		}
		switch {
		case p.Holds:
			text += " (holds it)"
		case p.AgeMs != nil:
			text += fmt.Sprintf(" (last advert %.1f s ago)", float64(*p.AgeMs)/1000)
		default:
			text += " (stands by)"
		}
		out = append(out, text)
	}
	return out
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// hostText is the rest of a report.
func hostText(r Report) string {
	var text strings.Builder
	if r.Remote {
		text.WriteString("this host is a remote worker: it holds no VIP\n")
	}
	if d := r.Daemon; d != nil {
		state := "runs"
		if !d.Running {
			state = "does not run"
		}
		fmt.Fprintf(&text, "keepalived: %s, started again %d times\n", state, d.Restarts)
		if d.MonitorSilent {
			text.WriteString(
				"keepalived: no heartbeat of its monitor arrives, so no check counts\n")
		}
		if d.Leaving != "" {
			fmt.Fprintf(&text, "keepalived: releases its VIPs (%s)\n", d.Leaving)
		}
		if d.Refused != "" {
			fmt.Fprintf(&text, "keepalived: refuses its new configuration: %s\n",
				strings.TrimSpace(d.Refused))
		}
		for _, trouble := range d.Troubles {
			fmt.Fprintf(&text, "keepalived: its parent cannot %s\n", trouble)
		}
	}
	switch r.Gate {
	case inspect.GateClosed:
		text.WriteString(
			"gate closed: this node has not seen the API work yet, and is no candidate for its " +
				"VIP\n",
		)
	case inspect.GateOpen:
		text.WriteString(
			"gate open: this node has seen the API work, and is a candidate for its VIP\n")
	}
	text.WriteString(r.Balanced.text())
	for _, n := range r.Names {
		verdict := ""
		if !n.Right {
			verdict = ", and should be " + layout.List(n.Want, "none")
		}
		fmt.Fprintf(&text, "name: %s is %s%s\n",
			n.Name, layout.List(n.Answers, "none"), verdict)
	}
	if len(r.VIPs) > 0 {
		fmt.Fprintf(&text, "routers: this host %s\n", r.Reach)
	}
	return text.String()
}

// text are the lines of what is behind HAProxy.
func (b Balanced) text() string {
	var text strings.Builder
	for _, s := range b.Balancer {
		fmt.Fprintf(&text, "balancer: %s %s %s, %d sessions\n", s.Name, s.Address, s.Status,
			s.Sessions)
	}
	for _, s := range b.Ironic {
		fmt.Fprintf(&text, "balancer: %s %s %s %s, %d sessions\n", s.Of, s.Name, s.Address,
			s.Status, s.Sessions)
	}
	if b.Ironic != nil && len(b.Ironic) == 0 {
		text.WriteString("balancer: no pod of Ironic is ready: connections to it are reset\n")
	}
	return text.String()
}
