package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// picture draws a repetition, from before its fault until its clients have had their answers for a
// while.
func (s *stage) picture(m measured, found sample) timeline.Timeline {
	const before, after = 500 * time.Millisecond, time.Second
	hosts := []string{s.Bootstrap.Name}
	for _, n := range s.Nodes {
		hosts = append(hosts, n.Name)
	}
	end := max(found.moved, found.lastBad, time.Second) + after
	t := timeline.Timeline{
		Begin: -before, End: end, Note: found.words(), Marks: []timeline.Mark{{At: 0, Label: "the fault"}},
		Lanes: append(life.Hosts(s.observer.Report(), m.at, hosts...), life.Clients(s.crowd.Probes.So().Since(m.at.Add(-before)).Until(m.at.Add(end)), m.at)),
	}
	if found.moved > 0 {
		t.Marks = append(t.Marks, timeline.Mark{At: found.moved, Label: "moved"})
	}
	return t
}

// pictureTitle is the title of the picture of a scenario under a profile.
func pictureTitle(scenario, profile string) string { return scenario + ", " + profile }

// worst is the sample whose figure is the greatest.
func worst(sc scenario, samples []sample) sample {
	most := samples[0]
	for _, s := range samples {
		if s.figure(sc) > most.figure(sc) {
			most = s
		}
	}
	return most
}

// draw writes the page with the table and a picture of the worst repetition of each scenario under
// each profile.
func (r *run) draw(path string) (err error) {
	rows := resultRows(r.results)
	if len(r.pictures) == 0 {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := timeline.Page{
		Title: "What each failure costs, measured", Note: resultNote, Head: rows[0], Timelines: r.pictures,
	}
	scenario := ""
	for _, cells := range rows[1:] {
		if cells[0] != "" {
			scenario = cells[0]
		}
		page.Rows = append(page.Rows, timeline.TableRow{Cells: cells, Picture: pictureTitle(scenario, cells[1])})
	}
	if err := page.Write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
