// Package scrape records the metrics of programs, as a Prometheus would have scraped them, and has
// a real Prometheus's rule engine evaluate which alerts fire on them.
package scrape

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// Recording is a series of scrapes of several targets. Its zero value has none.
type Recording struct {
	steps  int
	values map[string][]string // by series
}

var sample = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// Page adds the metrics that a target reported in this step.
func (r *Recording) Page(target string, text []byte) error {
	if r.values == nil {
		r.values = map[string][]string{}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sample.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return fmt.Errorf("%q is no sample", line)
		}
		labels := fmt.Sprintf(`instance=%q,job="one"`, target)
		if m[2] != "" {
			labels = m[2] + "," + labels
		}
		name := m[1] + "{" + labels + "}"
		r.values[name] = append(r.until(name), m[3])
	}
	return nil
}

// until is a series up to this step. A series that a target no longer reports is stale at once, as
// it is when a target does not answer.
func (r *Recording) until(name string) []string {
	list := r.values[name]
	for len(list) < r.steps {
		absent := "stale"
		if len(list) == 0 || list[len(list)-1] == "_" {
			absent = "_"
		}
		list = append(list, absent)
	}
	return list
}

// Step ends a step.
func (r *Recording) Step() { r.steps++ }

// Moment is a time of a recording, and the alerts that fire then.
type Moment struct {
	At     time.Duration
	Alarms []string
}

// Firing is Sounds for one moment.
func (r *Recording) Firing(t testing.TB, rules string, pace, at time.Duration, want []string) error {
	t.Helper()
	return r.Sounds(t, rules, pace, Moment{at, want})
}

// Sounds checks that exactly these alerts of a file of rules fire at moments of the recording,
// whose steps are pace apart. Its error has the output of promtool.
func (r *Recording) Sounds(t testing.TB, rules string, pace time.Duration, moments ...Moment) error {
	t.Helper()
	type in struct {
		Series string `json:"series"`
		Values string `json:"values"`
	}
	var list []in
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		list = append(list, in{name, strings.Join(r.until(name), " ")})
	}
	var asked []any
	for _, m := range moments {
		samples := []any{}
		for _, alarm := range m.Alarms {
			samples = append(samples, map[string]any{"labels": fmt.Sprintf(`{alertname=%q}`, alarm), "value": 1})
		}
		asked = append(asked, map[string]any{"expr": `group by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": m.At.String(), "exp_samples": samples})
	}
	text, err := json.Marshal(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": pace.String(),
		"tests": []any{map[string]any{"interval": pace.String(), "input_series": list, "promql_expr_test": asked}},
	})
	if err != nil {
		return err
	}
	path := filepath.Join(t.TempDir(), "test.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	if out, err := exec.CommandContext(t.Context(), need.Command(t, "promtool"), "test", "rules", path).CombinedOutput(); err != nil {
		return fmt.Errorf("want %v and no others: %w\n%s", moments, err, out)
	}
	return nil
}
