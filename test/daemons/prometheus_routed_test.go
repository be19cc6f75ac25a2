package daemons

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// TestRoutedRules holds that a real Prometheus takes the rules of a cluster whose hosts announce VIPs, and when
// it raises those about hosts that routers do not use: of hosts of one router that are alike, one has no client.
func TestRoutedRules(t *testing.T) {
	rack := routing.Rack{Network: netip.MustParsePrefix("192.0.2.0/24"), Peers: []routing.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}
	p, err := plan.Compile(spec.Cluster{Name: "one", BaseDomain: "example.com", Platform: spec.BareMetal, Metrics: spec.MetricsNode, MachineNetworks: []netip.Prefix{rack.Network},
		APIVIPs: []netip.Addr{netip.MustParseAddr("198.51.100.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("198.51.100.6")},
		Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{rack}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := watching(t, p)
	if code, output := promtool(t, nil, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, monitoring.RulesFile)); code != 0 {
		t.Errorf("exit %d:\n%s", code, output)
	}
	type host struct{ peer, grade, clients, unused string }
	for _, tt := range []struct {
		name         string
		hosts        []host
		idle, unused string // the host of which it is raised; empty for none
	}{
		{"each has clients", []host{{"192.0.2.1", "4", "20", "0"}, {"192.0.2.1", "4", "1", "0"}}, "", ""},
		{"one has none", []host{{"192.0.2.1", "4", "20", "0"}, {"192.0.2.1", "4", "0", "0"}}, "h1", ""},
		{"one has none, by IPv6", []host{{"2001:db8::1", "4", "0", "0"}, {"2001:db8::1", "4", "20", "0"}}, "h0", ""},
		{"a fresh cluster", []host{{"192.0.2.1", "4", "0", "0"}, {"192.0.2.1", "4", "0", "0"}}, "", ""},
		{"few clients", []host{{"192.0.2.1", "4", "19", "0"}, {"192.0.2.1", "4", "0", "0"}}, "", ""},
		{"another rack, without clients of its own", []host{{"192.0.2.1", "4", "20", "0"}, {"192.0.2.2", "4", "0", "0"}}, "", ""},
		{"links of the same name in two racks", []host{{"ens3.100", "4", "20", "0"}, {"ens3.100", "4", "0", "0"}}, "", ""},
		{"a standby", []host{{"192.0.2.1", "4", "20", "0"}, {"192.0.2.1", "8", "0", "0"}}, "", ""},
		{"a standby has them", []host{{"192.0.2.1", "4", "0", "0"}, {"192.0.2.1", "8", "20", "0"}}, "h0", ""},
		{"a router prefers a longer path", []host{{"192.0.2.1", "4", "2", "0"}, {"192.0.2.1", "4", "2", "1"}}, "", "h1"},
	} {
		var text strings.Builder
		fmt.Fprintf(&text, "rule_files: [%s]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n", filepath.Join(dir, monitoring.RulesFile))
		series := func(name, labels, value string) {
			fmt.Fprintf(&text, "  - {series: '%s{%s}', values: '%sx60'}\n", name, labels, value)
		}
		var peer string
		for i, h := range tt.hosts {
			of := fmt.Sprintf(`instance="h%d",vip="198.51.100.5"`, i)
			series("onprem_bgp_announced", fmt.Sprintf(`%s,peer=%q`, of, h.peer), "1")
			series("onprem_bgp_unused", fmt.Sprintf(`%s,peer=%q`, of, h.peer), h.unused)
			series("onprem_bgp_grade", of, h.grade)
			series("onprem_bgp_clients", of, h.clients)
			if fmt.Sprint("h", i) == tt.idle || fmt.Sprint("h", i) == tt.unused {
				peer = h.peer
			}
		}
		text.WriteString("  alert_rule_test:\n")
		for alert, of := range map[string]string{"OnpremBGPIdle": tt.idle, "OnpremBGPUnused": tt.unused} {
			fmt.Fprintf(&text, "  - eval_time: 40m\n    alertname: %s\n    exp_alerts:", alert)
			if of == "" {
				text.WriteString(" []\n")
				continue
			}
			summary := fmt.Sprintf("Router %s does not use the path of %s to the VIP 198.51.100.5.", peer, of)
			if alert == "OnpremBGPIdle" {
				summary = fmt.Sprintf("No client of the VIP 198.51.100.5 comes to %s, and many to another host of router %s.", of, peer)
			}
			fmt.Fprintf(&text, "\n    - exp_labels: {severity: warning, onprem_cluster: one, instance: %s, vip: 198.51.100.5, peer: '%s'}\n      exp_annotations:\n        summary: '%s'\n        description: '%s'\n",
				of, peer, summary, strings.ReplaceAll(description(t, p, alert), "'", "''"))
		}
		path := filepath.Join(t.TempDir(), "test.yaml")
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, output := promtool(t, nil, "test", "rules", path); code != 0 {
			t.Errorf("%s: exit %d:\n%s", tt.name, code, output)
		}
	}
}

// description is that of an alert in the cluster's rules.
func description(t *testing.T, p plan.Plan, alert string) string {
	t.Helper()
	_, files := watching(t, p)
	var all struct {
		Groups []struct {
			Rules []struct {
				Alert       string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(files[monitoring.RulesFile], &all); err != nil {
		t.Fatal(err)
	}
	for _, g := range all.Groups {
		for _, r := range g.Rules {
			if r.Alert == alert {
				return r.Annotations["description"]
			}
		}
	}
	t.Fatalf("there is no alert %s", alert)
	return ""
}
