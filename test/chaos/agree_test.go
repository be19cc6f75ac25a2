package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/simulate"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// Of a scenario so many runs are simulated, each with phases of its own, and so many are measured.
const (
	simulated = 400
	measured  = 3
)

// bracket is what the simulation says of a figure.
type bracket struct{ min, max time.Duration }

func (b *bracket) add(d time.Duration, first bool) {
	if first {
		*b = bracket{d, d}
	}
	b.min, b.max = min(b.min, d), max(b.max, d)
}

// has says whether a measured figure is in the bracket. The noise makes things later, and a sample may be as early as the next one is late.
func (b bracket) has(d time.Duration) bool { return d >= b.min-sample && d <= b.max+noise-sample }

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

// shared are the scenarios of the measurements that a cluster without a bootstrap machine can have.
var shared = []string{"power-loss", "api-crash", "api-hang", "lb-crash", "graceful", "vrrp-kill", "both-kill", "reboot"}

// TestLongAgree plays each scenario in the simulation and in the lab, the same schedule to the letter, and holds that what was computed brackets how
// long nobody held the VIP, in a bracket that says something. A client may wait less than was computed: a former holder, which forwards, keeps packets for
// the VIP until the next one answers for it. It may not wait longer, but for its own pace.
func TestLongAgree(t *testing.T) {
	needLong(t)
	th := newTheatre(t)
	timing := th.stage.Plan.Timing.Model
	c := simulate.Of(timing)
	widest := timing.Advert + vrrp.Skew(timing.IPv4, th.stage.Plan.VRRP.ControlPlane.Candidates().Lowest(), timing.Advert) + noise
	for _, name := range shared {
		t.Run(name, func(t *testing.T) {
			s, found := simulate.Find(name)
			if !found {
				t.Fatal("nobody knows how to simulate it")
			}
			o := simulate.Measure(s, c, 1, simulated)
			least, most := o.Bracket()
			dark, gap := bracket{least, most}, bracket{}
			for seed := range uint64(simulated) {
				r := s.Play(c, seed)
				var holders []Holding
				for _, h := range r.Holders {
					holders = append(holders, Holding(h))
				}
				gap.add(homeless(holders, r.Schedule.Faults[0].At), seed == 0)
			}
			for what, wide := range map[string]time.Duration{"without a holder": gap.max - gap.min + noise, "of a client's wait": dark.max - dark.min} {
				if wide > widest {
					t.Errorf("computed: the bracket %s is %v wide with the noise, and %v is the bound", what, round(wide), widest)
				}
			}
			for i := range measured {
				th.T = t
				th.openGates()
				r, err := th.stage.Play(t.Context(), s.Play(c, uint64(i+1)).Schedule)
				if err != nil {
					t.Fatalf("%v\n%s", err, Explain(r, nil))
				}
				from := r.Acts[0].Began
				got, blackout := homeless(r.Views[0].Holders, from), r.Requests.Since(r.Begin.Add(from-2*sample)).With(traffic.Served).Blackout()
				t.Logf("nobody holds the VIP: computed %v, measured %v; the client's longest wait: computed %v, measured %v", gap, round(got), dark, round(blackout))
				if broken := Judge(r, th.stage.Bounds); !gap.has(got) || blackout > dark.max+sample || len(broken) > 0 {
					path, _ := Draw(r, broken)
					t.Errorf("nobody for %v, computed %v; the client's wait %v, computed %v; picture: %s\n%s", round(got), gap, round(blackout), dark, path, Explain(r, broken))
				}
			}
		})
	}
}
