package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/figures"
)

// routed is the profile of clusters that announce their VIPs to routers. Tests measure it, each in a
// network of its own, and hold the figures to what is computed.
const routed = "bgp"

// routedTests are these tests, and routedRooms where they are.
const routedTests = "^(TestLongFigures|TestLongHandOver|TestLongBoth)$"

var routedRooms = []string{"./test/fabric", "./test/balanced", "./test/podvip"}

// routedAll runs the tests, and reads what they have measured, also if one of them fails.
func (r *run) routedAll(ctx context.Context) (err error) {
	chosen := slices.DeleteFunc(figures.Scenarios(), func(name string) bool { return !r.only.MatchString(name) })
	if len(chosen) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lines := filepath.Join(dir, "lines")
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-tags", "remote", "-count", "1", "-p", "1", "-v", "-timeout", "5h", "-run", routedTests}, routedRooms...)...)
	cmd.Env = append(os.Environ(), "ONPREM_INFRA_LONG=1", figures.File+"="+lines, figures.Only+"="+strings.Join(chosen, "|"),
		fmt.Sprintf("%s=%d", figures.Times, r.runs), figures.Load+"="+r.load.String(), figures.Rest+"="+r.steady.String())
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if fault := cmd.Run(); fault != nil {
		err = fmt.Errorf("%s: %w: a figure is not as computed, or a test has failed", routed, fault)
	}
	text, fault := os.ReadFile(lines)
	if errors.Is(fault, os.ErrNotExist) {
		fault = errors.New(routed + ": nothing was measured")
	}
	return errors.Join(err, fault, r.readRouted(text))
}

// readRouted reads lines that tests have written, and writes them on.
func (r *run) readRouted(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var line figures.Line
		if err := decoder.Decode(&line); err != nil {
			return fmt.Errorf("read a line of the figures: %w", err)
		}
		r.routed = append(r.routed, line)
		r.write(line)
	}
	return nil
}

// routedNote explains the columns.
const routedNote = "VIPs announced to routers: when the last client began that failed, in ms after the fault, of clients that open a connection every 10 ms;\n" +
	"failed: in all repetitions; worst: in one of them"

// routedTable has the lines by their scenarios.
func routedTable(all []figures.Line) string {
	rows := [][]string{{"scenario", "profile", "n", "min", "median", "max", "bound", "failed", "worst", "notes"}}
	for _, scenario := range figures.Scenarios() {
		for _, l := range all {
			if l.Scenario == scenario {
				rows = append(rows, []string{l.Scenario, l.Profile, fmt.Sprint(l.Runs), number(l.MinMs), number(l.MedianMs), number(l.MaxMs),
					number(float64(l.BoundMs)), fmt.Sprintf("%d/%d", l.Failed, l.Requests), fmt.Sprint(l.FailedMax), routedNotes(l)})
			}
		}
	}
	return table(routedNote, rows)
}

// routedNotes are what the columns do not show.
func routedNotes(l figures.Line) string {
	switch l.Scenario {
	case figures.AtRest:
		return fmt.Sprintf("%.1f %% of a core and %.1f MB for %.0f s", l.CPU, float64(l.RSS)/1024, l.Seconds)
	case figures.UnderLoad:
		return fmt.Sprintf("%d %s in %.0f s", l.Lost, l.Figure, l.Seconds)
	}
	return ""
}
