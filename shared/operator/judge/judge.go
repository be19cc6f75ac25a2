// Package judge gives a verdict on a cluster's VIPs for an alert: whether each is held, and whether
// anything disturbs that.
package judge

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Level is the verdict in one word.
type Level string

// The levels, the best first.
const (
	OK       Level = "ok"       // every VIP in this host's networks is held, and nothing is wrong
	Unknown  Level = "unknown"  // it could not be seen whether a VIP is held
	Degraded Level = "degraded" // the VIPs are held, and something is wrong
	Down     Level = "down"     // no host answers for a VIP, or nothing serves behind it
)

// Verdict is a level with its reasons, those of the worst level first.
type Verdict struct {
	Level Level    `json:"level"`
	Why   []string `json:"why"` // for people; the wording may change
}

// Facts are what was seen.
type Facts struct {
	VIPs    []VIP
	Clashes []clash.Finding
	Daemon  *Daemon  // nil where keepalived has not been started
	Servers []Server // behind this node's balancer
	Failed  []string // services of this host that do not answer, such as the balancer
	Names   []Name   // that this host's name server answers
	Rights  []Right  // that this node lacks
	// Provisioning is what keeps hosts from being installed, in words.
	Provisioning []string
	Expected     bool // this host is one that runs keepalived
	// Announced is how this host announces VIPs to its routers; nil if it does not.
	Announced *Announced
	Routed    bool // hosts of the cluster announce VIPs to their routers
	Member    bool // this host runs a part of the cluster
}

// elsewhere reports whether all VIPs are announced to routers, and none by this host.
func (f Facts) elsewhere() bool { return f.Routed && f.Announced == nil && len(f.VIPs) == 0 }

// Announced is what was seen of VIPs that are announced to routers.
type Announced struct {
	Down, Degraded []string // what is wrong, in words
	Held           []string // the VIPs that a host is known to announce, and that host, in words
	Left           bool     // this host leaves them to others, or has done so, in order
}

// VIP is one of the cluster's.
type VIP struct {
	Address  netip.Addr
	For      vrrp.Kind
	Reached  bool   // the VIP is in a network of this host, so that it can ask who has it
	Here     bool   // this host has the address
	Holder   string // the host that answers for it, empty for none
	NoHolder bool   // it was asked for, and no host answered
	Disagree string // the MAC of another host that announces it
}

// Daemon is keepalived.
type Daemon struct {
	Running, MonitorSilent, Leaving bool
	Refused                         bool     // its new configuration
	Troubles                        []string // what its parent cannot do
}

// Server is an API server behind the balancer.
type Server struct {
	Name, Status string
	Up           bool
}

// Name is one of the cluster's names.
type Name struct {
	Name  string
	Right bool
}

// Right is a permission that the cluster's API does not grant to this node.
type Right struct {
	What, Without, Do string // in words; what the node does without it, and what to do
}

// judgement collects reasons by their level.
type judgement map[Level][]string

func (j judgement) add(l Level, format string, args ...any) {
	j[l] = append(j[l], fmt.Sprintf(format, args...))
}

// Of judges facts.
func Of(f Facts) Verdict {
	j := judgement{}
	held, far := j.vips(f)
	j.daemon(f)
	j.announced(f.Announced)
	if f.elsewhere() && !f.Member {
		j.add(Unknown, "it could not be seen whether a host announces the VIPs to its routers: "+
			"this one has no part of the cluster")
	}
	j.servers(f.Servers)
	for _, service := range f.Failed {
		j.add(Degraded, "%s of this host does not answer", service)
	}
	for _, c := range f.Clashes {
		j.add(Degraded, "%s", c)
	}
	for _, n := range f.Names {
		if !n.Right {
			j.add(Degraded, "this host's name server answers wrongly for %s", n.Name)
		}
	}
	for _, fault := range f.Provisioning {
		j.add(Degraded, "%s", fault)
	}
	for _, r := range f.Rights {
		j.add(Degraded, "this node may not %s: %s; %s", r.What, r.Without, r.Do)
	}
	v := Verdict{Level: OK, Why: []string{}}
	for _, l := range []Level{Down, Degraded, Unknown} {
		if len(j[l]) > 0 && v.Level == OK {
			v.Level = l
		}
		v.Why = append(v.Why, j[l]...)
	}
	if v.Level != OK {
		return v
	}
	v.Why = append(v.Why, well(f, held, far)...)
	return v
}

// well returns the reasons of the level OK.
func well(f Facts, held []string, far int) (why []string) {
	switch a := f.Announced; {
	case f.elsewhere():
		return []string{"other hosts announce the VIPs to their routers, and this one does not"}
	case a == nil && len(f.VIPs) == 0:
		return []string{"the cluster has no VIP"}
	case a == nil && far == len(f.VIPs):
		return []string{"no VIP is in a network of this host"}
	case a != nil && len(a.Held) > 0:
		why = append(why, "announced: "+strings.Join(a.Held, ", "))
	case a != nil && a.Left:
		why = append(why, "this host leaves VIPs to others, and announces none")
	case a != nil && len(held) == 0:
		why = append(why, "the sessions with this host's routers are up, and it is to announce "+
			"no VIP")
	}
	if len(held) > 0 {
		why = append(why, "held: "+strings.Join(held, ", "))
	}
	return why
}

// announced judges how the VIPs are announced to routers.
func (j judgement) announced(a *Announced) {
	if a == nil {
		return
	}
	for _, why := range a.Down {
		j.add(Down, "%s", why)
	}
	for _, why := range a.Degraded {
		j.add(Degraded, "%s", why)
	}
}

// vips judges the VIPs. It returns which are held, and how many are in no network of this host.
func (j judgement) vips(f Facts) (held []string, far int) {
	for _, v := range f.VIPs {
		name := fmt.Sprintf("the %s VIP %s", v.For, v.Address)
		switch {
		case v.Here && f.Daemon != nil && !f.Daemon.Running:
			j.add(Degraded, "this host has %s, and keepalived does not run here", name)
		case v.Here:
			held = append(held, fmt.Sprintf("%s (%s) by this host", v.Address, v.For))
		case !v.Reached:
			far++
		case v.NoHolder && v.For == vrrp.Provisioning:
			j.add(Degraded, "no host answers for %s: hosts cannot be installed", name)
		case v.NoHolder:
			j.add(Down, "no host answers for %s", name)
		case v.Holder == "":
			j.add(Unknown, "it could not be seen which host answers for %s", name)
		case v.Disagree != "":
			j.add(Degraded, "%s answers for %s, and %s announces it", v.Holder, name, v.Disagree)
		default:
			held = append(held, fmt.Sprintf("%s (%s) by %s", v.Address, v.For, v.Holder))
		}
	}
	return held, far
}

// daemon judges keepalived. A release in order is no fault.
func (j judgement) daemon(f Facts) {
	d := f.Daemon
	switch {
	case d == nil && f.Expected:
		j.add(Degraded, "keepalived has not been started on this host")
	case d == nil || d.Leaving:
	case !d.Running:
		j.add(Degraded, "keepalived does not run on this host")
	case d.MonitorSilent:
		j.add(Degraded, "no heartbeat of keepalived's monitor arrives, so no check counts")
	case d.Refused:
		j.add(Degraded, "keepalived refuses its new configuration")
	}
	if d != nil {
		for _, trouble := range d.Troubles {
			j.add(Degraded, "keepalived's parent cannot %s", trouble)
		}
	}
}

// servers judges what is behind this node's balancer.
func (j judgement) servers(all []Server) {
	up := slices.ContainsFunc(all, func(s Server) bool { return s.Up })
	for _, s := range all {
		switch {
		case !up:
			j.add(Down, "API server %s is %s, as are all behind this node's balancer",
				s.Name, s.Status)
		case !s.Up:
			j.add(Degraded, "API server %s is %s behind this node's balancer", s.Name, s.Status)
		}
	}
}
