package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/shared/vrrp/proof"
)

// TestFlavour holds what a cluster is with and without a distribution of its own, and that only a
// distribution that does not follow from its platform travels.
func TestFlavour(t *testing.T) {
	for _, tt := range []struct {
		name        string
		platform    spec.Platform
		set         spec.Distribution
		kubernetes  bool
		namespace   string
		travels     bool // the distribution, in cluster.json
		alone       bool // one control plane node elects itself
		checks      []vrrp.CheckName
		machineConf bool
	}{
		{"an installed one", spec.BareMetal, "", false, "openshift-kni-infra", false, false, everyCheck, true},
		{"OpenShift, set", spec.VSphere, spec.OpenShift, false, "openshift-vsphere-infra", false, false, everyCheck, true},
		{"any Kubernetes, set", spec.VSphere, spec.Kubernetes, true, "onprem-infra", true, true, anyCheck, false},
		{"on no platform", spec.None, "", true, "onprem-infra", false, true, anyCheck, false},
		{"OpenShift on no platform", spec.None, spec.OpenShift, false, "onprem-infra", true, false, everyCheck, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.Platform, c.Distribution, c.LoadBalancer = tt.platform, tt.set, spec.Managed
			p := mustCompile(t, c)
			if got := p.Distribution == spec.Kubernetes; got != tt.kubernetes || p.Namespace != tt.namespace {
				t.Errorf("it is %s with namespace %s", p.Distribution, p.Namespace)
			}
			text := string(Encode(p))
			if got := strings.Contains(text, `"distribution"`); got != tt.travels {
				t.Errorf("the distribution travels: %v", got)
			}
			if got := strings.Contains(text, `"loadBalancer": "Managed"`); got != tt.kubernetes {
				t.Errorf("cluster.json has its own word for the balancer: %v", got)
			}
			if got := p.Elects(1); got != tt.alone || !p.Elects(2) {
				t.Errorf("one node elects itself: %v", got)
			}
			var checks []vrrp.CheckName
			for _, w := range slices.Concat(p.VRRP.ControlPlane.Checks, p.VRRP.IngressNodes.Checks) {
				checks = append(checks, w.Check)
			}
			if !slices.Equal(checks, tt.checks) {
				t.Errorf("checks %v, want %v", checks, tt.checks)
			}
			for _, name := range []string{port.MachineConfig, port.MachineConfigLB, port.RouterStats} {
				if _, used := p.Ports[name]; used != tt.machineConf {
					t.Errorf("port %s is used: %v", name, used)
				}
			}
			f := p.Flavour()
			if machine := f.MachineConfig && f.Routers && f.Around && len(f.PodAnnotations) == 2 && len(f.NamespaceAnnotations) == 2; machine != tt.machineConf {
				t.Errorf("%+v", f)
			}
			if hand := (Plan{Shape: Shape{Platform: tt.platform}}).Flavour().Founds; tt.set == "" && hand != tt.kubernetes {
				t.Errorf("a plan made by hand founds: %v", hand)
			}
		})
	}
}

var (
	everyCheck = []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckMCS, vrrp.CheckDefaultIngress, vrrp.CheckIngressReady, vrrp.CheckIngress}
	anyCheck   = []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckIngress}
)

// TestEveryPolicyIsProven holds that what is left of each timing's policy without OpenShift still
// elects the right holder.
func TestEveryPolicyIsProven(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		policy := distribution.FlavourOf(spec.Kubernetes, spec.None).Policy(timing.Policy())
		proven, err := proof.Prove(policy)
		if err != nil || proven.Margin <= 0 {
			t.Errorf("%s: margin %d, %v", timing.Profile, proven.Margin, err)
		}
		for _, s := range proven.Statements {
			if strings.Contains(s, "Ignition") || strings.Contains(s, "default router") {
				t.Errorf("%s: a statement about what is not there: %s", timing.Profile, s)
			}
		}
		if full := timing.Policy(); len(full.ControlPlane.Weights) != 3 || len(full.Ingress.Weights) != 3 {
			t.Errorf("%s: the profile's own policy has changed", timing.Profile)
		}
	}
}
