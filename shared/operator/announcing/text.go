package announcing

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// Text is the report for a person, a line for each thing.
func (r Report) Text(now time.Time) string {
	var text strings.Builder
	where := "in rack " + r.Rack
	if r.Rack == "" {
		where = "in no rack: " + r.NoRack
	}
	fmt.Fprintf(&text, "BGP: AS %d, mode %s, %s\n", r.ASN, r.Mode, where)
	for _, v := range r.VIPs {
		text.WriteString(v.text(now))
	}
	for _, router := range r.Routers {
		text.WriteString(router.text(now))
	}
	text.WriteString(r.Speaker.text(now))
	return text.String()
}

func (v VIP) text(now time.Time) string {
	var text strings.Builder
	phase := ""
	if v.Phase != "" {
		phase = ", " + string(v.Phase) + layout.Since(v.Since, now)
	}
	switch {
	case len(v.Routers) > 0:
		grade := ""
		if v.Grade != nil {
			grade = fmt.Sprintf(", grade %d", *v.Grade)
		}
		fmt.Fprintf(&text, "%s (%s): announced to %s%s%s\n", v.VIP, v.For,
			strings.Join(v.Routers, ", "), grade, phase)
	case v.Wanted:
		fmt.Fprintf(&text, "%s (%s): served here, and no router has it%s\n", v.VIP, v.For, phase)
	default:
		fmt.Fprintf(&text, "%s (%s): not announced here%s: %s\n", v.VIP, v.For, phase,
			cmp.Or(v.Why, "this host's monitor does not ask for it"))
	}
	for _, o := range v.Others {
		host := o.Host.String()
		if o.Foreign {
			host = "a host that is not of this cluster"
		}
		fmt.Fprintf(&text, "%s: router %s reports %s, by a path of %d numbers\n", v.VIP, o.Router,
			host, o.Length)
	}
	return text.String() + v.uses()
}

func (r Router) text(now time.Time) string {
	as := "any AS"
	if r.ASN != 0 {
		as = fmt.Sprintf("AS %d", r.ASN)
	}
	line := fmt.Sprintf("router %s (%s): %s%s, BFD %s, has %s", r.Router, as, state(r),
		layout.Since(r.Since, now), bfd(r), layout.List(r.Has, "no VIP"))
	return line + ended(r) + "\n"
}

// state is a session's in a word.
func state(r Router) string { return cmp.Or(r.State, "not known") }

// bfd is BFD's state in a word.
func bfd(r Router) string {
	if r.BFD == "" {
		return "off"
	}
	return r.BFD
}

// ended is why the last session ended, to stand at the end of a line; empty for nothing.
func ended(r Router) string {
	switch {
	case r.Up || r.Why == "" && r.Code == "":
		return ""
	case r.Code == "":
		return ": the last one ended by: " + r.Why
	}
	return fmt.Sprintf(": the last one ended by notification %s: %s", r.Code, r.Means)
}

func (s Speaker) text(now time.Time) string {
	switch {
	case !s.Started:
		return "speaker: it has not been started on this host\n"
	case s.Silent:
		return fmt.Sprintf("speaker: it has reported nothing for %v\n",
			now.Sub(s.At).Round(time.Second))
	}
	var text strings.Builder
	for _, d := range s.Daemons {
		state := "runs"
		if !d.Running {
			state = "does not run"
		}
		fmt.Fprintf(&text, "speaker: %s %s, started %d times\n", d.Name, state, d.Starts)
	}
	switch {
	case s.Left:
		text.WriteString("speaker: it has released the VIPs, and announces nothing\n")
	case s.Leaving:
		text.WriteString("speaker: it releases the VIPs\n")
	case s.MonitorSilent:
		text.WriteString("speaker: nothing of the VIPs' monitor arrives, so that it releases the " +
			"VIPs\n")
	case s.MonitorDied:
		text.WriteString("speaker: the VIPs' monitor was killed, so that this host is behind all " +
			"others\n")
	}
	for _, t := range s.Troubles {
		fmt.Fprintf(&text, "speaker: %s\n", t)
	}
	return text.String()
}
