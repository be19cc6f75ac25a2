package provisioning

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

var hosts = flag.Int("hosts", 3, "how many bare machines BenchmarkInstallation installs")

// BenchmarkInstallation takes bare machines from the switching on of a bootstrap machine to
// operating systems with their documents, and reports the seconds of each stage.
func BenchmarkInstallation(b *testing.B) {
	ctx, stop := signal.NotifyContext(b.Context(), os.Interrupt)
	defer stop()
	for range b.N {
		s := started(bounded{b, ctx}, bios(*hosts), nil)
		s.reports(s.members...)
		reported := time.Now()
		s.installed(s.members...)
		s.ends(s.t)
		var names []string
		for _, m := range s.members {
			names = append(names, m.name)
		}
		took, err := stages(s.up, reported, names, s.journal())
		s.must(err)
		for _, stage := range Stages() {
			b.ReportMetric(took[stage].Seconds(), stage.unit())
		}
	}
	b.ReportMetric(0, "ns/op") // it has the making of images
}

// bounded is a test that an interrupt ends in order, with its machines.
type bounded struct {
	testing.TB
	ctx context.Context
}

func (b bounded) Context() context.Context { return b.ctx }

// stages are how long an installation took, by what the phase machine has written down and by when
// the last operating system had reported.
func stages(up, reported time.Time, names []string, journal []ledger.Entry) (map[Stage]time.Duration, error) {
	phases, hosts := map[progress.Phase]time.Time{}, map[ledger.Kind]map[string]time.Time{ledger.Disk: {}, ledger.Written: {}}
	for _, e := range journal {
		if e.Kind == ledger.Phase {
			phases[e.Phase] = e.Time
		} else if of := hosts[e.Kind]; of != nil {
			of[e.Host] = e.Time
		}
	}
	last := map[ledger.Kind]time.Time{}
	for kind, of := range hosts {
		for _, name := range names {
			at, ok := of[name]
			if !ok {
				return nil, fmt.Errorf("the journal has no line %q of %s", kind, name)
			}
			if at.After(last[kind]) {
				last[kind] = at
			}
		}
	}
	for _, p := range []progress.Phase{progress.Services, progress.Preflight, progress.Deploy, progress.Unpause} {
		if phases[p].IsZero() {
			return nil, fmt.Errorf("the journal lacks the phase %q", p)
		}
	}
	return map[Stage]time.Duration{
		Address:     phases[progress.Services].Sub(up),
		Services:    phases[progress.Preflight].Sub(phases[progress.Services]),
		Preflight:   phases[progress.Deploy].Sub(phases[progress.Preflight]),
		Inspect:     last[ledger.Disk].Sub(phases[progress.Deploy]),
		Write:       last[ledger.Written].Sub(last[ledger.Disk]),
		FirstBoot:   reported.Sub(last[ledger.Written]),
		AllReported: reported.Sub(up),
		AllOff:      phases[progress.Unpause].Sub(up),
	}, nil
}

// TestStages takes the times of an installation of two hosts from its journal, of which the slower
// one counts, and misses what is not there.
func TestStages(t *testing.T) {
	up := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return up.Add(time.Duration(s) * time.Second) }
	journal := []ledger.Entry{
		{Time: at(1), Kind: ledger.Started},
		{Time: at(2), Kind: ledger.Phase, Phase: progress.Services},
		{Time: at(30), Kind: ledger.Phase, Phase: progress.Preflight},
		{Time: at(31), Kind: ledger.Phase, Phase: progress.Deploy},
		{Time: at(100), Kind: ledger.Disk, Host: "a"},
		{Time: at(120), Kind: ledger.Disk, Host: "b"},
		{Time: at(150), Kind: ledger.Written, Host: "b"},
		{Time: at(160), Kind: ledger.Written, Host: "a"},
		{Time: at(290), Kind: ledger.Phase, Phase: progress.Settle},
		{Time: at(300), Kind: ledger.Phase, Phase: progress.Unpause},
	}
	want := map[Stage]time.Duration{Address: 2e9, Services: 28e9, Preflight: 1e9, Inspect: 89e9, Write: 40e9, FirstBoot: 120e9, AllReported: 280e9, AllOff: 300e9}
	got, err := stages(up, at(280), []string{"a", "b"}, journal)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
	for wanted, without := range map[string]int{`"disk" of b`: 5, `"written" of a`: 7, `phase "preflight"`: 2, `phase "unpause"`: 9} {
		lacking := append(append([]ledger.Entry{}, journal[:without]...), journal[without+1:]...)
		if _, err := stages(up, at(280), []string{"a", "b"}, lacking); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%v, want an error with %q", err, wanted)
		}
	}
}

// TestMeasured reads what go prints of a benchmark, which names its figures by their units in the
// order of those.
func TestMeasured(t *testing.T) {
	want, line := map[Stage]time.Duration{}, "BenchmarkInstallation-2   \t       1"
	for i, s := range Stages() {
		want[s] = time.Duration(i) * 1500 * time.Millisecond
		line += fmt.Sprintf("\t        %.1f %s", want[s].Seconds(), s.unit())
	}
	out := "goos: linux\nBenchmarkInstallation\n    host_test.go:129:     0.1 s (  +0.1 s) built\n" + line + "\nPASS\n"
	if got, err := measured(out); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
	for text, wanted := range map[string]string{"PASS\n": "lack address", strings.ReplaceAll(out, "write-s", "B/op"): "lack write"} {
		if _, err := measured(text); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%v, want an error with %q", err, wanted)
		}
	}
}
