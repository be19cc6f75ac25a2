// Package script is a schedule of faults as text, whatever is simulated.
package script

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Grammar is what the schedules of a simulation may have.
type Grammar struct {
	Kinds   []Kind
	Hidden  []Kind // that are accepted, but that errors do not list
	Longest time.Duration
	Amounts int  // the largest amount of a fault; 0 if none has one
	Marks   bool // lines begin after a mark, and the schedule has no length
	// Check refuses a fault for a reason of its own; nil for none.
	Check func(Fault) error
}

// form is how a line of a fault is written.
func (g Grammar) form() string {
	text := "TIME KIND NAME"
	if g.Marks {
		text = "[AFTER+]" + text
	}
	if g.Amounts > 0 {
		text += " [AMOUNT]"
	}
	return text + " [for TIME]"
}

// Parse reads a schedule: a line for the seed, one for the length, and one for each fault, in any
// order. Empty lines and text after # are ignored. An error names the line that it is about.
func (g Grammar) Parse(text string) (s Schedule, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		code, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(code)
		if len(words) == 0 {
			continue
		}
		if err := g.parseLine(words, &s); err != nil {
			return Schedule{}, fmt.Errorf("read schedule, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Schedule{}, fmt.Errorf("read schedule: %w", err)
	}
	if g.Marks {
		return s, nil
	}
	if s.Length <= 0 || s.Length > g.Longest {
		return Schedule{}, fmt.Errorf("read schedule: its length is %v: specify one of at most "+
			"%v, as in: length 20s", s.Length, g.Longest)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return s, nil
}

func (g Grammar) parseLine(words []string, s *Schedule) (err error) {
	switch {
	case len(words) == 2 && words[0] == "seed":
		s.Seed, err = strconv.ParseUint(words[1], 10, 64)
		return err
	case len(words) == 2 && words[0] == "length" && !g.Marks:
		s.Length, err = time.ParseDuration(words[1])
		return err
	}
	f, err := g.parseFault(words)
	s.Faults = append(s.Faults, f)
	return err
}

func (g Grammar) parseFault(words []string) (f Fault, err error) {
	if len(words) < 3 {
		return f, fmt.Errorf("%q is not %s", strings.Join(words, " "), g.form())
	}
	at := words[0]
	if i := strings.LastIndex(at, "+"); i > 0 && g.Marks {
		f.After, at = at[:i], at[i+1:]
	}
	if f.At, err = time.ParseDuration(at); err != nil {
		return f, err
	}
	f.Kind, f.Host = Kind(words[1]), words[2]
	if !slices.Contains(g.Kinds, f.Kind) && !slices.Contains(g.Hidden, f.Kind) {
		return f, fmt.Errorf("there is no fault %q: choose one of %v", f.Kind, g.Kinds)
	}
	rest := words[3:]
	if len(rest) > 0 && rest[0] != "for" && g.Amounts > 0 {
		if f.Amount, err = strconv.Atoi(rest[0]); err != nil {
			return f, err
		}
		rest = rest[1:]
	}
	if len(rest) == 2 && rest[0] == "for" {
		f.For, err = time.ParseDuration(rest[1])
		rest = nil
	}
	switch {
	case err != nil:
		return f, err
	case len(rest) > 0:
		return f, fmt.Errorf("%q: nothing is known of that; a line is %s", strings.Join(rest, " "),
			g.form())
	case f.At < 0 || f.For < 0 || f.At > g.Longest || f.For > g.Longest:
		return f, fmt.Errorf("%v: times are from 0 to %v", f, g.Longest)
	case f.Amount < 0 || f.Amount > g.Amounts:
		return f, fmt.Errorf("%v: amounts are from 0 to %d", f, g.Amounts)
	case g.Check != nil:
		return f, g.Check(f)
	}
	return f, nil
}
