package announcing

import (
	"fmt"
	"strings"
	"time"
)

// Faults are what is wrong, in words. A host that leaves in order has none, unless it is silent.
type Faults struct {
	Down     []string // the host is to announce a VIP, and no router of its has it
	Degraded []string
}

// Faults judges the report at a time.
func (r Report) Faults(now time.Time) (f Faults) {
	degraded := func(format string, args ...any) {
		f.Degraded = append(f.Degraded, fmt.Sprintf(format, args...))
	}
	switch s := r.Speaker; {
	case !s.Started && len(r.wanted()) > 0:
		f.Down = append(f.Down, fmt.Sprintf("this host is to announce %s, and its speaker has not "+
			"been started", strings.Join(r.wanted(), ", ")))
		return f
	case !s.Started:
		degraded("the speaker has not been started on this host")
		return f
	case s.Silent:
		degraded("the speaker timed out: it has reported nothing for %v",
			now.Sub(s.At).Round(time.Second))
		return f
	case s.Leaving || s.Left:
		return f
	case s.MonitorSilent:
		degraded("the speaker receives nothing of the VIPs' monitor, so that this host " +
			"leaves VIPs to others")
	case s.MonitorDied:
		degraded("the VIPs' monitor was killed on this host, which goes behind all others until " +
			"it is back, and after some seconds leaves VIPs to them")
	}
	for _, d := range r.Speaker.Daemons {
		if !d.Running {
			degraded("%s of FRR does not run on this host", d.Name)
		}
	}
	for _, t := range r.Speaker.Troubles {
		degraded("the speaker: %s", t)
	}
	up := r.sessions(&f)
	for _, v := range r.VIPs {
		r.judgeVIP(v, up, &f)
	}
	return f
}

// sessions judges the routers, and returns how many sessions are up.
func (r Report) sessions(f *Faults) (up int) {
	var down []string
	for _, router := range r.Routers {
		switch {
		case !router.Up:
			down = append(down, fmt.Sprintf("the session with router %s is %s%s", router.Router,
				state(router), ended(router)))
		case r.bfd && router.BFD != "Up":
			f.Degraded = append(f.Degraded, fmt.Sprintf("BFD with router %s is %s: it finds out "+
				"late that this host is gone", router.Router, bfd(router)))
			up++
		default:
			up++
		}
	}
	switch {
	case len(r.Routers) == 0 && r.NoRack != "":
		f.Down = append(f.Down, "this host has no router: "+r.NoRack)
	case len(r.Routers) == 0:
		f.Down = append(f.Down, "this host has no router")
	case up == 0:
		f.Down = append(f.Down, "this host has no session with any router: "+
			strings.Join(down, "; "))
	default:
		f.Degraded = append(f.Degraded, down...)
	}
	return up
}

func (r Report) judgeVIP(v VIP, up int, f *Faults) {
	name := fmt.Sprintf("the %s VIP %s", v.For, v.VIP)
	var without []string
	for _, router := range r.Routers {
		if has := contains(v.Routers, router.Router); router.Up && !has && router.Carries(v.VIP) {
			without = append(without, router.Router)
		}
	}
	switch {
	case up == 0: // which is a fault of its own
	case v.Wanted && len(v.Routers) == 0:
		f.Down = append(f.Down, fmt.Sprintf("this host is to announce %s, and no router has it: "+
			"it is %s here", name, v.Phase))
	case v.Wanted && len(without) > 0:
		f.Degraded = append(f.Degraded, fmt.Sprintf("router %s does not have %s from this host",
			strings.Join(without, ", "), name))
	case !v.Wanted && len(v.Routers) > 0 && v.Grade == nil && !r.Speaker.MonitorSilent:
		f.Degraded = append(f.Degraded, fmt.Sprintf("router %s has %s from this host, which does "+
			"not serve it", strings.Join(v.Routers, ", "), name))
	}
	if unused := r.Unused(v); len(unused) > 0 {
		f.Degraded = append(f.Degraded, fmt.Sprintf("router %s does not use this host's path to "+
			"%s: it prefers a longer one", strings.Join(unused, ", "), name))
	}
	for _, o := range v.Others {
		if o.Foreign {
			f.Degraded = append(f.Degraded, fmt.Sprintf("a host that is not of this cluster "+
				"announces %s, by router %s", name, o.Router))
		}
	}
}

// Held are the VIPs that are known to be announced, in words.
func (r Report) Held() (all []string) {
	if !r.Speaker.Current() {
		return nil
	}
	for _, v := range r.VIPs {
		switch hosts := v.hosts(); {
		case len(v.Routers) > 0:
			all = append(all, fmt.Sprintf("%s (%s) by this host to %s", v.VIP, v.For,
				strings.Join(v.Routers, ", ")))
		case len(hosts) > 0:
			all = append(all, fmt.Sprintf("%s (%s) by %s", v.VIP, v.For,
				strings.Join(hosts, ", ")))
		}
	}
	return all
}

// hosts are the other hosts of the cluster that announce a VIP, each once.
func (v VIP) hosts() (all []string) {
	for _, o := range v.Others {
		if name := o.Host.String(); !o.Foreign && !contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// wanted are the VIPs that the host is to announce.
func (r Report) wanted() (all []string) {
	for _, v := range r.VIPs {
		if v.Wanted {
			all = append(all, v.VIP.String())
		}
	}
	return all
}

func contains(all []string, one string) bool {
	for _, o := range all {
		if o == one {
			return true
		}
	}
	return false
}
