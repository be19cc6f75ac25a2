package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/test/figures"
)

// run is one run of the bench.
type run struct {
	options
	out      io.Writer
	results  []result
	pictures []timeline.Timeline // of the worst repetition of each result
	costs    []cost
	scales   []scale
	loads    []load
	stages   []stageResult
	routed   []figures.Line
}

// The names of what is measured beside the scenarios.
const (
	steady     = "steady"
	scaling    = "scale"
	loaded     = "load"
	installing = "installation"
)

// names are everything that can be measured, in this order.
func names() (all []string) {
	for _, s := range scenarios() {
		all = append(all, s.name)
	}
	all = append(all, figures.Scenarios()...)
	return append(all, steady, scaling, loaded, installing)
}

// all measures one thing after the other, each under every profile. What fails is reported, and the
// others go on.
func (r *run) all(ctx context.Context) error {
	var errs []error
	for _, bootstrap := range []bool{false, true} {
		chosen := slices.DeleteFunc(scenarios(), func(s scenario) bool { return s.bootstrap != bootstrap || !r.only.MatchString(s.name) })
		for _, profile := range r.profiles {
			if len(chosen) > 0 {
				errs = append(errs, r.measureAll(ctx, profile, bootstrap, chosen))
			}
		}
	}
	for _, one := range r.besides() {
		if ctx.Err() == nil {
			errs = append(errs, one.f(ctx))
		}
	}
	if r.options.routed && ctx.Err() == nil {
		errs = append(errs, r.routedAll(ctx))
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// besides are what is measured beside the scenarios, of clusters that elect who holds a VIP: there
// are none if routers alone are chosen.
func (r *run) besides() (chosen []phase) {
	if len(r.profiles) == 0 {
		return nil
	}
	all := []phase{{steady, r.steadyAll}, {scaling, r.scaleAll}, {loaded, r.loadAll}, {installing, r.installAll}}
	return slices.DeleteFunc(all, func(p phase) bool { return !r.only.MatchString(p.name) })
}

type phase struct {
	name string
	f    func(context.Context) error
}

// measureAll runs scenarios on one cluster, and on a new one when a repetition has failed.
func (r *run) measureAll(ctx context.Context, profile string, bootstrap bool, chosen []scenario) (err error) {
	var s *stage
	var p plan.Plan
	defer func() {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, scenario := range chosen {
		var samples []sample
		failures := 0
		for len(samples) < r.runs && failures < 3 && ctx.Err() == nil {
			if s == nil {
				if s, err = open(ctx, profile, bootstrap); err != nil {
					return fmt.Errorf("%s: %w", profile, err)
				}
				p = s.Plan
			}
			one, fault := s.repeat(ctx, scenario)
			if fault != nil {
				failures++
				fmt.Fprintf(os.Stderr, "%s %s, repetition %d: %v\n", profile, scenario.name, len(samples)+1, fault)
				if err := s.close(); err != nil {
					return err
				}
				s = nil
				continue
			}
			fmt.Fprintf(os.Stderr, "%s %s %d: %v\n", profile, scenario.name, len(samples)+1, one)
			samples = append(samples, one)
		}
		if len(samples) > 0 {
			found := sum(profile, scenario, samples)
			found.Errors, found.BoundMs = failures, boundOf(p, scenario)
			found.compare(p, scenario, samples)
			r.results = append(r.results, found)
			picture := worst(scenario, samples).picture
			picture.Title = pictureTitle(scenario.name, profile)
			r.pictures = append(r.pictures, picture)
			r.write(found)
		}
	}
	return nil
}

// write writes an object on a line of its own.
func (r *run) write(object any) {
	text, err := json.Marshal(object)
	if err == nil {
		_, err = fmt.Fprintf(r.out, "%s\n", text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: write a line:", err)
	}
}

// print prints the tables of what was measured.
func (r *run) print(to io.Writer) {
	for _, table := range []string{resultTable(r.results), costTable(r.costs), scaleTable(r.scales), loadTable(r.loads), stageTable(r.stages), routedTable(r.routed)} {
		if table = strings.TrimRight(table, "\n"); table != "" {
			fmt.Fprintf(to, "%s\n\n", table)
		}
	}
}
