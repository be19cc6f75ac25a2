package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// MaxLength is how long a schedule may be.
const MaxLength = time.Hour

// lameDuck is how long an API server serves after SIGTERM.
const lameDuck = 15 * time.Second

// Schedule is a list of faults, by time. The seed decides everything random: phases, delays, lost
// packets.
type Schedule struct {
	Seed   uint64
	Length time.Duration
	Faults []Fault
}

// String writes a schedule as ParseSchedule reads it.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\nlength %v\n", s.Seed, s.Length)
	for _, f := range s.Faults {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}

// Parse reads a schedule: a line for the seed, one for the length, and one for each fault, in any
// order. Empty lines and text after # are ignored.
func Parse(text string) (Schedule, error) {
	var s Schedule
	if err := script.Read(text, s.parseLine); err != nil {
		return Schedule{}, err
	}
	if s.Length <= 0 || s.Length > MaxLength {
		return Schedule{}, fmt.Errorf("read schedule: its length is %v: specify one of at most "+
			"%v, as in: length 20s", s.Length, MaxLength)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return s, nil
}

func (s *Schedule) parseLine(words []string) (err error) {
	if ok, err := script.Seed(words, &s.Seed); ok {
		return err
	}
	if len(words) == 2 && words[0] == "length" {
		s.Length, err = time.ParseDuration(words[1])
		return err
	}
	f, err := parseFault(words)
	if err == nil {
		s.Faults = append(s.Faults, f)
	}
	return err
}

func parseFault(words []string) (f Fault, err error) {
	if len(words) < 3 {
		return f, fmt.Errorf("%q is not TIME KIND HOST [AMOUNT] [for TIME]",
			strings.Join(words, " "))
	}
	f.Kind, f.Host = Kind(words[1]), words[2]
	if f.At, err = time.ParseDuration(words[0]); err != nil {
		return f, err
	}
	if !slices.Contains(Kinds(), f.Kind) && !slices.Contains(labKinds(), f.Kind) {
		return f, fmt.Errorf("there is no fault %q: choose one of %v", f.Kind, Kinds())
	}
	rest := words[3:]
	if len(rest) > 0 && rest[0] != "for" {
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
		return f, fmt.Errorf("%q: nothing is known of that", strings.Join(rest, " "))
	case f.At < 0 || f.For < 0 || f.Amount < 0 || f.Amount > 1000:
		return f, fmt.Errorf("%v: times are not negative, and amounts are from 0 to 1000", f)
	}
	return f, nil
}

// Check reports faults of hosts that a cluster does not have.
func (s Schedule) Check(c Cluster) error {
	names := c.Hosts()
	for _, f := range s.Faults {
		if f.Host != Holder && !slices.Contains(names, f.Host) {
			return fmt.Errorf("%v: there is no host %s, but %s and %s", f, f.Host,
				strings.Join(names, ", "), Holder)
		}
	}
	return nil
}
