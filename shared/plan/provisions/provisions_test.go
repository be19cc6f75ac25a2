package provisions

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// planned is a plan with a host of each kind, and images.
func planned(images ...string) plan.Plan {
	p := plan.Plan{Images: map[string]string{}, Provisioning: &provision.Plan{Hosts: []provision.Host{
		{Name: "master-0", Phase: provision.Bootstrap, BMC: "redfish://192.0.2.1"},
		{Name: "master-1", Phase: provision.Bootstrap}, // a person installs it
		{Name: "worker-0", Phase: provision.Cluster, BMC: "redfish://192.0.2.2"},
	}}}
	for _, key := range images {
		p.Images[key] = "x"
	}
	return p
}

// TestHosts holds that the bootstrap machine provisions no host of the cluster's phase, and none that
// it cannot reach; and that asking changes no plan.
func TestHosts(t *testing.T) {
	p := planned()
	for range 2 {
		if got := Hosts(p); len(got) != 1 || got[0].Name != "master-0" || len(p.Provisioning.Hosts) != 3 || p.Provisioning.Hosts[1].Name != "master-1" {
			t.Errorf("%+v of %+v", got, p.Provisioning.Hosts)
		}
	}
	if got := Hosts(plan.Plan{}); got != nil {
		t.Errorf("without provisioning: %+v", got)
	}
}

// TestRuns holds that nothing runs without Ironic's image, nor without hosts.
func TestRuns(t *testing.T) {
	none := planned(spec.IronicImage)
	none.Provisioning.Hosts = none.Provisioning.Hosts[1:]
	if !Runs(planned(spec.IronicImage)) || Runs(planned(spec.OSImage)) || Runs(none) || Runs(plan.Plan{Images: map[string]string{spec.IronicImage: "x"}}) {
		t.Error("the machine provisions when it is not to, or does not when it is")
	}
}

// TestNeeds holds which images have to be there: those of the ramdisk by one of two ways.
func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		plan   plan.Plan
		wanted bool
		want   string
	}{
		{"not wanted", planned(), false, ""},
		{"wanted", planned(), true, "ironicImage ironicAgentImage osImage"},
		{"one file of the ramdisk", planned(spec.IronicAgentKernel), true, "ironicImage ironicAgentKernel ironicAgentInitramfs osImage"},
		{"no hosts", plan.Plan{}, true, ""},
	} {
		var got []string
		all := Needs(tt.plan, tt.wanted)
		for _, n := range all {
			if n.Needed {
				got = append(got, n.Key)
			}
		}
		if strings.Join(got, " ") != tt.want || len(all) != 5 || slices.ContainsFunc(all, func(n plan.Need) bool { return n.Key == "" }) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
