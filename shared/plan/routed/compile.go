package routed

import (
	"cmp"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/proof"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Speaks reports whether hosts of the cluster announce its VIPs to their routers.
func Speaks(c spec.Cluster) bool {
	return c.Routing.Management == routing.BGP || c.Routing.Management == routing.Both
}

// Of plans how VIPs come to the hosts of a cluster whose settings have been checked. checks are
// the nodes' health checks, and controlPlane is the number of control plane nodes.
func Of(c spec.Cluster, checks vrrp.Timing, controlPlane int) (Announcing, error) {
	a := Announcing{Management: cmp.Or(c.Routing.Management, spec.ByVRRP), Described: c.Routing}
	a.Described.Passwords = nil
	if !Speaks(c) {
		return a, nil
	}
	s := c.Routing.BGP
	policy := c.Routing.Policy(controlPlane)
	proven, err := proof.Prove(policy)
	if err != nil {
		return a, fmt.Errorf("spec.bgp: %w", err)
	}
	all := over(s.Timers, routing.Usual(c.Platform))
	p := &Plan{ASN: s.ASN, Mode: modeOf(c.Routing), FabricDepth: policy.Depth,
		Communities: bgp.Communities(s.Communities),
		Grades:      grades(policy), Proof: proven.Statements, Policy: policy}
	for _, r := range s.Racks {
		rack := Rack{Name: r.Name, Network: r.Network, Model: over(r.Timers, all)}
		rack.Timing = timingOf(rack.Model)
		for _, peer := range r.Peers {
			rack.Peers = append(rack.Peers, Peer{Address: peer.Address, Interface: peer.Interface,
				ASN: peer.ASN, Source: peer.Source, Hops: peer.Hops,
				TTLSecurity: peer.TTLSecurity})
		}
		if p.Racks = append(p.Racks, rack); rack.Model.Detection() > p.Model.Detection() {
			p.Model = rack.Model
		}
	}
	p.Timing = timingOf(p.Model)
	p.Needs, p.Notes = p.needs(c), p.notes()
	p.Bounds = p.bounds(checks)
	a.BGP = p
	return a, nil
}

// modeOf is the mode that applies. Where VRRP elects a holder too, the election ranks the hosts.
func modeOf(s spec.Routing) string {
	if s.Management == routing.Both {
		return preferred
	}
	return cmp.Or(s.BGP.Mode, ecmp)
}

// over is base with the timers that t sets. With other numbers it is none of the profiles.
func over(t routing.Timers, base bgp.Timing) bgp.Timing {
	out := t.Over(base)
	if profile, _ := bgp.TimingOf(out.Profile); profile != out {
		out.Profile = ""
	}
	return out
}

func timingOf(t bgp.Timing) Timing {
	return Timing{Profile: t.Profile, BFDIntervalMs: bound.Milliseconds(t.BFD.Interval),
		BFDMultiplier: t.BFD.Multiplier, KeepaliveS: int(t.Keepalive.Seconds()),
		HoldS: int(t.Hold.Seconds()), DetectsMs: bound.Milliseconds(t.Detection())}
}

func grades(p bgp.Policy) Grades {
	g := Grades{Bootstrap: p.OfBootstrap(false), Leaving: p.Leaving()}
	for rank := range max(p.Ranks, 1) {
		best, _ := p.OfNode(rank, bgp.Health{Balancer: true}, false)
		g.Nodes = append(g.Nodes, best)
	}
	own, _ := p.OfNode(0, bgp.Health{API: true}, false)
	g.OwnAPI = own - g.Nodes[0]
	return g
}

// AddFields adds the fields of a cluster.yaml from which a host compiles the same plan. Defaults
// of the product are not written, so that a newer release may have others.
func AddFields(cluster map[string]any, s spec.Routing) {
	if s.BGP.ASN == 0 {
		return
	}
	fields := map[string]any{"asn": fmt.Sprint(s.BGP.ASN)} // text, as "external" is
	set(fields, "mode", s.BGP.Mode)
	setTimers(fields, s.BGP.Timers)
	if s.BGP.FabricDepth != 0 {
		fields["fabricDepth"] = s.BGP.FabricDepth
	}
	if len(s.BGP.Communities) > 0 {
		fields["communities"] = s.BGP.Communities
	}
	var racks []map[string]any
	for _, r := range s.BGP.Racks {
		rack := map[string]any{}
		set(rack, "name", r.Name)
		setTimers(rack, r.Timers)
		if r.Network.IsValid() {
			rack["network"] = r.Network.String()
		}
		var peers []map[string]any
		for _, p := range r.Peers {
			peers = append(peers, peerFields(p))
		}
		if len(peers) > 0 {
			rack["peers"] = peers
		}
		racks = append(racks, rack)
	}
	fields["racks"] = racks
	cluster["vipManagement"], cluster["bgp"] = string(s.Management), fields
}

func setTimers(fields map[string]any, t routing.Timers) {
	set(fields, "timing", t.Timing)
	for name, d := range map[string]time.Duration{"holdTime": t.Hold, "keepaliveTime": t.Keepalive,
		"bfdInterval": t.Interval} {
		switch {
		case d == routing.Off:
			fields[name] = "none"
		case d != 0:
			fields[name] = d.String()
		}
	}
	if t.Multiplier != 0 {
		fields["bfdMultiplier"] = t.Multiplier
	}
}

func peerFields(p routing.Peer) map[string]any {
	fields := map[string]any{"asn": "external"}
	if p.ASN != 0 {
		fields["asn"] = fmt.Sprint(p.ASN)
	}
	set(fields, "interface", p.Interface)
	if p.Address.IsValid() {
		fields["address"] = p.Address.String()
	}
	if p.Source.IsValid() {
		fields["source"] = p.Source.String()
	}
	if p.Hops != 0 {
		fields["hops"] = p.Hops
	}
	if p.TTLSecurity {
		fields["ttlSecurity"] = true
	}
	return fields
}

func set(fields map[string]any, name, text string) {
	if text != "" {
		fields[name] = text
	}
}
