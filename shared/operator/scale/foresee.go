package scale

import "slices"

// Next is Add or Remove.
type Next func(World) (Step, error)

// Foresee is all steps from a world on, if nothing fails. It calls next itself, on a copy of the
// world in which each step has its intended effect. The last step has Done set. The error is a
// Refusal.
func Foresee(w World, next Next) (all []Step, err error) {
	w.Sets, w.Nodes, w.Idle = slices.Clone(w.Sets), slices.Clone(w.Nodes), slices.Clone(w.Idle)
	const most = 32 // a host goes through ten
	for range most {
		s, err := next(w)
		if err != nil {
			return nil, err
		}
		if all = append(all, s); s.Done {
			return all, nil
		}
		w.done(s)
	}
	return all, nil // in no world of the tests: they verify that the steps end
}

// done applies the effect of a step to the world.
func (w *World) done(s Step) {
	h, set := &w.Host, &Set{}
	for i := range w.Sets {
		if w.Sets[i].Name == s.Set {
			set = &w.Sets[i]
		}
	}
	if m := w.Machine; m != nil {
		changed := *m // the caller has the former one
		w.Machine = &changed
	}
	switch s.Action {
	case Create:
		h.Exists, h.Online = true, true
	case Resume:
		h.Paused, h.Handover = false, false
	case Raise, Lower:
		set.Replicas = s.Replicas
	case Mark:
		w.Machine.Marked = true
	case Discard:
		w.Machine.Deleting = true
	case Off:
		h.Online, h.On = false, false
	case Delete:
		h.Exists = false
	default:
		w.comes()
	}
}

// comes applies to the world what a step waits for.
func (w *World) comes() {
	h := &w.Host
	switch {
	case w.Bootstrap:
		w.Bootstrap = false
		return
	case h.Deleting && (w.Machine == nil || !w.Machine.Deleting):
		*h, w.Machine = Host{Name: h.Name}, nil
		return
	}
	for i := range w.Sets {
		switch s := &w.Sets[i]; {
		case s.Replicas > s.Live:
			for ; s.Live < s.Replicas; s.Live++ {
				w.Idle = append(w.Idle, Idle{Set: s.Name})
			}
			return
		case s.Replicas < s.Live && w.Machine != nil && w.Machine.Set == s.Name:
			s.Live, w.Machine.Deleting = s.Replicas, true
			return
		case s.Replicas < s.Live && w.Machine == nil:
			s.Live = s.Replicas
			return
		}
	}
	switch {
	case h.Problem != "":
		h.Problem = ""
	case w.Machine != nil && w.Machine.Deleting:
		gone := w.Machine.Node
		w.Nodes = slices.DeleteFunc(w.Nodes, func(n Node) bool { return n.Name == gone })
		w.Machine, h.State, h.Consumer, h.Online, h.On = nil, "available", "", false, false
	case w.Machine != nil && w.Machine.Node == "":
		w.Machine.Node, h.State = h.Name, "provisioned"
		w.Nodes = append(w.Nodes, Node{Name: h.Name, Ready: true})
	case w.Machine != nil:
		for i := range w.Nodes {
			if w.Nodes[i].Name == w.Machine.Node {
				w.Nodes[i].Ready = true
				return
			}
		}
		w.Nodes = append(w.Nodes, Node{Name: w.Machine.Node, Ready: true})
	case h.State != "available":
		h.State = "available"
	case h.On && !h.Online:
		h.On = false
	case len(w.Idle) > 0:
		w.Machine, w.Idle = &Machine{Name: w.Idle[0].Name, Set: w.Idle[0].Set}, w.Idle[1:]
	default: // the replicas follow the number of hosts
		for _, s := range w.Sets {
			if s.Follows {
				w.Machine = &Machine{Set: s.Name}
			}
		}
	}
}
