// Package fleet draws how a cluster has provisioned hosts by its own operators, by the objects of
// its API that were saved once or several times.
package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
)

// Fleet is the hosts of a cluster, and the handover to it.
type Fleet struct {
	world workers.World
	hosts []host // that the cluster provisions, by name
	// External counts the hosts of another program.
	external int
}

// host is one lane.
type host struct {
	workers.Host
	node *workers.Node
	ops  []operation // in the order of their begins
	is   workers.Worker
	// free is the label of the time from the end of its inspection to its provisioning.
	free string
}

// operation is something that metal3 did with a host.
type operation struct {
	kind kind
	workers.Operation
}

// kind is what metal3 did.
type kind int

// The kinds, in the order that a host has them.
const (
	register kind = iota
	inspect
	provision
	deprovision
)

// Of joins what was saved, in any order. Each object is as it was saved last; what metal3 has
// forgotten since an earlier time is kept.
func Of(saved ...workers.World) Fleet {
	var f Fleet
	ops := map[string][]operation{}
	saved = slices.SortedStableFunc(slices.Values(saved),
		func(a, b workers.World) int { return latest(a).Compare(latest(b)) })
	for _, w := range saved {
		for _, h := range w.Hosts {
			ops[h.Name] = append(ops[h.Name], operations(h)...)
			put(&f.world.Hosts, h, func(o workers.Host) bool {
				return o.Name == h.Name
			}, func(o workers.Host) bool { return o.Updated.After(h.Updated) })
		}
		for _, m := range w.Machines {
			put(&f.world.Machines, m, func(o workers.Machine) bool { return o.Name == m.Name }, nil)
		}
		for _, n := range w.Nodes {
			put(&f.world.Nodes, n, func(o workers.Node) bool { return o.Name == n.Name },
				func(o workers.Node) bool { return o.Since.After(n.Since) })
		}
		f.world.Place = cmp.Or(w.Place, f.world.Place)
		if w.Ironic != (workers.Ironic{}) {
			f.world.Ironic = w.Ironic
		}
		if w.Operator.Exists {
			f.world.Operator = w.Operator
		}
		if w.Handed.At.After(f.world.Handed.At) {
			f.world.Handed = w.Handed
		}
	}
	free := "until a Machine had it"
	if f.world.Bare() {
		free = "until its image was set"
	}
	for _, h := range f.world.Hosts {
		if !h.Own() {
			f.external++
			continue
		}
		f.hosts = append(f.hosts, host{Host: h, node: f.world.Node(h),
			ops: once(ops[h.Name]), free: free})
	}
	slices.SortFunc(f.hosts, func(a, b host) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// latest is the last time that a world has: it was saved then, or later.
func latest(w workers.World) time.Time {
	times := []time.Time{w.Ironic.Since, w.Handed.At}
	for _, h := range w.Hosts {
		times = append(times, h.Updated)
	}
	for _, n := range w.Nodes {
		times = append(times, n.Since)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// put puts one object in the place of an older one, or adds it. newer reports whether another one
// is newer; nil if that is not known.
func put[T any](all *[]T, one T, same, newer func(T) bool) {
	i := slices.IndexFunc(*all, same)
	switch {
	case i < 0:
		*all = append(*all, one)
	case newer == nil || !newer((*all)[i]):
		(*all)[i] = one
	}
}

// operations are what a host's status has.
func operations(h workers.Host) (all []operation) {
	for k, o := range []workers.Operation{h.Register, h.Inspect, h.Provision, h.Deprovision} {
		if !o.Start.IsZero() {
			all = append(all, operation{kind(k), o})
		}
	}
	return all
}

// once is each operation once, in their order, with its end if that was saved.
func once(all []operation) []operation {
	slices.SortStableFunc(all, func(a, b operation) int {
		// Of one that was saved twice, the one with its end comes first.
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.kind, b.kind),
			-a.End.Compare(b.End))
	})
	return slices.CompactFunc(all, func(a, b operation) bool {
		return a.kind == b.kind && a.Start.Equal(b.Start)
	})
}

// Empty reports whether there is no host.
func (f Fleet) Empty() bool { return len(f.hosts)+f.external == 0 }

// Has reports whether the cluster provisions a host of this name.
func (f Fleet) Has(name string) bool {
	return slices.ContainsFunc(f.hosts, func(h host) bool { return h.Name == name })
}

// Until is the fleet with each host as it is at a time, the end of the record.
func (f Fleet) Until(end time.Time) Fleet {
	f.hosts = slices.Clone(f.hosts)
	for i, h := range f.hosts {
		f.hosts[i].is = f.world.Worker(h.Host, end)
	}
	return f
}

// settles bounds the time from the creation of a Node to its first Ready. A Node that became
// Ready later did so once more, and its first time is not known.
const settles = time.Hour

// joined is when the host's Node became Ready first; if that is not known, its creation, or zero.
func (h host) joined() time.Time {
	switch {
	case !h.Written() || h.node == nil || !h.node.Ready:
		return time.Time{}
	case h.node.Since.Sub(h.node.Created) > settles:
		return h.node.Created
	}
	return h.node.Since
}

// moves reports whether metal3, or a boot, is under way, or has failed.
func (h host) moves() bool {
	switch h.State {
	case "", "available", "ready", "unmanaged":
		return h.Problem != ""
	}
	return h.joined().IsZero() && !h.Paused
}

// Times are when something happened, in no order.
func (f Fleet) Times() (all []time.Time) {
	for _, h := range f.hosts {
		for _, o := range h.ops {
			all = append(all, o.Start, o.End)
		}
		if h.Written() && h.node != nil {
			all = append(all, h.node.Created, h.joined())
		}
		if h.moves() {
			all = append(all, h.Updated)
		}
	}
	return slices.DeleteFunc(all, time.Time.IsZero)
}

// batch is how long after one host another one begins that belongs to the same batch.
const batch = time.Minute

// batches are the hosts in the order in which metal3 began with them, as "hosts release" let them
// go: each group within a short time.
func (f Fleet) batches() (all [][]host) {
	begun := slices.DeleteFunc(slices.Clone(f.hosts), func(h host) bool {
		return len(h.ops) == 0 || h.ops[0].kind != register || h.forgotten(register)
	})
	slices.SortStableFunc(begun, func(a, b host) int {
		return a.ops[0].Start.Compare(b.ops[0].Start)
	})
	var last time.Time
	for _, h := range begun {
		if at := h.ops[0].Start; len(all) == 0 || at.Sub(last) > batch {
			all, last = append(all, nil), at
		} else {
			last = at
		}
		all[len(all)-1] = append(all[len(all)-1], h)
	}
	return all
}

// first is when metal3 began with a kind of operation first; zero if it did not, or has forgotten.
func (h host) first(k kind) time.Time {
	for _, o := range h.ops {
		if o.kind == k {
			return o.Start
		}
	}
	return time.Time{}
}

// forgotten reports whether metal3 has repeated operation k: its known begin is later than that
// of an operation behind it. operationHistory keeps one time of each.
func (h host) forgotten(k kind) bool {
	own := h.first(k)
	for behind := k + 1; behind <= provision; behind++ {
		if at := h.first(behind); !own.IsZero() && !at.IsZero() && own.After(at) {
			return true
		}
	}
	return false
}
