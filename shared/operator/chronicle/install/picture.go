package install

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle/fleet"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// picture is the lanes: the phase machine's, one for each host, and those of the cluster.
func (r Record) picture(hosts []host) timeline.Timeline {
	begin, end := r.span()
	all := end.Sub(begin)
	t := timeline.Timeline{Title: "Hosts from their first boot to the cluster",
		Begin: -max(time.Second, all/50), End: all + max(time.Second, all/50)}
	at := func(moment time.Time) time.Duration { return moment.Sub(begin) }
	starts := 0
	for _, e := range r.Entries {
		switch e.Kind {
		case ledger.Started:
			if starts++; starts > 1 {
				t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time),
					Label: "phase machine starts again"})
			}
		case ledger.Blocked:
			t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time), Label: e.Host + " blocked"})
		case ledger.Allowed:
			t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time),
				Label: e.Host + " allowed anew"})
		case ledger.Accepted:
			t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time),
				Label: progress.Check(e.Evidence) + " accepted"})
		case ledger.Foreign:
			t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time), Label: "foreign server"})
		case ledger.Released:
			t.Marks = append(t.Marks, timeline.Mark{At: at(e.Time),
				Label: fmt.Sprintf("%d hosts may begin", len(e.Hosts))})
		}
	}
	known, edge := at(r.until()), t.End
	if known < all {
		edge = known // the cluster's hosts are known for longer
	}
	if len(r.Entries) > 0 {
		t.Lanes = append(t.Lanes, r.machine(at, edge))
	}
	for _, h := range hosts {
		t.Lanes = append(t.Lanes, h.lane(at, known, t.End))
	}
	for _, l := range r.fleet.Lanes(fleet.Frame{At: at, End: all, Edge: t.End}) {
		// The bootstrap machine may have seen the host before.
		i := slices.IndexFunc(t.Lanes, func(o timeline.Lane) bool { return o.Name == l.Name })
		if i < 0 {
			t.Lanes = append(t.Lanes, l)
			continue
		}
		t.Lanes[i].Rows = append(t.Lanes[i].Rows, l.Rows...)
	}
	return t
}

// machine is the lane of the phase machine.
func (r Record) machine(at func(time.Time) time.Duration, end time.Duration) timeline.Lane {
	phases := timeline.Row{Thick: true}
	dhcp := timeline.Row{Name: "DHCP on"}
	next := func(row *timeline.Row, from time.Duration, label string, on bool) {
		if n := len(row.Spans); n > 0 && row.Spans[n-1].To > from {
			row.Spans[n-1].To = from
		}
		if on {
			row.Spans = append(row.Spans, timeline.Span{From: from, To: end, Label: label,
				Tone: timeline.Active})
		}
	}
	for i, e := range r.Entries {
		switch {
		case i == 0 && e.Kind == ledger.Started:
			next(&phases, at(e.Time), string(progress.Address), true)
		case e.Kind == ledger.Back:
			next(&phases, at(e.Time), string(progress.TakeBack), true)
		case e.Kind == ledger.Phase:
			next(&phases, at(e.Time), string(e.Phase), e.Phase != progress.Ended)
		case e.Kind == ledger.Orders:
			next(&dhcp, at(e.Time), "", e.Orders.Wants(orders.DHCP))
		}
	}
	return timeline.Lane{Name: "bootstrap machine", Rows: []timeline.Row{phases, dhcp}}
}

// lane is that of a host: how far each boot got, and Ironic's states. What is known ends with the
// record; a host that has joined stays joined to the edge of the picture.
func (h host) lane(at func(time.Time) time.Duration, end, edge time.Duration) timeline.Lane {
	far := timeline.Row{Thick: true} // its name would hide that of the host
	for i, p := range h.trace {
		to := max(end, at(p.At)) // the log of the machine config server may go on for longer
		if p.Stage == cause.Joined {
			to = edge
		}
		if i+1 < len(h.trace) {
			to = at(h.trace[i+1].At)
		}
		s := timeline.Span{From: at(p.At), To: to, Tone: tone(p.Stage), Label: p.Seen}
		last := i+1 == len(h.trace)
		led := slices.ContainsFunc(h.gaps,
			func(g cause.Gap) bool { return g.Boot == p.Boot && at(g.Until) == to })
		if led || last && h.stuck() != "" {
			s.Tone = timeline.Stuck
		}
		far.Spans = append(far.Spans, s)
	}
	if len(h.trace) == 0 && !h.blocked.IsZero() {
		far.Spans = append(far.Spans, timeline.Span{From: at(h.blocked), To: end,
			Tone: timeline.Stuck, Label: "needs a person"})
	}
	states := timeline.Row{Name: "Ironic"}
	all := h.ironic()
	for i, e := range all {
		s := timeline.Span{From: at(e.Time), To: end, Tone: timeline.Active, Label: e.Kind}
		if i+1 < len(all) {
			s.To = at(all[i+1].Time)
		}
		if strings.HasSuffix(e.Kind, "failed") || e.Kind == "error" {
			s.Tone = timeline.Stuck
		}
		states.Spans = append(states.Spans, s)
	}
	return timeline.Lane{Name: h.name, Rows: []timeline.Row{far, states}}
}

// tone is the colour of a stage.
func tone(s cause.Stage) timeline.Tone {
	switch s {
	case cause.Joined:
		return timeline.Joined
	case cause.Deployed, cause.System, cause.Fetched:
		return timeline.Disk
	case cause.Image:
		return timeline.Image
	case cause.Initramfs, cause.Media, cause.RamdiskUp, cause.CalledBack:
		return timeline.Ramdisk
	case cause.Broken, cause.Missing, cause.NoProgram, cause.Failed:
		return timeline.Stuck
	}
	return timeline.Boots
}
