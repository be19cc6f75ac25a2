// Package monitoring makes what a Prometheus and a Grafana need to watch over a cluster's VIPs,
// balancers and names: where to ask, when to raise an alarm, and what to show. It names no metric
// that our programs do not say.
package monitoring

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The files.
const (
	RulesFile     = "/rules.yaml"          // for the rule_files of a Prometheus
	ScrapeFile    = "/scrape.yaml"         // a Prometheus's configuration that asks all nodes, to take the job from
	DashboardFile = "/dashboard.json"      // to import into a Grafana
	RuleObject    = "/prometheusrule.yaml" // the same rules for Prometheus's operator
	MonitorObject = "/podmonitor.yaml"     // and whom to ask
)

// Assets are the files for a cluster. Where the cluster's programs say their metrics on the
// loopback alone nobody can ask them from elsewhere: then there is neither a job nor an object that
// would have somebody try.
func Assets(p plan.Plan) (asset.Set, error) {
	b := asset.Builder{By: "cluster/monitoring"}
	groups := []group{{Name: name(p), Rules: rules(p)}}
	b.File(RulesFile, 0o644, encode(file{Groups: groups}))
	b.File(DashboardFile, 0o644, dashboard(p))
	if p.Metrics == spec.MetricsNode {
		b.File(ScrapeFile, 0o644, encode(scrape(p)))
	}
	if p.Distribution == spec.OpenShift {
		b.File(RuleObject, 0o644, object.Encode(prometheusRule{head(p, "PrometheusRule"), file{Groups: groups}}))
		if p.Metrics == spec.MetricsNode {
			b.File(MonitorObject, 0o644, object.Encode(podMonitor(p)))
		}
	}
	return b.Set()
}

// name tells what is ours from what others have.
func name(p plan.Plan) string { return "onprem-infra-" + p.Cluster.Name }

// file is a file of rules, and the specification of a PrometheusRule.
type file struct {
	Groups []group `yaml:"groups"`
}

type group struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

// rule raises an alarm when an expression has had a result for some time.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// prometheusRule is the object of Prometheus's operator.
type prometheusRule struct {
	object.Head `yaml:",inline"`
	Spec        file `yaml:"spec"`
}

func head(p plan.Plan, kind string) object.Head {
	return object.Head{APIVersion: "monitoring.coreos.com/v1", Kind: kind, Metadata: object.Meta{Name: name(p), Namespace: p.Namespace}}
}

// encode writes what cannot fail to be written.
func encode(what any) []byte {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(what); err != nil {
		panic("monitoring: strings and lists cannot fail to be written: " + err.Error())
	}
	return text.Bytes()
}

// these matches the VIPs of a cluster: a Prometheus may watch over several.
func these(vips []netip.Addr) string {
	words := make([]string, len(vips))
	for i, v := range vips {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(v.String()), `\`, `\\`)
	}
	return fmt.Sprintf(`vip=~"%s"`, strings.Join(words, "|"))
}
