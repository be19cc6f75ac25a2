package bare

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Foresee is all steps from a world on, if nothing fails. It calls next itself, on a copy of the
// world in which each step has its intended effect. The last step has Done set. The error is a
// scale.Refusal.
func Foresee(w World, next Next) (all []Step, err error) {
	w.Pods = slices.Clone(w.Pods)
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
	h := &w.Host
	if w.Node != nil {
		changed := *w.Node // the caller has the former one
		w.Node = &changed
	}
	switch s.Action {
	case Create:
		h.Exists, h.Online = true, true
	case Resume:
		h.Paused, h.Handover = false, false
	case Deploy:
		h.Image, h.Online = true, true
	case Note:
		h.Host.Node = s.Node
	case Renew:
		w.Outdated = false
	case Cordon:
		w.Node.Cordoned, w.Node.Leaving = true, true
	case Evict:
		for i := range w.Pods {
			w.Pods[i].Leaving, w.Pods[i].Blocked = true, ""
		}
	case Wipe:
		h.Image, h.Online = false, false
	case Off:
		h.Online, h.On = false, false
	case Unlist:
		w.Node = nil
	case Delete:
		*h = Host{Host: scale.Host{Name: h.Name}}
	default:
		w.comes()
	}
}

// comes applies to the world what a step waits for.
func (w *World) comes() {
	h := &w.Host
	switch {
	case h.Deleting:
		*h = Host{Host: scale.Host{Name: h.Name}}
	case w.Bootstrap:
		w.Bootstrap = false
	case len(w.Pods) > 0:
		w.Pods = nil
	case !w.Ironic:
		w.Ironic = true
	case h.Problem != "":
		h.Problem = ""
	case h.Image && h.State != provisioned:
		h.State, h.On = provisioned, true
	case h.Image && w.Node == nil:
		w.Node = &Node{Node: scale.Node{Name: h.Name, Ready: true}}
	case h.Image:
		w.Node.Ready = true
	case h.State != available:
		h.State, h.On = available, h.Online
	default:
		h.On = false
	}
}
