package scrape_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// anew is the command that records the tapes.
const anew = "ONPREM_INFRA_LONG=1 ONPREM_INFRA_RECORD=. go test -tags remote -run TestLongRecord ./test/life records all tapes anew"

// rules writes the rules of the cluster that the tapes are of.
func rules(t *testing.T) (path string, text []byte) {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "one", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: vrrp.ProfileLan, Metrics: spec.MetricsNode, MDNS: spec.MDNSEnabled,
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := monitoring.Assets(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Files() {
		if f.Path == monitoring.RulesFile {
			path, text = filepath.Join(t.TempDir(), f.Path), f.Contents
		}
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, text
}

// tape reads one of testdata, with the rows that it shares with health.
func tape(t *testing.T, name string) *scrape.Tape {
	t.Helper()
	read := func(name string) *scrape.Tape {
		text, err := os.ReadFile(filepath.Join("testdata", name+".tape"))
		if err != nil {
			t.Fatalf("%v: %s", err, anew)
		}
		out, err := scrape.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	health := read(scrape.Health)
	if name == scrape.Health {
		return health
	}
	return read(name).Over(health)
}

// taped is a fault of the lab: how long it lasts, and which alerts fire at its end.
type taped struct {
	tape   string
	during time.Duration
	want   []string
	slower float64 // see scrape.Play
}

// faults are the faults of all tapes.
var faults = []taped{
	{tape: scrape.Health, during: 40 * time.Minute},
	{tape: "foreign-router", during: 3 * time.Minute, want: []string{"OnpremVIPClash"}},
	{tape: "interval", during: 10 * time.Minute, want: []string{"OnpremVIPMisheard"}},
	{tape: "version", during: 10 * time.Minute, want: []string{"OnpremVIPClash", "OnpremVIPMisheard", "OnpremVIPTwoHolders"}}, // keepalived 2.2.7 ignores adverts of another version: dual holders
	{tape: "peers", during: 10 * time.Minute},                                                                                 // a node without a Node is not eligible, and the others continue
	{tape: "cut-off", during: 5 * time.Minute, want: []string{"OnpremVIPTwoHolders"}},
	{tape: "no-holder", during: 5 * time.Minute, want: []string{"OnpremVIPWithoutHolder"}},
	{tape: "left", during: 40 * time.Minute, want: []string{"OnpremVIPsLeft"}},
	{tape: "no-router", during: 5 * time.Minute, want: []string{"OnpremVIPWithoutHolder"}},
	{tape: "gap", during: 5 * time.Minute, want: []string{"OnpremVIPGap"}},
	{tape: "moves", during: 15 * time.Minute, want: []string{"OnpremVIPMoves"}, slower: 20},
	{tape: "late", during: 15 * time.Minute, want: []string{"OnpremAdvertsLate"}},
	{tape: "kept", during: 5 * time.Minute, want: []string{"OnpremVIPStale"}},
	// The lab has no kubelet, which would restart it. Its monitor receives adverts of the new
	// holder while the last report of the supervisor is that this host holds the VIP.
	{tape: "keepalived-hangs", during: 10 * time.Minute, want: []string{"OnpremKeepalivedDown", "OnpremVIPMisheard", "OnpremVIPStale"}},
	{tape: "keepalived-dead", during: 5 * time.Minute, want: []string{"OnpremKeepalivedDown"}},
	{tape: "keepalived-ends", during: 10 * time.Minute, want: []string{"OnpremKeepalivedDown", "OnpremKeepalivedEnds"}, slower: 5},
	{tape: "keepalived-refuses", during: 5 * time.Minute, want: []string{"OnpremKeepalivedRefuses"}},
	{tape: "check-alternates", during: 15 * time.Minute, want: []string{"OnpremCheckAlternates", "OnpremVIPMoves"}, slower: 10}, // its VIP moves to the other router, and back
	{tape: "monitor-dead", during: 20 * time.Minute, want: []string{"OnpremMonitorGone"}},
	{tape: "monitors-silent", during: 20 * time.Minute, want: []string{"OnpremVIPUnwatched"}},
	{tape: "node-lost", during: 20 * time.Minute, want: []string{"OnpremBackendDown", "OnpremMonitorGone"}},
	{tape: "step-fails", during: 20 * time.Minute, want: []string{"OnpremMonitorFails"}},
	{tape: "loop-stands", during: 5 * time.Minute, want: []string{"OnpremMonitorStands"}},
	{tape: "haproxy-dead", during: 10 * time.Minute, want: []string{"OnpremBalancerBypassed", "OnpremBalancerDown"}},
	{tape: "haproxy-hangs", during: 10 * time.Minute, want: []string{"OnpremBalancerBypassed", "OnpremBalancerDown"}},
	{tape: "redirect-lost", during: 10 * time.Minute, want: []string{"OnpremRedirectLost"}},
	{tape: "server-down", during: 5 * time.Minute, want: []string{"OnpremBackendDown"}},
	{tape: "coredns-dead", during: 5 * time.Minute, want: []string{"OnpremNamesDown"}},
	{tape: "coredns-hangs", during: 5 * time.Minute}, // it runs: a kubelet, which the lab lacks, would probe and restart it
	{tape: "servers-down", during: 40 * time.Minute, want: []string{"OnpremBackendDown", "OnpremBalancerBypassed", "OnpremWatchOld"}},
}

// sounds checks that the alerts of a fault fire at its end and no others, and that none fires
// before it and a while after it. If a target does not answer, the time before is as long as the
// range of the rules.
func sounds(t *testing.T, rules string, tape *scrape.Tape, p scrape.Schedule, want []string) {
	t.Helper()
	p.Pace, p.Before, p.After = pace, 20*time.Minute, 20*time.Minute
	if tape.Silent() {
		p.Before = anHour
	}
	r, err := tape.Schedule(p)
	if err != nil {
		t.Fatal(err)
	}
	over := p.Before + p.During
	if err := r.Sounds(t, rules, pace, scrape.Moment{At: p.Before - pace}, scrape.Moment{At: over, Alarms: want}, scrape.Moment{At: over + p.After}); err != nil {
		t.Error(err)
	}
}

// TestTapes holds that for each fault of the lab its alert fires and no other, by a real
// Prometheus's rule engine.
func TestTapes(t *testing.T) {
	path, _ := rules(t)
	known := map[string]bool{}
	for _, f := range faults {
		known[f.tape] = true
		t.Run(f.tape, func(t *testing.T) {
			sounds(t, path, tape(t, f.tape), scrape.Schedule{During: f.during, Slower: f.slower}, f.want)
		})
	}
	all, err := filepath.Glob("testdata/*.tape")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if name := strings.TrimSuffix(filepath.Base(path), ".tape"); !known[name] {
			t.Errorf("%s: nothing is expected of it", path)
		}
	}
}

// TestEachAlarm holds that each alert fires in some fault.
func TestEachAlarm(t *testing.T) {
	_, text := rules(t)
	sounded := map[string]bool{}
	note := func(alarms []string) {
		for _, alarm := range alarms {
			sounded[alarm] = true
		}
	}
	for _, f := range faults {
		note(f.want)
	}
	for _, s := range written() {
		note(s.want)
	}
	for _, m := range regexp.MustCompile(`(?m)alert: (\w+)$`).FindAllSubmatch(text, -1) {
		if !sounded[string(m[1])] {
			t.Errorf("%s fires in no fault", m[1])
		}
	}
}

var label = regexp.MustCompile(`(\w+)="[^"]*"`)

// TestTapesAreOfToday holds that the tapes have the metrics that our programs report today, with
// these names and labels, and all metrics that rules name.
func TestTapesAreOfToday(t *testing.T) {
	_, text := rules(t)
	asked := scrape.Families(text)
	byHand := map[string]bool{metrics.Announced.Name: true} // the lab's cluster has no multicast DNS
	fired := map[string]bool{}
	for _, f := range faults {
		for series := range tape(t, f.tape).Rows {
			name, labels, _ := strings.Cut(series, "{")
			var names []string
			for _, m := range label.FindAllStringSubmatch(labels, -1) {
				names = append(names, m[1])
			}
			if family, ok := asked[name]; !ok || !slices.Equal(names, family.Labels) {
				t.Errorf("%s.tape has %s, which no program reports so, or no rule names: %s", f.tape, series, anew)
			}
			fired[name] = true
		}
	}
	for name := range asked {
		if !fired[name] && !byHand[name] {
			t.Errorf("rules name %s, which is on no tape: %s", name, anew)
		}
	}
	if bytes := size(t); bytes > 200<<10 {
		t.Errorf("all tapes are %d bytes", bytes)
	}
}

// size is that of all tapes.
func size(t *testing.T) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes
}
