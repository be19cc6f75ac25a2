package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// withoutProvisioningNetwork gives a cluster a host that is provisioned by the API VIP.
func withoutProvisioningNetwork(c *spec.Cluster) {
	address, err := bmc.Parse("redfish-virtualmedia://198.51.100.1/a")
	if err != nil {
		panic(err)
	}
	c.Provisioning.Network = provisioning.Disabled
	c.Hosts = []spec.Host{{Name: "w0", Role: machine.Worker, BootMACAddress: "52:54:00:00:00:01",
		BMC: machine.BMC{Address: address}}}
}

// TestPorts_Ironic holds that HAProxy's container names the ports of Ironic if it has them.
func TestPorts_Ironic(t *testing.T) {
	for _, tt := range []struct {
		change func(*spec.Cluster)
		want   string
	}{
		{func(*spec.Cluster) {}, "[lb:9445 mcs-lb:9446 lb-ready:9444 lb-monitor:9454]"},
		{withoutProvisioningNetwork, "[lb:9445 mcs-lb:9446 lb-ready:9444 lb-monitor:9454 ironic-lb:9448 vmedia-lb:9449]"},
	} {
		var got []string
		for _, p := range balanced(compiled(t, tt.change)) {
			got = append(got, fmt.Sprintf("%s:%d", p.Name, p.Number))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("got %v, want %s", got, tt.want)
		}
	}
}

// Each object says what it is, and none is there twice; whether a kubelet can do with them what it
// must, a real API judges (test/kubeapi).
func TestObjects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
	}{
		{"OpenShift", func(*spec.Cluster) {}, []string{
			"Namespace openshift-kni-infra", "ClusterRole onprem-infra-nodes",
			"ClusterRoleBinding onprem-infra-nodes",
			"Role openshift-kni-infra/onprem-infra-nodes",
			"RoleBinding openshift-kni-infra/onprem-infra-nodes",
			"Role openshift-ingress/onprem-infra-nodes", "RoleBinding openshift-ingress/onprem-infra-nodes"}},
		{"OpenShift that provisions hosts without a network for it", withoutProvisioningNetwork, []string{
			"Namespace openshift-kni-infra", "ClusterRole onprem-infra-nodes",
			"ClusterRoleBinding onprem-infra-nodes",
			"Role openshift-kni-infra/onprem-infra-nodes",
			"RoleBinding openshift-kni-infra/onprem-infra-nodes",
			"Role openshift-ingress/onprem-infra-nodes", "RoleBinding openshift-ingress/onprem-infra-nodes",
			"Role openshift-machine-api/onprem-infra-nodes", "RoleBinding openshift-machine-api/onprem-infra-nodes"}},
		{"any Kubernetes", func(c *spec.Cluster) { c.Platform = spec.None }, []string{
			"Namespace onprem-infra", "ClusterRole onprem-infra-nodes",
			"ClusterRoleBinding onprem-infra-nodes",
			"Role onprem-infra/onprem-infra-nodes", "RoleBinding onprem-infra/onprem-infra-nodes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, o := range Objects(compiled(t, tt.change)) {
				got = append(got, title(t, o))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Objects() = %q, want %q", got, tt.want)
			}
		})
	}
}

func title(t *testing.T, o object.Object) string {
	t.Helper()
	about := o.About()
	if !strings.HasSuffix(about.APIVersion, "v1") || about.Kind == "" {
		t.Errorf("%T says it is a %s of %s", o, about.Kind, about.APIVersion)
	}
	if about.Metadata.Namespace != "" {
		return about.Kind + " " + about.Metadata.Namespace + "/" + about.Metadata.Name
	}
	return about.Kind + " " + about.Metadata.Name
}
