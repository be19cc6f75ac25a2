package health

import (
	"strings"
	"testing"
	"time"
)

// findings reads a row of them: + passed, - failed, ? untold.
func findings(row string) []Finding {
	var out []Finding
	for _, c := range row {
		out = append(out, map[rune]Finding{'+': Passed, '-': Failed, '?': Untold, 'x': Refused}[c])
	}
	return out
}

// TestLatch holds when a check changes its state: K-49 that results which alternate never do, K-62
// that a look which could not be made changes nothing.
func TestLatch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start bool
		row   string
		want  string // the state after each
	}{
		{name: "rises", row: "+++", want: "001"},
		{name: "falls", start: true, row: "--", want: "10"},
		{name: "a failure begins the rise anew", row: "++-+++", want: "000001"},
		{name: "a success begins the fall anew", start: true, row: "-+-+--", want: "111110"},
		{name: "alternates, down", row: strings.Repeat("+-", 50), want: strings.Repeat("0", 100)},
		{name: "alternates, up", start: true, row: strings.Repeat("-+", 50), want: strings.Repeat("1", 100)},
		{name: "nothing told, up", start: true, row: "???????", want: "1111111"},
		{name: "nothing told, down", row: "???????", want: "0000000"},
		{name: "nothing told between", start: true, row: "-??-?", want: "11100"},
		{name: "nothing told is no success", row: "++?+", want: "0001"},
		{name: "there and back", row: "+++--+++", want: "00110001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			latch, got := Latch{Passes: tt.start}, ""
			for _, f := range findings(tt.row) {
				latch = latch.Next(f, Policy{Rise: 3, Fall: 2})
				got += map[bool]string{true: "1", false: "0"}[latch.Passes]
			}
			if want := tt.want; got != want {
				t.Errorf("%s makes %s, want %s", tt.row, got, want)
			}
		})
	}
}

// TestLatch_Refused holds that a process which listens no more is found sooner than one that is
// late, and not at the first refusal.
func TestLatch_Refused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		start   bool
		row     string
		certain int
		want    string // the state after each
	}{
		{name: "refused, which is certain sooner", start: true, row: "xx", certain: 2, want: "10"},
		{name: "refused once, and late", start: true, row: "x-x-x", certain: 2, want: "11110"},
		{name: "late, and refused twice", start: true, row: "-xx", certain: 2, want: "110"},
		{name: "refused, and not at once", start: true, row: "x+x+xx", certain: 2, want: "111110"},
		{name: "refused, and that counts as any failure", start: true, row: "xxxxx", want: "11110"},
		{name: "refused while down", row: "xx+++x", certain: 2, want: "000011"},
		{name: "nothing told between refusals", start: true, row: "x?x", certain: 2, want: "110"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			latch, got := Latch{Passes: tt.start}, ""
			for _, f := range findings(tt.row) {
				latch = latch.Next(f, Policy{Rise: 3, Fall: 5, Refused: tt.certain})
				got += map[bool]string{true: "1", false: "0"}[latch.Passes]
			}
			if got != tt.want {
				t.Errorf("%s makes %s, want %s", tt.row, got, tt.want)
			}
		})
	}
	if got := (Policy{Interval: time.Second, Fall: 5, Refused: 2}).DetectsRefused(); got != 2*time.Second {
		t.Errorf("found within %v, want 2s", got)
	}
	if got := (Policy{Interval: time.Second, Fall: 5}).DetectsRefused(); got != 5*time.Second {
		t.Errorf("without a number of its own found within %v, want 5s", got)
	}
}

// TestPolicies holds the pace of today's clusters, and that a look ends before the next one begins
// (K-44).
func TestPolicies(t *testing.T) {
	for _, tt := range []struct {
		policy           Policy
		interval         string
		rise, fall       int
		evicts, detected string
	}{
		{Balancer(), "2s", 3, 3, "4s", "7.9s"},
		{Router(), "1s", 3, 2, "1s", "2.9s"},
		{DefaultRouter(), "5s", 3, 2, "5s", "14.9s"},
	} {
		p := tt.policy
		if p.Interval.String() != tt.interval || p.Rise != tt.rise || p.Fall != tt.fall || p.Timeout >= p.Interval {
			t.Errorf("%+v, want every %s, rise %d, fall %d, a timeout below the interval", p, tt.interval, tt.rise, tt.fall)
		}
		if p.Evicts().String() != tt.evicts || p.Detects(p.Timeout, p.Timeout).String() != tt.detected {
			t.Errorf("%+v evicts after %v at best, want %s; detects within %v, want %s", p, p.Evicts(), tt.evicts, p.Detects(p.Timeout, p.Timeout), tt.detected)
		}
	}
}
