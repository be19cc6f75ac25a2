// Package monitoring writes scrape jobs, alert rules and a dashboard for a cluster's VIPs,
// balancers and names, by the metrics that our programs report.
package monitoring

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The files.
const (
	RulesFile     = "/rules.yaml"          // for the rule_files of a Prometheus
	ScrapeFile    = "/scrape.yaml"         // a Prometheus configuration with the jobs for all nodes
	DashboardFile = "/dashboard.json"      // to import into a Grafana
	RuleObject    = "/prometheusrule.yaml" // the same rules for the Prometheus Operator
	MonitorObject = "/podmonitor.yaml"     // the same jobs for the Prometheus Operator
)

// Assets are the files for a cluster. If the cluster's programs serve their metrics on the loopback
// alone, there are no scrape jobs.
func Assets(p plan.Plan) (asset.Set, error) {
	b := asset.Builder{By: "cluster/monitoring"}
	groups := []group{{Name: name(p), Rules: rules(p)}}
	b.File(RulesFile, 0o644, object.Encode(file{Groups: groups}))
	b.File(DashboardFile, 0o644, dashboard(p))
	if p.Metrics == spec.MetricsNode {
		b.File(ScrapeFile, 0o644, object.Encode(scrape(p)))
	}
	if p.Distribution == spec.OpenShift {
		b.File(RuleObject, 0o644, object.Encode(prometheusRule{
			head(p, "PrometheusRule"), file{Groups: groups},
		}))
		if p.Metrics == spec.MetricsNode {
			b.File(MonitorObject, 0o644, object.Encode(podMonitor(p)))
		}
	}
	return b.Set()
}

// name is that of our rules, jobs and objects.
func name(p plan.Plan) string { return "onprem-infra-" + p.Cluster.Name }

// file is a file of rules, and the specification of a PrometheusRule.
type file struct {
	Groups []group `yaml:"groups"`
}

type group struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

// rule is an alert that fires if an expression has a result for some time.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// prometheusRule is the object of the Prometheus Operator.
type prometheusRule struct {
	object.Head `yaml:",inline"`
	Spec        file `yaml:"spec"`
}

func head(p plan.Plan, kind string) object.Head {
	return object.Head{APIVersion: "monitoring.coreos.com/v1", Kind: kind, Metadata: object.Meta{
		Name: name(p), Namespace: p.Namespace,
	}}
}

// these is a label matcher for a cluster's VIPs: a Prometheus may monitor several clusters.
func these(vips []netip.Addr) string {
	words := make([]string, len(vips))
	for i, v := range vips {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(v.String()), `\`, `\\`)
	}
	return fmt.Sprintf(`vip=~"%s"`, strings.Join(words, "|"))
}
