package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// Of a scenario so many runs are simulated, each with phases of its own, and so many are measured.
const (
	simulated = 400
	measured  = 3
)

// bracket is what the simulation says of a figure.
type bracket struct{ min, max time.Duration }

// has reports whether a measured figure is in the bracket. The noise makes things later, the end of
// what is measured as well as its beginning: the address of a router that was killed is removed later,
// and the next holder comes no later for that.
func (b bracket) has(d time.Duration) bool { return d >= b.min-noise && d <= b.max+noise-sample }

func (b bracket) String() string { return fmt.Sprintf("%v to %v", round(b.min), round(b.max)) }

// homeless is the longest time without a holder, from a fault on.
func homeless(holders []Holding, from time.Duration) (longest time.Duration) {
	for _, h := range holders {
		if len(h.Hosts) == 0 && h.To > from {
			longest = max(longest, h.To-max(h.From, from))
		}
	}
	return longest
}

// narrow is how wide a bracket may be that has a meaning: an advert, the skew, and what programs
// on a busy machine take at its beginning and its end.
func narrow(p plan.Plan) time.Duration {
	timing := p.Timing.Model
	return timing.Advert + vrrp.Skew(timing.IPv4, p.VRRP.ControlPlane.Candidates().Lowest(), timing.Advert) + 2*noise
}

// compute reports how long no host has the VIP in a scenario, and how long a client waits, and
// holds that this has a meaning.
func compute(t *testing.T, s simulate.Scenario, c schedule.Cluster, widest time.Duration) (gap, dark bracket) {
	t.Helper()
	o := simulate.Measure(s, c, 1, simulated)
	dark, gap = bracket{o.Min, o.Max + noise}, bracket{o.None.Min, o.None.Max}
	for what, wide := range map[string]time.Duration{"without a holder": gap.max - gap.min + 2*noise, "of a client's wait": dark.max - dark.min + noise} {
		if wide > widest {
			t.Errorf("computed: the bracket %s is %v wide with the noise, and %v is the bound", what, round(wide), widest)
		}
	}
	return gap, dark
}

// patience is how long a scenario is tried again on a machine whose other work shows in the figures.
const patience = 5 * time.Minute

// awaitCalm waits until the machine runs this process in time for a second, or for a minute.
func awaitCalm() {
	const pause = 10 * time.Millisecond
	for range 60 {
		late := time.Duration(0)
		for range 100 {
			at := time.Now()
			time.Sleep(pause)
			late = max(late, time.Since(at)-pause)
		}
		if late < noise/2 {
			return
		}
	}
}

// shared are the scenarios of the measurements that a cluster without a bootstrap machine can have.
var shared = []string{"power-loss", "api-crash", "api-hang", "lb-crash", "graceful", "vrrp-kill", "both-kill", "reboot"}

// TestLongAgree runs each scenario in the simulation and in the lab, the same schedule to the
// letter, and holds that what was computed brackets how long no host held the VIP, in a bracket
// that has a meaning. A client may wait less than was computed: a former holder, which forwards,
// keeps packets for the VIP until the next one answers for it. It may not wait longer, but for its
// own pace.
func TestLongAgree(t *testing.T) {
	needLong(t)
	th := newTheatre(t)
	timing := th.stage.Plan.Timing.Model
	c := schedule.Of(timing)
	widest := narrow(th.stage.Plan)
	for _, name := range shared {
		t.Run(name, func(t *testing.T) {
			s, found := simulate.Find(name)
			if !found {
				t.Fatal("nobody knows how to simulate it")
			}
			gap, dark := compute(t, s, c, widest)
			for i, begun := 0, time.Now(); i < measured; {
				th.T = t
				th.openGates()
				r, err := th.stage.Execute(t.Context(), s.Run(c, uint64(i+1)).Schedule)
				if err != nil {
					t.Fatalf("%v\n%s", err, Explain(r, nil))
				}
				if r.Late > noise && time.Since(begun) < patience {
					t.Logf("nothing was measured, as the observers were late by %v; once more", round(r.Late))
					awaitCalm()
					continue
				}
				i++
				from := r.Acts[0].Began
				got, outage := homeless(r.Views[0].Holders, from), r.Requests.Since(r.Begin.Add(from-2*sample)).Outage()
				t.Logf("no host holds the VIP: computed %v, measured %v; the client's longest wait: computed %v, measured %v", gap, round(got), dark, round(outage))
				if broken := Judge(r, th.stage.Bounds); !gap.has(got) || outage > dark.max+sample || len(broken) > 0 {
					path, _ := Draw(r, broken)
					t.Errorf("no holder for %v, computed %v; the client's wait %v, computed %v; picture: %s\n%s", round(got), gap, round(outage), dark, path, Explain(r, broken))
				}
			}
		})
	}
}

// TestLongAgreeBefore is TestLongAgree for what happens while the bootstrap machine holds the VIP.
// The other two scenarios that are measured, a cold start and a change of members, have no
// blackout; test/bench holds the former's figure against what is computed.
func TestLongAgreeBefore(t *testing.T) {
	needLong(t)
	need.Root(t)
	const drain = 4 * time.Second // longer than the VIP needs to leave
	l, err := life.Open(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)), life.Options{Timing: vrrp.ProfileLan, Bootstrap: true, ShutdownDelay: drain})
	must(t, err)
	t.Cleanup(func() { must(t, l.Close(context.Background())) })
	must(t, l.Start(t.Context()))
	o, err := l.Observe()
	must(t, err)
	defer o.Stop()
	crowd, err := l.AttendMeasured(t.Context())
	must(t, err)
	defer crowd.Leave()
	for _, tt := range []struct {
		name  string
		fault func() error
		heal  func() error
	}{
		{"early-move", func() error { return provoke(l) }, func() error { return nil }},
		{"handover", l.EndAPI, func() error { return l.API.Start(t.Context()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := simulate.Find(tt.name)
			gap, dark := compute(t, s, schedule.Of(l.Plan.Timing.Model), narrow(l.Plan))
			for i, begun := 0, time.Now(); i < measured; {
				_, err := o.Wait(t.Context(), l.Bootstrap.Name)
				must(t, err)
				must(t, l.Settled(t.Context()))
				time.Sleep(2 * time.Second) // those whom a move has cut come back
				crowd.Probes.Forget()
				begin := time.Now()
				must(t, tt.fault())
				time.Sleep(time.Until(begin.Add(drain + time.Second)))
				requests := crowd.Probes.So().Since(begin.Add(-2 * sample))
				if pause := requests.Pause(); pause > noise && time.Since(begun) < patience {
					t.Logf("nothing was measured, as the client asked nothing for %v; once more", round(pause))
					awaitCalm()
					must(t, tt.heal())
					continue
				}
				i++
				spans := o.Report().Spans
				var holders []Holding
				for _, span := range spans {
					holders = append(holders, Holding{From: span.From.Sub(begin), To: span.To.Sub(begin), Hosts: span.Holders})
				}
				got, outage := homeless(holders, 0), requests.Outage()
				t.Logf("no host holds the VIP: computed %v, measured %v; the client's longest wait: computed %v, measured %v", gap, round(got), dark, round(outage))
				if !gap.has(got) || outage > dark.max+sample {
					t.Errorf("no holder for %v, computed %v; the client's wait %v, computed %v", round(got), gap, round(outage), dark)
				}
				if last := spans[len(spans)-1]; !slices.Equal(last.Holders, []string{l.Bootstrap.Name}) != (tt.name == "handover") {
					t.Errorf("at the end %v hold the VIP", last.Holders)
				}
				must(t, tt.heal())
			}
		})
	}
}

// provoke has nodes which could hold the VIP elect anew beside the bootstrap machine.
func provoke(l *life.Life) error {
	var errs []error
	for _, n := range l.Nodes {
		errs = append(errs, n.Candidate(), n.KillVRRP())
	}
	return errors.Join(errs...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
