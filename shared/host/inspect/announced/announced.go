// Package announced reads what a host's monitor and its speaker have written of the VIPs that the
// host announces to its routers.
package announced

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	decide "github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/uptime"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Spoken is one of the files between a host's monitor and its speaker; nil if there is none.
func Spoken[T spoken.Config | spoken.Wish | spoken.Status](
	h inspect.Files, name string,
) (*T, error) {
	text, err := h.Optional(spoken.RunDir, name)
	if err != nil || text == nil {
		return nil, err
	}
	is, err := spoken.Decode[T](text)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", spoken.RunDir, name, err)
	}
	return &is, nil
}

// Rack is the rack of this host in the plan, by the rules of its monitor. The bootstrap machine is
// no host of the description, and has no Node: neither a name nor a label counts there.
func Rack(i *inspect.Inspector, links addr.Snapshot) (routed.Rack, error) {
	file, err := i.Files.Optional(spoken.RackFile)
	if err != nil {
		return routed.Rack{}, fmt.Errorf("read the name of the host's rack: %w", err)
	}
	by, _ := i.Announces()
	host := decide.Host{Links: links, Rack: strings.TrimSpace(string(file))}
	if i.Files.Role() == role.Bootstrap {
		return decide.Rack(by, host)
	}
	memory, _, err := i.Files.Memory()
	if err != nil {
		return routed.Rack{}, fmt.Errorf("read by which label the host's rack is named: %w", err)
	}
	host.Rack = cmp.Or(host.Rack, memory.Rack)
	if host.Name, err = nameOf(i, memory.Nodes, links, by.VIPs.All()); err != nil {
		return routed.Rack{}, fmt.Errorf("read the host's name: %w", err)
	}
	return decide.Rack(by, host)
}

// nameOf is the name of this host's Node, which its monitor uses. If the Node is not known, it is
// the hostname in lower case, as kubelet makes it.
func nameOf(
	i *inspect.Inspector, nodes []member.Node, links addr.Snapshot, vips []netip.Addr,
) (string, error) {
	for _, some := range [][]member.Node{member.ControlPlane(nodes), member.Workers(nodes)} {
		if name := member.Self(some, links, vips); name != "" {
			return name, nil
		}
	}
	name, err := i.Hostname()
	return strings.ToLower(name), err
}

// Report is how this host announces VIPs. It is only for hosts that announce some by their plan,
// for which i.Announces is ok. What cannot be read is noted in unseen.
func Report(
	i *inspect.Inspector, links addr.Snapshot, unseen *inspect.Unseen,
) announcing.Report {
	by, _ := i.Announces()
	seen := announcing.Seen{Now: i.Now(), Plan: *by.BGP, VIPs: addresses(i, by)}
	rack, err := Rack(i, links)
	seen.Rack = rack.String()
	if err != nil {
		seen.Rack, seen.NoRack = "", err.Error()
	}
	seen.Config, err = Spoken[spoken.Config](i.Files, spoken.ConfigFile)
	unseen.Add("what the speaker is configured for", err)
	seen.Wish, err = Spoken[spoken.Wish](i.Files, spoken.WishFile)
	unseen.Add("what the monitor has this host announce", err)
	seen.Status, err = Spoken[spoken.Status](i.Files, spoken.StatusFile)
	unseen.Add("the speaker", err)
	if seen.Status != nil {
		*seen.Status = seen.Status.By(seen.Now, uptime.Now())
	}
	seen.Leaving, err = i.Files.Exists(spoken.RunDir + "/" + spoken.LeaveFile)
	unseen.Add("whether this host leaves", err)
	return announcing.Of(seen)
}

// Counts is the part of a report that counts for a verdict at a time. Before a migration to BGP
// no client depends on the announcements, so what is down only counts as degraded.
func Counts(i *inspect.Inspector, r *announcing.Report, now time.Time) *judge.Announced {
	if r == nil {
		return nil
	}
	wrong := r.Faults(now)
	a := &judge.Announced{Down: wrong.Down, Degraded: wrong.Degraded, Held: r.Held(),
		Left: r.Speaker.Leaving || r.Speaker.Left}
	if i.Plan.BGP == nil {
		a.Down, a.Degraded = nil, append(a.Down, a.Degraded...)
	}
	return a
}

// unannounced is why a VIP is not announced, by VIP.
func unannounced(h inspect.Files) map[netip.Addr]string {
	list, _ := h.Unannounced() // it is for people, and status does without
	all := map[netip.Addr]string{}
	for _, one := range list {
		all[one.VIP] = one.Why
	}
	return all
}

// addresses are the VIPs that hosts announce, and why this one does not.
func addresses(i *inspect.Inspector, by plan.Plan) (all []announcing.Address) {
	reasons := unannounced(i.Files)
	results, _ := i.Files.Results() // they are for people too
	for _, of := range []struct {
		kind vrrp.Kind
		vips []netip.Addr
	}{
		{vrrp.API, by.VIPs.API}, {vrrp.Ingress, by.VIPs.Ingress},
		{vrrp.DNS, by.VIPs.DNS},
	} {
		for _, vip := range of.vips {
			why := cmp.Or(reasons[vip], failing(results, of.kind))
			all = append(all, announcing.Address{VIP: vip, For: of.kind, Why: why})
		}
	}
	return all
}

// failing are the checks of a kind of VIP that do not pass here, in words.
func failing(results []checks.Result, kind vrrp.Kind) string {
	of := map[vrrp.Kind][]vrrp.CheckName{
		vrrp.API: {vrrp.CheckLB, vrrp.CheckBoth}, vrrp.Ingress: {vrrp.CheckIngress},
		vrrp.DNS: {vrrp.CheckDNS},
	}[kind]
	var bad []string
	for _, r := range results {
		if slices.Contains(of, r.Check) && !r.Passes {
			text := "the check " + string(r.Check) + " does not pass"
			if r.Why != "" {
				text += ": " + r.Why
			}
			bad = append(bad, text)
		}
	}
	return strings.Join(bad, "; ")
}
