package workload

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// compiled is the plan of a cluster in which Ironic runs, after replacements in its description.
func compiled(t *testing.T, replace ...string) plan.Plan {
	t.Helper()
	text := strings.NewReplacer(replace...).Replace(`{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: prod}, spec: {
  baseDomain: example.com, platform: baremetal, distribution: kubernetes, controlPlaneReplicas: 1,
  machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], provisioning: {network: managed},
  images: {ironicImage: 'r/ironic:1', baremetalRuntimeCfgImage: 'r/o:1', ironicAgentImage: 'r/agent:1', baremetalOperatorImage: 'r/bmo:1', osImage: 'http://192.0.2.9/os.raw@sha256:` +
		strings.Repeat("0", 64) + `'},
  hosts: [{name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'ipmi://198.51.100.1', credentials: {file: a}}},
    {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: a}}}]}}`)
	c, findings := spec.Parse("cluster.yaml", []byte(text), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// deployments are those of a plan, as the API reads them.
func deployments(t *testing.T, p plan.Plan, ca string) map[string]*appsv1.Deployment {
	t.Helper()
	all := map[string]*appsv1.Deployment{}
	for _, o := range Objects(p, ca) {
		read, err := manifest.Object(object.Encode(o))
		if err != nil {
			t.Fatalf("%s: %v", o.About().Metadata.Name, err)
		}
		if d, ok := read.(*appsv1.Deployment); ok {
			all[d.Name] = d
		}
	}
	return all
}

// TestConfinement holds that no container of these pods has a capability, a writable root or a way to
// more rights, that none mounts a directory of the host, and which ones have an account in the API.
func TestConfinement(t *testing.T) {
	tokens := []string{"prepare", "operator"}
	for name, d := range deployments(t, compiled(t), "CA") {
		pod := d.Spec.Template.Spec
		if *pod.AutomountServiceAccountToken || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || pod.HostPID || pod.HostIPC {
			t.Errorf("%s: %+v", name, pod)
		}
		if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || pod.PriorityClassName != "system-cluster-critical" {
			t.Errorf("%s: %+v", name, d.Spec)
		}
		if own := pod.HostNetwork; own != (name == Ironic) || (*pod.SecurityContext.RunAsUser == 0) != own || own == (pod.SecurityContext.RunAsNonRoot != nil) {
			t.Errorf("%s: on the host's network %v as user %d", name, own, *pod.SecurityContext.RunAsUser)
		}
		sources := map[string]corev1.Volume{}
		for _, v := range pod.Volumes {
			if sources[v.Name] = v; v.HostPath != nil {
				t.Errorf("%s mounts the host's %s", name, v.HostPath.Path)
			}
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			s := c.SecurityContext
			if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Privileged != nil || len(s.Capabilities.Add) > 0 || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s/%s: %+v", name, c.Name, s)
			}
			token := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return sources[m.Name].Projected != nil })
			if token != slices.Contains(tokens, c.Name) {
				t.Errorf("%s/%s has a token: %v", name, c.Name, token)
			}
		}
	}
}

// TestWatch holds that Ironic's account may read what the bootstrap machine publishes, and no more, in a
// cluster whose control plane that machine installs.
func TestWatch(t *testing.T) {
	roles := func(p plan.Plan) (all []string) {
		for _, o := range Objects(p, "") {
			read, err := manifest.Object(object.Encode(o))
			if err != nil {
				t.Fatal(err)
			}
			switch r := read.(type) {
			case *rbacv1.Role:
				for _, rule := range r.Rules {
					if r.Namespace == "ours" {
						all = append(all, fmt.Sprint(r.Name, rule.Resources, rule.ResourceNames, rule.Verbs))
					}
				}
			case *rbacv1.RoleBinding:
				if r.Namespace == "ours" {
					all = append(all, fmt.Sprint(r.RoleRef.Name, " for ", r.Subjects[0].Namespace, "/", r.Subjects[0].Name))
				}
			}
		}
		return all
	}
	want := []string{"metal3-ironic-handover[configmaps] [onprem-infra-bootstrap onprem-infra-provisioning-handover] [get]", "metal3-ironic-handover for onprem-infra-metal3/metal3-ironic"}
	if got := roles(compiled(t, "baseDomain:", "namespace: ours, baseDomain:")); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestNodes holds that the pods run on nodes with the label of the control plane, whatever its value:
// kubeadm writes none, and k3s and others write "true".
func TestNodes(t *testing.T) {
	for name, d := range deployments(t, compiled(t), "CA") {
		pod := d.Spec.Template.Spec
		if len(pod.NodeSelector) > 0 {
			t.Errorf("%s needs values of labels: %v", name, pod.NodeSelector)
		}
		terms := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		want := corev1.NodeSelectorRequirement{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.NodeSelectorOpExists}
		if len(terms) != 1 || len(terms[0].MatchExpressions) != 1 || !reflect.DeepEqual(terms[0].MatchExpressions[0], want) {
			t.Errorf("%s runs on %+v", name, terms)
		}
	}
}

// TestSecretPlaces holds where secrets are in Ironic's pod: in memory, and in no container that does
// not read them.
func TestSecretPlaces(t *testing.T) {
	pod := deployments(t, compiled(t), "")[Ironic].Spec.Template.Spec
	memory := map[string]bool{}
	for _, v := range pod.Volumes {
		memory[v.Name] = v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
	}
	for dir, want := range map[string]string{"/auth": "prepare ironic(ro)", "/tls": "prepare ironic(ro) http(ro)", "/ironic": "http(ro)", "/database": "http(ro)"} {
		var got []string
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if m.MountPath != layout.State+dir {
					continue
				}
				if !memory[m.Name] {
					t.Errorf("%s of %s is not in memory", dir, c.Name)
				}
				name := c.Name
				if m.ReadOnly {
					name += "(ro)"
				}
				got = append(got, name)
			}
		}
		// http has empty directories in place of what Ironic writes.
		if strings.Join(got, " ") != want {
			t.Errorf("%s is mounted by %v, want %s", dir, got, want)
		}
	}
}

// TestDatabase holds that Ironic's database alone is on a volume, where the description names one:
// from the rest Ironic links files, which must be in one file system.
func TestDatabase(t *testing.T) {
	for claim, p := range map[string]plan.Plan{"": compiled(t), "ironic-db": compiled(t, "network: managed", "network: managed, volumeClaim: ironic-db")} {
		pod := deployments(t, p, "")[Ironic].Spec.Template.Spec
		name := ""
		for _, v := range pod.Volumes {
			if v.PersistentVolumeClaim != nil {
				name = v.PersistentVolumeClaim.ClaimName
			}
		}
		if name != claim {
			t.Errorf("the claim is %q, want %q", name, claim)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if m.Name == "database" && (m.MountPath != layout.Database || m.ReadOnly || c.Name != "prepare" && c.Name != "ironic") {
					t.Errorf("%s: %+v", c.Name, m)
				}
			}
		}
	}
}

// TestObjects_Configuration holds that pods are replaced when what they read is another, and that the
// ConfigMap has no secret and is the whole plan.
func TestObjects_Configuration(t *testing.T) {
	p := compiled(t)
	revision := func(p plan.Plan, ca string) string {
		all := deployments(t, p, ca)
		first := all[Ironic].Spec.Template.Annotations["onprem-infra.io/configuration"]
		if other := all[Operator].Spec.Template.Annotations["onprem-infra.io/configuration"]; first == "" || other != first {
			t.Errorf("the operator has %q, Ironic %q", other, first)
		}
		return first
	}
	first := revision(p, "")
	if revision(compiled(t), "") != first || revision(p, "CA") == first || revision(compiled(t, "192.0.2.6", "192.0.2.7"), "") == first {
		t.Error("the revision does not follow what is read")
	}
	configurations := 0
	for _, o := range Objects(p, "CA") {
		c, ok := o.(object.ConfigMap)
		if !ok {
			continue
		}
		configurations++
		again, err := plan.Parse("cluster.json", []byte(c.Data["cluster.json"]))
		if err != nil || !Runs(again) || c.Data[BMCCA] != "CA" || len(c.Data) != 2 {
			t.Errorf("%v: %+v", err, c.Data)
		}
	}
	if configurations != 1 {
		t.Errorf("%d ConfigMaps, want that of the configuration", configurations)
	}
}

// TestObjects_Operator holds that the operator's part is there with its image only, that it may reach
// names, the API and Ironic, and that no right is for other namespaces, but for what the bootstrap machine
// publishes, or for everything.
func TestObjects_Operator(t *testing.T) {
	p := compiled(t)
	for _, o := range Objects(p, "") {
		head := o.About()
		if strings.HasPrefix(head.Kind, "Cluster") || head.Metadata.Namespace != object.HostNamespace && head.Metadata.Name != Ironic+"-handover" {
			t.Errorf("%s %s is in %q", head.Kind, head.Metadata.Name, head.Metadata.Namespace)
		}
		read, err := manifest.Object(object.Encode(o))
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := read.(*rbacv1.Role); ok {
			for _, rule := range r.Rules {
				if slices.Contains(slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups), "*") {
					t.Errorf("%s: %+v", r.Name, rule)
				}
			}
		}
		if n, ok := o.(object.NetworkPolicy); ok && head.Metadata.Name == Operator {
			var ports []int32
			for _, port := range n.Spec.Egress[0].Ports {
				ports = append(ports, port.Port)
			}
			if !slices.Equal(ports, []int32{53, 53, 443, 6443, 6385}) {
				t.Errorf("ports %v", ports)
			}
		}
	}
	delete(p.Images, spec.BaremetalOperatorImage)
	for _, o := range Objects(p, "") {
		if o.About().Metadata.Name == Operator {
			t.Errorf("%s of the operator without its image", o.About().Kind)
		}
	}
	delete(p.Images, spec.IronicImage)
	if Runs(p) || len(Objects(p, "")) > 0 {
		t.Error("Ironic runs without its image")
	}
}

// TestOperatorVariables holds where the operator finds Ironic and the ramdisk, in both families.
func TestOperatorVariables(t *testing.T) {
	p := compiled(t)
	v := variables(p)
	if v["IRONIC_ENDPOINT"] != "https://metal3-ironic.onprem-infra-metal3.svc:6385/v1/" || v["DEPLOY_KERNEL_URL"] != "http://172.22.0.3:6180/images/agent.kernel" ||
		v["DEPLOY_RAMDISK_URL"] != "http://172.22.0.3:6180/images/agent.initramfs" || v["IRONIC_CACERT_FILE"] != "/opt/metal3/auth/ironic/tls.crt" || v["IRONIC_INSECURE"] != "false" {
		t.Errorf("%v", v)
	}
	p.Provisioning.IP = netip.MustParseAddr("fd00:22::3")
	if v := variables(p); v["DEPLOY_KERNEL_URL"] != "http://[fd00:22::3]:6180/images/agent.kernel" {
		t.Errorf("%v", v)
	}
}

// TestCopies holds, with a real shell, that the best file of an image comes to its place, whole, and
// that one that an image lacks is no error.
func TestCopies(t *testing.T) {
	image, host := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"images/agent.kernel": "best", "srv/images/agent.kernel": "other", "usr/lib/ipxe/snponly.efi": "x64", "etc/pki/tls/certs/ca-bundle.crt": "CAs"} {
		file := filepath.Join(image, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range copies(compiled(t)) {
		text := strings.ReplaceAll(c.Command[2], layout.State, host)
		for _, top := range []string{"/agent", "/ironic-", "/images/", "/shared/", "/srv/", "/tftpboot/", "/usr/", "/templates/", "/etc/", "/esp"} {
			text = strings.ReplaceAll(text, " "+top, " "+image+top)
		}
		for range 2 { // a container that is started again
			if out, err := exec.Command(c.Command[0], c.Command[1], text).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", c.Name, err, out)
			}
		}
	}
	for name, want := range map[string]string{"agent.kernel": "best", "snponly.efi": "x64", "ca-bundle.crt": "CAs", "agent.initramfs": "", "arm64-efi/snponly.efi": ""} {
		text, err := os.ReadFile(filepath.Join(host, "copied", name))
		if string(text) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
	files := compiled(t, "ironicAgentImage: 'r/agent:1'", "ironicAgentKernel: 'http://192.0.2.9/k@sha256:"+strings.Repeat("0", 64)+"'")
	if all := copies(files); len(all) != 1 || all[0].Name != "copy-programs" {
		t.Errorf("with files for the ramdisk: %+v", all)
	}
}
