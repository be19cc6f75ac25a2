package scrape

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// Tape is the metrics of programs, recorded once before a fault and a few times during it.
type Tape struct {
	About string                         // the fault, for people
	At    []time.Duration                // of each step, since the fault was there; that of the first, before it, is 0
	Ages  []string                       // families that grow with time for as long as the fault lasts, where they grew on the tape
	Rows  map[string]map[string][]Sample // by series and by target, a value for each step
}

// Sample is a value of a series; Nothing if the target did not answer, or did not report the series.
type Sample struct {
	Value   float64
	Nothing bool
}

// Health is the name of the tape without a fault. Other tapes have only the differences from it.
const Health = "health"

// silence is the text of a Said without a value.
const silence = "-"

// usual are the families whose values differ a little at every scrape, each with the highest value
// of a healthy host. Values up to that are recorded as that value, so that the next recording is
// the same. No alert is missed that way.
var usual = map[string]float64{metrics.RoundAge.Name: 10, metrics.WatchAge.Name: 600, metrics.DNSStale.Name: 5, metrics.AdvertJitter.Name: 0.1}

// words are labels whose values depend on the program and not on the fault.
var words = regexp.MustCompile(`\b(version|goversion)="[^"]*"`)

// Families are the metrics that a file of rules names, by name.
func Families(rules []byte) map[string]metrics.Family {
	out := map[string]metrics.Family{}
	for _, f := range metrics.All() {
		if regexp.MustCompile(`\b` + f.Name + `\b`).Match(rules) {
			out[f.Name] = f
		}
	}
	return out
}

// Add adds a step: the metrics of each target that answers, of these families alone.
func (t *Tape) Add(at time.Duration, pages map[string][]byte, families map[string]metrics.Family) error {
	if t.Rows == nil {
		t.Rows = map[string]map[string][]Sample{}
	}
	step := len(t.At)
	t.At = append(t.At, at)
	for target, page := range pages {
		for line := range strings.Lines(string(page)) {
			m := sample.FindStringSubmatch(strings.TrimSpace(line))
			if strings.HasPrefix(line, "#") || m != nil && families[m[1]].Name == "" {
				continue
			}
			if m == nil {
				return fmt.Errorf("%s reports %q, which is no sample", target, line)
			}
			value, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				return fmt.Errorf("%s reports %q: %w", target, line, err)
			}
			name := m[1]
			if m[2] != "" {
				name += "{" + words.ReplaceAllString(m[2], `$1="any"`) + "}"
			}
			if t.Rows[name] == nil {
				t.Rows[name] = map[string][]Sample{}
			}
			t.Rows[name][target] = append(silent(t.Rows[name][target], step), Sample{Value: value})
		}
	}
	for _, rows := range t.Rows {
		for target := range rows {
			rows[target] = silent(rows[target], len(t.At))
		}
	}
	return nil
}

// silent extends a row up to a step without values.
func silent(row []Sample, steps int) []Sample {
	for len(row) < steps {
		row = append(row, Sample{Nothing: true})
	}
	return row
}

// Steady removes the differences of every scrape, and makes counters begin at 0 before the fault.
func (t *Tape) Steady() {
	for series, rows := range t.Rows {
		name, _, _ := strings.Cut(series, "{")
		for target, row := range rows {
			if strings.HasSuffix(name, "_total") {
				row = risen(row)
			}
			least := usual[name]
			if slices.Contains(t.Ages, name) {
				least = 0
			}
			for i := range row {
				if !row[i].Nothing {
					row[i].Value = math.Round(max(row[i].Value, least)*100)/100 + 0 // no negative zero
				}
			}
			rows[target] = row
		}
	}
}

// Beyond is the tape without the rows that it has in common with the tape of health, whose values
// never change.
func (t *Tape) Beyond(health *Tape) *Tape {
	out := &Tape{About: t.About, At: t.At, Ages: t.Ages, Rows: map[string]map[string][]Sample{}}
	for series, rows := range t.Rows {
		for target, row := range rows {
			well := health.Rows[series][target]
			if len(well) > 0 && !slices.ContainsFunc(row, func(s Sample) bool { return s != well[0] }) {
				continue
			}
			if out.Rows[series] == nil {
				out.Rows[series] = map[string][]Sample{}
			}
			out.Rows[series][target] = row
		}
	}
	return out
}

// Over undoes Beyond.
func (t *Tape) Over(health *Tape) *Tape {
	out := &Tape{About: t.About, At: t.At, Ages: t.Ages, Rows: map[string]map[string][]Sample{}}
	for series, rows := range health.Rows {
		out.Rows[series] = map[string][]Sample{}
		for target, row := range rows {
			out.Rows[series][target] = slices.Repeat(row[:1], len(t.At))
		}
	}
	for series, rows := range t.Rows {
		if out.Rows[series] == nil {
			out.Rows[series] = map[string][]Sample{}
		}
		maps.Copy(out.Rows[series], rows)
	}
	return out
}

// risen is a counter as Prometheus reads it: one that has fallen has begun anew.
func risen(row []Sample) []Sample {
	out := slices.Clone(row)
	var last, sum float64
	begun := false
	for i, s := range row {
		switch {
		case s.Nothing:
			continue
		case begun && s.Value < last:
			sum += s.Value
		case begun:
			sum += s.Value - last
		}
		last, begun = s.Value, true
		out[i].Value = sum
	}
	return out
}

// Text is the tape as a file: each series once, with a line for the targets with equal values. A
// value that did not change is written once.
func (t *Tape) Text() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\nat", t.About)
	for _, at := range t.At {
		fmt.Fprintf(&out, " %v", at.Round(100*time.Millisecond))
	}
	out.WriteByte('\n')
	if len(t.Ages) > 0 {
		fmt.Fprintf(&out, "ages %s\n", strings.Join(t.Ages, " "))
	}
	for _, series := range slices.Sorted(maps.Keys(t.Rows)) {
		fmt.Fprintln(&out, series)
		alike := map[string][]string{}
		for _, target := range slices.Sorted(maps.Keys(t.Rows[series])) {
			text := written(t.Rows[series][target])
			alike[text] = append(alike[text], target)
		}
		for _, text := range slices.Sorted(maps.Keys(alike)) {
			fmt.Fprintf(&out, "  %s: %s\n", strings.Join(alike[text], " "), text)
		}
	}
	return out.Bytes()
}

func written(row []Sample) string {
	list := make([]string, len(row))
	for i, s := range row {
		if list[i] = strconv.FormatFloat(s.Value, 'g', -1, 64); s.Nothing {
			list[i] = silence
		}
	}
	if len(slices.Compact(slices.Clone(list))) == 1 {
		return list[0]
	}
	return strings.Join(list, " ")
}

// Read reads what Text wrote.
func Read(text []byte) (*Tape, error) {
	t := &Tape{Rows: map[string]map[string][]Sample{}}
	series := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		about, isAbout := strings.CutPrefix(line, "# ")
		at, isAt := strings.CutPrefix(line, "at ")
		ages, isAges := strings.CutPrefix(line, "ages ")
		row, isRow := strings.CutPrefix(line, "  ")
		var err error
		switch {
		case isAbout:
			t.About = about
		case isAt:
			for _, word := range strings.Fields(at) {
				d, bad := time.ParseDuration(word)
				if t.At = append(t.At, d); bad != nil {
					err = bad
				}
			}
		case isAges:
			t.Ages = strings.Fields(ages)
		case isRow:
			err = t.row(series, row)
		default:
			series = line
			t.Rows[series] = map[string][]Sample{}
		}
		if err != nil {
			return nil, fmt.Errorf("read %q of a tape: %w", line, err)
		}
	}
	return t, nil
}

// row reads a line of a series.
func (t *Tape) row(series, line string) error {
	targets, values, ok := strings.Cut(line, ": ")
	list := strings.Fields(values)
	if len(list) == 1 {
		list = slices.Repeat(list, len(t.At))
	}
	if !ok || series == "" || len(list) != len(t.At) {
		return fmt.Errorf("want targets, a colon, and one value or %d, below a series", len(t.At))
	}
	row := make([]Sample, len(list))
	for i, word := range list {
		if row[i].Nothing = word == silence; row[i].Nothing {
			continue
		}
		var err error
		if row[i].Value, err = strconv.ParseFloat(word, 64); err != nil {
			return err
		}
	}
	for _, target := range strings.Fields(targets) {
		t.Rows[series][target] = row
	}
	return nil
}
