package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// ahead finds a control plane node that is on the wanted way already: then this node has missed the
// instant, or its clock is late. A worker does not count: any kubelet may write on its own Node,
// and nodes would change before the instant, out of their order. Nor does a node that last
// announced that it is about to leave that way.
func (r *Room) ahead(o Observation) (string, bool) {
	if r.waits && !r.decided() && !r.missed(o) {
		return "", false
	}
	for _, n := range o.Nodes {
		if n.Name != o.Self && !n.NoVIP && n.ControlPlane &&
			n.Intent.Speaks == r.wanted.String() && n.Intent.Knows == "" {
			return n.Name, true
		}
	}
	return "", false
}

// missed reports whether the nodes may have changed to a Fallback without this one. They agree only
// if each of them announces an instant. A node that has announced none can have missed it only
// if it has just joined, or if it has changed too and lost its memory of that. Then no other is on
// the former way. While another is, a node on the Fallback's way has yet to leave that way.
func (r *Room) missed(o Observation) bool {
	intent := own(o).Intent
	former := func(n Member) bool {
		return n.Name != o.Self && n.ControlPlane && n.Intent.Speaks == r.former.String()
	}
	fresh := intent == (notice.Intent{}) || intent.Speaks == r.wanted.String()
	return !intent.At.IsZero() || fresh && !slices.ContainsFunc(o.Nodes, former)
}

// agree decides if all nodes, with this one, announce the same instant.
func (r *Room) agree(o Observation) {
	intent := own(o).Intent
	if intent.Knows == r.wanted.String() && r.clock.valid(intent.At, o.Now) &&
		len(r.others(o, intent)) == 0 {
		r.memory.To, r.memory.At = intent.Knows, intent.At
	}
}

// others are the nodes that announce another change than this one.
func (r *Room) others(o Observation, intent notice.Intent) []string {
	var names []string
	for _, n := range o.Nodes {
		if r.counts(n) && (n.Intent.Knows != intent.Knows || !n.Intent.At.Equal(intent.At)) {
			names = append(names, n.Name)
		}
	}
	return names
}

// counts reports whether a node must agree: one that is on the wanted way already need not. A
// worker is, if it alone learned in time that all announced one instant: none follows a worker.
// A node that last announced that it is about to leave that way counts: it may have left it since.
func (r *Room) counts(n Member) bool {
	return !n.NoVIP && (n.Intent.Speaks != r.wanted.String() || n.Intent.Knows != "")
}

// proposal is the instant that this node announces: the latest that any node announces, if all have
// the time to announce it too.
func (r *Room) proposal(o Observation) time.Time {
	at, next := own(o).Intent.At, r.clock.Next(o.Now)
	if !r.clock.valid(at, o.Now) {
		at = next
	}
	for _, n := range o.Nodes {
		if !n.NoVIP && n.Intent.At.After(at) && r.clock.valid(n.Intent.At, o.Now) {
			at = n.Intent.At
			if at.Before(next) {
				at = next
			}
		}
	}
	return at
}

// missing lists what keeps the nodes from announcing an instant; empty for nothing.
func (r *Room) missing(o Observation) []string {
	if own(o).Name == "" {
		return []string{"the API has not named this node yet"}
	}
	var unready []string
	for _, n := range o.Nodes {
		if r.counts(n) && n.Intent.Knows != r.wanted.String() {
			unready = append(unready, n.Name)
		}
	}
	var missing []string
	if len(unready) > 0 {
		missing = append(missing, some(unready)+" not yet")
	}
	if o.BootstrapPeer {
		missing = append(missing, "the bootstrap machine has not left yet")
	}
	return append(missing, Upgrading(o.Nodes)...)
}

// done is the Machine Config Operator's state of a node that is up to date.
const done = "Done"

// Upgrading lists the signs that an upgrade is in progress; empty for none. One is in progress
// while a node is being changed, and while kubelets differ, as they do for long if a pool is
// paused. Both are written by the node's own kubelet, so a node that an administrator has excluded
// does not count. An arbiter counts.
func Upgrading(nodes []Member) []string {
	var busy, why []string
	kubelets := map[string]bool{}
	for _, n := range nodes {
		if n.Apart {
			continue
		}
		if n.State != "" && n.State != done {
			busy = append(busy, n.Name)
		}
		kubelets[n.Kubelet] = true
	}
	if len(busy) > 0 {
		why = append(why, some(busy)+" being changed")
	}
	if len(kubelets) > 1 {
		why = append(why, fmt.Sprintf("kubelets of %d versions", len(kubelets)))
	}
	return why
}

// some lists the first few names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
