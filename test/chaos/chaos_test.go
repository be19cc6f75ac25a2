package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// How to ask for a run of one's own.
const (
	askSeed     = "ONPREM_INFRA_SEED"     // the number of a run that failed, or several with commas between them
	askSchedule = "ONPREM_INFRA_SCHEDULE" // or a file with a schedule
	askTiming   = "ONPREM_INFRA_TIMING"   // a profile other than lan
	askSeeds    = "ONPREM_INFRA_SEEDS"    // how many seeds the long run plays
)

// The seeds of the normal runs. Gated ones count from gatedFrom on, so that a number shows which
// kind of run it was.
const (
	shortGated           = 1
	longGated, longSeeds = 5, 50
	gatedFrom            = 1_000_000
)

// short are the seeds of the short run: the holder's power is cut, and it comes back, once to a
// busy machine; a holder and another node do not receive each other; a killed supervisor leaves the
// VIP behind.
var short = []uint64{0, 5, 34, 36}

// theatre is a stage for many seeds, which is built anew when one has left it in ruins.
type theatre struct {
	*testing.T
	timing string
	stage  *Stage
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "podman", "runc", "catatonit", "ip", "nsenter", "make", "etcd", "keepalived", "haproxy", "timeout"} {
		need.Command(t, name)
	}
	th := &theatre{T: t, timing: vrrp.ProfileLan}
	if timing := os.Getenv(askTiming); timing != "" {
		th.timing = timing
	}
	t.Cleanup(th.close)
	th.build()
	return th
}

func (th *theatre) build() {
	th.Helper()
	begin := time.Now()
	var err error
	if th.stage, err = Open(th.Context(), slog.New(slog.NewTextHandler(th.Output(), nil)), th.timing, 3); err != nil {
		th.Fatal(err)
	}
	th.Logf("%s: a cluster with closed gates after %v", th.timing, time.Since(begin).Round(100*time.Millisecond))
}

func (th *theatre) close() {
	if th.stage == nil {
		return
	}
	if err := th.stage.Close(context.Background()); err != nil {
		th.Errorf("close: %v", err)
	}
	th.stage = nil
}

func (th *theatre) openGates() {
	th.Helper()
	if th.stage.open == nil {
		return
	}
	begin := time.Now()
	if err := th.stage.OpenGates(th.Context()); err != nil {
		th.Fatalf("open the gates: %v\n%s", err, th.stage.Logs())
	}
	th.Logf("a node holds the VIP %v after the gates may open", time.Since(begin).Round(100*time.Millisecond))
}

// scheduleOf is what a seed stands for.
func (th *theatre) scheduleOf(seed uint64) schedule.Schedule {
	if seed >= gatedFrom {
		return Gated(seed, th.stage.Names())
	}
	return Random(seed, th.stage.Names())
}

// trials is how often a schedule is run that broke a rule while the observer itself came late:
// then nothing was measured.
const trials = 3

// holds runs a schedule and reports whether every rule held.
func (th *theatre) holds(s schedule.Schedule) bool {
	th.Helper()
	for range trials {
		if s.Seed < gatedFrom {
			th.openGates()
		}
		begin := time.Now()
		record, err := th.stage.Execute(th.Context(), s)
		broken := Judge(record, th.stage.Bounds)
		if err == nil && len(broken) == 0 {
			th.Logf("seed %d: %d faults in %v, the cluster at rest after %v, the observer late by %v at most", s.Seed, len(record.Done()),
				s.Length.Round(time.Millisecond), time.Since(begin).Round(100*time.Millisecond), record.Late.Round(time.Millisecond))
			return true
		}
		if err == nil && record.Blurred() {
			th.Logf("seed %d: nothing was measured, as the observer was late by %v; once more\n%s", s.Seed, record.Late, Explain(record, broken))
			continue
		}
		th.failed(s, record, broken, err)
		return false
	}
	th.Errorf("seed %d: this machine is too busy to measure on", s.Seed)
	return false
}

// failed reports a run in which a rule broke, and gives up a cluster that is no good any more.
func (th *theatre) failed(s schedule.Schedule, record Record, broken []trace.Broken, err error) {
	th.Helper()
	path, drawn := Draw(record, broken)
	if drawn != nil {
		path = drawn.Error()
	}
	if err != nil {
		th.Logf("logs:\n%s", th.stage.Logs())
	}
	th.Errorf("seed %d: %v\n%s  again: %s=%d go test -tags remote -run TestReplay ./test/chaos\n  picture: %s", s.Seed, err, Explain(record, broken), askSeed, s.Seed, path)
	if err != nil {
		th.close()
		th.build()
	}
}

// run plays so many seeds with closed gates, and those with open ones.
func (th *theatre) run(gated int, seeds ...uint64) {
	th.Helper()
	begin := time.Now()
	for i := range gated {
		th.holds(th.scheduleOf(gatedFrom + uint64(i)))
	}
	for _, seed := range seeds {
		th.holds(th.scheduleOf(seed))
	}
	th.Logf("%d schedules in %v", gated+len(seeds), time.Since(begin).Round(time.Second))
}

// TestChaos runs a few schedules.
func TestChaos(t *testing.T) { newTheatre(t).run(shortGated, short...) }

// TestLongChaos runs many.
func TestLongChaos(t *testing.T) {
	needLong(t)
	seeds := longSeeds
	if text := os.Getenv(askSeeds); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	var all []uint64
	for i := range seeds {
		all = append(all, uint64(i))
	}
	newTheatre(t).run(longGated, all...)
}

// TestReplay runs what is asked for.
func TestReplay(t *testing.T) {
	seed, file := os.Getenv(askSeed), os.Getenv(askSchedule)
	if seed == "" && file == "" {
		t.Skipf("plays a schedule again: %s=N or %s=FILE says which", askSeed, askSchedule)
	}
	th := newTheatre(t)
	var all []schedule.Schedule
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Parse(string(text))
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", file, err))
		}
		all = append(all, s)
	}
	for one := range strings.SplitSeq(seed, ",") {
		if one == "" {
			continue
		}
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", askSeed, err)
		}
		all = append(all, th.scheduleOf(n))
	}
	for _, s := range all {
		t.Logf("the schedule:\n%s", s)
		th.holds(s)
	}
}

func needLong(t *testing.T) {
	t.Helper()
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes: ONPREM_INFRA_LONG=1 asks for it")
	}
}
