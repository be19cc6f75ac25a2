package main

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/test/chaos"
)

// TestFindings holds what a soak reports: what grew, what broke, watches that stay away or are
// silent, and moves for no reason.
func TestFindings(t *testing.T) {
	grown := func(what string, values ...int) (all []sample) {
		for i, v := range values {
			all = append(all, sample{At: time.Duration(i) * time.Minute, What: what, Where: "master-0", Value: v})
		}
		return all
	}
	seed := func(change func(*executed)) []executed {
		p := executed{Seed: 7, At: time.Minute, record: chaos.Record{End: 20 * time.Second}}
		change(&p)
		return []executed{p}
	}
	for _, tt := range []struct {
		name string
		run  *run
		want string // empty: nothing
	}{
		{name: "nothing", run: &run{}, want: ""},
		{name: "a little more memory", run: &run{samples: grown(resident, 20000, 21000, 22000, 24000)}, want: ""},
		{name: "much more memory", run: &run{samples: grown(resident, 20000, 21000, 22000, 24097)}, want: "resident memory, kB of master-0 grew from 20000 to 24097, 24096 are allowed"},
		{name: "less in between", run: &run{samples: grown(resident, 20000, 90000, 22000, 20000)}, want: ""},
		{name: "goroutines", run: &run{samples: grown(goroutines, 30, 31, 35, 41)}, want: "goroutines"},
		{name: "descriptors", run: &run{samples: grown(descriptors, 30, 31, 35, 39)}, want: "file descriptors"},
		{name: "rules", run: &run{samples: grown(rules, 30, 31, 35, 35)}, want: "rules"},
		{name: "a journal up to its bound", run: &run{samples: grown(journalled, 4, 31, 100, 128)}, want: ""},
		{name: "a journal beyond it", run: &run{samples: grown(journalled, 4, 31, 100, 145)}, want: "journal"},
		{name: "a broken rule", run: &run{records: seed(func(p *executed) { p.Broken = []string{"two holders"} })}, want: "seed 7, after 1m0s: two holders"},
		{name: "watches that stay away", run: &run{records: seed(func(p *executed) { p.Away = 3 })}, want: "3 watches did not come back"},
		{name: "a silent watch", run: &run{records: seed(func(p *executed) { p.Silent = 6000 })}, want: "received nothing for 6s"},
		{name: "a silent watch behind a cut wire", run: &run{records: seed(func(p *executed) {
			p.Silent, p.record.Acts = 6000, []chaos.Act{{Fault: schedule.Fault{Kind: schedule.Cut}}}
		})}, want: ""},
		{name: "a silent watch, and nobody could measure", run: &run{records: seed(func(p *executed) { p.Silent, p.Blurred = 6000, true })}, want: ""},
		{name: "a move for a reason", run: &run{records: seed(func(*executed) {}), moves: []time.Duration{70 * time.Second}}, want: ""},
		{name: "a move for none", run: &run{records: seed(func(*executed) {}), moves: []time.Duration{95 * time.Second}}, want: "after 1m35s: the VIP moved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := strings.Join(tt.run.findings(), "; ")
			if found != tt.want && (tt.want == "" || !strings.Contains(found, tt.want)) {
				t.Errorf("found %q, want %q", found, tt.want)
			}
		})
	}
}

// TestParse holds what the command line refuses.
func TestParse(t *testing.T) {
	for line, ok := range map[string]bool{"": true, "-for 24h -seed 9": true, "-for 0": false, "-timing none": false, "more": false} {
		if _, err := parse(strings.Fields(line)); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
}
