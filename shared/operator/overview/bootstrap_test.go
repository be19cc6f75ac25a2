package overview_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const provisioned = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  topology: SingleReplica
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning: {network: managed}
  hosts:
  - name: m0
    role: master
    bootMAC: 52:54:00:00:00:01
    bmc: {address: 'redfish://bmc-0/redfish/v1/Systems/1'}
`

// TestBootstrap holds what is printed of a bootstrap machine that provisions hosts, or may once its
// images are known, and that nothing is for one that does not.
func TestBootstrap(t *testing.T) {
	known := map[string]string{spec.KeepalivedImage: "k"}
	with := maps.Clone(known)
	with[spec.IronicImage] = "i"
	for _, tt := range []struct {
		name, text string
		images     map[string]string
		vip        string // begins so; empty where nothing is printed
	}{
		{"images are not known yet", provisioned, nil, "the bootstrap machine holds it while Ironic answers"},
		{"with Ironic", provisioned, with, "the bootstrap machine holds it while Ironic answers"},
		{"without Ironic", provisioned, known, ""},
		{"a balancer of the user's", strings.Replace(provisioned, "  topology:", "  loadBalancer: UserManaged\n  topology:", 1), with, "a load balancer of yours"},
		{"no host", provisioned[:strings.Index(provisioned, "  provisioning:")], with, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, findings := spec.Parse("c", []byte(tt.text), spec.Knobs{})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			c.Images = tt.images
			p, err := plan.Compile(c)
			if err != nil {
				t.Fatal(err)
			}
			v, err := overview.Of(p, func(plan.Plan, role.Role) ([]string, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			text, err := v.JSON()
			var got struct {
				Bootstrap *struct {
					Hosts, Starts, Ends []string
					VIP                 string
				}
			}
			if err != nil || json.Unmarshal(text, &got) != nil {
				t.Fatalf("%v: %s", err, text)
			}
			summary := v.Summary(200)
			if printed := strings.Contains(summary, "address, http, ironic, dhcp on the bootstrap machine; ends in the opposite order"); printed != (tt.vip != "") || (got.Bootstrap != nil) != printed {
				t.Fatalf("%+v, and it prints\n%s", got.Bootstrap, summary)
			}
			if tt.vip == "" {
				return
			}
			b := got.Bootstrap
			if !slices.Equal(b.Hosts, []string{"m0"}) || !slices.Equal(b.Starts, []string{"address", "http", "ironic", "dhcp"}) ||
				!slices.Equal(b.Ends, []string{"dhcp", "ironic", "http", "address"}) || !strings.HasPrefix(b.VIP, tt.vip) {
				t.Errorf("%+v", b)
			}
		})
	}
}
