package bare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Remove is the next step by which a host leaves: its node is drained, its disk wiped, its power
// off, and its objects are gone. alone means that a person has stated that it has no node. The
// error is a scale.Refusal.
func Remove(w World, alone bool) (Step, error) {
	h := w.Host
	switch {
	case !h.Exists && w.Node != nil:
		return refuse("%s is a node, and the cluster has no host of that name whose disk would be "+
			"wiped: drain and delete the node by kubectl", w.Node.Name)
	case !h.Exists:
		return Step{Done: true}, nil
	}
	if err := w.keeps(); err != nil {
		return Step{}, err
	}
	switch {
	case h.Paused:
		return refuse("host %s is paused: metal3 would not wipe it: remove the annotation "+
			"%s first", h.Name, object.Paused)
	case h.Deleting:
		return wait("metal3 to forget the host; it is %s", h.Situation())
	case w.Node != nil && alone:
		return refuse("host %s has the node %s: leave --no-node out", h.Name, w.Node.Name)
	case w.Node != nil && w.Node.Ready && !w.Node.Leaving && !h.written() &&
		h.State != deprovisioning:
		return refuse("node %s is Ready, and metal3 has not written the disk of host %s: the node "+
			"runs on another machine, or from another system", w.Node.Name, h.Name)
	case w.Misnamed != "":
		return w.misnamed()
	case w.Node == nil && h.written() && !alone && len(w.Unknown) > 0:
		return refuse("host %s may be one of the nodes that no host has the name of: %s: name it "+
			"by --node, or state by --no-node that the host is none of them", h.Name,
			some(w.Unknown))
	case h.written():
		return w.drains()
	}
	return w.alone()
}

// misnamed refuses to go on without the host's node.
func (w World) misnamed() (Step, error) {
	return refuse("the named node does not exist, and node %s is that of host %s: leave --node "+
		"out, or name that one", w.Misnamed, w.Host.Name)
}

// written reports whether the host may run what metal3 has written to its disk.
func (h Host) written() bool {
	return h.Image || h.State == provisioned || h.State == provisioning
}

// keeps is a refusal if the host's node is another host's, a member of etcd, or the only one that
// serves ingress, or if another program has the host; nil if it may leave.
func (w World) keeps() error {
	h, n := w.Host, w.Node
	refusal := func(format string, args ...any) error {
		return scale.Refusal{Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case n != nil && w.Taken != "":
		return refusal("node %s has the name of host %s: name another node by --node", n.Name,
			w.Taken)
	case n != nil && n.Control:
		return w.quorum()
	case h.External:
		return refusal("host %s was provisioned by another program than metal3, which would not "+
			"wipe it: remove it by the means of that program", h.Name)
	case h.Consumer != "":
		return refusal("host %s belongs to %s: remove it by the means of the program that has "+
			"made that one", h.Name, h.Consumer)
	case n != nil && len(w.Ingress) == 1 && w.Ingress[0] == n.Name:
		return refusal("node %s is the only one with a ready pod at the ingress port: without it "+
			"nothing serves the ingress VIP: run one on another node first", n.Name)
	}
	return nil
}

// quorum is the refusal to remove a member of etcd, by the quorum that would be left.
func (w World) quorum() error {
	others, members, need := scale.Members(w.Control, w.Node.Name)
	text := fmt.Sprintf("node %s is of the control plane, and a member of etcd: ", w.Node.Name)
	if others < need {
		return scale.Refusal{Text: text + fmt.Sprintf("without it %d of %d are Ready, and etcd "+
			"needs %d: repair or add one first", others, members, need)}
	}
	return scale.Refusal{Text: text + "remove that member by the means of what has installed the " +
		"control plane, such as kubeadm reset"}
}

// drains is the next step for a host that runs, or may run, as a node.
func (w World) drains() (Step, error) {
	h, n := w.Host, w.Node
	if n == nil {
		return w.wipes()
	}
	var single []string
	for _, p := range w.Pods {
		if p.Alone && !p.Leaving {
			single = append(single, p.String())
		}
	}
	switch {
	case len(single) > 0:
		return refuse("pods of node %s belong to no controller, and nothing would start them "+
			"elsewhere: %s: delete them first", n.Name, some(single))
	case !h.Image: // it was drained, and metal3 begins to wipe it
		return w.wipes()
	case !n.Cordoned || !n.Leaving:
		return Step{Action: Cordon, Node: n.Name}, nil
	}
	return w.evicts()
}

// evicts is the next step for the pods of a node.
func (w World) evicts() (Step, error) {
	var ask, left []Pod
	var blocked, ending []string
	for _, p := range w.Pods {
		if p.Lost {
			continue // only the end of its node, which is off or soon is, ends it
		}
		left = append(left, p)
		switch {
		case p.Leaving:
			ending = append(ending, p.String())
			continue
		case p.Blocked != "":
			blocked = append(blocked, fmt.Sprintf("%s (%s)", p, p.Blocked))
		}
		if !p.Rests {
			ask = append(ask, p)
		}
	}
	s := Step{Node: w.Node.Name}
	if len(ask) > 0 {
		s.Action, s.Pods = Evict, ask
	}
	switch {
	case len(left) == 0:
		return w.wipes()
	case len(blocked) > 0 && !slices.ContainsFunc(ask, func(p Pod) bool { return p.Blocked == "" }):
		s.Waits = fmt.Sprintf("pods that may not leave node %s yet: %s", s.Node, some(blocked))
	case len(ask) == 0:
		s.Waits = fmt.Sprintf("pods of node %s to end: %s", s.Node, some(ending))
	}
	return s, nil
}

// wipes is the next step for a host whose node is drained, or that has none.
func (w World) wipes() (Step, error) {
	switch {
	case w.Host.Image:
		return Step{Action: Wipe, Version: w.Host.Version}, nil
	case !w.Ironic:
		return wait("%s", scale.UntilIronic(w.Deployment))
	}
	return wait("metal3 to wipe the host's disk; it is %s", w.Host.Situation())
}

// alone is the next step for a host that runs nothing any more.
func (w World) alone() (Step, error) {
	h := w.Host
	switch {
	case h.State == deprovisioning:
		return w.wipes()
	case h.Problem == "" && h.Online:
		return Step{Action: Off}, nil
	case h.Problem == "" && h.On && !w.Ironic:
		return wait("%s", scale.UntilIronic(w.Deployment))
	case h.Problem == "" && h.On:
		return wait("the host to be off")
	case w.Node != nil:
		return Step{Action: Unlist, Node: w.Node.Name}, nil
	}
	// Its BMC may never answer again, and metal3 switches a host off before it forgets it.
	return Step{Action: Delete}, nil
}

// some joins the first five of a list, and counts the others.
func some(all []string) string {
	const most = 5
	if n := len(all) - most; n > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(all[:most], ", "), n)
	}
	return strings.Join(all, ", ")
}
