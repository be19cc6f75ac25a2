package scrape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schedule is how a tape becomes a recording: how long each part of it lasts.
type Schedule struct {
	Pace   time.Duration // between two of its scrapes
	Before time.Duration // all values are those before the fault
	During time.Duration // the fault lasts
	After  time.Duration // all values are those before the fault, except counters
	Slower float64       // the factor by which counters rise slower than in the lab, which condenses time; 0 is 1
}

// Silent reports whether a target that answered before the fault does not answer during it.
func (t *Tape) Silent() bool {
	for _, rows := range t.Rows {
		for _, row := range rows {
			if !row[0].Nothing && slices.ContainsFunc(row, func(s Sample) bool { return s.Nothing }) {
				return true
			}
		}
	}
	return false
}

// Schedule is the recording of a tape: during the fault the recorded values repeat, but counters
// continue to rise, and ages that grew continue to grow.
func (t *Tape) Schedule(p Schedule) (*Recording, error) {
	if len(t.At) < 3 {
		return nil, fmt.Errorf("a tape of %d steps: there is one before the fault, and two in it", len(t.At))
	}
	r := &Recording{values: map[string][]string{}}
	for at := time.Duration(0); at <= p.Before+p.During+p.After; at += p.Pace {
		for series, rows := range t.Rows {
			for target, row := range rows {
				value, ok := t.at(series, row, at, p)
				if !ok {
					continue
				}
				name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
				if labels != "" {
					labels += ","
				}
				name = fmt.Sprintf(`%s{%sinstance=%q,job="one"}`, name, labels, target)
				r.values[name] = append(r.until(name), strconv.FormatFloat(value, 'g', -1, 64))
			}
		}
		r.Step()
	}
	return r, nil
}

// at is the value of a row at a time; ok is false without a value.
func (t *Tape) at(series string, row []Sample, at time.Duration, p Schedule) (value float64, ok bool) {
	name, _, _ := strings.Cut(series, "{")
	counts := strings.HasSuffix(name, "_total")
	since := at - p.Before
	lasts := since >= 0 && since <= p.During
	sample := row[0]
	if lasts {
		sample = row[1+int(since/p.Pace)%(len(row)-1)]
	}
	switch begin, end, spans := t.span(row); {
	case sample.Nothing:
		return 0, false
	case since < 0 || !spans:
		return sample.Value, true
	case counts:
		// As fast as between the first step of the fault and the last one. A counter does not fall
		// after the fault.
		rate := 0.0
		if end > begin {
			rate = (row[end].Value - row[begin].Value) / (t.At[end] - t.At[begin]).Seconds() / max(p.Slower, 1)
		}
		return row[begin].Value + rate*min(since, p.During).Seconds(), true
	case lasts && slices.Contains(t.Ages, name) && row[end].Value-row[begin].Value > 0.8*(t.At[end]-t.At[begin]).Seconds():
		return row[begin].Value + since.Seconds(), true
	}
	return sample.Value, true
}

// span is from the first step of the fault with a value to the last one.
func (t *Tape) span(row []Sample) (begin, end int, ok bool) {
	for i, s := range row[1:] {
		if s.Nothing {
			continue
		}
		if !ok {
			begin, ok = i+1, true
		}
		end = i + 1
	}
	return begin, end, ok
}
