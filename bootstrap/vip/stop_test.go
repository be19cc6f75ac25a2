package vip

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const never = time.Duration(-1)

// TestStopMatrix holds, for every pair of what the API and Ironic can be, how long after the fault
// the VIP is given up, through the real probes. The fault comes half a second before the next look.
func TestStopMatrix(t *testing.T) {
	for _, tt := range []struct {
		scar                string
		api                 mode
		heir                mode
		doubted             bool
		beside, down, stuck time.Duration // with an Ironic that serves, is down, and hangs
	}{
		{scar: "K-33", api: serves, heir: serves, beside: never, down: never, stuck: never},
		{scar: "K-34, K-37", api: down, heir: down, beside: never, down: 4500 * time.Millisecond, stuck: 25500 * time.Millisecond},
		{scar: "K-37, K-40", api: hung, heir: down, beside: never, down: 25500 * time.Millisecond, stuck: 26500 * time.Millisecond},
		{scar: "K-37, K-40, no master is ready", api: hung, heir: failing, beside: never, down: 25500 * time.Millisecond, stuck: 26500 * time.Millisecond},
		{scar: "K-37, K-40, a master is ready", api: hung, heir: serves, beside: never, down: 2700 * time.Millisecond, stuck: 2700 * time.Millisecond},
		{scar: "K-37, K-40, a master hangs too", api: hung, heir: hung, beside: never, down: 25500 * time.Millisecond, stuck: 26500 * time.Millisecond},
		{scar: "K-37, K-40, a master is slow and ready", api: hung, heir: slow, beside: never, down: 5400 * time.Millisecond, stuck: 5400 * time.Millisecond},
		{scar: "K-37, K-41", api: failing, heir: down, beside: never, down: 4500 * time.Millisecond, stuck: 25500 * time.Millisecond},
		{scar: "K-41, a master is ready", api: shutdown, heir: serves, beside: never, down: 500 * time.Millisecond, stuck: 5500 * time.Millisecond},
		{scar: "K-41, no master serves", api: shutdown, heir: down, beside: never, down: never, stuck: never},
		{scar: "K-41, no master is ready", api: shutdown, heir: failing, beside: never, down: never, stuck: never},
		{scar: "K-41, a master serves that is not trusted", api: shutdown, heir: serves, doubted: true, beside: never, down: 4500 * time.Millisecond, stuck: 25500 * time.Millisecond},
		{scar: "a slow API is ready, and no master is", api: slow, heir: failing, beside: never, down: never, stuck: never},
		{scar: "a slow API is ready, and a master is at once: one move", api: slow, heir: serves, beside: never, down: 2700 * time.Millisecond, stuck: 2700 * time.Millisecond},
	} {
		for ironic, want := range map[mode]time.Duration{serves: tt.beside, down: tt.down, hung: tt.stuck} {
			t.Run(fmt.Sprintf("%s: API %s, master %s, Ironic %s", tt.scar, tt.api, tt.heir, ironic), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const fault = 10500 * time.Millisecond
					w := newWorld(t, tt.doubted)
					w.set(ironicAt, ironic)
					w.set(masterAt, tt.heir)
					got := watched(t, w, release.State{}, 5*time.Minute, func() {
						time.Sleep(fault)
						if asked, dials := w.asked(ironicAt); asked+dials > 0 {
							t.Errorf("Ironic was asked %d times by %d connections while the API was ready", asked, dials)
						}
						w.set(apiAt, tt.api)
					})
					if want == never {
						equalEvents(t, got, event{0, true})
					} else {
						equalEvents(t, got, event{0, true}, event{fault + want, false})
					}
				})
			})
		}
	}
}

// step is a server that changes at some time.
type step struct {
	at     time.Duration
	server string
	mode   mode
}

// TestStopStories holds whole installs: what happens when, and from when on the VIP is held or not.
func TestStopStories(t *testing.T) {
	const ms = time.Millisecond
	s, min, half := time.Second, time.Minute, 500*ms
	for _, tt := range []struct {
		name  string
		first mode // of the API
		steps []step
		until time.Duration
		want  []event
	}{
		{name: "K-35: 6 s down and back", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, down}, {16*s + half, apiAt, serves}},
			want:  []event{{0, true}, {15 * s, false}, {17 * s, true}}},
		{name: "K-35: 2 s down", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, down}, {12*s + half, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-35: down again and again, never for 5 s", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, down}, {14*s + half, apiAt, serves}, {16*s + half, apiAt, down}, {20*s + half, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-34: down for good on a machine that lives on", first: serves, until: 2 * time.Hour,
			steps: []step{{10*s + half, apiAt, down}}, want: []event{{0, true}, {15 * s, false}}},
		{name: "K-39: first ready after 10 min", first: down, until: time.Hour, steps: []step{{10 * min, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-39: first ready after 20 min, answering 500 for the last of them", first: down, until: time.Hour,
			steps: []step{{19 * min, apiAt, failing}, {20 * min, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-39: first ready after 31 min", first: down, until: time.Hour,
			steps: []step{{31*min + half, apiAt, serves}}, want: []event{{0, true}, {30*min + 4*s, false}, {31*min + s, true}}},
		{name: "K-39, K-37: first ready after 31 min, Ironic serves", first: down, until: time.Hour,
			steps: []step{{0, ironicAt, serves}, {31*min + half, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-37: Ironic serves for an hour after the API has gone", first: serves, until: 2 * time.Hour,
			steps: []step{{half, ironicAt, serves}, {10*s + half, apiAt, down}, {time.Hour + half, ironicAt, down}},
			want:  []event{{0, true}, {time.Hour + 5*s, false}}},
		{name: "K-37: Ironic hangs when the API goes, and the VIP returns at once with the API", first: serves, until: time.Hour,
			steps: []step{{half, ironicAt, hung}, {10*s + half, apiAt, down}, {48*s + half, apiAt, serves}},
			want:  []event{{0, true}, {36 * s, false}, {49 * s, true}}},
		{name: "K-41, K-35: the shutdown was a restart", first: serves, until: time.Hour,
			steps: []step{{half, masterAt, serves}, {10*s + half, apiAt, shutdown}, {80*s + half, apiAt, down}, {90*s + half, apiAt, serves}},
			want:  []event{{0, true}, {11 * s, false}, {91 * s, true}}},
		{name: "K-41: a master becomes ready during the shutdown", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, shutdown}, {30*s + half, masterAt, serves}}, want: []event{{0, true}, {31 * s, false}}},
		{name: "K-40: the API stalls for 12 s", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, hung}, {22*s + half, apiAt, serves}}, want: []event{{0, true}}},
		{name: "K-40: the API hangs for a minute", first: serves, until: time.Hour,
			steps: []step{{10*s + half, apiAt, hung}, {70*s + half, apiAt, serves}},
			want:  []event{{0, true}, {36 * s, false}, {71 * s, true}}},
		{name: "K-40: the API hangs for a minute, a master is ready: back when it is prompt again", first: serves, until: time.Hour,
			steps: []step{{half, masterAt, serves}, {10*s + half, apiAt, hung}, {70*s + half, apiAt, slow}, {80*s + half, apiAt, serves}},
			want:  []event{{0, true}, {13*s + 200*ms, false}, {85 * s, true}}},
		{name: "K-40: the API hangs again and again, a master is ready: one move", first: serves, until: time.Hour,
			steps: []step{{half, masterAt, serves}, {10*s + half, apiAt, hung}, {20*s + half, apiAt, serves}, {23*s + half, apiAt, hung}, {40*s + half, apiAt, serves}, {43*s + half, apiAt, hung}},
			want:  []event{{0, true}, {13*s + 200*ms, false}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, false)
				w.set(apiAt, tt.first)
				got := watched(t, w, release.State{}, tt.until, func() {
					begin := time.Now()
					for _, step := range tt.steps {
						time.Sleep(step.at - time.Since(begin))
						w.set(step.server, step.mode)
					}
				})
				equalEvents(t, got, tt.want...)
			})
		})
	}
}

// TestStopReadyDoesNotWaitForIronic holds that a ready API ends a look at once, though Ironic was
// asked beside it and hangs.
func TestStopReadyDoesNotWaitForIronic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		w.set(ironicAt, hung)
		ctx, cancel := context.WithCancel(t.Context())
		watch := NewWatch(release.State{}, w, func(release.Memory) error { return nil }, make(chan struct{}, 1))
		done := make(chan error)
		go func() { done <- watch.Run(ctx) }()
		time.Sleep(10*time.Second + time.Second/2)
		w.set(apiAt, down) // the look at 11 s waits for Ironic until 16 s
		time.Sleep(2 * time.Second)
		w.set(apiAt, serves)
		time.Sleep(4 * time.Second)
		if v, err := watch.Verdict(ctx); err != nil || v.Why != "the local API is ready" {
			t.Errorf("half a second after the look at 16 s: %+v, %v", v, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestStopAsksLittle holds what hours of a ready API cost: one connection, one question a second,
// and nothing of Ironic.
func TestStopAsksLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		w.set(ironicAt, serves)
		const observed = 2 * time.Hour
		before := 0
		equalEvents(t, watched(t, w, release.State{}, observed, func() {
			time.Sleep(time.Minute + time.Second/2)
			before = runtime.NumGoroutine()
			time.Sleep(observed - 2*time.Minute)
			if now := runtime.NumGoroutine(); now > before+10 { // other tests' goroutines come and go
				t.Errorf("goroutines grew from %d to %d", before, now)
			}
		}), event{0, true})
		if asked, dials := w.asked(apiAt); dials != 1 || asked < int(observed/time.Second)-1 || asked > int(observed/time.Second)+1 {
			t.Errorf("K-42: %d questions by %d connections, want one each second by one", asked, dials)
		}
		for _, address := range []string{ironicAt, masterAt} {
			if asked, dials := w.asked(address); asked+dials > 0 {
				t.Errorf("%s was asked %d times by %d connections", address, asked, dials)
			}
		}
	})
}

// TestStop_WithinThePlansBounds holds what the plan promises of the bootstrap machine's API, whenever
// between two looks the fault comes; K-34: a master has the VIP within 15 s.
func TestStop_WithinThePlansBounds(t *testing.T) {
	p := compile(t, nil)
	for _, tt := range []struct {
		bound       string
		api, ironic mode
		most        time.Duration
	}{
		{"the bootstrap's API refuses connections or is not ready, and Ironic refuses them", down, down, 15 * time.Second},
		{"the bootstrap's API and Ironic take connections and hang, and a master is ready", hung, hung, 4 * time.Second},
		{"the bootstrap's API announces its shutdown, and a master stands by", shutdown, down, 5 * time.Second},
	} {
		i := slices.IndexFunc(p.Timing.Bounds, func(b bound.Bound) bool { return b.Failure == tt.bound })
		if i < 0 {
			t.Errorf("the plan does not say how long it takes when %s", tt.bound)
			continue
		}
		promised := time.Duration(p.Timing.Bounds[i].Ms) * time.Millisecond
		timing, lowest := p.Timing.Model, p.VRRP.ControlPlane.Candidates().Serving()
		takesOver := vrrp.Skew(timing.Version(p.VIPs.API[0]), lowest, timing.Advert)
		if tt.api == shutdown {
			takesOver = vrrp.MasterDown(timing.Version(p.VIPs.API[0]), lowest, timing.Advert)
		}
		worst := time.Duration(0)
		for _, phase := range []time.Duration{1, 250, 500, 750, 999} {
			synctest.Test(t, func(t *testing.T) {
				fault := 10*time.Second + phase*time.Millisecond
				w := newWorld(t, false)
				w.set(ironicAt, tt.ironic)
				w.set(masterAt, serves)
				events := watched(t, w, release.State{}, time.Minute, func() { time.Sleep(fault); w.set(apiAt, tt.api) })
				if len(events) != 2 {
					t.Fatalf("%s: %v", tt.bound, events)
				}
				worst = max(worst, events[1].at-fault+takesOver)
			})
		}
		if worst > promised || promised-worst > 100*time.Millisecond || promised > tt.most {
			t.Errorf("%s: %v at the worst, the plan says %v, want no more than %v", tt.bound, worst, promised, tt.most)
		}
	}
}
