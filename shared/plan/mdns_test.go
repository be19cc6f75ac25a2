package plan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestMDNS holds that only a cluster that enables multicast DNS has it, and that another has no
// word of it.
func TestMDNS(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  spec.MDNS
		on   bool
	}{
		{"not set", "", false}, {"disabled", spec.MDNSDisabled, false}, {"enabled", spec.MDNSEnabled, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.MDNS = tt.set
			p := mustCompile(t, c)
			if _, there := p.Ports[port.MonitorMDNS]; there != tt.on || (p.MDNS != "") != tt.on {
				t.Errorf("a port for it is there: %v; it is %q, want it %v", there, p.MDNS, tt.on)
			}
			for _, r := range role.All() {
				want := tt.on && (r == role.Master || r == role.Worker)
				if got := p.NodeRuns(r).MDNS; got != want {
					t.Errorf("on a %s it runs: %v, want %v", r, got, want)
				}
			}
		})
	}
	if p, ok := port.Lookup(port.MDNS); !ok || p.Number != wire.Port {
		t.Errorf("the port of multicast DNS is %d, which the sockets take to be %d", p.Number, wire.Port)
	}
}

// TestUnknownMDNS holds that a word which is none does not pass for silence.
func TestUnknownMDNS(t *testing.T) {
	c := smallest()
	c.MDNS = "on"
	if _, err := Compile(c); err == nil || !strings.Contains(err.Error(), `spec.mdns: "on" is not known: write one of enabled, disabled`) {
		t.Errorf("error %v", err)
	}
}

// TestMetrics holds that nobody beyond the host is answered unless the cluster asks for that, and
// that a word which is none does not pass for silence.
func TestMetrics(t *testing.T) {
	for set, want := range map[spec.Metrics]spec.Metrics{"": "", spec.MetricsLocalhost: "", spec.MetricsNode: spec.MetricsNode} {
		c := smallest()
		c.Metrics = set
		if p := mustCompile(t, c); p.Metrics != want {
			t.Errorf("%q: metrics are at %q, want %q", set, p.Metrics, want)
		}
	}
	c := smallest()
	c.Metrics = "everywhere"
	if _, err := Compile(c); err == nil || !strings.Contains(err.Error(), `spec.metrics: "everywhere" is not known: write one of localhost, node`) {
		t.Errorf("error %v", err)
	}
}

// TestEtcdMembers holds after how many members etcd's list is whole (M-06), on hosts as where it
// was compiled.
func TestEtcdMembers(t *testing.T) {
	for _, tt := range []struct {
		name     string
		size     int
		topology spec.Topology
		set      spec.MDNS
		want     int
	}{
		{"five of OpenShift, whose operator does not know", 5, "", spec.MDNSEnabled, 3},
		{"not announced", 5, "", "", 0},
		{"not set", 0, "", spec.MDNSEnabled, 3},
		{"three", 3, "", spec.MDNSEnabled, 3},
		{"five", 5, spec.HighlyAvailable, spec.MDNSEnabled, 5},
		{"two", 2, "", spec.MDNSEnabled, 2},
		{"two by name", 0, spec.DualReplica, spec.MDNSEnabled, 2},
		{"one", 0, spec.SingleReplica, spec.MDNSEnabled, 1},
		{"two and an arbiter, which announces nothing", 2, spec.HighlyAvailableArbiter, spec.MDNSEnabled, 3},
		{"the same, not counted", 0, spec.HighlyAvailableArbiter, spec.MDNSEnabled, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.ControlPlaneReplicas, c.Topology, c.MDNS, c.Distribution = tt.size, tt.topology, tt.set, spec.Kubernetes
			if strings.Contains(tt.name, "OpenShift") {
				c.Distribution = spec.OpenShift
			}
			p := mustCompile(t, c)
			if host := reread(t, Encode(p)); p.EtcdMembers != tt.want || host.EtcdMembers != tt.want {
				t.Errorf("%d members, on a host %d, want %d", p.EtcdMembers, host.EtcdMembers, tt.want)
			}
			if sent := bytes.Contains(Encode(p), []byte(`"controlPlaneReplicas"`)); sent != (tt.want == 5) {
				t.Errorf("hosts get a size: %v", sent)
			}
		})
	}
}

// TestAnswersFromMDNS holds that CoreDNS gets no Corefile with a plugin that it may not have.
func TestAnswersFromMDNS(t *testing.T) {
	for _, tt := range []struct {
		name      string
		set       spec.MDNS
		own, used string
		want      bool
	}{
		{"ours", spec.MDNSEnabled, "localhost/onprem-infra:1", "localhost/onprem-infra:1", true},
		{"another one", spec.MDNSEnabled, "localhost/onprem-infra:1", "docker.io/coredns/coredns:1.14.0", false},
		{"another version of ours", spec.MDNSEnabled, "localhost/onprem-infra:1", "localhost/onprem-infra:2", false},
		{"none named", spec.MDNSEnabled, "", "", false},
		{"nodes do not announce themselves", spec.MDNSDisabled, "localhost/onprem-infra:1", "localhost/onprem-infra:1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.MDNS, c.Images = tt.set, map[string]string{spec.RuntimeCfgImage: tt.own, spec.CoreDNSImage: tt.used}
			if tt.own == "" {
				c.Images = nil
			}
			if p := mustCompile(t, c); p.AnswersFromMDNS() != tt.want {
				t.Errorf("answers: %v, want %v", p.AnswersFromMDNS(), tt.want)
			}
		})
	}
}
