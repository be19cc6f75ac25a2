// Package announcing reports how a host announces VIPs to its routers, by the files that its
// monitor and its speaker have written: for people, for programs, and for a verdict.
package announcing

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Stale is the age from which a speaker's status counts no more: it writes one each second.
const Stale = 5 * time.Second

// Seen is what was read on a host. Files that are not there, or cannot be read, are nil.
type Seen struct {
	Now     time.Time
	Plan    routed.Plan
	Rack    string // the host's; NoRack is why it has none
	NoRack  string
	VIPs    []Address // of the cluster, as far as hosts announce them
	Config  *spoken.Config
	Wish    *spoken.Wish
	Status  *spoken.Status
	Leaving bool // the host was asked to give everything up in order
}

// Address is a VIP, and why this host does not serve it; Why is empty if that is not known.
type Address struct {
	VIP netip.Addr
	For vrrp.Kind
	Why string
}

// Report is public: fields may be added, and none is removed or changes its meaning.
type Report struct {
	ASN     bgp.ASN  `json:"asn"`
	Mode    string   `json:"mode"`
	Rack    string   `json:"rack,omitempty"`
	NoRack  string   `json:"noRack,omitempty"` // why this host has none
	Speaker Speaker  `json:"speaker"`
	VIPs    []VIP    `json:"vips"`
	Routers []Router `json:"routers"`

	bfd bool // sessions are to have it
}

// Speaker is FRR's parent on this host.
type Speaker struct {
	Started bool      `json:"started"`     // it has ever written its status since the boot
	At      time.Time `json:"at,omitzero"` // of that
	Silent  bool      `json:"silent"`      // it has written none for some seconds
	// MonitorSilent means that the host's monitor has asked for nothing for so long that the host
	// leaves, and MonitorDied that it was killed: until another one works the host is behind all
	// others. Both are by the speaker's own clock, which nobody sets.
	MonitorSilent bool     `json:"monitorSilent"`
	MonitorDied   bool     `json:"monitorDied"`
	Leaving       bool     `json:"leaving"`
	Left          bool     `json:"left"` // all has ended in order
	Daemons       []Daemon `json:"daemons"`
	Troubles      []string `json:"troubles"`
	// BFDTaken names what else receives BFD's packets: sessions are without BFD until the speaker
	// starts anew.
	BFDTaken string `json:"bfdTaken,omitempty"`
}

// Daemon is one of FRR's programs.
type Daemon struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
	Starts  int    `json:"starts"`
}

// VIP is a VIP on this host.
type VIP struct {
	VIP    netip.Addr  `json:"vip"`
	For    vrrp.Kind   `json:"for"`
	Phase  speak.Phase `json:"phase,omitempty"`
	Since  time.Time   `json:"since,omitzero"`
	Wanted bool        `json:"wanted"`          // the monitor has the host announce it
	Why    string      `json:"why,omitempty"`   // why not, if that is known
	Grade  *int        `json:"grade,omitempty"` // absent while the host announces none
	// Routers are those that have it from this host, and Others the paths to other hosts that
	// routers have reported.
	Routers []string `json:"routers"`
	Others  []Other  `json:"others"`
	Uses    []Use    `json:"uses"` // of each router that has it
}

// Use is what a router does with this host's path to a VIP, as far as it reports that.
type Use struct {
	Router string     `json:"router"`
	Use    spoken.Use `json:"use"`
}

// Other is a path to another host.
type Other struct {
	Router  string     `json:"router"` // which has reported it
	Host    netip.Addr `json:"host,omitzero"`
	Foreign bool       `json:"foreign"` // the host is none of the cluster's
	Length  int        `json:"length"`  // of the path, in numbers
}

// Router is a router of this host.
type Router struct {
	Router string       `json:"router"`
	ASN    bgp.ASN      `json:"asn,omitempty"` // 0 for whichever it has
	State  string       `json:"state,omitempty"`
	Up     bool         `json:"up"`
	Since  time.Time    `json:"since,omitzero"` // since when it is up
	BFD    string       `json:"bfd,omitempty"`
	Has    []netip.Addr `json:"has"`            // the VIPs that it has from this host
	Why    string       `json:"why,omitempty"`  // why the last session ended
	Code   string       `json:"code,omitempty"` // of the notification then, as 2/2
	Means  string       `json:"means,omitempty"`
	Do     string       `json:"do,omitempty"`
}

// Of reports what was seen.
func Of(s Seen) Report {
	r := Report{ASN: s.Plan.ASN, Mode: s.Plan.Mode, Rack: s.Rack, NoRack: s.NoRack,
		Routers: []Router{}, VIPs: []VIP{}}
	r.bfd = s.Plan.Timing.BFDIntervalMs > 0
	r.Speaker = speaker(s)
	if s.Config != nil {
		r.bfd = s.Config.Timing.BFD != (bgp.BFD{})
		for _, p := range s.Config.Peers {
			r.Routers = append(r.Routers, Router{Router: routed.Peer{Address: p.Address,
				Interface: p.Interface}.Name(), ASN: p.ASN, Has: []netip.Addr{}})
		}
	}
	if s.Status != nil {
		for _, session := range s.Status.Sessions {
			r.router(session)
		}
	}
	for _, a := range s.VIPs {
		r.VIPs = append(r.VIPs, r.vip(s, a))
	}
	return r
}

func speaker(s Seen) Speaker {
	out := Speaker{Leaving: s.Leaving, Daemons: []Daemon{}, Troubles: []string{},
		MonitorSilent: s.Wish == nil}
	if s.Status == nil {
		return out
	}
	out.MonitorSilent = out.MonitorSilent || s.Status.Monitor == spoken.Silent
	out.MonitorDied = s.Status.Monitor == spoken.Died
	out.Started, out.At, out.Left = true, s.Status.At.UTC(), s.Status.Left
	out.Silent, out.BFDTaken = s.Now.Sub(s.Status.At) > Stale, s.Status.BFDTaken
	out.Troubles = append(out.Troubles, s.Status.Troubles...)
	for _, d := range s.Status.Daemons {
		out.Daemons = append(out.Daemons, Daemon{string(d.Name), d.Running, d.Starts})
	}
	return out
}

// router adds a session of the speaker's status to the report.
func (r *Report) router(s spoken.Session) {
	i := slices.IndexFunc(r.Routers, func(o Router) bool { return o.Router == s.Peer })
	if i < 0 {
		i = len(r.Routers)
		r.Routers = append(r.Routers, Router{Router: s.Peer, Has: []netip.Addr{}})
	}
	one := &r.Routers[i]
	one.State, one.Up, one.BFD = s.State, s.State == "Established", s.BFD
	one.Since, one.Why = s.Since.UTC(), s.Why
	if s.Since.IsZero() {
		one.Since = time.Time{}
	}
	one.Has = append(one.Has, s.Advertised...)
	if n, ok := message.ParseCode(s.Code); ok {
		one.Code, one.Means, one.Do = n.String(), n.Words(), n.Do()
	}
}

func (r *Report) vip(s Seen, a Address) VIP {
	v := VIP{VIP: a.VIP, For: a.For, Routers: []string{}, Others: []Other{}, Uses: []Use{}}
	if s.Wish != nil && !r.Speaker.MonitorSilent {
		v.Wanted = slices.ContainsFunc(s.Wish.Routes,
			func(o spoken.Route) bool { return o.VIP == a.VIP && !o.Ends && !o.Leaves })
	}
	if !v.Wanted {
		v.Why = a.Why
	}
	for _, router := range r.Routers {
		if slices.Contains(router.Has, a.VIP) {
			v.Routers = append(v.Routers, router.Router)
		}
	}
	if s.Status == nil {
		return v
	}
	for _, is := range s.Status.VIPs {
		if is.VIP != a.VIP {
			continue
		}
		v.Phase, v.Since = is.Phase, is.Since.UTC()
		if is.Phase == speak.Announced || is.Phase == speak.Demoted {
			v.Grade = new(int(is.Grade))
		}
		for _, o := range is.Others {
			v.Others = append(v.Others, Other{Router: o.Session, Host: o.Announcer,
				Foreign: !o.Announcer.IsValid(), Length: o.Length})
		}
		for _, router := range v.Routers {
			v.Uses = append(v.Uses, Use{router, is.Use(router)})
		}
	}
	return v
}

// BFD reports whether sessions are to have BFD.
func (r Report) BFD() bool { return r.bfd }

// Carries reports whether the session with a router carries routes to an address: sessions by an
// address carry its family, those by an interface both.
func (r Router) Carries(vip netip.Addr) bool {
	a, err := netip.ParseAddr(r.Router)
	return err != nil || a.BitLen() == vip.BitLen()
}

// Current reports whether what the speaker has written is of now, and the host is not leaving.
func (s Speaker) Current() bool { return s.Started && !s.Silent && !s.Leaving && !s.Left }
