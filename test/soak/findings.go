package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// quiet is for how long a watch may be silent over faults that cut no wire: the VIP's move, and the
// way back.
const quiet = 5 * time.Second

// settles is for how long after a schedule the cluster may still be at its effects: a node that
// was booted claims its rank.
const settles = 5 * time.Second

// findings are what must not be.
func (r *run) findings() (all []string) {
	for _, p := range r.records {
		for _, b := range p.Broken {
			all = append(all, fmt.Sprintf("seed %d, after %v: %s", p.Seed, p.At.Round(time.Second), b))
		}
		if p.Away > 0 {
			all = append(all, fmt.Sprintf("seed %d, after %v: %d watches did not come back", p.Seed, p.At.Round(time.Second), p.Away))
		}
		if silent := time.Duration(p.Silent * float64(time.Millisecond)); silent > quiet && !isolates(p.record) && !p.Blurred {
			all = append(all, fmt.Sprintf("seed %d, after %v: a watch received nothing for %v", p.Seed, p.At.Round(time.Second), silent))
		}
	}
	for _, at := range r.moves {
		during := func(p executed) bool { return at >= p.At && at <= p.At+p.record.End+settles }
		if at > 0 && !slices.ContainsFunc(r.records, during) {
			all = append(all, fmt.Sprintf("after %v: the VIP moved, and nothing had happened", at.Round(time.Second)))
		}
	}
	for _, t := range r.trends() {
		if t.After > t.Most {
			all = append(all, fmt.Sprintf("%s of %s grew from %d to %d, %d are allowed", t.What, t.Where, t.Before, t.After, t.Most))
		}
	}
	return all
}

// trend is how much of a thing there was at most in the first third of the time and in the last.
type trend struct {
	What, Where         string
	Before, After, Most int
	samples             []sample
}

func (r *run) trends() (all []trend) {
	length := r.ran()
	for _, g := range gauges {
		series := map[string][]sample{}
		for _, s := range r.samples {
			if s.What == g.what {
				series[s.Where] = append(series[s.Where], s)
			}
		}
		for _, where := range slices.Sorted(maps.Keys(series)) {
			t := trend{What: g.what, Where: where, samples: series[where]}
			for _, s := range t.samples {
				if s.At < length/3 {
					t.Before = max(t.Before, s.Value)
				}
				if s.At >= length-length/3 {
					t.After = max(t.After, s.Value)
				}
			}
			if t.Before > 0 {
				t.Most = g.grows(t.Before)
				all = append(all, t)
			}
		}
	}
	return all
}

// ran is how long it was, to the last sample.
func (r *run) ran() time.Duration {
	if len(r.samples) == 0 {
		return 0
	}
	return r.samples[len(r.samples)-1].At
}

// print writes the table, and what was found.
func (r *run) print(w io.Writer, found []string) {
	faults, blurred, cut, silent := 0, 0, 0, 0.0
	for _, p := range r.records {
		faults, cut = faults+len(p.Faults), cut+p.Cut
		if p.Blurred {
			blurred++
		}
		if !isolates(p.record) {
			silent = max(silent, p.Silent)
		}
	}
	fmt.Fprintf(w, "\n%d schedules with %d faults in %v (%d of them not measured, as the observers were late); watches cut %d times, silent for %.0f ms at most where no wire was cut\n",
		len(r.records), faults, r.ran().Round(time.Second), blurred, cut, silent)
	for _, what := range slices.Sorted(maps.Keys(r.churned)) {
		fmt.Fprintf(w, "%s: %d times\n", what, r.churned[what])
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nwhat\twhere\tfirst third\tlast third\tat most")
	for _, t := range r.trends() {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", t.What, t.Where, t.Before, t.After, t.Most)
	}
	table.Flush()
	for _, f := range found {
		fmt.Fprintln(w, "finding:", f)
	}
}

// draw writes the picture: of each node when it held the VIP, what happened to it, and its memory.
func (r *run) draw(path string, found []string) error {
	t := timeline.Timeline{Title: "Soak", End: r.ran() + time.Minute,
		Note: "Measured in the lab. Grey is a fault; the curve is the memory of the monitor of the VIPs, in kB."}
	for _, n := range r.nodes() {
		t.Lanes = append(t.Lanes, r.lane(n))
	}
	page := timeline.Page{Title: "Soak", Head: []string{"what", "where", "first third", "last third", "at most"}, Timelines: []timeline.Timeline{t}, Note: strings.Join(found, "\n")}
	for _, t := range r.trends() {
		page.Rows = append(page.Rows, timeline.TableRow{Alarm: t.After > t.Most,
			Cells: []string{t.What, t.Where, fmt.Sprint(t.Before), fmt.Sprint(t.After), fmt.Sprint(t.Most)}})
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := page.Write(f); err != nil {
		return err
	}
	return f.Close()
}

func (r *run) nodes() []string {
	if len(r.records) == 0 {
		return nil
	}
	return r.records[0].record.Nodes
}

func (r *run) lane(node string) timeline.Lane {
	holds, faults := timeline.Row{Name: "VIP", Thick: true}, timeline.Row{Name: "fault"}
	for _, p := range r.records {
		if len(p.record.Views) == 0 {
			continue
		}
		for _, h := range p.record.Views[0].Holders {
			if slices.Contains(h.Hosts, node) {
				holds.Spans = append(holds.Spans, timeline.Span{From: p.At + h.From, To: p.At + h.To, Tone: timeline.Holds})
			}
		}
		for _, a := range p.record.Done() {
			if a.Host == node {
				faults.Spans = append(faults.Spans, timeline.Span{From: p.At + a.Began, To: p.At + max(a.Ended, a.Began+time.Second), Tone: timeline.Away, Label: string(a.Kind)})
			}
		}
	}
	lane := timeline.Lane{Name: node, Rows: []timeline.Row{holds, faults}}
	for _, s := range r.samples {
		if s.What == resident && strings.HasPrefix(s.Where, node+" keepalived/keepalived-monitor ") {
			lane.Curve = append(lane.Curve, timeline.Step{At: s.At, Value: s.Value})
		}
	}
	return lane
}
