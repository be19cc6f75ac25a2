package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// row is a line of the table.
type row struct {
	at                      time.Time
	host, source, what, why string
	alarm                   bool
}

// Page draws a record that is not empty, with a table of what happened.
func Page(r Record) timeline.Page {
	r = r.sorted()
	begin, end := r.span()
	hosts, others := r.hosts(r.until())
	picture := r.picture(hosts)
	page := timeline.Page{
		Title: "Installation of hosts",
		Head:  []string{"UTC", "host", "source", "what", "why"},
		Note:  r.note(hosts, others), Timelines: []timeline.Timeline{picture},
	}
	if !begin.IsZero() {
		page.Title += ", " + begin.UTC().Format(time.DateTime) + "Z"
	}
	var rows []row
	for _, e := range r.Entries {
		if one, ok := entry(e); ok {
			rows = append(rows, one)
		}
	}
	for _, h := range hosts {
		rows = append(rows, h.rows(r.until(), len(r.Entries) > 0)...)
	}
	for _, e := range r.Events {
		if e.Source == events.Ignition && e.Host == "" {
			rows = append(rows, row{at: e.Time, host: e.Detail, source: string(e.Source),
				what: "its Ignition fetched its document", why: "the pool " + e.Kind})
		}
	}
	for _, e := range r.fleet.Rows(r.ended(), end) {
		rows = append(rows, row{e.At, e.Host, e.Source, e.What, e.Why, e.Alarm})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.at.Compare(b.at) })
	for _, one := range rows {
		page.Rows = append(page.Rows, timeline.TableRow{Picture: picture.Title, Alarm: one.alarm,
			Cells: []string{one.at.UTC().Format(time.DateTime), layout.Clean(one.host), one.source,
				layout.Clean(one.what), layout.Clean(one.why)}})
	}
	return page
}

// ended is when the parts of the bootstrap machine were off; zero if they have not been, or if that
// is not in the record.
func (r Record) ended() (at time.Time) {
	for _, e := range r.Entries {
		switch {
		case e.Kind == ledger.Back:
			at = time.Time{}
		case e.Kind == ledger.Phase && e.Phase.Past(progress.Unpause) && at.IsZero():
			at = e.Time
		}
	}
	return at
}

// note counts the hosts, and names each that has not joined.
func (r Record) note(hosts []host, others int) string {
	joined, known, boots, cards := 0, 0, 0, 0
	var parts, waits []string
	for _, h := range hosts {
		boots += len(h.gaps)
		switch {
		case h.unknown:
			cards++
		case h.cluster:
		case !h.joined.IsZero():
			known, joined = known+1, joined+1
		default:
			known++
			why := cmp.Or(h.stuck(), "seen last: "+cmp.Or(h.last.Seen, "nothing"))
			waits = append(waits, h.name+" has not joined: "+why)
		}
	}
	machine := len(r.times()) > 0
	if machine {
		parts = append(parts, fmt.Sprintf("%d of %d hosts joined the cluster", joined, known))
	}
	if boots > 0 {
		parts = append(parts, fmt.Sprintf("Boots that led nowhere: %d", boots))
	}
	parts = append(parts, waits...)
	if cards > 0 {
		parts = append(parts, fmt.Sprintf("Cards that were seen and are none of a host of the "+
			"plan: %d; compare their MACs with the description", cards+others))
	}
	times := "Times"
	if !r.fleet.Empty() {
		parts, times = append(parts, r.fleet.Notes()...), "Other times"
	}
	if machine {
		parts = append(parts, times+" are those of the bootstrap machine's clock")
	}
	return layout.Clean(strings.Join(parts, ". ")) + "."
}

// entry is a line of the journal as a row, if it is news to a reader.
func entry(e ledger.Entry) (row, bool) {
	one := row{at: e.Time, host: e.Host, source: "journal", why: e.Cause}
	if e.Evidence != "" {
		one.why = strings.TrimPrefix(one.why+"; "+e.Evidence, "; ")
	}
	switch e.Kind {
	case ledger.Started:
		one.what, one.why = "the phase machine starts", ""
	case ledger.Phase:
		one.what = fmt.Sprintf("the phase %s begins", e.Phase)
		if e.Phase == progress.Ended {
			one.what = "provisioning has ended"
		}
	case ledger.Released:
		one.what = fmt.Sprintf("%d hosts of the cluster may begin", len(e.Hosts))
		one.why = strings.Join(e.Hosts, ", ")
	case ledger.Back:
		one.what, one.alarm = "a person takes provisioning back from the cluster", true
	case ledger.Again:
		one.what = "a person has provisioning handed over again"
	case ledger.Secrets:
		one.what, one.why = "the file of the hosts' accounts is another one", ""
	case ledger.Warned:
		one.what = "the check of the hosts and their network warns"
	case ledger.Accepted:
		one.what, one.alarm = "a person accepts "+progress.Check(e.Evidence), true
	case ledger.Foreign:
		one.what, one.alarm = "another server configures hosts of this network", true
	case ledger.Asked:
		one.what = "Ironic is asked to " + string(e.Verb)
	case ledger.Failed:
		one.what, one.alarm = string(e.Verb)+" failed", true
	case ledger.Disk:
		one.what = "its disk is chosen: " + e.Disk.String()
	case ledger.Fetched:
		one.what = "it has fetched the operating system"
	case ledger.Written:
		one.what = "its disk is written"
	case ledger.Doubt:
		one.what, one.alarm = "its disk may be written", true
	case ledger.Allowed:
		one.what, one.alarm = "a person allows its disk to be written anew", true
	case ledger.Joined:
		one.what = "it has joined the cluster"
	case ledger.Blocked:
		one.what, one.alarm = "it needs a person", true
	default:
		return one, false
	}
	return one, true
}

// rows are what was seen of a host, each stage of a boot once, and why a boot led nowhere. What the
// phase machine did itself stands in the journal, if there is one.
func (h host) rows(end time.Time, journal bool) (all []row) {
	add := func(at time.Time, source events.Source, what, why string, alarm bool) {
		all = append(all, row{at, h.name, string(source), what, why, alarm})
	}
	for i, p := range h.trace {
		again := i > 0 && p.Boot == h.trace[i-1].Boot && p.Stage == h.trace[i-1].Stage
		state := p.Source == events.Ironic && p.Stage != cause.CalledBack
		own := journal && (p.Source == events.Provision || p.Source == events.Node)
		if !state && !again && !own {
			add(p.At, p.Source, p.Seen, p.Detail, false)
		}
	}
	for _, e := range h.ironic() {
		add(e.Time, e.Source, e.Kind, e.Detail, false)
	}
	for _, g := range h.gaps {
		add(g.Until, "", fmt.Sprintf("boot %d led nowhere, %s after: %s", g.Boot,
			progress.Short(g.Until.Sub(g.At)), g.Seen), g.Cause.String(), true)
	}
	switch why := h.stuck(); {
	case why == "" || h.blocker != "":
	case h.last.At.IsZero():
		add(end, "", "it goes no further, and nothing was seen of it", why, true)
	default:
		add(end, "", fmt.Sprintf("it goes no further, %s after: %s",
			progress.Short(end.Sub(h.last.At)), h.last.Seen), why, true)
	}
	return all
}

// Text is a page for a terminal: a line for each row.
func Text(p timeline.Page, width layout.Width) string {
	var text strings.Builder
	text.WriteString(width.Wrap(p.Note + "\n"))
	for _, r := range p.Rows {
		at, host, source, what, why := r.Cells[0], r.Cells[1], r.Cells[2], r.Cells[3], r.Cells[4]
		line := strings.Join(strings.Fields(host+" "+source), " ")
		if line != "" {
			line += ": "
		}
		if line += what; why != "" {
			line += ": " + why
		}
		text.WriteString(width.Fold(at+"Z ", line))
	}
	return text.String()
}
