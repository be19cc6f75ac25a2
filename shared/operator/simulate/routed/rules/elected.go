package rules

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// front judges that routers lead clients to the holder, if one node alone holds the VIP.
func front(w *world.World, v int) {
	holder := alone(w)
	back := &w.Rules.Back
	back.Set(w.Now, holder != nil && fit(w, holder, v) && holder.Route[v].Behind)
	if back.For(w.Now, world.Round) && once(w, Front, holder.Index, v) {
		w.Break(Front, "%s holds the %s since %v, and announces it behind others",
			w.Name(holder.Index), schedule.VIP(v), world.Short(back.At))
	}
	for i, r := range w.Routers {
		other := -1
		if holder != nil && r.On && !r.Tables[v].Ignores {
			other = preferred(w, r, holder, v)
		}
		bad := &w.Rules.Front[i]
		bad.Set(w.Now, other >= 0)
		if bad.For(w.Now, moves(w)) && once(w, Front, r.Box, v) {
			w.Break(Front, "%s has a path of %s, which holds the %s, and leads to %s",
				w.Name(r.Box), w.Name(holder.Index), schedule.VIP(v), w.Name(other))
		}
	}
}

// moves is how long routers take at most to follow the VIP to another holder: the former one's path
// becomes longer number by number, by a rank in all.
func moves(w *world.World) time.Duration {
	return speak.Settle*time.Duration(w.BGP.Policy.Apart()+1) + bgp.Pass + world.Slack
}

// alone is the only host with the VIP on its link, if that is a node; else nil.
func alone(w *world.World) (holder *world.Host) {
	for _, h := range w.Hosts {
		switch {
		case !h.On || !h.OnLink:
		case holder != nil || h.Index == 0:
			return nil
		default:
			holder = h
		}
	}
	return holder
}

// preferred is a node to which a router leads although its path is made longer than the
// holder's, which the router has too; -1 if there is none, or while the holder leaves or has
// only just become the holder. A node whose bgpd hangs does not count: it cannot make its path
// longer, and serves until its session ends.
func preferred(w *world.World, r *world.Router, holder *world.Host, v int) int {
	t, grade := r.Tables[v], holder.Sent[v].Grade
	has := false
	for _, p := range t.In {
		has = has || p.Any() && p.Host() == holder.Index && p.Grade == grade
	}
	if !has || int(grade) != holder.Grade(v) || holder.Route[v].Behind {
		return -1
	}
	for _, port := range t.Next {
		if p := t.In[port]; p.Any() && p.Host() > 0 && p.Host() != holder.Index &&
			p.Grade > grade && !w.Hosts[p.Host()].BGP.Frozen {
			return p.Host()
		}
	}
	return -1
}

// last judges that when all hosts end announcing, no router has another host's path when the
// holder withdraws: it would lead to that host for a moment, and then to the holder on its link.
func last(w *world.World, h *world.Host, v int) {
	for _, o := range w.Hosts {
		if o != h && o.Ends && known(w, o, v) && o.Watches && w.Now > w.Rules.Cables[o.Index] &&
			w.Now-w.Rules.Idle > follows(w) && once(w, Ends, o.Index, v) {
			w.Break(Ends, "%s withdraws the %s, which routers have of %s still", w.Name(h.Index),
				schedule.VIP(v), w.Name(o.Index))
		}
	}
}
