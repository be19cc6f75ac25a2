package provisions

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// withHosts has one host of each kind: of both phases, with a BMC and without.
func withHosts(images ...string) plan.Plan {
	p := plan.Plan{Images: map[string]string{}, Provisioning: &provision.Plan{Hosts: []provision.Host{
		{Name: "m0", Phase: provision.Bootstrap, BMC: "redfish://192.0.2.1"}, {Name: "m1", Phase: provision.Bootstrap},
		{Name: "w0", Phase: provision.Cluster, BMC: "redfish://192.0.2.2"}, {Name: "m2", Phase: provision.Bootstrap, BMC: "ipmi://192.0.2.3"},
	}}}
	for _, key := range images {
		p.Images[key] = "x"
	}
	return p
}

// TestHosts holds which hosts the bootstrap machine provisions, and that the plan stays as it is.
func TestHosts(t *testing.T) {
	p := withHosts()
	var names []string
	for _, h := range Hosts(p) {
		names = append(names, h.Name)
	}
	if !slices.Equal(names, []string{"m0", "m2"}) || len(p.Provisioning.Hosts) != 4 || p.Provisioning.Hosts[1].Name != "m1" {
		t.Errorf("%q of %+v", names, p.Provisioning.Hosts)
	}
	if got := Hosts(plan.Plan{}); len(got) != 0 {
		t.Errorf("without provisioning: %+v", got)
	}
}

// TestRuns holds that it does so with an image that has Ironic alone, and if there are such hosts.
func TestRuns(t *testing.T) {
	workers := withHosts(spec.IronicImage)
	workers.Provisioning.Hosts = workers.Provisioning.Hosts[1:3]
	for name, tt := range map[string]struct {
		plan plan.Plan
		want bool
	}{
		"with Ironic": {withHosts(spec.IronicImage), true}, "without": {withHosts(spec.OSImage, spec.IronicAgentImage), false},
		"no host": {workers, false}, "nothing": {plan.Plan{Images: map[string]string{spec.IronicImage: "x"}}, false},
	} {
		if got := Runs(tt.plan); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestNeeds holds that the ramdisk comes from one image, or from two files: whoever names one file needs
// the other.
func TestNeeds(t *testing.T) {
	image := []string{spec.IronicImage, spec.IronicAgentImage, spec.OSImage}
	files := []string{spec.IronicImage, spec.IronicAgentKernel, spec.IronicAgentInitramfs, spec.OSImage}
	all := append(slices.Clone(files), spec.IronicAgentImage)
	for name, tt := range map[string]struct {
		plan   plan.Plan
		wanted bool
		want   []string
	}{
		"nothing is named": {withHosts(), true, image}, "the kernel": {withHosts(spec.IronicAgentKernel), true, files},
		"the initramfs": {withHosts(spec.IronicAgentInitramfs, spec.IronicAgentImage), true, files},
		"not wanted":    {withHosts(spec.IronicAgentKernel), false, nil}, "no hosts": {plan.Plan{}, true, nil},
	} {
		var needed, known []string
		for _, n := range Needs(tt.plan, tt.wanted) {
			known = append(known, n.Key)
			if n.Needed {
				needed = append(needed, n.Key)
			}
		}
		slices.Sort(known)
		if !slices.Equal(needed, tt.want) || !slices.Equal(known, slices.Sorted(slices.Values(all))) {
			t.Errorf("%s: needs %q of %q, want %q", name, needed, known, tt.want)
		}
	}
}

// TestInCluster holds which clusters provision hosts themselves: OpenShift, and where nodes share an
// address; none without hosts to provision.
func TestInCluster(t *testing.T) {
	openShift, shared, apart, without := withHosts(), withHosts(), withHosts(), withHosts()
	shared.Distribution, apart.Distribution = spec.Kubernetes, spec.Kubernetes
	openShift.Distribution, openShift.Platform = spec.OpenShift, spec.BareMetal
	shared.VIPs.Provisioning = []netip.Addr{netip.MustParseAddr("172.22.0.3")}
	without.Provisioning = nil
	for _, tt := range []struct {
		plan plan.Plan
		want bool
	}{{openShift, true}, {shared, true}, {apart, false}, {without, false}} {
		if got := InCluster(tt.plan); got != tt.want {
			t.Errorf("%+v: %t", tt.plan.VIPs, got)
		}
	}
}
