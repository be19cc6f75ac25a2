// Package routed finds what is wrong with how a host announces VIPs to its routers, or will.
package routed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Speaker finds a speaker that has not been started, or is silent.
func Speaker(f facts.Facts) (out facts.Faults) {
	const subject = "the speaker (FRR's parent)"
	switch r := f.Routed; {
	case r == nil || !f.Live || r.Report == nil:
	case !r.Report.Speaker.Started:
		out.Add(subject, "it has never started on this host", "see that the pod speaker runs "+
			"(crictl pods), or on a bootstrap machine the unit onprem-speaker.service, and its log")
	case r.Report.Speaker.Silent:
		out.Add(subject, "it has reported nothing since "+
			r.Report.Speaker.At.Format(time.DateTime+"Z"),
			"read its log (crictl logs); kubelet or podman starts it again")
	case r.Fault != "":
		out.Add(subject, "it stands still: "+r.Fault, "read its log; kubelet or podman starts it "+
			"again")
	case len(r.Report.Speaker.Troubles) > 0:
		out.Add(subject, strings.Join(r.Report.Speaker.Troubles, "; "),
			"it tries again and again: see the other findings about routers, and its log")
	}
	return out
}

// Rack finds a host that is in no rack: it has no routers.
func Rack(f facts.Facts) (out facts.Faults) {
	if f.Routed != nil && f.Routed.NoRack != "" {
		out.Add("the rack of this host", f.Routed.NoRack, "without a rack this host has no "+
			"routers, and announces nothing: change bgp.racks of the description, or the host")
	}
	return out
}

// current are the sessions that a live host's speaker reports.
func current(f facts.Facts) []announcing.Router {
	if f.Routed == nil || f.Routed.Report == nil || !f.Routed.Report.Speaker.Current() {
		return nil
	}
	return f.Routed.Report.Routers
}

func subject(router string) string { return "router " + router }

// Silent finds routers of which nothing comes back.
func Silent(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	for _, a := range f.Routed.Asked {
		switch a.Outcome {
		case message.Silent:
			seen := "nothing comes back from its port 179 (TCP)"
			if a.Why != "" && strings.HasPrefix(a.Why, "it ") {
				seen = a.Why
			}
			out.Add(subject(a.Router), seen, "see that it has the address, that no packet filter "+
				"between drops TCP port 179, and that both ends have the same password, or none: "+
				"with a wrong one neither answers, and only the router counts it")
		case message.Unreachable:
			out.Add(subject(a.Router), "there is no way to it: "+a.Why,
				"see that it runs and has the address, and that this host has a route to it")
		}
	}
	return out
}

// Refused finds routers that take no session of this host.
func Refused(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	for _, a := range f.Routed.Asked {
		switch a.Outcome {
		case message.Refused:
			out.Add(subject(a.Router), "it refuses connections to its port 179 (TCP)",
				"see that BGP runs there, and accepts sessions at this address")
		case message.Closed:
			out.Add(subject(a.Router), "it closes the connection without a message: it does not "+
				"know this host", "make this host its neighbour, or its rack's range of "+
				"addresses: `onprem-infra routers` prints how")
		case message.NoBGP:
			out.Add(subject(a.Router), "what answers at its port 179 is no BGP: "+a.Why,
				"correct the address in bgp.racks")
		}
	}
	return out
}

// Notification finds sessions that one of the ends refuses, with its reason.
func Notification(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	for _, a := range f.Routed.Asked {
		switch {
		case a.Outcome == message.Unlike:
			out.Add(subject(a.Router), fmt.Sprintf("it would have a session, and is AS %d, which "+
				"the description does not have", a.Open.ASN),
				"correct its asn in bgp.racks, or the router")
		case a.Outcome == message.Notified:
			out.Add(subject(a.Router), fmt.Sprintf("it refuses the session by notification %s: %s",
				a.Notification, a.Notification.Words()), remedy(a.Notification.Do()))
		}
	}
	for _, r := range current(f) {
		if !r.Up && r.Code != "" {
			out.Add(subject(r.Router), fmt.Sprintf("the session is %s, and the last one ended by "+
				"notification %s: %s", r.State, r.Code, r.Means), remedy(r.Do))
		}
	}
	return out
}

func remedy(do string) string {
	if do == "" {
		return "it should come up by itself; else see the router's log"
	}
	return do
}

// grace is how long after a session comes up BFD may be down without being a fault.
const grace = 5 * time.Second

// BFD finds sessions whose BFD never came up. If another program has its packets, the check of
// ports reports that.
func BFD(f facts.Facts) (out facts.Faults) {
	if bfdTaken(f) != "" {
		return nil
	}
	for _, r := range current(f) {
		if f.Routed.Report.BFD() && r.Up && r.BFD != "Up" &&
			f.Routed.Report.Speaker.At.Sub(r.Since) > grace {
			out.Add("BFD with "+subject(r.Router), fmt.Sprintf("the session is up, and BFD is %s: "+
				"the router finds out late that this host is gone", off(r.BFD)),
				"have the router do BFD with this host at its interval (many switches allow 300 "+
					"ms at least: bgp.timing vm), and see that UDP port 3784 passes, and that no "+
					"other program of this host has it (the check bgp-port)")
		}
	}
	return out
}

func off(bfd string) string {
	if bfd == "" {
		return "off"
	}
	return bfd
}

// NotAnnounced finds VIPs that this host is to announce, and no router has.
func NotAnnounced(f facts.Facts) (out facts.Faults) {
	up := slices.ContainsFunc(current(f), func(r announcing.Router) bool { return r.Up })
	if !up {
		return nil // which the checks of sessions report
	}
	for _, v := range f.Routed.Report.VIPs {
		if v.Wanted && len(v.Routers) == 0 {
			out.Add(title(v), fmt.Sprintf("this host is to announce it, and no router has it: it "+
				"is %s", v.Phase), "wait half a minute if it has flapped; else read the log of "+
				"the speaker")
		}
	}
	return out
}

func title(v announcing.VIP) string { return fmt.Sprintf("the %s VIP %s", v.For, v.VIP) }

// Foreign finds announcers of a VIP that are not of the cluster.
func Foreign(f facts.Facts) (out facts.Faults) {
	if len(current(f)) == 0 {
		return nil
	}
	for _, v := range f.Routed.Report.VIPs {
		for _, o := range v.Others {
			if o.Foreign {
				out.Add(fmt.Sprintf("%s at router %s", title(v), o.Router),
					"a host that is not of this cluster announces it, so that connections go there",
					"find it on the router (show bgp for the VIP: the path's next hop), and have "+
						"it end; a former cluster of the same VIP may run on")
			}
		}
	}
	return out
}
