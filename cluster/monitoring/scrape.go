package monitoring

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// monitor is a container of our pods that serves metrics, and its port.
type monitor struct {
	container string
	port      uint16
}

// monitors are the containers to scrape. The daemons' parents answer on the loopback alone: their
// monitors report what they do.
func monitors(p plan.Plan) []monitor {
	var out []monitor
	for _, m := range []struct{ container, port string }{
		{"keepalived-monitor", port.MonitorVIP}, {"haproxy-monitor", port.MonitorLB},
		{"coredns-monitor", port.MonitorDNS}, {"mdns-publisher", port.MonitorMDNS},
		{"dnsmasq-monitor", port.MonitorDHCP},
	} {
		number := p.Ports[m.port]
		if m.port == port.MonitorVIP && !p.NodeRuns(role.Master).VIP && p.BGP != nil {
			m.container = "speaker-monitor"
		}
		if m.port == port.MonitorDHCP && !p.NodeRuns(role.Master).Boots {
			continue // the port is that of the bootstrap machine's server too
		}
		if number != 0 {
			out = append(out, monitor{m.container, number})
		}
	}
	return out
}

// relabel is one step by which Prometheus makes a target, with the keys of its configuration.
type relabel struct {
	Source []string `yaml:"source_labels,omitempty"`
	Regex  string   `yaml:"regex,omitempty"`
	Target string   `yaml:"target_label,omitempty"`
	To     string   `yaml:"replacement,omitempty"`
	Action string   `yaml:"action,omitempty"`
}

// targets are the steps for a monitor. Its container declares no port, so that it is one target. An
// IPv6 address needs brackets.
func targets(m monitor) []relabel {
	const ip = "__meta_kubernetes_pod_ip"
	return []relabel{
		{
			Source: []string{"__meta_kubernetes_pod_container_name"}, Regex: m.container,
			Action: "keep",
		},
		{Source: []string{ip}, Regex: `([0-9.]+)`, Target: "__address__", To: fmt.Sprintf(
			"$1:%d", m.port,
		)},
		{
			Source: []string{ip}, Regex: `([0-9a-fA-F:]*:[0-9a-fA-F:.]*)`, Target: "__address__",
			To: fmt.Sprintf("[$1]:%d", m.port),
		},
		{Source: []string{"__meta_kubernetes_pod_node_name"}, Target: "node"},
	}
}

// configuration is the part of a Prometheus configuration that scrapes our programs.
type configuration struct {
	RuleFiles []string `yaml:"rule_files"`
	Jobs      []job    `yaml:"scrape_configs"`
}

type job struct {
	Name     string      `yaml:"job_name"`
	Discover []discovery `yaml:"kubernetes_sd_configs"`
	Relabel  []relabel   `yaml:"relabel_configs"`
}

type discovery struct {
	Role       string     `yaml:"role"`
	Namespaces namespaces `yaml:"namespaces"`
}

type namespaces struct {
	Names []string `yaml:"names"`
}

func scrape(p plan.Plan) configuration {
	c := configuration{RuleFiles: []string{strings.TrimPrefix(RulesFile, "/")}}
	for _, m := range monitors(p) {
		c.Jobs = append(c.Jobs, job{Name: name(p) + "-" + m.container, Discover: []discovery{{
			Role: "pod", Namespaces: namespaces{[]string{p.Namespace}},
		}}, Relabel: targets(m)})
	}
	return c
}

// monitorObject is a PodMonitor, from which the Prometheus Operator makes the same jobs.
type monitorObject struct {
	object.Head `yaml:",inline"`
	Spec        monitorSpec `yaml:"spec"`
}

type monitorSpec struct {
	Endpoints []endpoint `yaml:"podMetricsEndpoints"`
	Selector  struct{}   `yaml:"selector"` // all pods of the namespace
}

type endpoint struct {
	Path    string      `yaml:"path"`
	Relabel []operators `yaml:"relabelings"`
}

// operators is relabel with the keys of the Prometheus Operator.
type operators struct {
	Source []string `yaml:"sourceLabels,omitempty"`
	Regex  string   `yaml:"regex,omitempty"`
	Target string   `yaml:"targetLabel,omitempty"`
	To     string   `yaml:"replacement,omitempty"`
	Action string   `yaml:"action,omitempty"`
}

func podMonitor(p plan.Plan) monitorObject {
	o := monitorObject{Head: head(p, "PodMonitor")}
	for _, m := range monitors(p) {
		e := endpoint{Path: "/metrics"}
		for _, r := range targets(m) {
			e.Relabel = append(e.Relabel, operators(r))
		}
		o.Spec.Endpoints = append(o.Spec.Endpoints, e)
	}
	return o
}
