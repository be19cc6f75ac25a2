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

// lives starts a container that works, and lets it show that.
func lives(t *testing.T) (*Keeper, *fakeEngine) {
	t.Helper()
	e := &fakeEngine{}
	k, _ := keeper(t, e)
	k.Sign = Works()
	if err := rounds(t, k, 3); err != nil {
		t.Fatal(err)
	}
	e.calls = nil
	return k, e
}

// rounds turns as the loop does and returns what the last round said.
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

func TestPulse(t *testing.T) {
	const still = "container onprem-keepalived gives no sign of life (it uses no processor time)"
	tests := []struct {
		name    string
		fault   func(e *fakeEngine)
		says    []string // what is wrong, in the order of its changes
		calls   []string
		signals []syscall.Signal
		within  int // rounds until it is well
		another bool
	}{
		{name: "paused: it goes on, and nothing is lost",
			fault: func(e *fakeEngine) { e.state.Paused, e.process.paused = true, true },
			says:  []string{"container onprem-keepalived was paused and goes on"}, calls: []string{"inspect", "unpause"}, within: suspect + 1},
		{name: "stopped: told to go on, and nothing is lost",
			fault: func(e *fakeEngine) { e.process.stopped = true },
			says:  []string{still + ": told it to go on"}, calls: slices.Repeat([]string{"inspect"}, faint-suspect+1), signals: []syscall.Signal{syscall.SIGCONT}, within: 6},
		{name: "hung: killed, and another one started",
			fault: func(e *fakeEngine) { e.process.hung = true },
			says:  []string{still + ": told it to go on", still + ": killed it"},
			calls: append(slices.Repeat([]string{"inspect"}, dead-suspect+2), "image", "remove", "start", "inspect"),
			signals: []syscall.Signal{syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT, syscall.SIGCONT,
				syscall.SIGKILL},
			within: 13, another: true},
		{name: "paused where the name is a foreign container's: it is not touched",
			fault: func(e *fakeEngine) {
				e.state.Paused, e.state.Digest, e.process.stopped = true, "", true
			},
			says: []string{still + ": told it to go on"}, calls: slices.Repeat([]string{"inspect"}, faint-suspect+1), signals: []syscall.Signal{syscall.SIGCONT}, within: 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, e := lives(t)
				first := e.process
				tt.fault(e)
				var said []string
				healed := 0
				for round := 1; round <= 20; round++ {
					if err := rounds(t, k, 1); err != nil {
						said, healed = append(said, err.Error()), 0
					} else if healed == 0 {
						healed = round
					}
				}
				if said = slices.Compact(said); !slices.Equal(said, tt.says) || healed != tt.within && healed != tt.within+1 {
					t.Errorf("well after %d rounds, said\n%s\nwant %d and\n%s", healed, strings.Join(said, "\n"), tt.within, strings.Join(tt.says, "\n"))
				}
				if !slices.Equal(e.calls, tt.calls) || !slices.Equal(first.signals, tt.signals) || (e.process != first) != tt.another {
					t.Errorf("calls %v, signals %v, another one %v, want %v, %v, %v", e.calls, first.signals, e.process != first, tt.calls, tt.signals, tt.another)
				}
			})
		})
	}
}

// TestPulseCostsNothing holds that a container which lives is looked at without the engine's help,
// however often the room turns.
func TestPulseCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		asked := 0
		k.Sign = func(context.Context, Process) error { asked++; return nil }
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

// TestPulseOfThePaused holds how soon a paused container goes on, in rounds that come once a second
// and when they are asked for: before others take over what it speaks for. It gives its signs at
// any time between two rounds, and is paused at any time between two signs.
func TestPulseOfThePaused(t *testing.T) {
	const takeover = 2600 * time.Millisecond // after the pause, when the last advertisement came a whole interval before
	for signs := beat / 10; signs < beat; signs += beat / 10 {
		for pause := 4 * beat; pause < 5*beat; pause += beat / 10 {
			t.Run(fmt.Sprintf("signs at %v, paused at %v", signs, pause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := &fakeEngine{}
					k, wake := keeper(t, e)
					begin, before := time.Now(), time.Duration(-1)
					k.Sign = func(context.Context, Process) error {
						lived := time.Since(begin)
						e.set(func() {
							if e.state.Paused {
								lived = pause
							}
						})
						given := (lived - signs).Truncate(beat)
						if given == before {
							return errors.New("no sign")
						}
						before = given
						return nil
					}
					ctx, cancel := context.WithTimeout(t.Context(), 30*beat)
					defer cancel()
					time.AfterFunc(pause, func() { e.set(func() { e.state.Paused, e.calls = true, nil }) })
					var took time.Duration
					e.unpaused = func() { took = time.Since(begin) - pause; cancel() }
					if _, err := room(ctx, k, wake, keepalived); err != nil {
						t.Fatal(err)
					}
					if took == 0 || took >= takeover || !slices.Equal(e.calls, []string{"inspect", "unpause"}) {
						t.Errorf("goes on after %v, calls %v, want less than %v and one look", took, e.calls, takeover)
					}
				})
			})
		}
	}
}

// TestPulseBesideTheRounds holds that the engine is not asked where the signs come as often as the
// rounds, now just before one and now just after: a round that sees none is followed by one that
// sees two.
func TestPulseBesideTheRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, wake := keeper(t, e)
		begin, given, seen, missed := time.Now(), 0, 0, 0
		k.Sign = func(context.Context, Process) error {
			for ; ; given++ {
				shift := beat / 5
				if given%2 == 0 {
					shift = -shift
				}
				if time.Since(begin) < time.Duration(given)*beat+shift {
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
		ctx, cancel := context.WithTimeout(t.Context(), 100*beat)
		defer cancel()
		if _, err := room(ctx, k, wake, keepalived); err != nil {
			t.Fatal(err)
		}
		if want := []string{"inspect", "image", "start", "inspect"}; missed < 20 || !slices.Equal(e.calls, want) {
			t.Errorf("%d rounds without a sign, calls %v, want some and the start's %v", missed, e.calls, want)
		}
	})
}

// TestPulseOfUnevenRounds holds the time to the cure where a round comes a little early now and
// then, as a ticker's do.
func TestPulseOfUnevenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		e.process.stopped = true
		begin := time.Now()
		for round := 0; e.process.stopped; round++ {
			time.Sleep(beat - time.Millisecond)
			if round%2 == 0 {
				time.Sleep(2 * time.Millisecond)
			}
			_ = k.Ensure(t.Context(), keepalived)
		}
		if took := time.Since(begin); took > (faint+1)*beat {
			t.Errorf("woken after %v, want %d beats", took, faint+1)
		}
	})
}

// TestPulseCountsBeats holds that time in which this program did not run either proves nothing: a
// machine that was suspended, or is so busy that nobody gets a turn.
func TestPulseCountsBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		for range 3 {
			e.process.paused = true
			time.Sleep(time.Hour) // nobody ran
			if err := rounds(t, k, 1); err != nil {
				t.Fatal(err)
			}
			if err := rounds(t, k, faint-2); err != nil { // this program was first
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

// TestPulseWithoutAnEngine holds that nothing is killed while nobody could start another one, and
// that the cure comes with the engine.
func TestPulseWithoutAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, e := lives(t)
		e.process.hung, e.fail = true, map[string]error{"inspect": errors.New("no socket")}
		err := rounds(t, k, 3600)
		if want := "container onprem-keepalived gives no sign of life (it uses no processor time); look at it: no socket"; err == nil || err.Error() != want {
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

func TestPulseLeavesADebuggerAlone(t *testing.T) {
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

// TestPulseOfTheNewborn gives a container that has just been started longer for its first sign than
// one that has lived.
func TestPulseOfTheNewborn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		silent := errors.New("no answer")
		k.Sign = func(context.Context, Process) error { return silent }
		if err := rounds(t, k, youth+dead); err == nil || slices.Contains(e.process.signals, syscall.SIGKILL) {
			t.Fatalf("after %d rounds: %v, signals %v, want it said and nothing killed", youth+dead, err, e.process.signals)
		}
		first := e.process
		if err := rounds(t, k, 3); !slices.Contains(first.signals, syscall.SIGKILL) || e.process == first {
			t.Errorf("%v, signals %v, want it replaced in the end", err, first.signals)
		}
	})
}

func TestStopOfAContainerThatStandsStill(t *testing.T) {
	tests := []struct {
		name  string
		fault func(e *fakeEngine)
		calls []string
		most  time.Duration
	}{
		{name: "stopped: it is made to hear", fault: func(e *fakeEngine) { e.process.stopped = true }, most: 0},
		{name: "paused: it is made to hear", fault: func(e *fakeEngine) { e.state.Paused, e.process.paused = true, true },
			calls: []string{"inspect", "unpause"}, most: hears},
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

// TestEarlyEnds holds that a container which ends soon after each start is not started in a storm,
// and that one which has run for a while is started again at once.
func TestEarlyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		for range 600 {
			err := rounds(t, k, 1)
			if k.Running() {
				e.process.exit()
			} else if err == nil || err.Error() != "container onprem-keepalived ended soon after its start: podman logs onprem-keepalived says why" {
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

// TestEndsAtOnce is TestEarlyEnds for a container that is gone before it has been seen.
func TestEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{frail: true}
		k, _ := keeper(t, e)
		if err := rounds(t, k, 600); err == nil || !strings.HasPrefix(err.Error(), "container onprem-keepalived ended right after its start") {
			t.Errorf("error %v", err)
		}
		if e.nextPID < 20 || e.nextPID > 30 {
			t.Errorf("%d starts in 10 min, want one every 30 s", e.nextPID)
		}
	})
}

// TestForeignContainerLeaves holds that our container is there soon after the foreign one is gone,
// however long that one was there.
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

// TestWorksSeesTheNewborn holds that the time which a process has used before the first look at it
// is no sign: one that has just been started and is only slow keeps its time for that.
func TestWorksSeesTheNewborn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		k.Sign = Works()
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		first := e.process
		first.cpu, first.hung = 7*time.Millisecond, true
		if err := rounds(t, k, youth); err == nil || slices.Contains(first.signals, syscall.SIGKILL) {
			t.Errorf("%v, signals %v, want it said and nothing killed", err, first.signals)
		}
	})
}
