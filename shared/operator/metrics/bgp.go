package metrics

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// What FRR's parent on a host reports of BGP. The label peer is a router's address, or the
// interface of a session without a number.
var (
	BGPSession = gauge("onprem_bgp_session_up",
		"1 while the session with the router is established.", "peer")
	BGPFlaps = counter("onprem_bgp_flaps_total", "Sessions with the router that have ended.",
		"peer")
	BGPBFD = gauge("onprem_bgp_bfd_up",
		"1 while BFD with the router is up; absent without BFD.", "peer")
	BGPBFDTaken = gauge("onprem_bgp_bfd_taken",
		"1 if sessions are without BFD because another program receives its packets.")
	BGPAnnounced = gauge("onprem_bgp_announced",
		"1 while the router has the VIP from this host.", "vip", "peer")
	BGPGrade = gauge("onprem_bgp_grade",
		"By how much the path that this host announces is longer than the shortest one; absent "+
			"while it announces none.", "vip")
	BGPOthers = gauge("onprem_bgp_others",
		"Paths to the VIP through other hosts that routers have reported.", "vip")
	BGPUnused = gauge("onprem_bgp_unused",
		"1 if the router has the VIP from this host and prefers a longer path: it does not use "+
			"this host's.", "vip", "peer")
	BGPClients = gauge("onprem_bgp_clients",
		"TCP connections of other hosts with the VIP on this host.", "vip")
	BGPWanted = gauge("onprem_bgp_wanted",
		"1 while this host is to announce the VIP.", "vip")
	BGPForeign = gauge("onprem_bgp_foreign",
		"Paths to the VIP through hosts that are not of the cluster.", "vip")
	BGPStarts   = counter("onprem_bgp_daemon_starts_total", "Starts of FRR's daemon.", "daemon")
	BGPTroubles = gauge("onprem_bgp_troubles", "What does not work now; the log has the texts.")
)

// Speaker is what FRR's parent reports.
type Speaker spoken.Status

// Onto adds the metrics to a page.
func (s Speaker) Onto(p *Page) {
	for _, one := range s.Sessions {
		p.Flag(BGPSession, !one.Since.IsZero(), one.Peer)
		p.Add(BGPFlaps, float64(one.Flaps), one.Peer)
		if one.BFD != "" {
			p.Flag(BGPBFD, one.BFD == "Up", one.Peer)
		}
	}
	p.Flag(BGPBFDTaken, s.BFDTaken != "")
	for _, v := range s.VIPs {
		vip, announced := v.VIP.String(), false
		for _, one := range s.Sessions {
			has := slices.Contains(one.Advertised, v.VIP)
			announced = announced || has
			p.Flag(BGPAnnounced, has, vip, one.Peer)
			if has {
				p.Flag(BGPUnused, v.Use(one.Peer) == spoken.UseNone, vip, one.Peer)
			}
		}
		if announced {
			p.Add(BGPGrade, float64(v.Grade), vip)
		}
		p.Add(BGPOthers, float64(len(v.Others)), vip)
		p.Flag(BGPWanted, v.Phase == speak.Waiting || v.Phase == speak.Announced, vip)
		foreign := 0
		for _, o := range v.Others {
			if !o.Announcer.IsValid() {
				foreign++
			}
		}
		p.Add(BGPForeign, float64(foreign), vip)
	}
	for _, d := range s.Daemons {
		p.Add(BGPStarts, float64(d.Starts), string(d.Name))
	}
	p.Add(BGPTroubles, float64(len(s.Troubles)))
}
