package metal3

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// text is a cluster with two control plane hosts, an arbiter and two workers: one boots by virtual
// media, and one has no BMC.
const text = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 2}
arbiter: {name: arbiter, replicas: 1}
compute: [{name: worker, replicas: 2}]
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    provisioningNetwork: Managed
    provisioningNetworkInterface: eno2
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      bootMode: legacy
      rootDeviceHints: {serialNumber: A1, minSizeGigabytes: 20, rotational: false}
      bmc: {address: 'redfish://192.0.2.101/redfish/v1/Systems/1', username: admin, password: p4ss-m0}
    - name: m1
      role: master
      bootMACAddress: 52:54:00:00:00:02
      bmc: {address: 'redfish+http://192.0.2.102/redfish/v1/Systems/1', username: admin, password: p4ss-m1, disableCertificateVerification: true}
    - name: a0
      role: arbiter
      bootMACAddress: 52:54:00:00:00:03
      bmc: {address: 'ipmi://192.0.2.103', username: admin, password: p4ss-a0}
    - name: w0
      role: worker
      bootMACAddress: 52:54:00:00:00:04
      bmc: {address: 'redfish-virtualmedia://192.0.2.104/redfish/v1/Systems/1', username: admin, password: p4ss-w0}
      networkConfig: {interfaces: [{name: eno1, state: up, type: ethernet}]}
    - name: w1
      role: worker
      bootMACAddress: 52:54:00:00:00:05
      bmc: {address: 'ipmi://[2001:db8::105]:6230', username: admin, password: p4ss-w1}
pullSecret: x
`

// compiled is the plan of a text after replacements, and its hosts.
func compiled(t *testing.T, replace ...string) (plan.Plan, []spec.Host) {
	t.Helper()
	c, findings := spec.Parse("install-config.yaml", []byte(strings.NewReplacer(replace...).Replace(text)), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p, c.Hosts
}

// made are the objects by kind and name.
func made(t *testing.T, g Given, p plan.Plan) map[string]object.Object {
	t.Helper()
	objects, err := Objects(p, g)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]object.Object{}
	for _, o := range objects {
		about := o.About()
		all[about.Kind+" "+about.Metadata.Name] = o
	}
	return all
}

// TestObjects_Hosts holds which hosts are provisioned already, and belong to which Machine, and that
// the cluster begins with no other before the handover.
func TestObjects_Hosts(t *testing.T) {
	p, hosts := compiled(t)
	all := made(t, Given{Hosts: hosts, InfraID: "prod-x7k2p"}, p)
	for name, want := range map[string]struct {
		label, machine string
		paused         bool
		spec           object.BareMetalHostSpec
	}{
		"m0": {"control-plane", "prod-x7k2p-master-0", false, object.BareMetalHostSpec{BootMode: "legacy", BootMACAddress: "52:54:00:00:00:01",
			BMC:             &object.BMC{Address: "redfish://192.0.2.101/redfish/v1/Systems/1"},
			RootDeviceHints: &object.RootDeviceHints{SerialNumber: "A1", MinSizeGigabytes: 20, Rotational: new(false)}}},
		"m1": {"control-plane", "prod-x7k2p-master-1", false, object.BareMetalHostSpec{BootMode: "UEFI", BootMACAddress: "52:54:00:00:00:02",
			BMC: &object.BMC{Address: "redfish+http://192.0.2.102/redfish/v1/Systems/1", DisableCertificateVerification: true}}},
		"a0": {"control-plane", "prod-x7k2p-arbiter-0", false, object.BareMetalHostSpec{BootMode: "UEFI", BootMACAddress: "52:54:00:00:00:03",
			BMC: &object.BMC{Address: "ipmi://192.0.2.103"}}},
		"w0": {"worker", "", true, object.BareMetalHostSpec{BootMode: "UEFI", BootMACAddress: "52:54:00:00:00:04", NetworkDataName: "w0-network-config-secret",
			BMC: &object.BMC{Address: "redfish-virtualmedia://192.0.2.104/redfish/v1/Systems/1"}}},
		"w1": {"worker", "", true, object.BareMetalHostSpec{BootMode: "UEFI", BootMACAddress: "52:54:00:00:00:05",
			BMC: &object.BMC{Address: "ipmi://[2001:db8::105]:6230"}}},
	} {
		got, _ := all["BareMetalHost "+name].(object.BareMetalHost)
		want.spec.Online, want.spec.ExternallyProvisioned = true, want.machine != ""
		want.spec.BMC.CredentialsName = name + "-bmc-secret"
		if want.machine != "" {
			want.spec.ConsumerRef = &object.Reference{APIVersion: "machine.openshift.io/v1beta1", Kind: "Machine", Name: want.machine, Namespace: "openshift-machine-api"}
		}
		if !reflect.DeepEqual(got.Spec, want.spec) {
			t.Errorf("%s: %s", name, object.Encode(got.Spec))
		}
		if _, paused := got.Metadata.Annotations[object.Paused]; paused != want.paused || got.Metadata.Labels[roleLabel] != want.label || got.Metadata.Namespace != "openshift-machine-api" {
			t.Errorf("%s: %+v", name, got.Metadata)
		}
	}
	if len(all) != 1+5+5+1 {
		t.Errorf("%d objects", len(all))
	}
}

// TestObjects_Secrets holds that a secret is in the one object where it belongs, and reads as it was
// written.
func TestObjects_Secrets(t *testing.T) {
	p, hosts := compiled(t)
	all := made(t, Given{Hosts: hosts, CA: "CERTIFICATES\n"}, p)
	data := func(o object.Object, key string) string {
		s, _ := o.(object.Secret)
		text, err := base64.StdEncoding.DecodeString(s.Data[key])
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	for _, h := range hosts {
		s := all["Secret "+h.Name+"-bmc-secret"]
		if user, password := data(s, "username"), data(s, "password"); user != "admin" || password != "p4ss-"+h.Name {
			t.Errorf("%s: %q, %q", h.Name, user, password)
		}
	}
	if state := data(all["Secret w0-network-config-secret"], "nmstate"); !strings.Contains(state, "name: eno1") {
		t.Errorf("the network of w0 is %q", state)
	}
	if c, _ := all["ConfigMap bmc-verify-ca"].(object.ConfigMap); c.Data["verify_ca.crt"] != "CERTIFICATES\n" {
		t.Errorf("%+v", c)
	}
	for name, o := range all {
		text := string(object.Encode(o))
		if open := strings.Contains(text, "p4ss"); open || !strings.HasPrefix(name, "Secret ") && strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("p4ss"))[:5]) {
			t.Errorf("%s has a password:\n%s", name, text)
		}
	}
}

// TestObjects_Provisioning holds what the operator is told, by the provisioning network, and that it waits
// for the handover.
func TestObjects_Provisioning(t *testing.T) {
	const cards = "52:54:00:00:00:01,52:54:00:00:00:02,52:54:00:00:00:03"
	disabled := []string{"provisioningNetwork: Managed", "provisioningNetwork: Disabled", "    provisioningNetworkInterface: eno2\n", "",
		"redfish://", "redfish-virtualmedia://", "redfish+http://", "redfish-virtualmedia+http://", "bootMode: legacy", "bootMode: UEFI",
		"ipmi://192.0.2.103'", "redfish-virtualmedia://192.0.2.103/redfish/v1/Systems/1'", "ipmi://[2001:db8::105]:6230'", "redfish-virtualmedia://192.0.2.105/redfish/v1/Systems/1'"}
	for name, tt := range map[string]struct {
		replace []string
		want    object.ProvisioningSpec
	}{
		"managed": {nil, object.ProvisioningSpec{ProvisioningNetwork: "Managed", ProvisioningIP: "172.22.0.3", ProvisioningNetworkCIDR: "172.22.0.0/24",
			ProvisioningDHCPRange: "172.22.0.10,172.22.0.254", ProvisioningInterface: "eno2", ProvisioningMACAddresses: strings.Split(cards, ","), VirtualMediaViaExternalNetwork: true}},
		"no virtual media": {[]string{"redfish-virtualmedia://", "redfish://"}, object.ProvisioningSpec{ProvisioningNetwork: "Managed", ProvisioningIP: "172.22.0.3", ProvisioningNetworkCIDR: "172.22.0.0/24",
			ProvisioningDHCPRange: "172.22.0.10,172.22.0.254", ProvisioningInterface: "eno2", ProvisioningMACAddresses: strings.Split(cards, ",")}},
		"unmanaged": {[]string{"provisioningNetwork: Managed", "provisioningNetwork: Unmanaged"}, object.ProvisioningSpec{ProvisioningNetwork: "Unmanaged", ProvisioningIP: "172.22.0.3",
			ProvisioningNetworkCIDR: "172.22.0.0/24", ProvisioningInterface: "eno2", ProvisioningMACAddresses: strings.Split(cards, ","), VirtualMediaViaExternalNetwork: true}},
		"disabled": {disabled, object.ProvisioningSpec{ProvisioningNetwork: "Disabled"}},
	} {
		p, hosts := compiled(t, tt.replace...)
		o, _ := made(t, Given{Hosts: hosts}, p)["Provisioning provisioning-configuration"].(object.Provisioning)
		if !reflect.DeepEqual(o.Spec, tt.want) || o.Metadata.Namespace != "" || o.Metadata.Annotations["provisioning.metal3.io/paused"] != "until the handover" {
			t.Errorf("%s: %s", name, object.Encode(o))
		}
	}
}

// TestObjects_Wrong holds that all hosts are named of which no object can be made.
func TestObjects_Wrong(t *testing.T) {
	p, hosts := compiled(t)
	hosts = slices.Clone(hosts[1:])
	hosts[0].BMC.Credentials, hosts[0].BMC.Password = "account.yaml", spec.NewSecret("")
	for i := range p.Provisioning.Hosts {
		if h := &p.Provisioning.Hosts[i]; h.Name == "w0" {
			h.Verify = "pin:" + strings.Repeat("0", 64)
		}
	}
	_, err := Objects(p, Given{Hosts: hosts})
	var wrong WrongHosts
	if want := (WrongHosts{Absent: []string{"m0"}, NoAccount: []string{"m1"}, Pinned: []string{"w0"}}); !errors.As(err, &wrong) || !reflect.DeepEqual(wrong, want) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"m0", "m1", "w0"} {
		if !strings.Contains(fmt.Sprint(err), name+": ") {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

// TestHostObjects holds that a host comes with its Secrets alone, and is not paused, whatever is
// wrong with others.
func TestHostObjects(t *testing.T) {
	p, hosts := compiled(t)
	p.Provisioning.Hosts[0].Verify = "pin:" + strings.Repeat("0", 64)
	objects, err := HostObjects(p, Given{Hosts: hosts[3:], CA: "CERTIFICATES"}, "w0")
	var got []string
	for _, o := range objects {
		about := o.About()
		got = append(got, about.Kind+" "+about.Metadata.Name)
		if _, paused := about.Metadata.Annotations[object.Paused]; paused {
			t.Errorf("%s is paused", about.Metadata.Name)
		}
	}
	if want := []string{"Secret w0-bmc-secret", "Secret w0-network-config-secret", "BareMetalHost w0"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if len(p.Provisioning.Hosts) != len(hosts) {
		t.Error("the plan has changed")
	}
}

// TestObjects_None holds that a cluster without such operators gets none of their objects.
func TestObjects_None(t *testing.T) {
	p, hosts := compiled(t)
	p.Distribution = spec.Kubernetes
	if objects, err := Objects(p, Given{Hosts: hosts}); len(objects) > 0 || err != nil {
		t.Errorf("%d objects, %v", len(objects), err)
	}
	p.Distribution, p.Provisioning = spec.OpenShift, nil
	if objects, err := Objects(p, Given{Hosts: hosts}); len(objects) > 0 || err != nil {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

// TestLongJudge has metal3's own types and admission read each host.
func TestLongJudge(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1: metal3's types are built, a minute")
	}
	judge, err := cache.Metal3Judge(t.Context())
	if err != nil {
		need.Missing(t, err.Error())
	}
	p, hosts := compiled(t)
	dir := t.TempDir()
	judged := func(name string, content []byte) (string, error) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(context.Background(), judge, path).CombinedOutput()
		return string(out), err
	}
	good := 0
	for name, o := range made(t, Given{Hosts: hosts, InfraID: "prod-x7k2p"}, p) {
		if !strings.HasPrefix(name, "BareMetalHost ") {
			continue
		}
		content := object.Encode(o)
		if out, err := judged(name, content); err != nil {
			t.Errorf("%s: %v: %s\n%s", name, err, out, content)
		}
		good++
		for _, wrong := range []string{
			strings.Replace(string(content), "bootMACAddress", "bootMACAdress", 1),
			strings.Replace(string(content), "address: ", "address: ftp://", 1),
		} {
			if out, err := judged(name, []byte(wrong)); err == nil {
				t.Errorf("%s: the judge takes this: %s\n%s", name, out, wrong)
			}
		}
	}
	if good != 5 {
		t.Errorf("%d hosts", good)
	}
}

// own is a cluster of any Kubernetes whose nodes share the provisioning address.
const own = `{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: prod}, spec: {
  baseDomain: example.com, platform: baremetal, distribution: kubernetes, controlPlaneReplicas: 1,
  machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6],
  provisioning: {network: managed}, images: {ironicImage: 'r/ironic:1'}, hosts: [
    {name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'redfish-virtualmedia://198.51.100.1/redfish/v1/Systems/1', credentials: {file: m0.yaml}}},
    {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: w0.yaml}}},
    {name: w1, role: worker, bootMAC: '52:54:00:00:00:03', bmc: {address: 'redfish://198.51.100.3/redfish/v1/Systems/1', credentials: {file: w1.yaml}}}]}}`

// anyKubernetes is its plan after replacements, with hosts whose accounts have been read.
func anyKubernetes(t *testing.T, replace ...string) (plan.Plan, []spec.Host) {
	t.Helper()
	c, findings := spec.Parse("cluster.yaml", []byte(strings.NewReplacer(replace...).Replace(own)), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range c.Hosts {
		c.Hosts[i].BMC.Username, c.Hosts[i].BMC.Password = secret.New("admin"), secret.New("p4ss-"+h.Name)
	}
	return p, c.Hosts
}

// TestObjects_AnyKubernetes holds that without OpenShift the hosts are the same but for what is
// OpenShift's alone, in the namespace of the cluster's Ironic, and that all of them wait: the bootstrap
// machine may still install the control plane.
func TestObjects_AnyKubernetes(t *testing.T) {
	p, hosts := anyKubernetes(t)
	all := made(t, Given{Hosts: hosts, CA: "CERTIFICATES\n", InfraID: "must-not-appear"}, p)
	if len(all) != 6 {
		t.Errorf("%d objects, want a host and a Secret each", len(all))
	}
	for name, o := range all {
		head := o.About()
		if head.Metadata.Namespace != "onprem-infra-metal3" || len(head.Metadata.Labels) != 1 {
			t.Errorf("%s: %+v", name, head.Metadata)
		}
		h, ok := o.(object.BareMetalHost)
		if !ok {
			continue
		}
		master := head.Metadata.Name == "m0"
		if _, paused := head.Metadata.Annotations[object.Paused]; !paused || h.Spec.ExternallyProvisioned != master || h.Spec.ConsumerRef != nil || !h.Spec.Online {
			t.Errorf("%s: %s", name, object.Encode(h))
		}
	}
	if s, _ := all["Secret w0-bmc-secret"].(object.Secret); s.Data["password"] != base64.StdEncoding.EncodeToString([]byte("p4ss-w0")) {
		t.Errorf("%+v", s.Data)
	}
}

// TestObjects_AnyKubernetesMedia holds that a worker boots virtual media, and that one is refused
// whose BMC or firmware could not. Of OpenShift's own Ironic nothing is known here.
func TestObjects_AnyKubernetesMedia(t *testing.T) {
	const media = "redfish-virtualmedia://"
	for name, tt := range map[string]struct {
		replace []string
		want    string
	}{
		"of one family":    {[]string{"redfish://198.51.100.3", media + "198.51.100.3", "ipmi://198.51.100.2", media + "198.51.100.2/redfish/v1/Systems/1"}, ""},
		"of two":           {[]string{"redfish://198.51.100.3", media + "[2001:db8::3]", "ipmi://198.51.100.2", media + "198.51.100.2/redfish/v1/Systems/1", "apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5, '2001:db8:2::5']", "ingressVIPs: [192.0.2.6]", "ingressVIPs: [192.0.2.6, '2001:db8:2::6']", "[192.0.2.0/24]", "[192.0.2.0/24, '2001:db8:2::/64']"}, "is of another IP family than other hosts' for w1: use an address of one family"},
		"of legacy":        {[]string{"redfish://198.51.100.3", media + "198.51.100.3", "'52:54:00:00:00:03'", "'52:54:00:00:00:03', bootMode: legacy"}, "no virtual media that legacy firmware boots, for w1: choose the boot mode UEFI"},
		"legacy, over PXE": {[]string{"redfish://198.51.100.3/redfish/v1/Systems/1", "ipmi://198.51.100.3", "'52:54:00:00:00:03'", "'52:54:00:00:00:03', bootMode: legacy"}, ""},
		"by name":          {[]string{"redfish://198.51.100.3", media + "bmc.example.com"}, ""},
		"by HTTP":          {[]string{"redfish://198.51.100.3", "redfish-uefihttp://198.51.100.3", media, "redfish-uefihttp://"}, "does not know its certificate, for w1: use a bmc.address"},
	} {
		p, hosts := anyKubernetes(t, tt.replace...)
		objects, err := Objects(p, Given{Hosts: hosts})
		if tt.want == "" && (err != nil || len(objects) != 6) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %d objects, %v", name, len(objects), err)
		}
	}
	p, hosts := compiled(t, "redfish-virtualmedia:", "redfish-uefihttp:")
	if w0, _ := made(t, Given{Hosts: hosts}, p)["BareMetalHost w0"].(object.BareMetalHost); w0.Spec.BMC.Address != "redfish-uefihttp://192.0.2.104/redfish/v1/Systems/1" {
		t.Errorf("OpenShift's: %s", object.Encode(w0))
	}
}

// TestObjects_AnyKubernetesNone holds that nothing is made where Ironic does not run in the cluster.
func TestObjects_AnyKubernetesNone(t *testing.T) {
	for name, replace := range map[string][2]string{"without Ironic": {"images: {ironicImage: 'r/ironic:1'}, ", ""}, "without a network": {"provisioning: {network: managed}", "provisioning: {network: disabled}"}} {
		p, hosts := anyKubernetes(t, replace[0], replace[1], "ipmi://198.51.100.2", "redfish-virtualmedia://198.51.100.2/redfish/v1/Systems/1", "redfish://", "redfish-virtualmedia://")
		if got, err := Objects(p, Given{Hosts: hosts}); err != nil || len(got) > 0 || Knows(p) {
			t.Errorf("%s: %d objects, %v", name, len(got), err)
		}
	}
}
