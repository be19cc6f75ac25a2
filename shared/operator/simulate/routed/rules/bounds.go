package rules

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// follows is the maximum time until all routers have followed a change: those on the way up the
// fabric, and those on the way down again.
func follows(w *world.World) time.Duration {
	depth := w.BGP.FabricDepth
	return bgp.Pass*time.Duration(1+depth+depth+1) + world.Slack
}

// leaves is the maximum time that a host takes to leave in order.
func leaves(w *world.World) time.Duration {
	return speak.Leave(bgp.MostDemotions) + world.Slack
}

func detects(p health.Policy) time.Duration { return p.Detects(p.Timeout, p.Timeout) }

// service is how long routers lead clients, at most, to a host that runs but serves no more.
func service(w *world.World, h *world.Host, v int) time.Duration {
	check := vrrp.CheckBoth
	switch {
	case v == 1:
		check = vrrp.CheckIngress
	case w.Elected == vrrp.DNS:
		check = vrrp.CheckDNS
	}
	p := w.Checks.Checks[check]
	if h.Index == 0 {
		p = w.Checks.Bootstrap
	}
	d := detects(p)
	if check == vrrp.CheckIngress && !h.Ingress.Hung {
		d = p.DetectsRefused()
	}
	if h.Index > 0 && h.Closed(schedule.VIP(v)) {
		d = detects(health.Closed())
	}
	d += bgp.Pass + follows(w) // its own bgpd passes the change on too
	if w.Elected != "" {
		// The balancer detects that a server is gone, and then the monitor that none is left.
		d += w.Checks.Server.Detects(w.Checks.Server.Inter) + w.Checks.Redirect.Interval
	}
	if !h.Watches {
		d += speak.Silence + leaves(w)
	}
	if h.BGP.Frozen {
		d += speak.Obedience + world.Round
	}
	return d
}

// gone is how long routers lead clients, at most, to a host that receives no packets any more.
// They detect that by BFD if BFD was up, else by the hold time.
func gone(w *world.World, h *world.Host) time.Duration {
	for _, i := range h.Ports {
		if l := w.Links[i]; l.Ends[1].Up && !l.Ends[1].BFD {
			return w.BGP.Model.Hold + follows(w)
		}
	}
	return w.BGP.Model.Detection() + follows(w)
}

// rises is how long a host that could announce may take: its checks, the shortest time after a
// loss, its session with BFD, and all routers.
func rises(w *world.World, v int) time.Duration {
	p := w.Checks.Checks[vrrp.CheckBoth]
	if v == 1 {
		p = w.Checks.Checks[vrrp.CheckIngress]
	}
	precedes := time.Duration(0) // the lead of VRRP's holder over all others
	if w.Elected != "" {
		precedes = speak.Precedence
	}
	return precedes + time.Duration(p.Rise+1)*(p.Interval+p.Timeout) + leaves(w) +
		time.Duration(p.Rise)*bgp.Connect + w.BGP.Model.Detection() + speak.Steady + world.Round +
		follows(w)
}

// Fails notes that a serving program fails or is back. Any host may stop serving because of it,
// and routers may still lead to that host for a time.
func Fails(w *world.World) {
	w.Rules.Idle = w.Now
	for _, h := range w.Hosts {
		for _, v := range schedule.VIPs() {
			spare(&w.Rules.Spared[v][h.Index], w.Now+service(w, h, int(v)))
		}
	}
}

// Disturb notes that a fault of the network, of FRR or of the power begins or ends at a box,
// which is -1 for a link between routers: what that explains, and for how long.
func Disturb(w *world.World, box int) {
	Fails(w)
	r := &w.Rules
	longest := follows(w)
	for _, h := range w.Hosts {
		if box >= 0 && h.Index != box && w.Router(box) == nil {
			continue
		}
		for _, v := range schedule.VIPs() {
			spare(&r.Spared[v][h.Index], w.Now+gone(w, h))
		}
		longest = max(longest, gone(w, h)+follows(w))
		spare(&r.Cables[h.Index], w.Now+gone(w, h))
	}
	spare(&r.Unrest, w.Now+longest)
}

// keeps notes that a router keeps routes of hosts that are gone, against what the plan needs.
func keeps(w *world.World) {
	for _, h := range w.Hosts {
		for _, v := range schedule.VIPs() {
			spare(&w.Rules.Spared[v][h.Index], w.Now+gone(w, h)+follows(w))
		}
		spare(&w.Rules.Cables[h.Index], w.Now+follows(w))
	}
	spare(&w.Rules.Unrest, w.Now+follows(w))
}

func spare(until *time.Duration, t time.Duration) { *until = max(*until, t) }

// Lost notes that a router has lost a route with its session, and not by a withdrawal.
func Lost(w *world.World) { spare(&w.Rules.Unrest, w.Now+follows(w)) }
