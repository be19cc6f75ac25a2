package orders

import (
	"errors"
	"testing"
	"time"
)

func TestReporter(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	r := NewReporter(HTTP)
	var disk Report
	full := errors.New("no space left")
	for _, step := range []struct {
		name  string
		after time.Duration // since start
		state Report
		fails error
		wrote bool
		since time.Duration // of the report on disk, since start
	}{
		{name: "no room for the first", state: Report{Why: "no orders"}, fails: full},
		{name: "the first", after: time.Second, state: Report{Why: "no orders"}, wrote: true, since: time.Second},
		{name: "the same", after: 2 * time.Second, state: Report{Why: "no orders"}, since: time.Second},
		{name: "on", after: 3 * time.Second, state: Report{Generation: 1, On: true}, wrote: true, since: 3 * time.Second},
		{name: "ready", after: 4 * time.Second, state: Report{Generation: 1, On: true, Ready: true}, wrote: true, since: 3 * time.Second},
		{name: "still ready", after: 4*time.Second + refresh - 1, state: Report{Generation: 1, On: true, Ready: true}, since: 3 * time.Second},
		{name: "old", after: 4*time.Second + refresh, state: Report{Generation: 1, On: true, Ready: true}, wrote: true, since: 3 * time.Second},
		{name: "no room for off", after: 9 * time.Second, state: Report{Generation: 2, Ready: true}, fails: full, since: 3 * time.Second},
		{name: "off", after: 10 * time.Second, state: Report{Generation: 2, Ready: true}, wrote: true, since: 10 * time.Second},
		{name: "a clock set back", after: -time.Hour, state: Report{Generation: 2, Ready: true}, wrote: true, since: 10 * time.Second},
	} {
		wrote := false
		err := r.Report(step.state, start.Add(step.after), func(next Report) error {
			if step.fails == nil {
				disk, wrote = next, true
			}
			return step.fails
		})
		if err != step.fails || wrote != step.wrote {
			t.Errorf("%s: wrote %t, %v", step.name, wrote, err)
		}
		if !wrote {
			continue
		}
		want := step.state
		want.Part, want.Since, want.At = HTTP, start.Add(step.since), start.Add(step.after)
		if disk != want {
			t.Errorf("%s: wrote %+v, want %+v", step.name, disk, want)
		}
	}
	if refresh > Stale/3 {
		t.Errorf("a report is refreshed after %v, and must be after a third of %v", refresh, Stale)
	}
}
