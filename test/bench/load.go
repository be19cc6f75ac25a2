package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// load is what a machine with too much to do did to the elections of one profile.
type load struct {
	Profile  string  `json:"profile"`
	Scenario string  `json:"scenario"`
	Load     string  `json:"load"`
	Seconds  float64 `json:"seconds"`
	Moves    int     `json:"vip_moves"`          // that the observer saw
	Senders  int     `json:"sender_changes"`     // in the adverts, of both VIPs' elections
	NoHolder float64 `json:"no_holder_max_ms"`   // of the API VIP
	Dual     float64 `json:"dual_holder_max_ms"` // of the API VIP
	Adverts  int     `json:"adverts"`
	LateMax  float64 `json:"late_max_ms"`
	Late     []int   `json:"late"` // adverts by lateness: below the first limit, below the second and so on, and all others
	Limits   []int   `json:"late_limits_ms"`
}

// limits are the histogram's, in ms.
var limits = []int{1, 2, 5, 10, 20, 50, 100, 200, 300, 1000}

// loadAll puts the clusters of all profiles under the same load at the same time: first loops that
// do nothing, then loops that fork.
func (r *run) loadAll(ctx context.Context) (err error) {
	var stages []*stage
	defer func() {
		for _, s := range stages {
			err = errors.Join(err, s.close())
		}
	}()
	for _, profile := range r.profiles {
		l, err := cluster(ctx, profile, 0)
		if err != nil {
			return fmt.Errorf("%s %s: %w", profile, loaded, err)
		}
		s := &stage{Life: l}
		stages = append(stages, s)
		if s.observer, err = l.Observe(); err != nil {
			return err
		}
	}
	for _, phase := range []struct {
		name string
		hog  lab.Hog
	}{
		{"none", lab.Hog{For: r.forks}},
		{"3 busy loops per core", lab.Hog{Loops: 3 * runtime.NumCPU(), For: r.load}},
		{"16 forking loops", lab.Hog{Forks: 16, For: r.forks}},
	} {
		if phase.hog.For == 0 {
			continue
		}
		if err := r.loadPhase(ctx, stages, phase.name, phase.hog); err != nil {
			return err
		}
	}
	return nil
}

// loadPhase is one load on all clusters.
func (r *run) loadPhase(ctx context.Context, stages []*stage, name string, hog lab.Hog) error {
	if err := pause(ctx, 10*time.Second); err != nil { // what the load before left behind
		return err
	}
	var adverts []*lab.Adverts
	defer func() {
		for _, h := range adverts {
			h.Stop()
		}
	}()
	for _, s := range stages {
		if err := life.Until(ctx, patience, func() error { _, err := s.holder(); return err }); err != nil {
			return err
		}
		h, err := s.Adverts()
		if err != nil {
			return err
		}
		adverts = append(adverts, h)
	}
	begin := time.Now()
	stop, err := stages[0].Neighbour.Hog(ctx, lab.Hog{Loops: hog.Loops, Forks: hog.Forks, For: hog.For + time.Minute})
	if err != nil {
		return err
	}
	err = pause(ctx, hog.For)
	end := time.Now()
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	for i, s := range stages {
		found := load{Profile: r.profiles[i], Scenario: loaded, Load: name, Seconds: end.Sub(begin).Seconds(), Limits: limits}
		seen := sample{}
		held(&seen, begin, s.observer.Report().Spans)
		found.Moves, found.NoHolder, found.Dual = seen.moves, millis(seen.noHolder), millis(seen.dual)
		found.lateness(adverts[i].So(), time.Duration(s.Plan.Timing.AdvertIntervalMs)*time.Millisecond)
		r.loads = append(r.loads, found)
		r.write(found)
	}
	return nil
}

// lateness sorts adverts by how much later than an interval after the one before they came, from
// the same host to the same.
func (l *load) lateness(all []lab.Advert, interval time.Duration) {
	type stream struct {
		id int
		to netip.Addr
	}
	last, speaks := map[stream]lab.Advert{}, map[int]netip.Addr{}
	l.Late = make([]int, len(limits)+1)
	for _, a := range all {
		if a.Priority == 0 {
			continue // a release comes at any time
		}
		if before, ok := speaks[a.ID]; ok && before != a.From {
			l.Senders++
		}
		speaks[a.ID] = a.From
		key := stream{a.ID, a.To}
		if before, ok := last[key]; ok && before.From == a.From {
			late := max(0, a.At.Sub(before.At)-interval)
			l.Adverts++
			l.LateMax = max(l.LateMax, millis(late))
			l.Late[bucket(late)]++
		}
		last[key] = a
	}
}

// bucket is the histogram's column of a lateness.
func bucket(late time.Duration) int {
	for i, limit := range limits {
		if late < time.Duration(limit)*time.Millisecond {
			return i
		}
	}
	return len(limits)
}

// loadTable has the moves and the histogram.
func loadTable(all []load) string {
	head := []string{"load", "profile", "s", "moves", "senders", "no holder", "two", "adverts", "late at most"}
	for _, limit := range limits {
		head = append(head, fmt.Sprintf("<%d", limit))
	}
	rows := [][]string{append(head, "more")}
	for _, l := range all {
		row := []string{l.Load, l.Profile, fmt.Sprintf("%.0f", l.Seconds), fmt.Sprint(l.Moves), fmt.Sprint(l.Senders), number(l.NoHolder), number(l.Dual),
			fmt.Sprint(l.Adverts), fmt.Sprintf("%.1f", l.LateMax)}
		for _, n := range l.Late {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return table("Under load, all profiles at the same time: moves of the API VIP, hosts that began to speak, and adverts by how many ms each came too late", rows)
}
