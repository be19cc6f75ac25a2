package daemons

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// watchedPlan is a cluster whose VIPs somebody watches over.
func watchedPlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "one", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: vrrp.ProfileLan, Metrics: spec.MetricsNode, MDNS: spec.MDNSEnabled,
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// watching writes the cluster's files into a directory.
func watching(t *testing.T, p plan.Plan) (dir string, files map[string][]byte) {
	t.Helper()
	set, err := monitoring.Assets(p)
	if err != nil {
		t.Fatal(err)
	}
	dir, files = t.TempDir(), map[string][]byte{}
	for _, f := range set.Files() {
		files[f.Path] = f.Contents
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

func promtool(t *testing.T, stdin []byte, args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Command(t, "promtool"), args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("run promtool: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestPrometheusReads holds that a real Prometheus takes the rules, the job and the pages, and that it can say no.
func TestPrometheusReads(t *testing.T) {
	dir, files := watching(t, watchedPlan(t))
	// Debian's Prometheus is built without the discovery of Kubernetes' pods: all else of the job is judged, and that one with its own words left out.
	job := regexp.MustCompile(`(?m)^  kubernetes_sd_configs:\n(?:  - .*\n|    .*\n)*`).ReplaceAll(files[monitoring.ScrapeFile], []byte("  static_configs:\n  - targets: [192.0.2.10]\n"))
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), job, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, monitoring.RulesFile)}, {"check", "config", filepath.Join(dir, "job.yaml")}} {
		if code, said := promtool(t, nil, args...); code != 0 {
			t.Errorf("%v: exit %d:\n%s", args, code, said)
		}
	}
	for _, path := range []string{filepath.Join("..", "..", "shared", "metrics", "testdata", "TestText.golden")} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if code, said := promtool(t, page, "check", "metrics"); code != 0 {
			t.Errorf("%s: exit %d:\n%s", path, code, said)
		}
		if code, _ := promtool(t, bytes.Replace(page, []byte("_total{"), []byte("_total{{"), 1), "check", "metrics"); code == 0 {
			t.Error("a page that is none is taken")
		}
	}
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, bytes.Replace(files[monitoring.RulesFile], []byte("max by (vip, kind) ("), []byte("max by (vip, kind) (("), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _ := promtool(t, nil, "check", "rules", broken); code == 0 {
		t.Error("a rule that is none is taken")
	}
}

// TestDashboardExpressions holds that a real Prometheus reads each expression of the dashboard.
func TestDashboardExpressions(t *testing.T) {
	_, files := watching(t, watchedPlan(t))
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(files[monitoring.DashboardFile], &board); err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	grafanas := strings.NewReplacer("$__rate_interval", "5m", "$vip", "192.0.2.5|192.0.2.6")
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel:%d", len(rules)), grafanas.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, said := promtool(t, nil, "check", "rules", path); code != 0 || len(rules) < 20 {
		t.Errorf("%d expressions, exit %d:\n%s", len(rules), code, said)
	}
}

// pace is the time between two scrapes.
const pace = 30 * time.Second

// before is how long all was well when the fault happens; for who compares with an hour ago it is longer.
const (
	before = 10 * time.Minute
	anHour = 70 * time.Minute
)

// scraped is a host of the scenario: what its programs say, by room.
type scraped struct {
	silent    bool
	program   metrics.Program
	elections metrics.Elections
	balancer  metrics.Balancer
	names     metrics.Names
	announced metrics.Announcement
	now       time.Time
}

// well is a node on which all is as it should be. The first one holds both VIPs.
func well(n int, at time.Duration) *scraped {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(at)
	other := netip.AddrFrom4([4]byte{192, 0, 2, 10})
	s := &scraped{now: now,
		program: metrics.Program{Version: "v1", Go: "go1.26", Cluster: "one", Timing: "lan", Mode: "unicast", Rounds: uint64(at / time.Second), Turned: time.Second,
			Watches: []metrics.Watch{{Name: "nodes", Synced: true, Heard: 40 * time.Second}}, Process: metrics.Process{CPU: at / 200, Resident: 25 << 20}},
		elections: metrics.Elections{At: now, Gate: "open", Named: true, Controls: 3, Heard: true, Daemon: &metrics.Daemon{Running: true},
			Checks: []metrics.CheckState{{Name: vrrp.CheckLB, Passes: true}}},
		balancer:  metrics.Balancer{Running: true, Redirect: true},
		names:     metrics.Names{Running: true, Source: metrics.FromAPI, Nodes: 3, Upstreams: 1},
		announced: metrics.Announcement{"established": 1, "lost": 0},
	}
	for i := range 3 {
		s.balancer.Servers = append(s.balancer.Servers, metrics.Server{Name: fmt.Sprintf("m%d", i), Address: fmt.Sprintf("192.0.2.%d:6443", 10+i), Up: true, Sessions: 5})
	}
	for kind, vip := range map[vrrp.Kind]string{vrrp.API: "192.0.2.5", vrrp.Ingress: "192.0.2.6"} {
		v := metrics.VIP{Address: netip.MustParseAddr(vip), Kind: kind, State: supervised.Backup, Priority: 100, Transitions: map[supervised.State]uint64{}, Clashes: map[clash.Kind]int{}}
		if n == 0 {
			v.State, v.Present, v.Priority = supervised.Master, true, 120
		} else {
			v.Adverts.Hear(other, 100*time.Millisecond, false, now.Add(-150*time.Millisecond))
			v.Adverts.Hear(other, 100*time.Millisecond, false, now.Add(-50*time.Millisecond))
		}
		s.elections.VIPs = append(s.elections.VIPs, v)
	}
	slices.SortFunc(s.elections.VIPs, func(a, b metrics.VIP) int { return a.Address.Compare(b.Address) })
	return s
}

// pages are what the node's programs say, by room.
func (s *scraped) pages() map[string]*metrics.Page {
	if s.silent {
		return nil
	}
	out := map[string]*metrics.Page{}
	for room, part := range map[string]func(*metrics.Page){"cluster/vip": s.elections.Onto, "cluster/lb": s.balancer.Onto, "cluster/dns": s.names.Onto, "cluster/mdns": s.announced.Onto} {
		p, page := s.program, &metrics.Page{}
		p.Room = room
		p.Onto(page)
		part(page)
		out[room] = page
	}
	return out
}

// recorded is a whole scenario, until a while after its fault.
func recorded(t *testing.T, struck, after time.Duration, fault func(n int, since time.Duration, s *scraped)) *scrape.Recording {
	t.Helper()
	r := &scrape.Recording{}
	for at := time.Duration(0); at <= struck+after; at += pace {
		for n := range 3 {
			s := well(n, at)
			if at >= struck && fault != nil {
				fault(n, at-struck, s)
			}
			for room, page := range s.pages() {
				if err := r.Page(fmt.Sprintf("node%d/%s", n, room), page.Text()); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Step()
	}
	return r
}

// alarms are the scenarios: what happens, and which alarms must sound when it has lasted for a while, and no others.
func alarms() []struct {
	name  string
	fault func(n int, since time.Duration, s *scraped)
	after time.Duration
	want  []string
} {
	vip := func(s *scraped) *metrics.VIP { return &s.elections.VIPs[0] }
	count := func(since, every time.Duration) uint64 { return uint64(since / every) }
	type scenario = struct {
		name  string
		fault func(n int, since time.Duration, s *scraped)
		after time.Duration
		want  []string
	}
	all := func(change func(s *scraped)) func(int, time.Duration, *scraped) {
		return func(_ int, _ time.Duration, s *scraped) { change(s) }
	}
	first := func(change func(since time.Duration, s *scraped)) func(int, time.Duration, *scraped) {
		return func(n int, since time.Duration, s *scraped) {
			if n == 0 {
				change(since, s)
			}
		}
	}
	return []scenario{
		{"all is well", nil, 20 * time.Minute, nil},
		{"nobody holds the API VIP", all(func(s *scraped) { vip(s).State, vip(s).Present = supervised.Backup, false }), 5 * time.Minute, []string{"OnpremVIPWithoutHolder"}},
		{"two hold it", all(func(s *scraped) { vip(s).State, vip(s).Present = supervised.Master, true }), 5 * time.Minute, []string{"OnpremVIPTwoHolders"}},
		{"a host kept the address", func(n int, _ time.Duration, s *scraped) {
			if n == 1 {
				vip(s).Present = true
			}
		}, 5 * time.Minute, []string{"OnpremVIPStale"}},
		{"a VIP that does not rest", first(func(since time.Duration, s *scraped) {
			vip(s).Transitions[supervised.Master] = count(since, time.Minute)
		}), 15 * time.Minute, []string{"OnpremVIPMoves"}},
		{"a hand-over that took long", func(n int, since time.Duration, s *scraped) {
			if n == 1 {
				other := netip.AddrFrom4([4]byte{192, 0, 2, 12})
				vip(s).Adverts = metrics.Adverts{}
				vip(s).Adverts.Hear(netip.AddrFrom4([4]byte{192, 0, 2, 10}), 100*time.Millisecond, false, s.now.Add(-since-4*time.Second))
				vip(s).Adverts.Hear(other, 100*time.Millisecond, false, s.now.Add(-since))
			}
		}, 5 * time.Minute, []string{"OnpremVIPGap"}},
		{"a foreign router", func(n int, _ time.Duration, s *scraped) {
			if n == 2 {
				vip(s).Clashes[clash.Foreign] = 1
			}
		}, 2 * time.Minute, []string{"OnpremVIPClash"}},
		{"another interval", func(n int, _ time.Duration, s *scraped) {
			if n == 2 {
				vip(s).Clashes[clash.Interval] = 1
			}
		}, 10 * time.Minute, []string{"OnpremVIPMisheard"}},
		{"late adverts", func(n int, _ time.Duration, s *scraped) {
			if n == 1 {
				other := netip.AddrFrom4([4]byte{192, 0, 2, 10})
				vip(s).Adverts = metrics.Adverts{}
				vip(s).Adverts.Hear(other, 100*time.Millisecond, false, s.now.Add(-400*time.Millisecond))
				vip(s).Adverts.Hear(other, 100*time.Millisecond, false, s.now.Add(-50*time.Millisecond))
			}
		}, 15 * time.Minute, []string{"OnpremAdvertsLate"}},
		{"a closed gate", first(func(_ time.Duration, s *scraped) { s.elections.Gate = "closed" }), 40 * time.Minute, []string{"OnpremGateClosed"}},
		{"a standby node is lost", func(n int, _ time.Duration, s *scraped) { s.silent = n == 2 }, 20 * time.Minute, []string{"OnpremMonitorGone"}},
		{"nobody can be asked", all(func(s *scraped) { s.silent = true }), 20 * time.Minute, []string{"OnpremVIPUnwatched"}},
		{"a loop stands", first(func(since time.Duration, s *scraped) { s.program.Turned = since }), 10 * time.Minute, []string{"OnpremMonitorStands"}},
		{"a step fails", first(func(since time.Duration, s *scraped) {
			s.program.Faults = map[string]uint64{metrics.StepApply: count(since, 2*time.Second)}
		}), 20 * time.Minute, []string{"OnpremMonitorFails"}},
		{"the API says nothing", all(func(s *scraped) { s.program.Watches[0].Heard = 20 * time.Minute }), 20 * time.Minute, []string{"OnpremWatchOld"}},
		{"the API has never spoken", all(func(s *scraped) { s.program.Watches[0].Synced, s.program.Watches[0].Heard = false, -1 }), 20 * time.Minute, []string{"OnpremWatchOld"}},
		{"keepalived is gone", func(n int, _ time.Duration, s *scraped) { s.elections.Daemon.Running = n != 2 }, 5 * time.Minute, []string{"OnpremKeepalivedDown"}},
		{"a host has left", first(func(_ time.Duration, s *scraped) {
			s.elections.Daemon.Running, s.elections.Daemon.Leaving = false, true
		}), 40 * time.Minute, []string{"OnpremVIPsLeft"}},
		{"somebody takes the redirect away", first(func(since time.Duration, s *scraped) { s.balancer.Lost = count(since, time.Minute) }), 15 * time.Minute, []string{"OnpremRedirectLost"}},
		{"keepalived ends again and again", first(func(since time.Duration, s *scraped) { s.elections.Daemon.Restarts = count(since, 2*time.Minute) }), 15 * time.Minute, []string{"OnpremKeepalivedEnds"}},
		{"keepalived refuses", first(func(_ time.Duration, s *scraped) { s.elections.Daemon.Refused = true }), 5 * time.Minute, []string{"OnpremKeepalivedRefuses"}},
		{"a check alternates", first(func(since time.Duration, s *scraped) { s.elections.Checks[0].Changes = count(since, 30*time.Second) }), 15 * time.Minute, []string{"OnpremCheckAlternates"}},
		{"HAProxy is gone", first(func(_ time.Duration, s *scraped) { s.balancer.Running = false }), 3 * time.Minute, []string{"OnpremBalancerDown"}},
		{"HAProxy is gone for long", first(func(_ time.Duration, s *scraped) { s.balancer = metrics.Balancer{} }), 10 * time.Minute, []string{"OnpremBalancerBypassed", "OnpremBalancerDown"}},
		{"an API server is down", all(func(s *scraped) { s.balancer.Servers[1].Up = false }), 5 * time.Minute, []string{"OnpremBackendDown"}},
		{"one balancer does not see it", first(func(_ time.Duration, s *scraped) { s.balancer.Servers[1].Up = false }), 5 * time.Minute, nil},
		{"CoreDNS is gone", first(func(_ time.Duration, s *scraped) { s.names.Running = false }), 3 * time.Minute, []string{"OnpremNamesDown"}},
		{"CoreDNS refuses its Corefile", first(func(since time.Duration, s *scraped) { s.names.Stale = since }), 5 * time.Minute, []string{"OnpremNamesStale"}},
		{"no name server", first(func(_ time.Duration, s *scraped) { s.names.Upstreams = 0 }), 10 * time.Minute, []string{"OnpremNamesWithoutUpstream"}},
		{"a name that is another's", first(func(_ time.Duration, s *scraped) { s.announced["lost"] = 1 }), 10 * time.Minute, []string{"OnpremNameLost"}},
	}
}

// TestAlarms holds that for each fault its alarm sounds and no other, by a real Prometheus's rule engine, from pages that our own code writes; and that
// each alarm has a fault for which it sounds.
func TestAlarms(t *testing.T) {
	dir, files := watching(t, watchedPlan(t))
	sounded := map[string]bool{}
	for _, tt := range alarms() {
		t.Run(tt.name, func(t *testing.T) {
			struck := before
			if slices.Contains(tt.want, "OnpremMonitorGone") {
				struck = anHour
			}
			if err := recorded(t, struck, tt.after, tt.fault).Firing(t, filepath.Join(dir, monitoring.RulesFile), pace, struck+tt.after, tt.want); err != nil {
				t.Error(err)
			}
		})
		for _, alarm := range tt.want {
			sounded[alarm] = true
		}
	}
	for _, m := range regexp.MustCompile(`(?m)alert: (\w+)$`).FindAllSubmatch(files[monitoring.RulesFile], -1) {
		if !sounded[string(m[1])] {
			t.Errorf("no fault has %s sound", m[1])
		}
	}
}
