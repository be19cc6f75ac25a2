package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	balancer "github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestProbes holds that probes ask by HTTP and start no process, and that each asks the container
// that it ends: a daemon lives on when its monitor is dead.
func TestProbes(t *testing.T) {
	answers := map[string][]string{ // container -> ports that it listens on
		"keepalived": {port.Supervise}, "keepalived-monitor": {port.MonitorVIP},
		"haproxy": {port.LBReady, port.LBStats}, "haproxy-monitor": {port.MonitorLB},
		"coredns": {port.CoreDNSHealth}, "coredns-monitor": {port.MonitorDNS},
		"speaker": {port.Speaker}, "speaker-monitor": {port.MonitorVIP},
		"mdns-publisher": {port.MonitorMDNS}, "dnsmasq-monitor": {port.MonitorDHCP},
	}
	eachPod(t, func(t *testing.T, n node, p *corev1.Pod) {
		for _, c := range p.Spec.Containers {
			for kind, probe := range map[string]*corev1.Probe{
				"startup": c.StartupProbe, "liveness": c.LivenessProbe,
				"readiness": c.ReadinessProbe,
			} {
				if probe == nil {
					continue
				}
				get := probe.HTTPGet
				if get == nil || probe.Exec != nil || probe.TCPSocket != nil || probe.GRPC != nil {
					t.Fatalf("%s of %s: %+v", kind, c.Name, probe.ProbeHandler)
				}
				own := slices.ContainsFunc(answers[c.Name], func(name string) bool {
					return int(n.plan.Ports[name]) == get.Port.IntValue()
				})
				if !own || get.Host != "127.0.0.1" || !strings.HasPrefix(get.Path, "/") {
					t.Errorf(
						"%s of %s asks %s:%s%s, where %v listens", kind, c.Name, get.Host,
						get.Port.String(), get.Path, answers[c.Name],
					)
				}
				if probe.PeriodSeconds < 1 || probe.TimeoutSeconds < 1 ||
					probe.TimeoutSeconds > probe.PeriodSeconds || probe.FailureThreshold < 2 {
					t.Errorf("%s of %s: %+v: one late answer must not count, and a look ends before the next", kind, c.Name, probe)
				}
			}
			// Its monitor asks dnsmasq for a file, and has it replaced.
			if c.LivenessProbe == nil && c.Name != "dnsmasq" {
				t.Errorf("%s may hang for ever", c.Name)
			}
			if c.LivenessProbe != nil && c.StartupProbe == nil {
				t.Errorf("%s must be quick to start, or it is ended before it has (H-10)", c.Name)
			}
		}
		for _, c := range p.Spec.InitContainers {
			if c.StartupProbe != nil || c.LivenessProbe != nil || c.ReadinessProbe != nil ||
				c.RestartPolicy != nil {
				t.Errorf("%s is one that ends", c.Name)
			}
		}
	})
}

// TestProbeBudgets holds how long something that hangs is left alone (K-54, W-7), and how long
// something may take to start (H-10).
func TestProbeBudgets(t *testing.T) {
	budget := func(p *corev1.Probe) time.Duration {
		return time.Duration(p.PeriodSeconds*p.FailureThreshold+p.TimeoutSeconds) * time.Second
	}
	most := map[string]time.Duration{
		"coredns": 20 * time.Second, "keepalived": 30 * time.Second, "haproxy": 30 * time.Second,
	}
	eachPod(t, func(t *testing.T, _ node, p *corev1.Pod) {
		for _, c := range p.Spec.Containers {
			if c.StartupProbe != nil && budget(c.StartupProbe) < 4*time.Minute {
				t.Errorf("%s has %v to start, with all the pods of a machine", c.Name, budget(
					c.StartupProbe,
				))
			}
			if c.LivenessProbe == nil {
				continue
			}
			limit, ok := most[c.Name]
			if !ok {
				limit = time.Minute
			}
			if b := budget(c.LivenessProbe); b > limit || b < 15*time.Second {
				t.Errorf("%s may hang for %v, want 15s to %v", c.Name, b, limit)
			}
			for _, ends := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe} {
				if ends != nil && (ends.TerminationGracePeriodSeconds == nil ||
					*ends.TerminationGracePeriodSeconds > 5) {
					t.Errorf(
						"%s is left for the pod's grace period once it is known to hang", c.Name,
					)
				}
			}
		}
	})
}

// TestHAProxyAnswers holds that HAProxy has what it is asked for: a probe of something else would
// end it again and again. It is alive without any server (H-10).
func TestHAProxyAnswers(t *testing.T) {
	p := compiled(t, func(*spec.Cluster) {})
	ports := balancer.Ports{
		Stats: p.Ports[port.LBStats], Ready: p.Ports[port.LBReady], LB: p.Ports[port.LB],
		API: p.Ports[port.API],
	}
	text := string(balancer.Render(balancer.Config{Ports: ports}))
	for _, c := range haproxyPod(p).Containers {
		if c.Name != haproxy {
			continue
		}
		for _, probe := range []*pod.Probe{c.Startup, c.Liveness} {
			if want := fmt.Sprintf(":%d\n", probe.Port); !strings.Contains(text, want) ||
				!strings.Contains(text, "monitor-uri "+probe.Path+"\n") {
				t.Errorf(
					"HAProxy without servers is asked for %d%s, and has\n%s", probe.Port,
					probe.Path, text,
				)
			}
		}
	}
}

// TestHostPorts holds that no two containers of a node claim one port of it, and that what is
// claimed is on the list of ports.
func TestHostPorts(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		claimed := map[string]string{}
		for _, p := range n.pods {
			for _, c := range p.Spec.Containers {
				for _, cp := range c.Ports {
					key := fmt.Sprint(cp.HostPort, "/", cp.Protocol)
					if other := claimed[key]; other != "" {
						t.Errorf("%s and %s both claim %s", other, c.Name, key)
					}
					claimed[key] = c.Name
					known := false
					for _, number := range n.plan.Ports {
						known = known || int32(number) == cp.HostPort
					}
					if cp.HostPort != cp.ContainerPort || !known || len(cp.Name) > 15 {
						t.Errorf("%s claims %+v", c.Name, cp)
					}
				}
			}
		}
	})
}

// TestCoreDNSIsFound holds that CoreDNS's monitor finds it by the command that the pod runs. Without it the
// monitor could not have it read a new Corefile, and CoreDNS does not look for one by itself.
func TestCoreDNSIsFound(t *testing.T) {
	found := 0
	eachContainer(t, func(t *testing.T, _ *corev1.Pod, c corev1.Container) {
		if c.Name != coredns {
			return
		}
		if found++; !slices.Equal(c.Command, dns.Command()) {
			t.Errorf("it runs %q, and its monitor searches for %q", c.Command, dns.Command())
		}
	})
	if found == 0 {
		t.Error("no pod has CoreDNS")
	}
}
