package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// section is a description of hosts below a baremetal install-config, or in a cluster.yaml.
type section struct {
	platform, networks, vips string // of a cluster.yaml
	provisioning             string
	bmcs                     []string // of the hosts, two masters and a worker
	masters                  int
}

func (s section) clusterYAML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  baseDomain: example.com\n"+
		"  platform: %s\n  machineNetworks: %s\n  apiVIPs: %s\n", s.platform, s.networks, s.vips)
	ingress := strings.NewReplacer(".5", ".6", "::5", "::6").Replace(s.vips)
	fmt.Fprintf(&b, "  ingressVIPs: %s\n  provisioning: %s\n", ingress, s.provisioning)
	if s.masters > 0 {
		fmt.Fprintf(&b, "  controlPlaneReplicas: %d\n", s.masters)
	}
	b.WriteString("  hosts:\n")
	for i, bmc := range s.bmcs {
		role := "master"
		if i == len(s.bmcs)-1 {
			role = "worker"
		}
		fmt.Fprintf(&b, "  - {name: h%d, role: %s, bootMAC: '52:54:00:00:00:0%d', bmc: {address: '%s'}}\n", i, role, i+1, bmc)
	}
	return b.String()
}

// sections are every mode, on both kinds of cluster, in each family.
func sections() map[string]section {
	any4 := []string{"redfish://198.51.100.1/a", "ipmi://198.51.100.2", "redfish-uefihttp+http://bmc.example.com/a", "idrac-virtualmedia://198.51.100.4/a"}
	media := []string{"redfish-virtualmedia://198.51.100.1/a", "redfish-virtualmedia://[2001:db8:9::1]:8443/a", "redfish-uefihttp://bmc/a"}
	const v4, v6, dual = "[192.0.2.0/24]", "['2001:db8::/64']", "[192.0.2.0/24, '2001:db8::/64']"
	return map[string]section{
		"managed":         {"none", v4, "[192.0.2.5]", "{network: managed}", any4, 0},
		"managed, all":    {"none", v4, "[192.0.2.5]", "{network: managed, cidr: 172.23.0.0/26, interface: eno2, macs: ['52:54:00:0a:00:01'], ip: 172.23.0.9, bmcCA: ca.pem, expectedServers: ['fe80::1'], dhcp: {unknown: pool, range: '172.23.0.20,172.23.0.40', lease: 90m, gateway: 172.23.0.1, dns: [172.23.0.1], ntp: [time.example.com]}}", any4, 0},
		"OpenShift":       {"baremetal", v4, "[192.0.2.5]", "{network: managed}", any4, 0},
		"managed on IPv6": {"baremetal", v4, "[192.0.2.5]", "{network: managed, cidr: 'fd00:22::/64'}", any4, 0},
		"unmanaged":       {"none", v4, "[192.0.2.5]", "{network: unmanaged, address: two, dhcp: {ntp: [192.0.2.9]}}", any4, 0},
		"disabled":        {"baremetal", dual, "[192.0.2.5, '2001:db8::5']", "{network: disabled}", media, 0},
		"disabled, own":   {"none", dual, "[192.0.2.5, '2001:db8::5']", "{network: disabled, ip: 192.0.2.30, bootstrapIP: 192.0.2.31}", media, 0},
		"disabled, IPv6":  {"none", v6, "['2001:db8::5']", "{network: disabled}", []string{"redfish-virtualmedia://bmc/a", "redfish-uefihttp://[2001:db8:9::1]/a"}, 0},
		"spares":          {"baremetal", v4, "[192.0.2.5]", "{network: managed}", append(any4[:3:3], "redfish://a", "redfish://b"), 3},
	}
}

func compiled(t *testing.T, text string) Plan {
	t.Helper()
	cluster, findings := spec.Parse("c", []byte(text), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatalf("%v\n%s", findings, text)
	}
	return mustCompile(t, cluster)
}

// TestProvisioning has the plan of each section.
func TestProvisioning(t *testing.T) {
	for name, s := range sections() {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, indentedOf(t, compiled(t, s.clusterYAML()).Provisioning))
		})
	}
}

// TestProvisioning_RoundTrip holds that a host compiles the same plan from cluster.json, which has
// no credentials.
func TestProvisioning_RoundTrip(t *testing.T) {
	for name, s := range sections() {
		p := compiled(t, s.clusterYAML())
		text := Encode(p)
		again := reread(t, text)
		if !reflect.DeepEqual(again, p) {
			t.Errorf("%s: the host's plan:\n%s\nthe compiled one:\n%s", name, indentedOf(t, again.Provisioning), indentedOf(t, p.Provisioning))
		}
		if second := Encode(again); string(second) != string(text) {
			t.Errorf("%s: cluster.json again:\n%s\nonce:\n%s", name, second, text)
		}
		if strings.Contains(string(text), "credentials") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestProvisioning_InstallConfig holds that an install-config and the cluster.json of its plan are
// one plan, and that no password is in either.
func TestProvisioning_InstallConfig(t *testing.T) {
	text := `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 2}
arbiter: {name: arbiter, replicas: 1}
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    provisioningMACAddress: 52:54:00:0a:00:01
    bmcVerifyCA: "-----BEGIN CERTIFICATE-----\nMIHUMIGHAhQYrcFDpn9kqcoElaSn3cSlgQulkjAFBgMrZXAwDDEKMAgGA1UEAwwBYjAgFw0yNjExMjgxNzQ2NDZaGA8yMTI2MTEwNDE3NDY0NlowDDEKMAgGA1UEAwwBYjAqMAUGAytlcAMhAMulrJ2eclWPzBnIVRWamYV69QZXBQQxvAzPhUUOd7oVMAUGAytlcANBAPAvYfR2xhgEcEFvyUe/ad992CMCxpeyOtdEZfG3/RGUk+EUn3HHWhlLPloSdZMO/QP9bow6TQ5/j0D41rUewAM=\n-----END CERTIFICATE-----\n"
    hosts:
    - {name: m0, bootMACAddress: '52:54:00:00:00:01', bmc: {address: 'redfish://a/b', username: s3cret, password: s3cret, disableCertificateVerification: true}}
    - {name: m1, bootMACAddress: '52:54:00:00:00:02', bmc: {address: 'ipmi://b', username: s3cret, password: s3cret}}
    - {name: a0, bootMACAddress: '52:54:00:00:00:03', bootMode: legacy, bmc: {address: 'ipmi://c', username: s3cret, password: s3cret}}
    - {name: w0, bootMACAddress: '52:54:00:00:00:04', bmc: {address: 'ipmi://d', username: s3cret, password: s3cret}}
`
	p := compiled(t, text)
	var got []string
	for _, h := range p.Provisioning.Hosts {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", h.Name, h.Role, h.Phase, h.Boot, h.Verify))
	}
	want := "m0 master bootstrap PXE UEFI off; m1 master bootstrap PXE UEFI ca; a0 arbiter bootstrap PXE BIOS ca; w0 worker cluster PXE UEFI ca"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("hosts %s\nwant %s", text, want)
	}
	if again := reread(t, Encode(p)); !reflect.DeepEqual(again, p) {
		t.Errorf("the host's plan:\n%s\nthe compiled one:\n%s", indentedOf(t, again.Provisioning), indentedOf(t, p.Provisioning))
	}
	if all := string(Encode(p)) + string(indented(t, p)) + fmt.Sprintf("%+v %#v", p, *p.Provisioning); strings.Contains(all, "s3cret") {
		t.Error(all)
	}
}

// TestProvisioning_NoAnswer holds that a plan in which a host would wait for ever is refused.
func TestProvisioning_NoAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		section
		want string
	}{
		"a medium of another family": {section{"none", "[192.0.2.0/24]", "[192.0.2.5]", "{network: managed}", []string{"redfish-virtualmedia://[2001:db8:9::1]/a"}, 0},
			`host "h0": its BMC fetches an ISO from the API VIP, and none is of the BMC's IP family`},
	} {
		cluster, findings := spec.Parse("c", []byte(tt.clusterYAML()), spec.Knobs{})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		if _, err := Compile(cluster); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func indentedOf(t *testing.T, p *provision.Plan) []byte {
	t.Helper()
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}
