package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestScenarios holds what the measurements are to show, over all phases and under every profile:
// the bound of each failure, that nobody is refused where the VIP leaves in order, and where it
// goes. The bracket for what is measured is no wider than an advert, the skew and 60 ms.
func TestScenarios(t *testing.T) {
	const noise = 60 * time.Millisecond
	for _, timing := range vrrp.Profiles() {
		c := Of(timing)
		down := vrrp.MasterDown(c.Version, c.Policy.ControlPlane.Serving(), timing.Advert)
		skew := vrrp.Skew(c.Version, c.Policy.ControlPlane.Serving(), timing.Advert)
		width := timing.Advert + vrrp.Skew(c.Version, c.Policy.ControlPlane.Lowest(), timing.Advert) + noise
		for _, s := range Scenarios() {
			t.Run(timing.Profile+" "+s.Name, func(t *testing.T) {
				o := Measure(s, c, 1, 100)
				t.Logf("two holders for %v, none for %v", o.Two, o.None)
				if len(o.Broken) > 0 {
					t.Fatalf("%d rules broken, first %v", len(o.Broken), o.Broken[0])
				}
				lb, router := timing.Checks[vrrp.CheckBoth], timing.Checks[vrrp.CheckIngress]
				dark, orderly, moves := noise, true, 1
				switch s.Name {
				case "power-loss", "vrrp-kill", "both-kill", "ingress-power-loss", "dns-power-loss":
					dark, orderly = down+noise, false
				case "lb-crash":
					orderly = false
				case "api-hang":
					orderly, moves = false, 0
				case "cold-start":
					dark, moves = timing.Server.Returns(0)+timing.Redirect.Interval+noise, 0
				case "early-move", "member-change", "api-crash":
					moves = 0
				case "lb-hang":
					dark, orderly = timing.Redirect.Detects(timing.Redirect.Timeout, timing.Redirect.Timeout)+noise, false
				case "node-down":
					dark, orderly = lb.Detects(0, 0)+down+noise, false
					if c.promises() {
						dark = lb.Detects(0, 0) + skew + noise
					}
				case "router-crash":
					dark, orderly = router.Detects(0, 0)+skew+noise, false
				case "name-server-crash":
					looks := timing.Checks[vrrp.CheckDNS].Detects(0, 0)
					dark, orderly = looks+down+noise, false
					if c.promises() {
						dark = looks + skew + noise
					}
				case "bootstrap-crash":
					dark, orderly = timing.Bootstrap.Detects(0, 0)+skew+noise, false
				case "bootstrap-hang":
					first := timing.Bootstrap.Late() + timing.Bootstrap.Timeout
					dark, orderly = timing.Bootstrap.Detects(first, timing.Bootstrap.Timeout)+skew+noise, false
				}
				// What several looks notice depends on their phase beside the adverts'.
				looks := []string{"cold-start", "lb-hang", "node-down", "router-crash", "name-server-crash", "bootstrap-crash", "bootstrap-hang"}
				least, most := o.Bracket()
				if o.Max > dark || most-least > width && !slices.Contains(looks, s.Name) {
					t.Errorf("%v to %v, want at most %v, and a bracket of %v", o.Min, o.Max, dark, width)
				}
				if least > o.Min || most < o.Max {
					t.Errorf("%v to %v is out of the bracket from %v to %v", o.Min, o.Max, least, most)
				}
				// The former holder's address goes when the slowest router has taken it, whoever
				// that was, or with the container's next start.
				remnant := min(vrrp.Outlives(c.Version, timing.Advert), restarts.most) - (down - timing.Advert) + slack
				if s.Name == "both-kill" && o.Two > max(remnant, 0) {
					t.Errorf("two holders for %v, want %v at most", o.Two, remnant)
				}
				// Between the former holder's end and the new one's beginning there may be a hole
				// of milliseconds.
				if orderly && o.Refused > o.Runs/10 {
					t.Errorf("%d of %d requests refused or late", o.Refused, o.Requests)
				}
				// Today's nodes have equal priorities, and two of them may take the VIP at once.
				if o.Moves != moves && (c.promises() || o.Moves > moves+1 || o.Moves < moves) {
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
			r := s.Play(Of(timing), seed)
			by := r.fault() + timing.Server.Detects(timing.Server.Inter)
			if i := slices.IndexFunc(r.Requests, func(q Request) bool { return q.At > by && q.Outcome != Served }); i >= 0 {
				t.Fatalf("%s, seed %d: %+v, and %v was the time", timing.Profile, seed, r.Requests[i], by)
			}
		}
	}
}

// TestFigures holds how the client's waits are counted.
func TestFigures(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	r := Result{Cluster: Cluster{Client: ms(10)}, Schedule: Schedule{Length: ms(1000), Faults: []Fault{{At: ms(300)}}}}
	for at := 0; at < 1000; at += 10 {
		q := Request{At: ms(at), Outcome: Served}
		if at > 100 && at < 250 || at > 300 && at < 550 || at > 600 && at < 750 {
			q.Outcome = Late
		}
		r.Requests = append(r.Requests, q)
	}
	if got := r.Blackout(); got != ms(250) {
		t.Errorf("blackout %v, want 250ms: what was before the fault does not count", got)
	}
	if got := r.Dark(); got != ms(400) {
		t.Errorf("dark for %v, want 400ms", got)
	}
	r.Requests = r.Requests[:61]
	if got := r.Blackout(); got != ms(400) {
		t.Errorf("blackout %v, want 400ms: nobody was served any more", got)
	}
}
