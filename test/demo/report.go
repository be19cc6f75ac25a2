package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// reportFile is where the pictures go, below the project's root.
const reportFile = "bin/demo.html"

// head names the columns of what was measured.
var head = []string{"event", "new holder", "moved after", "bound", "no holder", "dual holders", "longest gap for clients", "requests that failed"}

// event is one move of the VIP.
type event struct {
	title    string
	scenario string // of the plan's bound
	at       time.Time
	moved    life.Moved
	seen     traffic.Requests // from some time before it on
}

// keep adds an event to the report.
func (s *show) keep(e event) {
	bound := "none stated"
	for _, b := range s.cluster.Plan.Timing.Bounds {
		if b.Scenario == e.scenario {
			bound = round(time.Duration(b.Ms) * time.Millisecond).String()
		}
	}
	m := e.moved
	s.rows = append(s.rows, []string{
		e.title, m.To, round(m.After).String(), bound, round(m.NoHolder).String(), round(m.Both).String(), round(m.Requests.Outage()).String(),
		fmt.Sprintf("%d of %d", len(m.Requests.Unserved()), len(m.Requests)),
	})
	const before, after = 500 * time.Millisecond, 1500 * time.Millisecond
	hosts := []string{"bootstrap"}
	for _, n := range s.cluster.Nodes {
		hosts = append(hosts, n.Name)
	}
	lanes := life.Hosts(s.observer.Report(), e.at, hosts...)
	lanes = append(lanes, life.Clients(e.seen.Since(e.at.Add(-before)).Until(e.at.Add(m.After+after)), e.at))
	s.pictures = append(s.pictures, timeline.Timeline{
		Title: e.title, Note: "Measured: who held the API VIP, by the kernels' addresses every 10 ms, and a client that opened a connection every 10 ms.",
		Begin: -before, End: m.After + after, Lanes: lanes,
		Marks: []timeline.Mark{{At: 0, Label: e.title}, {At: m.After, Label: m.To + " has it"}},
	})
}

// report prints what was measured as a table, and writes it with its pictures into a file.
func (s *show) report(context.Context) ([]string, error) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{head}, s.rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(reportFile)
	if err != nil {
		return nil, err
	}
	saw := append(strings.Split(strings.TrimSpace(text.String()), "\n"), "with a picture of each: "+path)
	return saw, s.write(path)
}

func (s *show) write(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := timeline.Page{
		Title: "The life of a cluster, measured", Head: head, Timelines: s.pictures,
		Note: fmt.Sprintf("Profile %s: an advert every %d ms. The bounds are those that `onprem-infra plan` computes.", s.cluster.Plan.Timing.Profile, s.cluster.Plan.Timing.AdvertIntervalMs),
	}
	for _, cells := range s.rows {
		page.Rows = append(page.Rows, timeline.TableRow{Cells: cells, Picture: cells[0]})
	}
	return page.Write(f)
}
