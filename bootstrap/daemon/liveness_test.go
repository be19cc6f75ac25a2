package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// lives starts a container whose probe passes.
func lives(t *testing.T) (*Keeper, *fakeEngine) {
	t.Helper()
	e := &fakeEngine{}
	k, _ := keeper(t, e)
	k.Probe = UsesCPU()
	if err := rounds(t, k, 3); err != nil {
		t.Fatal(err)
	}
	e.calls = nil
	return k, e
}

// rounds runs n rounds as the loop does and returns the error of the last one.
func rounds(t *testing.T, k *Keeper, n int) error {
	t.Helper()
	var err error
	for range n {
		time.Sleep(time.Second)
		synctest.Wait()
		err = k.Ensure(t.Context(), keepalived)
	}
	return err
}

func TestLiveness(t *testing.T) {
	const still = "container onprem-keepalived fails its liveness probe (it uses no processor time)"
	tests := []struct {
		name    string
		fault   func(e *fakeEngine)
		reports []string // the errors, in the order of their changes
		calls   []string
		signals []syscall.Signal
		within  int // rounds until it is healthy
		another bool
	}{
		{name: "paused: it goes on, and nothing is lost",
			fault:   func(e *fakeEngine) { e.state.Paused, e.process.paused = true, true },
			reports: []string{"container onprem-keepalived was paused and goes on"}, calls: []string{"inspect", "unpause"}, within: inspectAfter + 1},
		{name: "stopped: continued, and nothing is lost",
			fault:   func(e *fakeEngine) { e.process.stopped = true },
			reports: []string{still + ": sent it SIGCONT"}, calls: slices.Repeat([]string{"inspect"}, resumeAfter-inspectAfter+1), signals: []syscall.Signal{syscall.SIGCONT}, within: 6},
		{name: "hung: killed, and another one started",
			fault:   func(e *fakeEngine) { e.process.hung = true },
			reports: []string{still + ": sent it SIGCONT", still + ": killed it"},
			calls:   append(slices.Repeat([]string{"inspect"}, killAfter-inspectAfter+2), "image", "remove", "start", "inspect"),
			signals: []syscall.Signal{syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT,
				syscall.SIGKILL},
			within: 13, another: true},
		{name: "paused where the name is a foreign container's: it is not touched",
			fault: func(e *fakeEngine) {
				e.state.Paused, e.state.Digest, e.process.stopped = true, "", true
			},
			reports: []string{still + ": sent it SIGCONT"}, calls: slices.Repeat([]string{"inspect"}, resumeAfter-inspectAfter+1), signals: []syscall.Signal{syscall.SIGCONT}, within: 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, e := lives(t)
				first := e.process
				tt.fault(e)
				var reports []string
				healthy := 0
				for round := 1; round <= 20; round++ {
					if err := rounds(t, k, 1); err != nil {
						reports, healthy = append(reports, err.Error()), 0
					} else if healthy == 0 {
						healthy = round
					}
				}
				if reports = slices.Compact(reports); !slices.Equal(reports, tt.reports) ||
					healthy != tt.within && healthy != tt.within+1 {
					t.Errorf("healthy after %d rounds, reported\n%s\nwant %d and\n%s", healthy,
						strings.Join(reports, "\n"), tt.within, strings.Join(tt.reports, "\n"))
				}
				if !slices.Equal(e.calls, tt.calls) || !slices.Equal(first.signals, tt.signals) || (e.process != first) != tt.another {
					t.Errorf("calls %v, signals %v, another one %v, want %v, %v, %v", e.calls, first.signals, e.process != first, tt.calls, tt.signals, tt.another)
				}
			})
		})
	}
}

// TestLiveness_CostsNothing holds that a healthy container is probed once a second, without the
// engine, however frequent the rounds are.
func TestLiveness_CostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		asked := 0
		k.Probe = func(context.Context, Process) error { asked++; return nil }
		for range 1000 {
			if err := k.Ensure(t.Context(), keepalived); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(e.calls) > 0 || asked < 10 || asked > 12 {
			t.Errorf("in 10 s: engine calls %v, asked %d times, want none and once a second", e.calls, asked)
		}
	})
}

// TestLiveness_Paused holds how soon a paused container goes on, in rounds that come once a second
// and on request: before a backup takes its VIP over. It works at any time between two rounds, and
// is paused at any time between two such times.
func TestLiveness_Paused(t *testing.T) {
	const takeover = 2600 * time.Millisecond // after the pause, when the last advertisement came a whole interval before
	for signs := probeInterval / 10; signs < probeInterval; signs += probeInterval / 10 {
		for pause := 4 * probeInterval; pause < 5*probeInterval; pause += probeInterval / 10 {
			t.Run(fmt.Sprintf("signs at %v, paused at %v", signs, pause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := &fakeEngine{}
					k, wake := keeper(t, e)
					begin, before := time.Now(), time.Duration(-1)
					k.Probe = func(context.Context, Process) error {
						lived := time.Since(begin)
						e.set(func() {
							if e.state.Paused {
								lived = pause
							}
						})
						given := (lived - signs).Truncate(probeInterval)
						if given == before {
							return errors.New("no sign")
						}
						before = given
						return nil
					}
					ctx, cancel := context.WithTimeout(t.Context(), 30*probeInterval)
					defer cancel()
					time.AfterFunc(pause, func() { e.set(func() { e.state.Paused, e.calls = true, nil }) })
					var took time.Duration
					e.unpaused = func() { took = time.Since(begin) - pause; cancel() }
					if _, err := room(ctx, k, wake, keepalived); err != nil {
						t.Fatal(err)
					}
					if took == 0 || took >= takeover || !slices.Equal(e.calls, []string{"inspect", "unpause"}) {
						t.Errorf("goes on after %v, calls %v, want less than %v and one inspection", took, e.calls, takeover)
					}
				})
			})
		}
	}
}

// TestLiveness_SameIntervalAsRounds holds that the engine is not called if the process works as
// often as the rounds come, alternately just before and just after one. A round that misses it is
// followed by one that sees two.
func TestLiveness_SameIntervalAsRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, wake := keeper(t, e)
		begin, given, seen, missed := time.Now(), 0, 0, 0
		k.Probe = func(context.Context, Process) error {
			for ; ; given++ {
				shift := probeInterval / 5
				if given%2 == 0 {
					shift = -shift
				}
				if time.Since(begin) < time.Duration(given)*probeInterval+shift {
					break
				}
			}
			if given == seen {
				missed++
				return errors.New("no sign")
			}
			seen = given
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*probeInterval)
		defer cancel()
		if _, err := room(ctx, k, wake, keepalived); err != nil {
			t.Fatal(err)
		}
		if want := []string{"inspect", "image", "start", "inspect"}; missed < 20 || !slices.Equal(e.calls, want) {
			t.Errorf("%d rounds without a sign, calls %v, want some and the start's %v", missed, e.calls, want)
		}
	})
}

// TestLiveness_UnevenRounds holds the time to SIGCONT if some rounds come a little early, as a
// ticker's do.
func TestLiveness_UnevenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		e.process.stopped = true
		begin := time.Now()
		for round := 0; e.process.stopped; round++ {
			time.Sleep(probeInterval - time.Millisecond)
			if round%2 == 0 {
				time.Sleep(2 * time.Millisecond)
			}
			_ = k.Ensure(t.Context(), keepalived)
		}
		if took := time.Since(begin); took > (resumeAfter+1)*probeInterval {
			t.Errorf("continued after %v, want %d intervals", took, resumeAfter+1)
		}
	})
}

// TestLiveness_CountsIntervals holds that time in which this program did not run does not count:
// the machine was suspended or busy.
func TestLiveness_CountsIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		for range 3 {
			e.process.paused = true
			time.Sleep(time.Hour) // no process ran
			if err := rounds(t, k, 1); err != nil {
				t.Fatal(err)
			}
			if err := rounds(t, k, resumeAfter-2); err != nil { // this program ran first
				t.Fatal(err)
			}
			e.process.paused = false
			if err := rounds(t, k, 1); err != nil {
				t.Fatal(err)
			}
		}
		if slices.ContainsFunc(e.calls, func(c string) bool { return c != "inspect" }) || len(e.process.signals) > 0 {
			t.Errorf("calls %v, signals %v, want nothing done", e.calls, e.process.signals)
		}
	})
}

// TestLiveness_EngineAway holds that nothing is killed while no other container can be started, and
// that the container is replaced when the engine answers.
func TestLiveness_EngineAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		e.process.hung, e.fail = true, map[string]error{"inspect": errors.New("no socket")}
		err := rounds(t, k, 3600)
		if want := "container onprem-keepalived fails its liveness probe (it uses no processor time); inspect it: no socket"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if len(e.process.signals) > 0 {
			t.Errorf("signals %v, want none", e.process.signals)
		}
		e.fail = nil
		if err := rounds(t, k, 2); err != nil || !k.Running() {
			t.Errorf("with the engine: %v, running %v", err, k.Running())
		}
	})
}

func TestLiveness_Debugger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		e.process.hung, e.process.tracer = true, 4711
		if err := rounds(t, k, 600); err == nil || !strings.HasSuffix(err.Error(), "left alone while process 4711 traces it") || slices.Contains(e.process.signals, syscall.SIGKILL) {
			t.Errorf("error %v, signals %v, want the tracer named and nothing killed", err, e.process.signals)
		}
		e.process.hung, e.process.tracer = false, 0
		if err := rounds(t, k, 1); err != nil {
			t.Errorf("when it goes on: %v", err)
		}
	})
}

// TestLiveness_JustStarted holds that a new container may miss more intervals than one that has
// passed its probe.
func TestLiveness_JustStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		silent := errors.New("no answer")
		k.Probe = func(context.Context, Process) error { return silent }
		if err := rounds(t, k, startAllowance+killAfter); err == nil || slices.Contains(e.process.signals, syscall.SIGKILL) {
			t.Fatalf("after %d rounds: %v, signals %v, want a report and nothing killed", startAllowance+killAfter, err, e.process.signals)
		}
		first := e.process
		if err := rounds(t, k, 3); !slices.Contains(first.signals, syscall.SIGKILL) || e.process == first {
			t.Errorf("%v, signals %v, want it replaced in the end", err, first.signals)
		}
	})
}

func TestStop_StoppedOrPaused(t *testing.T) {
	tests := []struct {
		name  string
		fault func(e *fakeEngine)
		calls []string
		most  time.Duration
	}{
		{name: "stopped: it is continued", fault: func(e *fakeEngine) { e.process.stopped = true }, most: 0},
		{name: "paused: it is unpaused", fault: func(e *fakeEngine) { e.state.Paused, e.process.paused = true, true },
			calls: []string{"inspect", "unpause"}, most: promptExit},
		{name: "paused and podman refuses: asked again", calls: []string{"inspect", "unpause", "inspect", "stop"}, most: stopGrace,
			fault: func(e *fakeEngine) {
				e.state.Paused, e.process.paused, e.fail = true, true, map[string]error{"unpause": errors.New("frozen")}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, e := lives(t)
				tt.fault(e)
				begin := time.Now()
				if err := k.Stop(t.Context(), keepalived.Name); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > tt.most || !slices.Equal(e.calls, tt.calls) {
					t.Errorf("took %v, calls %v, want at most %v and %v", took, e.calls, tt.most, tt.calls)
				}
				select {
				case <-e.process.end:
				default:
					t.Error("it has not ended")
				}
			})
		})
	}
}

// TestEarlyEnds holds that a container that exits soon after each start is started with a backoff,
// and that one that has run for a while is started again at once.
func TestEarlyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		for range 600 {
			err := rounds(t, k, 1)
			if k.Running() {
				e.process.exit()
			} else if err == nil || err.Error() != "container onprem-keepalived exited soon after its start: run podman logs onprem-keepalived for the reason" {
				t.Fatalf("error %v", err)
			}
		}
		if e.nextPID < 20 || e.nextPID > 30 {
			t.Errorf("%d starts in 10 min, want one every 30 s", e.nextPID)
		}
		if err := rounds(t, k, 60); err != nil {
			t.Fatal(err)
		}
		before := e.nextPID
		e.process.exit()
		synctest.Wait()
		if err := k.Ensure(t.Context(), keepalived); err != nil || e.nextPID != before+1 {
			t.Errorf("after a minute: %v, %d starts, want another one at once", err, e.nextPID-before)
		}
	})
}

// TestEndsAtOnce is TestEarlyEnds for a container that exits before it can be inspected.
func TestEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{frail: true}
		k, _ := keeper(t, e)
		if err := rounds(t, k, 600); err == nil || !strings.HasPrefix(err.Error(), "container onprem-keepalived exited right after its start") {
			t.Errorf("error %v", err)
		}
		if e.nextPID < 20 || e.nextPID > 30 {
			t.Errorf("%d starts in 10 min, want one every 30 s", e.nextPID)
		}
	})
}

// TestForeignContainerLeaves holds that our container starts soon after the foreign one is removed,
// however long that one has existed.
func TestForeignContainerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{found: true, state: container.State{Running: true, PID: 7}}
		k, _ := keeper(t, e)
		if err := rounds(t, k, 3600); err == nil || slices.ContainsFunc(e.calls, func(c string) bool { return c != "inspect" }) {
			t.Fatalf("error %v, calls %v", err, e.calls)
		}
		e.found = false
		if err := rounds(t, k, int(maxLocalDelay/time.Second)+1); err != nil || !k.Running() {
			t.Errorf("once the name is free: %v", err)
		}
	})
}

// TestUsesCPU_JustStarted holds that processor time used before the first probe does not count: a
// slow new process keeps its allowance.
func TestUsesCPU_JustStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		k.Probe = UsesCPU()
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		first := e.process
		first.cpu, first.hung = 7*time.Millisecond, true
		if err := rounds(t, k, startAllowance); err == nil || slices.Contains(first.signals, syscall.SIGKILL) {
			t.Errorf("%v, signals %v, want a report and nothing killed", err, first.signals)
		}
	})
}

// A process that takes long to start is not killed for it, but one that never answers is, and so is
// one that has answered and stopped to.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no answer")
		var answer error = broken
		probe := Patient(time.Minute, func(context.Context, Process) error { return answer })
		ask := func(p Process, want error) {
			t.Helper()
			if err := probe(t.Context(), p); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		}
		slow, other := &fakeProcess{}, &fakeProcess{}
		ask(slow, nil)
		time.Sleep(59 * time.Second)
		ask(slow, nil)
		time.Sleep(2 * time.Second)
		ask(slow, broken)
		ask(other, nil) // its own minute begins
		answer = nil
		ask(other, nil)
		answer = broken
		ask(other, broken)
	})
}
