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
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
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

func promtool(t *testing.T, stdin []byte, args ...string) (code int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Command(t, "promtool"), args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("run promtool: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestPrometheusReads holds that a real Prometheus takes the rules, the job and the pages, and that
// it can say no.
func TestPrometheusReads(t *testing.T) {
	dir, files := watching(t, watchedPlan(t))
	// Debian's Prometheus is built without the discovery of Kubernetes' pods: all else of the job
	// is judged, and that one with its own words left out.
	job := regexp.MustCompile(`(?m)^  kubernetes_sd_configs:\n(?:  - .*\n|    .*\n)*`).ReplaceAll(files[monitoring.ScrapeFile], []byte("  static_configs:\n  - targets: [192.0.2.10]\n"))
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), job, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, monitoring.RulesFile)}, {"check", "config", filepath.Join(dir, "job.yaml")}} {
		if code, output := promtool(t, nil, args...); code != 0 {
			t.Errorf("%v: exit %d:\n%s", args, code, output)
		}
	}
	for _, path := range []string{filepath.Join("..", "..", "shared", "operator", "metrics", "testdata", "TestText.golden")} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if code, output := promtool(t, page, "check", "metrics"); code != 0 {
			t.Errorf("%s: exit %d:\n%s", path, code, output)
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
	if code, output := promtool(t, nil, "check", "rules", path); code != 0 || len(rules) < 20 {
		t.Errorf("%d expressions, exit %d:\n%s", len(rules), code, output)
	}
}
