// Package announced finds what a change of how hosts announce VIPs does to one of them.
package announced

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/drift/effect"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// What happens to sessions and connections of a host.
const (
	reload  = effect.Reload
	mayMove = effect.MayMove
	moves   = effect.Moves
)

func one(level effect.Level, format string, args ...any) []effect.Effect {
	return effect.One(level, format, args...)
}

// Management are the effects of another vipManagement. Nodes with VRRP may differ for a time in
// whether they announce the VIPs by BGP too: the elections stay as they are.
func Management(there, next plan.Plan) []effect.Effect {
	migrates := next.Former != nil && next.Former.Management == there.Management
	switch {
	case there.Management == next.Management:
		return nil
	case !there.ByVRRP() || !next.ByVRRP():
		return one(moves, "the VIPs come to hosts in another way (vipManagement %s, and %s from "+
			"then on): a host of one way is not reached by the other one's clients. There is no "+
			"way between the two without an outage but by both, and VIPs in no network of hosts",
			there.Management, next.Management)
	case next.Management == spec.ByBoth && migrates:
		return one(reload, "the nodes announce the VIPs to their routers too, all from one "+
			"instant on, once every one of them can: elections and holders stay")
	case next.Management == spec.ByBoth:
		return one(reload, "this node announces the VIPs to its routers too, and the other ones "+
			"when they have the file: elections and holders stay, and routers are led to nodes "+
			"with the new file alone meanwhile. render and ignition refuse it without --migrate, "+
			"with which all begin at one instant")
	case migrates:
		return one(mayMove, "the nodes withdraw the VIPs from their routers, all at one instant, "+
			"once every one of them can: elections and holders stay, and clients that reach a VIP "+
			"by the routers' routes alone are cut off then")
	}
	return one(mayMove, "this node withdraws the VIPs from its routers, and the other ones when "+
		"they have the file: elections and holders stay, and clients that reach a VIP by the "+
		"routers' routes go to nodes with the old file, and are cut off with the last of those. "+
		"render and ignition refuse it without --migrate")
}

// Sessions are the effects of other BGP settings, if hosts announce VIPs before and after the
// change. What a plan only proves, demands or notes has no effect.
func Sessions(there, next plan.Plan) (effects []effect.Effect) {
	a, b := there.BGP, next.BGP
	if a == nil || b == nil {
		return nil // the way has changed
	}
	if a.ASN != b.ASN {
		effects = append(effects, one(moves, "the hosts' AS number, %d, becomes %d: all sessions "+
			"of this host end, its connections go to other hosts, and those of routers that "+
			"expect the new number begin", a.ASN, b.ASN)...)
	}
	if !reflect.DeepEqual(a.Grades, b.Grades) {
		effects = append(effects, one(moves, "paths have another length (%s, and %s from then "+
			"on): until all hosts have this file routers send connections to those of the shorter "+
			"paths alone, and each change breaks some", lengths(*a), lengths(*b))...)
	}
	if !slices.Equal(a.Communities, b.Communities) {
		effects = append(effects, one(reload, "the routes get the communities %s: sessions last, "+
			"and routers may treat the routes otherwise", some(b.Communities))...)
	}
	return append(effects, ofRacks(a.Racks, b.Racks)...)
}

func lengths(p routed.Plan) string { return fmt.Sprintf("%s, %v", p.Mode, p.Grades.Nodes) }

func some(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// ofRacks are the effects of other racks, routers and timers. A host is in one of the racks.
func ofRacks(there, next []routed.Rack) (effects []effect.Effect) {
	kept := 0
	for _, a := range there {
		i := slices.IndexFunc(next, func(b routed.Rack) bool {
			return a.Name == b.Name && a.Network == b.Network
		})
		if i >= 0 {
			kept++
			effects = append(effects, ofRouters(a, next[i])...)
		}
	}
	effects = append(effects, ofTimers(there, next)...)
	if kept < len(there) {
		effects = append(effects, one(mayMove, "a rack goes, or has another name or network: a "+
			"host that was in it has the routers of another one, or none, and then its "+
			"connections go to other hosts")...)
	} else if kept < len(next) {
		effects = append(effects, one(reload, "there is one more rack: hosts of the others stay "+
			"as they are")...)
	}
	return effects
}

// ofRouters are the effects of other routers of a rack. A session of which anything but a timer
// differs begins anew.
func ofRouters(there, next routed.Rack) []effect.Effect {
	var stay, ends, anew, begin []string
	for _, p := range there.Peers {
		i := slices.IndexFunc(next.Peers, func(o routed.Peer) bool { return o.Name() == p.Name() })
		switch {
		case i < 0:
			ends = append(ends, p.Name())
		case next.Peers[i] == p:
			stay = append(stay, p.Name())
		default:
			anew = append(anew, p.Name())
		}
	}
	for _, p := range next.Peers {
		if !slices.ContainsFunc(there.Peers,
			func(o routed.Peer) bool { return o.Name() == p.Name() }) {
			begin = append(begin, p.Name())
		}
	}
	if len(ends)+len(anew)+len(begin) == 0 {
		return nil
	}
	text := fmt.Sprintf("in the rack %s sessions with routers end (%s), begin (%s) and begin anew "+
		"(%s)", next, some(ends), some(begin), some(anew))
	if len(stay) == 0 {
		return one(moves, "%s: none lasts, so that connections of its hosts go to other racks "+
			"until one is up", text)
	}
	return one(reload, "%s: those with %s last, and the VIPs stay", text, some(stay))
}

// ofTimers are the effects of other timers of racks.
func ofTimers(there, next []routed.Rack) (effects []effect.Effect) {
	var switched, changed []string
	for _, a := range there {
		for _, b := range next {
			was, is := a.Timing, b.Timing
			switch {
			case a.Name != b.Name || a.Network != b.Network || was == is:
			case (was.BFDIntervalMs == 0) != (is.BFDIntervalMs == 0):
				switched = append(switched, b.String())
			default:
				changed = append(changed, b.String())
			}
		}
	}
	if len(switched) > 0 {
		effects = append(effects, one(mayMove, "BFD comes or goes (racks: %s): where a session "+
			"begins anew by that, connections of its host go to other hosts for some seconds, "+
			"unless another session lasts", some(switched))...)
	}
	if len(changed) > 0 {
		effects = append(effects, one(reload, "other timers (racks: %s): BFD has its new "+
			"intervals at once, while sessions last; the hold time counts in each session that "+
			"begins from then on, as both ends agree on it (RFC 4271, 4.2)", some(changed))...)
	}
	return effects
}
