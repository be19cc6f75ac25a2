package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// interrupting are the scenarios in which no request can be served for a while. Under the other
// ones a client waits no longer than noise.
var interrupting = []string{
	"power-loss", "vrrp-kill", "both-kill", "ingress-power-loss", "dns-power-loss", "cold-start",
	"lb-hang", "node-down", "router-crash", "name-server-crash", "bootstrap-crash", "bootstrap-hang",
}

// staying are the scenarios in which the VIP does not move.
var staying = []string{"api-hang", "cold-start", "early-move", "member-change", "api-crash"}

// TestScenarios holds under every profile that each scenario stays within the plan's bound, that no
// request is refused where the VIP is released in order, and how often the VIP moves.
func TestScenarios(t *testing.T) {
	const noise = 60 * time.Millisecond
	for _, profile := range spec.Timings() {
		described, findings := spec.Parse("cluster", []byte(described), spec.Knobs{Timing: profile})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		described.DNSVIP = described.APIVIPs[0].Next().Next()
		p, err := plan.Compile(described)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ClusterOf(p, described.ControlPlaneReplicas)
		if err != nil {
			t.Fatal(err)
		}
		timing := c.Timing
		for _, s := range Scenarios() {
			t.Run(profile+" "+s.Name, func(t *testing.T) {
				o := Measure(s, c, 1, 100)
				if row := NewRow(p, o); !row.OK {
					t.Fatalf("%d rules broken, first %s", len(row.Broken), row.Broken[0])
				}
				interrupts := slices.Contains(interrupting, s.Name)
				if o.Max > noise && !interrupts {
					t.Errorf("a client waits for %v, want %v at most", o.Max, noise)
				}
				// The slowest router removes the former holder's address, or the next start of its
				// container does.
				remnant := min(vrrp.Outlives(c.Version, timing.Advert), world.Restarts.Most) -
					(vrrp.MasterDown(c.Version, c.Policy.ControlPlane.Serving(), timing.Advert) -
						timing.Advert) + world.Slack
				if s.Name == "both-kill" && o.Two > max(remnant, 0) {
					t.Errorf("two holders for %v, want %v at most", o.Two, remnant)
				}
				// A release may leave a gap of milliseconds before the takeover.
				orderly := !interrupts && s.Name != "lb-crash" && s.Name != "api-hang"
				if (orderly || s.Name == "cold-start") && o.Refused > o.Runs/10 {
					t.Errorf("%d of %d requests refused or late", o.Refused, o.Requests)
				}
				moves := 1
				if slices.Contains(staying, s.Name) {
					moves = 0
				}
				// Without ranks two nodes may take the VIP over at once.
				if o.Moves != moves && (c.PrefersHolder() || o.Moves > moves+1 || o.Moves < moves) {
					t.Errorf("%d moves, want %d: %s", o.Moves, moves, o.Worst.Path())
				}
			})
		}
	}
}

// TestHang holds that a server which hangs gets no new request after the balancer's worst time.
func TestHang(t *testing.T) {
	s, _ := Find("api-hang")
	for _, timing := range vrrp.Profiles() {
		for seed := range uint64(50) {
			r := s.Run(schedule.Of(timing), seed)
			by := r.FirstFault() + timing.Server.Detects(timing.Server.Inter)
			if i := slices.IndexFunc(r.Requests, func(q trace.Request) bool { return q.At > by && q.Outcome != trace.Served }); i >= 0 {
				t.Fatalf("%s, seed %d: %+v, and %v was the time", timing.Profile, seed,
					r.Requests[i], by)
			}
		}
	}
}
