package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
)

// Frame is the picture: what is known ends at End, and what goes on then is drawn to Edge.
type Frame struct {
	At        func(time.Time) time.Duration
	End, Edge time.Duration
}

// Lanes are the handover's, and one for each host.
func (f Fleet) Lanes(p Frame) (all []timeline.Lane) {
	if l := f.handover(p); len(l.Rows) > 0 {
		all = append(all, l)
	}
	for _, h := range f.hosts {
		all = append(all, h.lane(p))
	}
	return all
}

// handover is when the cluster's Ironic was ready, and when hosts began.
func (f Fleet) handover(p Frame) timeline.Lane {
	l := timeline.Lane{Name: "cluster"}
	begins := timeline.Row{Thick: true}
	for _, b := range f.batches() {
		from, to := p.At(b[0].ops[0].Start), p.At(b[len(b)-1].ops[0].Start)
		begins.Spans = append(begins.Spans, timeline.Span{From: from, To: max(to, from+p.Edge/50),
			Tone: timeline.Active, Label: count(len(b))})
	}
	begins.Spans = clipped(begins.Spans)
	if len(begins.Spans) > 0 {
		l.Rows = append(l.Rows, begins)
	}
	if is := f.world.Ironic; is.Ready && !is.Since.IsZero() {
		l.Rows = append(l.Rows, timeline.Row{Name: "Ironic ready", Spans: []timeline.Span{{
			From: p.At(is.Since), To: p.Edge, Tone: timeline.Active}}})
	}
	return l
}

func count(hosts int) string {
	if hosts == 1 {
		return "1 host begins"
	}
	return fmt.Sprintf("%d hosts begin", hosts)
}

// What an operation is to people: its name, and what the host is then.
var (
	titles = map[kind]string{register: "registration", inspect: "inspection",
		provision: "provisioning", deprovision: "deprovisioning"}
	done = map[kind]string{register: "registered", inspect: "inspected", provision: "provisioned",
		deprovision: "wiped"}
)

// tones are those of the operations in which a host runs.
var tones = map[kind]timeline.Tone{inspect: timeline.Ramdisk, provision: timeline.Image,
	deprovision: timeline.Ramdisk}

// lane is how far a host was, and what metal3 did.
func (h host) lane(p Frame) timeline.Lane {
	far := timeline.Row{Thick: true} // its name would hide that of the host
	metal3 := timeline.Row{Name: "metal3"}
	add := func(from, to time.Duration, tone timeline.Tone, label string) {
		far.Spans = append(far.Spans, timeline.Span{From: from, To: to, Tone: tone, Label: label})
	}
	for i, o := range h.ops {
		to := p.End
		switch {
		case !o.End.IsZero():
			to = p.At(o.End)
		case i+1 < len(h.ops):
			to = p.At(h.ops[i+1].Start)
		}
		s := timeline.Span{From: p.At(o.Start), To: to, Tone: timeline.Active,
			Label: titles[o.kind]}
		if tone, runs := tones[o.kind]; runs {
			add(s.From, s.To, tone, titles[o.kind])
		}
		if h.is.LastError != "" && i+1 == len(h.ops) {
			s.Tone = timeline.Stuck
		}
		metal3.Spans = append(metal3.Spans, s)
	}
	if at := h.Provision.End; h.Written() && !at.IsZero() {
		to := p.End
		if h.node != nil && h.node.Created.After(at) {
			to = p.At(h.node.Created)
		}
		add(p.At(at), to, timeline.Disk, "starts from its disk")
	}
	if h.Written() && h.node != nil {
		to := p.End
		if at := h.joined(); !at.IsZero() {
			to = p.At(at)
			add(to, p.Edge, timeline.Joined, "its Node is Ready")
		}
		if from := p.At(h.node.Created); from < to {
			add(from, to, timeline.Disk, "its Node is not Ready yet")
		}
	}
	far.Spans = clipped(far.Spans)
	if h.is.Cause != "" && h.is.Step != workers.Joined {
		far.Spans = h.stuck(far.Spans, p)
	}
	return timeline.Lane{Name: h.Name, Rows: []timeline.Row{far, metal3}}
}

// clipped are spans in their order, none of which covers the next one's begin.
func clipped(all []timeline.Span) []timeline.Span {
	slices.SortStableFunc(all, func(a, b timeline.Span) int { return cmp.Compare(a.From, b.From) })
	for i := range all {
		if i+1 < len(all) {
			all[i].To = min(all[i].To, all[i+1].From)
		}
	}
	return all
}

// stuck shows that the host goes no further: it marks the last span if that reaches the end, or
// adds one from the last thing that metal3 did.
func (h host) stuck(all []timeline.Span, p Frame) []timeline.Span {
	if n := len(all); n > 0 && all[n-1].To >= p.End {
		all[n-1].Tone = timeline.Stuck
		return all
	}
	from := p.End
	switch n := len(h.ops); {
	case n > 0:
		from = p.At(cmp.Or(h.ops[n-1].End, h.ops[n-1].Start))
	case !h.is.FailedAt.IsZero():
		from = p.At(h.is.FailedAt)
	}
	return append(all, timeline.Span{From: from, To: p.End, Tone: timeline.Stuck,
		Label: "needs a person"})
}
