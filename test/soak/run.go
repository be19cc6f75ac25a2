package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/test/chaos"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// run is one soak.
type run struct {
	options
	out   io.Writer
	begin time.Time

	stage *chaos.Stage
	crowd *life.Crowd

	mu      sync.Mutex // of what follows
	records []executed
	samples []sample
	churned map[string]int

	moves []time.Duration // of the VIP, since the soak began
}

// executed is a schedule that was run.
type executed struct {
	Seed    uint64        `json:"seed"`
	At      time.Duration `json:"at_ns"` // since the soak began
	Faults  []string      `json:"faults"`
	Broken  []string      `json:"broken,omitempty"`  // rules
	Blurred bool          `json:"blurred,omitempty"` // the observers were late: nothing can be said
	Cut     int           `json:"watches_cut"`
	Silent  float64       `json:"watch_silent_ms"`
	Away    int           `json:"watches_away,omitempty"` // that did not run a second after the cluster was at rest

	record chaos.Record
}

// patience is what a client has: more than where figures are made, as faults overlap.
const patience = 2 * time.Second

// all opens the cluster, and runs schedules beside clients and changes until the time is over.
func (r *run) all(ctx context.Context) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if r.stage, err = chaos.Open(ctx, log, r.timing, 3); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.stage.Close(context.WithoutCancel(ctx))) }()
	if err := r.stage.OpenGates(ctx); err != nil {
		return err
	}
	if r.crowd, err = r.stage.Attend(ctx, patience); err != nil {
		return err
	}
	defer r.crowd.Leave()
	observer, err := r.stage.Observe()
	if err != nil {
		return err
	}
	changing, cancel := context.WithCancel(ctx)
	var changes sync.WaitGroup
	defer changes.Wait()
	defer cancel()
	changes.Go(func() { r.churn(changing) })
	r.begin, r.churned = time.Now(), map[string]int{}
	defer func() { err = errors.Join(err, r.moved(observer.Stop())) }()
	for seed := r.seed; time.Since(r.begin) < r.length; seed++ {
		next := time.Now().Add(r.every)
		if err := r.execute(ctx, seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if err := r.sample(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(next)):
		}
	}
	return nil
}

// execute runs the schedule of a seed, from a cluster at rest to a cluster at rest.
func (r *run) execute(ctx context.Context, seed uint64) error {
	r.crowd.Probes.Forget()
	r.crowd.Watches.Forget()
	at := time.Since(r.begin)
	record, err := r.stage.Execute(ctx, chaos.Random(seed, r.stage.Names()))
	p := executed{Seed: seed, At: at, Blurred: record.Blurred(), record: chaos.Record{Nodes: record.Nodes, Acts: record.Acts, End: record.End}}
	for _, v := range record.Views[:min(len(record.Views), 1)] { // adverts and requests of hours would fill the memory
		p.record.Views = []chaos.View{{VIP: v.VIP, Holders: v.Holders}}
	}
	for _, a := range record.Done() {
		p.Faults = append(p.Faults, fmt.Sprintf("%s %s", a.Kind, a.Host))
	}
	if !p.Blurred {
		for _, b := range chaos.Judge(record, r.stage.Bounds) {
			p.Broken = append(p.Broken, fmt.Sprintf("%v %s: %s", b.At, b.Rule, b.Why))
		}
	}
	if life.Until(ctx, time.Second, r.crowd.Watching) != nil {
		p.Away = life.Watchers - r.crowd.Watches.Running()
	}
	breaks, silent := r.crowd.Watches.Report()
	p.Cut, p.Silent = len(breaks), float64(silent.Microseconds())/1000
	r.mu.Lock()
	r.records = append(r.records, p)
	r.mu.Unlock()
	r.write(p)
	fmt.Fprintf(os.Stderr, "soak: %v: seed %d: %s; %d watches cut, silent %v\n", at.Round(time.Second), seed, strings.Join(p.Faults, ", "), p.Cut, silent.Round(time.Millisecond))
	return err
}

// moved keeps when the VIP got another holder, or none.
func (r *run) moved(report lab.Report) error {
	for _, s := range report.Spans[1:] {
		r.moves = append(r.moves, s.From.Sub(r.begin))
	}
	return report.Err
}

// write adds a line to the file.
func (r *run) write(line any) {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = fmt.Fprintf(r.out, "%s\n", text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
}

// isolates reports whether a watch may be silent for as long as the wire is cut.
func isolates(record chaos.Record) bool {
	for _, a := range record.Done() {
		switch a.Kind {
		case schedule.Cut, schedule.CutIn, schedule.CutOut, schedule.Loss, schedule.Delay:
			return true
		}
	}
	return false
}
