package world

// Regroup finds out which boxes reach each other.
func (w *World) Regroup() {
	for i := range w.parts {
		w.parts[i] = i
	}
	for _, l := range w.Links {
		if w.Carries(l) {
			a, b := w.part(l.Boxes[0]), w.part(l.Boxes[1])
			w.parts[max(a, b)] = min(a, b)
		}
	}
	w.Moved = false
}

// part is the part of the network in which a box is. Hosts pass nothing on, but each of their
// routers reaches all of its hosts, and links of one host are to routers of one rack.
func (w *World) part(box int) int {
	for w.parts[box] != box {
		box = w.parts[box]
	}
	return box
}

// Reaches reports whether packets get from a box to another one.
func (w *World) Reaches(a, b int) bool {
	return w.IsOn(a) && w.IsOn(b) && (a == b || w.part(a) == w.part(b))
}

// Settle finds out whose API servers are ready, and whose balancers have one of them.
func (w *World) Settle() {
	if w.Moved {
		w.Regroup()
	}
	if w.Elected != "" {
		return
	}
	for _, h := range w.Hosts[:w.Masters+1] {
		h.Ready = h.On && h.API.On && !h.API.Hung && (h.Index == 0 || w.Quorum(h))
	}
	for _, h := range w.Hosts[:w.Masters+1] {
		h.Backed = w.backed(h)
	}
}

// Quorum reports whether a control plane node reaches most of those that are members. While the
// bootstrap machine serves, its API needs none.
func (w *World) Quorum(h *Host) bool {
	if boot := w.Hosts[0]; boot.On && boot.API.On {
		return true
	}
	members, reached := 0, 0
	for _, o := range w.Hosts[1 : w.Masters+1] {
		if o.Joined {
			members++
			if o.On && w.Reaches(h.Index, o.Index) {
				reached++
			}
		}
	}
	return 2*reached > members
}

// backed reports whether a node's balancer answers with a server that is up.
func (w *World) backed(h *Host) bool {
	if !h.On || !h.LB.On || h.LB.Hung {
		return false
	}
	for _, o := range w.Hosts[:w.Masters+1] {
		if o.Ready && w.Reaches(h.Index, o.Index) {
			return true
		}
	}
	return false
}

// Serves reports whether a connection to a VIP that arrives at a host is served.
func (w *World) Serves(h *Host, v int) bool {
	switch {
	case !h.On || !h.Held[v] && !h.OnLink:
		return false
	case w.Elected != "":
		return h.Answers
	case v == 1:
		return h.Ingress.On && !h.Ingress.Hung
	case h.Index > 0 && h.Redirect:
		return h.Backed
	}
	return h.Ready
}
