package chaos

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// Timeline draws a record: a lane for each node, one for each neighbour, and one for the clients.
func (r Record) Timeline(title string) timeline.Timeline {
	t := timeline.Timeline{Title: title, Begin: -200 * time.Millisecond, End: r.End,
		Note: "Measured in the lab. Grey is a fault, until it has been undone; the curve is the priority that the node's supervisor reports."}
	for _, node := range r.Nodes {
		lane := timeline.Lane{Name: node}
		for _, v := range r.Views {
			lane.Rows = append(lane.Rows, timeline.Row{Name: v.VIP.String(), Thick: true, Spans: v.holds(node)})
		}
		lane.Rows = append(lane.Rows, timeline.Row{Name: "fault", Spans: r.faults(node)})
		for _, s := range r.States[node] {
			lane.Curve = append(lane.Curve, timeline.Step{At: s.At, Value: s.Priority})
		}
		t.Lanes = append(t.Lanes, lane)
	}
	for _, name := range r.neighbours() {
		lane := timeline.Lane{Name: name}
		for _, v := range r.Views {
			lane.Rows = append(lane.Rows, timeline.Row{Name: "sends to", Thick: true, Spans: v.beliefs(name)})
		}
		t.Lanes = append(t.Lanes, lane)
	}
	t.Lanes = append(t.Lanes, life.Clients(r.Requests, r.Begin))
	for _, a := range r.Done() {
		t.Marks = append(t.Marks, timeline.Mark{At: a.Began, Label: fmt.Sprintf("%s %s", a.Kind, a.Host)})
	}
	return t
}

// neighbours are the names of those that send to a VIP.
func (r Record) neighbours() (names []string) {
	for _, v := range r.Views {
		for _, b := range v.Beliefs {
			if !slices.Contains(names, b.Neighbour) {
				names = append(names, b.Neighbour)
			}
		}
	}
	return names
}

func (v View) holds(node string) (all []timeline.Span) {
	for _, h := range v.Holders {
		if slices.Contains(h.Hosts, node) {
			all = append(all, timeline.Span{From: h.From, To: h.To, Tone: timeline.Holds})
		}
	}
	return all
}

func (r Record) faults(node string) (all []timeline.Span) {
	for _, a := range r.Done() {
		if a.Host == node {
			all = append(all, timeline.Span{From: a.Began, To: max(a.Ended, a.Began+sample), Tone: timeline.Away, Label: string(a.Kind)})
		}
	}
	return all
}

func (v View) beliefs(neighbour string) (all []timeline.Span) {
	for _, b := range v.Beliefs {
		if b.Neighbour == neighbour && b.Host != "" {
			all = append(all, timeline.Span{From: b.From, To: b.To, Tone: timeline.Holds, Label: b.Host})
		}
	}
	return all
}

// Draw writes a record's picture, with what broke, into a new file of the machine's directory for
// such things, and reports which.
func Draw(r Record, broken []trace.Broken) (path string, err error) {
	f, err := os.CreateTemp("", fmt.Sprintf("onprem-chaos-seed-%d-*.html", r.Schedule.Seed))
	if err != nil {
		return "", err
	}
	defer f.Close()
	title := fmt.Sprintf("Chaos in the lab, seed %d", r.Schedule.Seed)
	page := timeline.Page{Title: title, Head: []string{"at", "rule", "what happened"}, Timelines: []timeline.Timeline{r.Timeline(title)}}
	for _, b := range broken {
		page.Rows = append(page.Rows, timeline.TableRow{Cells: []string{b.At.String(), string(b.Rule), b.Why}, Picture: title, Alarm: true})
	}
	if err := page.Write(f); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}
