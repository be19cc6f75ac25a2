package scrape

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// filmed is a tape of pages, one for each step, of a program that does not answer where a page is
// empty.
func filmed(t *testing.T, ages []string, pages ...string) *Tape {
	t.Helper()
	tape := &Tape{About: "a fault", Ages: ages}
	families := map[string]metrics.Family{}
	for _, f := range metrics.All() {
		families[f.Name] = f
	}
	for i, page := range pages {
		all := map[string][]byte{"holder/vip": []byte(page)}
		if page == "" {
			all = nil
		}
		if err := tape.Add(time.Duration(2*i)*time.Second, all, families); err != nil {
			t.Fatal(err)
		}
	}
	tape.Steady()
	return tape
}

// recorded is the values of a series of a recording, one word for each scrape.
func recorded(t *testing.T, tape *Tape, p Schedule, series string) string {
	t.Helper()
	r, err := tape.Schedule(p)
	if err != nil {
		t.Fatal(err)
	}
	name, labels, _ := strings.Cut(series, "{")
	return strings.Join(r.until(name+"{"+labels+`instance="holder/vip",job="one"}`), " ")
}

// TestTape_Recording holds how a recording continues a tape: gauges repeat, counters rise, ages grow, and a
// target without a value has none.
func TestTape_Recording(t *testing.T) {
	const restarts, running, age = "onprem_keepalived_restarts_total", "onprem_keepalived_running", "onprem_round_age_seconds"
	schedule := Schedule{Pace: 10 * time.Second, Before: 20 * time.Second, During: 30 * time.Second, After: 10 * time.Second}
	for _, tt := range []struct {
		name   string
		ages   []string
		pages  []string
		slower float64
		series string
		want   string
	}{
		{"a gauge", nil, []string{running + " 1", running + " 0", running + " 1"}, 0, running, "1 1 0 1 0 1 1"},
		{"a counter", nil, []string{restarts + " 7", restarts + " 9", restarts + " 13"}, 0, restarts, "0 0 2 22 42 62 62"},
		{"a counter, slower", nil, []string{restarts + " 7", restarts + " 9", restarts + " 13"}, 2, restarts, "0 0 2 12 22 32 32"},
		{"a counter that rose once", nil, []string{restarts + " 7", restarts + " 9", restarts + " 9"}, 0, restarts, "0 0 2 2 2 2 2"},
		{"a counter that begins anew", nil, []string{restarts + " 7", restarts + " 2", restarts + " 2"}, 0, restarts, "0 0 2 2 2 2 2"},
		{"who does not answer", nil, []string{running + " 1", "", ""}, 0, running, "1 1 stale stale stale stale 1"},
		{"who has not been there", nil, []string{"", running + " 1", running + " 1"}, 0, running, "_ _ 1 1 1 1 stale"},
		{"an age", []string{age}, []string{age + `{room="x"} 0.1`, age + `{room="x"} 12`, age + `{room="x"} 14`}, 0, age + `{room="x",`, "0.1 0.1 12 22 32 42 0.1"},
		{"an age that does not grow", []string{age}, []string{age + `{room="x"} 1`, age + `{room="x"} 2`, age + `{room="x"} 1`}, 0, age + `{room="x",`, "1 1 2 1 2 1 1"},
		{"an age as always", nil, []string{age + `{room="x"} 1`, age + `{room="x"} 2`, age + `{room="x"} 4`}, 0, age + `{room="x",`, "10 10 10 10 10 10 10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			series := tt.series
			if !strings.Contains(series, "{") {
				series += "{"
			}
			schedule.Slower = tt.slower
			if got := recorded(t, filmed(t, tt.ages, tt.pages...), schedule, series); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
	if _, err := filmed(t, nil, running+" 1", running+" 0").Schedule(schedule); err == nil {
		t.Error("a tape without two steps of its fault is played")
	}
}

// TestText holds that a tape is read as it was written, alone and beside health; and that another
// text is an error.
func TestText(t *testing.T) {
	health := filmed(t, nil, "onprem_keepalived_running 1\nonprem_dns_upstreams 2\nonprem_build_info{room=\"x\",version=\"v1\",goversion=\"go1\"} 1")
	fault := filmed(t, []string{"onprem_watch_age_seconds"}, "onprem_keepalived_running 1\nonprem_dns_upstreams 2\nonprem_watch_age_seconds{room=\"x\",watch=\"y\"} 1.5",
		"onprem_keepalived_running 1\nonprem_dns_upstreams 3\nonprem_watch_age_seconds{room=\"x\",watch=\"y\"} 3.5", "")
	for _, tape := range []*Tape{health, fault, fault.Beyond(health)} {
		got, err := Read(tape.Text())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, tape) {
			t.Errorf("%+v\nwant %+v", got, tape)
		}
	}
	small := filmed(t, nil, "onprem_keepalived_running 1\nonprem_dns_upstreams 2", "onprem_keepalived_running 1\nonprem_dns_upstreams 3").Beyond(health)
	if len(small.Rows) != 1 {
		t.Errorf("beyond health there is %s", small.Text())
	}
	whole := small.Over(health).Rows
	if row := whole["onprem_keepalived_running"]["holder/vip"]; len(whole) != 3 || len(row) != 2 || row[1].Value != 1 {
		t.Errorf("with health there is %+v", whole)
	}
	for _, bad := range []string{"at x\n", "at 0s 1s\n  a: 1\n", "at 0s 1s\nx\n  a: 1 2 3\n", "at 0s 1s\nx\n  a 1\n", "at 0s\nx\n  a: y\n"} {
		if _, err := Read([]byte(bad)); err == nil {
			t.Errorf("%q is a tape", bad)
		}
	}
	if err := new(Tape).Add(0, map[string][]byte{"x": []byte("this is no sample\n")}, nil); err == nil {
		t.Error("a page that is none is on tape")
	}
}
