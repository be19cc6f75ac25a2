package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Scenario is a fault whose cost is of interest, under the name that the measurements have for it.
type Scenario struct {
	Name  string
	About string
	Kind  vrrp.Kind // of the VIP that it is about; empty for the API's

	after  time.Duration // from the fault to the end, beside the waits of the elections
	change func(*Cluster)
	faults func(c Cluster, at time.Duration) []Fault
	figure func(Result) (time.Duration, bool) // what counts, if it is not the client's longest wait
}

// Find is a scenario by its name.
func Find(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// ClientPace is how often the client asks, as in the measurements.
const ClientPace = 10 * time.Millisecond

// Play plays a scenario once. The seed decides the phases.
func (s Scenario) Play(c Cluster, seed uint64) Result {
	switch c.Kind = s.Kind; c.Kind {
	case vrrp.Ingress:
		c.Workers = 3
	case vrrp.DNS:
		c.Policy = c.Policy.WithDNS()
	}
	if s.change != nil {
		s.change(&c)
	}
	c.Client = ClientPace
	phase := time.Duration(newRand(seed).Int64N(int64(max(time.Second, c.Timing.Advert))))
	at := 2*time.Second + phase.Round(time.Millisecond)
	schedule := Schedule{Seed: seed, Length: at + s.after + 3*c.down(), Faults: s.faults(c, at)}
	return Run(c, schedule)
}

// Outcomes are what came of many runs of a scenario.
type Outcomes struct {
	Scenario string
	About    string
	Runs     int
	Figure   bool // Min to Max are not the client's longest wait, but what About says

	Wait
	Dark             time.Duration // the sum of the client's waits over 100 ms, of the worst run
	Failed, Requests int           // after the fault, over all runs
	Refused          int           // of the failed ones: refused or late, not cut by the move
	Tail             time.Duration // the longest time from a fault to a request that failed
	Two, None        time.Duration // the longest time with two holders, and with none
	Moves            int           // of the VIP, in the run with the most
	Broken           []Broken      // with the seed in its words
	Worst            Result        // the run of Max
}

// Wait is the client's longest wait, or the figure that a scenario is about, over many runs.
type Wait struct{ Min, Median, Max time.Duration }

// Measure plays a scenario so often, with seeds from one on.
func Measure(s Scenario, c Cluster, seed uint64, runs int) Outcomes {
	o := Outcomes{Scenario: s.Name, About: s.About, Runs: runs, Figure: s.figure != nil, Wait: Wait{Min: -1}}
	var all []time.Duration
	for i := range runs {
		r := s.Play(c, seed+uint64(i))
		figure, ok := r.Blackout(), true
		if s.figure != nil {
			figure, ok = s.figure(r)
		}
		if !ok {
			r.Broken = append(r.Broken, Broken{Rule: "the scenario comes to its end", Why: "what it waits for did not happen"})
		}
		if len(all) == 0 || figure > slices.Max(all) {
			o.Worst = r
		}
		all = append(all, figure)
		o.add(r)
	}
	slices.Sort(all)
	if len(all) > 0 {
		o.Min, o.Median, o.Max = all[0], all[len(all)/2], all[len(all)-1]
	}
	return o
}

// Bracket is where a client's longest wait must lie that is measured: where it lies in virtual time
// over all phases, and what programs and the client's own pace take beside. Less than 60 ms is
// noise.
func (o Outcomes) Bracket() (least, most time.Duration) {
	const noise, early, late = 60 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond
	if least = o.Min - early; o.Min < noise {
		least = 0
	}
	return least, max(o.Max+late, noise)
}

func (o *Outcomes) add(r Result) {
	for _, b := range r.Broken {
		b.Why = fmt.Sprintf("%s (%s, seed %d)", b.Why, o.Scenario, r.Schedule.Seed)
		o.Broken = append(o.Broken, b)
	}
	from := r.fault()
	for _, q := range r.Requests {
		if q.At < from {
			continue
		}
		o.Requests++
		if q.Outcome != Served {
			o.Failed++
			o.Tail = max(o.Tail, q.At-from)
		}
		if q.Outcome == Refused || q.Outcome == Late {
			o.Refused++
		}
	}
	o.Dark = max(o.Dark, r.Dark())
	o.Two, o.None = max(o.Two, r.longest(func(n int) bool { return n > 1 })), max(o.None, r.longest(func(n int) bool { return n == 0 }))
	o.Moves = max(o.Moves, r.moves())
}

// fault is when the first fault begins.
func (r Result) fault() time.Duration {
	if len(r.Schedule.Faults) == 0 {
		return 0
	}
	return r.Schedule.Faults[0].At
}

// gaps calls visit with the time between each two served requests of which the latter began after
// the fault, and with what is left in the end.
func (r Result) gaps(visit func(time.Duration)) {
	last := time.Duration(-1)
	for _, q := range r.Requests {
		if q.Outcome != Served {
			continue
		}
		if last >= 0 && q.At >= r.fault() {
			visit(q.At - last)
		}
		last = q.At
	}
	if len(r.Requests) > 0 {
		if end := r.Schedule.Length - max(last, 0); end > 2*r.Cluster.Client {
			visit(end)
		}
	}
}

// Blackout is the longest time between the starts of two requests that were served, from the first
// fault on.
func (r Result) Blackout() (longest time.Duration) {
	r.gaps(func(gap time.Duration) { longest = max(longest, gap) })
	return longest
}

// Dark is the sum of all such times over 100 ms.
func (r Result) Dark() (sum time.Duration) {
	r.gaps(func(gap time.Duration) {
		if gap > 100*time.Millisecond {
			sum += gap
		}
	})
	return sum
}

// longest is the longest time with such a number of holders, from the first holder on.
func (r Result) longest(such func(n int) bool) (longest time.Duration) {
	seen := false
	for _, h := range r.Holders {
		seen = seen || len(h.Hosts) > 0
		if seen && such(len(h.Hosts)) {
			longest = max(longest, h.To-h.From)
		}
	}
	return longest
}

// settledHolders are those who held the VIP alone, one after the other.
func (r Result) settledHolders() (path []string) {
	for _, h := range r.Holders {
		if len(h.Hosts) == 1 && (len(path) == 0 || path[len(path)-1] != h.Hosts[0]) {
			path = append(path, h.Hosts[0])
		}
	}
	return path
}

// Path says how the VIP went.
func (r Result) Path() string { return strings.Join(r.settledHolders(), " → ") }

func (r Result) moves() int { return max(0, len(r.settledHolders())-1) }

// coldStart is from the first master's API server to its redirect.
func coldStart(r Result) (time.Duration, bool) {
	serves := time.Duration(-1)
	for _, n := range r.Notes {
		switch {
		case n.Text == "API serves" && serves < 0:
			serves = n.At
		case n.Text == "redirect on" && serves >= 0:
			return n.At - serves, true
		}
	}
	return 0, false
}
