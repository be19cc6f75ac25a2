package cluster

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	vrrpd "github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

var platforms = []spec.Platform{
	spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere, spec.None,
}

// node is a host of some cluster, with what it gets.
type node struct {
	name string
	plan plan.Plan
	role role.Role
	tree []asset.File
	// by the path of the manifest, disabled ones too, as a strict reader sees them
	pods map[string]*corev1.Pod
}

// k3s has its agent's kubeconfig and certificates in one directory.
const k3s = "/var/lib/rancher/k3s/agent"

// nodes are each kind of node of each kind of cluster, made once for all tests.
var nodes = sync.OnceValues(func() ([]node, error) {
	kinds := map[string]func(*spec.Cluster){
		"managed": func(*spec.Cluster) {}, "dual-stack": dual, "user-managed": userManaged,
		"without VIPs":    func(c *spec.Cluster) { c.APIVIPs, c.IngressVIPs = nil, nil },
		"today's":         func(c *spec.Cluster) { c.Timing = vrrp.ProfileCompat },
		"multicast DNS":   func(c *spec.Cluster) { c.MDNS = spec.MDNSEnabled },
		"any Kubernetes":  func(c *spec.Cluster) { c.Distribution = spec.Kubernetes },
		"hosts that boot": provisions, "routed": routed, "both ways": both,
		"routed hosts that boot": func(c *spec.Cluster) { routed(c); provisions(c) },
		"elsewhere": func(c *spec.Cluster) {
			c.Nodes = spec.Nodes{Namespace: "infra", Kubeconfig: "/etc/kubernetes/kubelet.conf", KubeletUnit: "k3s.service", ControlPlaneLabel: "a/b",
				CertificateDirectories: []string{"/var/lib/k0s/pki"}}
		},
		"kubeconfig beside its certificates": func(c *spec.Cluster) {
			c.Nodes = spec.Nodes{
				Kubeconfig: k3s + "/kubelet.kubeconfig", CertificateDirectories: []string{k3s},
			}
		},
	}
	shapes := map[spec.Topology]int{
		spec.HighlyAvailable: 3, spec.HighlyAvailableArbiter: 2, spec.DualReplica: 2,
		spec.SingleReplica: 1,
	}
	var list []node
	for _, platform := range platforms {
		for kind, change := range kinds {
			if kind == "without VIPs" && platform != spec.VSphere && platform != spec.Nutanix {
				continue // no such cluster
			}
			if slices.Contains([]string{"any Kubernetes", "hosts that boot", "routed", "both ways", "routed hosts that boot"}, kind) && platform != spec.BareMetal {
				continue // but for what else depends on the platform they are all alike
			}
			for topology, size := range shapes {
				c := served()
				c.Platform, c.Topology, c.ControlPlaneReplicas = platform, topology, size
				change(&c)
				p, err := plan.Compile(c)
				if err != nil {
					return nil, err
				}
				for _, r := range p.Roles()[1:] {
					n := node{
						name: fmt.Sprint(platform, " ", kind, " ", topology, " ", r), plan: p,
						role: r,
					}
					if err := n.fill(); err != nil {
						return nil, fmt.Errorf("%s: %w", n.name, err)
					}
					list = append(list, n)
				}
			}
		}
	}
	return list, nil
})

func (n *node) fill() error {
	set, err := Assets(n.plan, n.role)
	if err != nil {
		return err
	}
	n.tree, n.pods = set.Tree(), map[string]*corev1.Pod{}
	for _, f := range n.tree {
		if dir := path.Dir(f.Path); dir != manifests && dir != disabled {
			continue
		}
		if n.pods[f.Path], err = manifest.Pod(f.Contents); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// everywhere calls check with each kind of node of each kind of cluster.
func everywhere(t *testing.T, check func(t *testing.T, n node)) {
	t.Helper()
	list, err := nodes()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		t.Run(n.name, func(t *testing.T) { check(t, n) })
	}
}

// eachPod calls check with every pod of every node.
func eachPod(t *testing.T, check func(t *testing.T, n node, p *corev1.Pod)) {
	t.Helper()
	seen := 0
	everywhere(t, func(t *testing.T, n node) {
		for _, p := range n.pods {
			seen++
			check(t, n, p)
		}
	})
	if seen == 0 {
		t.Error("no pod was looked at")
	}
}

// eachContainer calls check with every container of every pod, those that prepare it too.
func eachContainer(t *testing.T, check func(t *testing.T, p *corev1.Pod, c corev1.Container)) {
	t.Helper()
	eachPod(t, func(t *testing.T, _ node, p *corev1.Pod) {
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			check(t, p, c)
		}
	})
}

// programs are the files that are executed; everything else is only read.
func isProgram(name string) bool {
	return name == "/usr/local/bin/onprem-install" ||
		path.Dir(name) == "/etc/kubernetes/static-pod-resources/keepalived/scripts" ||
		path.Dir(name) == "/etc/NetworkManager/dispatcher.d"
}

// TestModes holds that everybody on the node may read our files and run our scripts, and that no
// script loses the bit without which nobody runs it (P-08).
func TestModes(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		for _, f := range n.tree {
			want := 0o644
			if isProgram(f.Path) {
				want = 0o755
			}
			if int(f.Mode) != want {
				t.Errorf("%s has mode %v, want %04o", f.Path, f.Mode, want)
			}
			if script := bytes.HasPrefix(f.Contents, []byte("#!")); script != (want == 0o755) {
				t.Errorf("%s: a script %v, mode %v", f.Path, script, f.Mode)
			}
		}
	})
}

// TestNothingIsEmpty holds P-03, for manifests above all: an empty one upsets kubelet.
func TestNothingIsEmpty(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		for _, f := range n.tree {
			if len(bytes.TrimSpace(f.Contents)) == 0 {
				t.Errorf("%s is empty", f.Path)
			}
		}
	})
}

// TestNothingUnexpanded holds that no word of a template stands where a value should (K-05), and
// that nothing relabels the host's files (N-15).
func TestNothingUnexpanded(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		for _, f := range n.tree {
			for _, word := range []string{
				"{{", "}}", "<no value>", "%!", "cluster_uuid", ":z\n", ":Z\n", ":z ", ":Z ",
				",z\n", ",Z\n",
			} {
				if bytes.Contains(f.Contents, []byte(word)) {
					t.Errorf("%s holds %q", f.Path, word)
				}
			}
		}
	})
}

// apart holds that of containers which see each other's processes none may look into one that sees
// more of the host: the kernel allows it to who has every capability of the other.
func apart(t *testing.T, p *corev1.Pod) {
	t.Helper()
	for _, secret := range p.Spec.Containers {
		if !slices.ContainsFunc(secret.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == CertificateDirectories(plan.Plan{})[0]
		}) {
			continue
		}
		for _, other := range p.Spec.Containers {
			has := func(c corev1.Capability) bool {
				return slices.Contains(other.SecurityContext.Capabilities.Add, c)
			}
			if other.Name != secret.Name && !slices.ContainsFunc(
				secret.SecurityContext.Capabilities.Add,
				func(c corev1.Capability) bool { return !has(c) },
			) {
				t.Errorf(
					"%s can read what %s can, kubelet's credentials too", other.Name, secret.Name,
				)
			}
		}
	}
}

// confined holds that a container is no more than its capabilities let it be.
func confined(t *testing.T, c corev1.Container, want []corev1.Capability) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || s.Privileged != nil || s.AllowPrivilegeEscalation == nil ||
		*s.AllowPrivilegeEscalation {
		t.Fatalf("%s: may become more than it is: %+v", c.Name, s)
	}
	if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
		t.Errorf("%s can write to its root file system", c.Name)
	}
	if !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		!slices.Equal(s.Capabilities.Add, want) {
		t.Errorf("%s: capabilities %+v, want all dropped but %v", c.Name, s.Capabilities, want)
	}
	if s.RunAsUser != nil || s.SELinuxOptions != nil || s.SeccompProfile != nil {
		t.Errorf("%s has a confinement of its own: %+v", c.Name, s)
	}
}

// TestConfinement holds what no container of ours may be: privileged, with a capability that it
// does not use, or able to write to its image.
func TestConfinement(t *testing.T) {
	uses := map[string][]corev1.Capability{
		"keepalived": {"NET_ADMIN", "NET_RAW"}, // addresses; gratuitous ARP and VRRP
		// asks netfilter for the redirect; hears VRRP
		"keepalived-monitor": {"NET_ADMIN", "NET_RAW"},
		// makes FRR's daemons another user's and ends them; FRR starts with no less
		"speaker":         {"CHOWN", "KILL", "NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW", "SETGID", "SETUID", "SYS_ADMIN", "SYS_NICE"},
		"speaker-monitor": {"NET_ADMIN", "NET_RAW"}, // the same program as keepalived-monitor
		"haproxy-monitor": {"NET_ADMIN"},            // makes the redirect
		// closes a port that takes redirected connections alone
		"haproxy-prepare": {"NET_ADMIN"},
		"coredns":         {"NET_BIND_SERVICE"}, // port 53
		"coredns-monitor": {"KILL"},             // what CoreDNS has not
		// port 67; frames to hosts without an address; the neighbours of those
		"dnsmasq":         {"NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW"},
		"dnsmasq-monitor": {"NET_ADMIN", "NET_RAW"}, // the fence; other servers of the link
	}
	eachPod(t, func(t *testing.T, n node, p *corev1.Pod) {
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			want := uses[c.Name]
			if c.Name == speaker && (!slices.Contains(c.Command, "--real-time") || n.plan.BGP.Timing.DetectsMs >= 1000) {
				t.Errorf("%s: %q with a detection of %d ms", n.name, c.Command, n.plan.BGP.Timing.DetectsMs)
			}
			if c.Name == keepalived && n.plan.Timing.Model.RealTime {
				want = append(slices.Clip(want), "SYS_NICE")
			}
			confined(t, c, want)
		}
	})
	eachPod(t, func(t *testing.T, _ node, p *corev1.Pod) {
		s := p.Spec.SecurityContext
		if s == nil || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || s.RunAsUser == nil || *s.RunAsUser != 0 {
			t.Errorf("%s: %+v", p.Name, s)
		}
		if shared := p.Spec.ShareProcessNamespace; shared != nil && *shared {
			apart(t, p)
		}
		host := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.HostPath != nil
		})
		if spc := s.SELinuxOptions != nil && s.SELinuxOptions.Type == "spc_t"; spc != host {
			t.Errorf(
				"%s: host paths %v, SELinux %+v: a confined container cannot read the host's files",
				p.Name, host, s.SELinuxOptions,
			)
		}
		if p.Spec.HostPID || p.Spec.HostIPC {
			t.Errorf("%s sees the host's processes", p.Name)
		}
	})
}

// hostPaths are the directories of the host that pods see, with the reason; who may write stands
// behind it.
var hostPaths = map[string]struct {
	why     string
	writers []string
}{
	"/etc/onprem-infra":              {"what the cluster decided", nil},
	"/var/lib/kubelet/kubeconfig":    {"kubelet's kubeconfig", nil},
	"/var/lib/kubelet/pki":           {"kubelet's certificates, which kubelet replaces", nil},
	"/var/lib/kubelet/pod-resources": {"kubelet's pod-resources socket", nil},
	"/etc/kubernetes/kubelet.conf":   {"kubelet's kubeconfig, where it is there", nil},
	"/var/lib/k0s/pki":               {"certificates that the user lists", nil},
	k3s:                              {"certificates that the user lists, and the kubeconfig beside them", nil},
	"/run/nodeip-configuration":      {"the node's address as kubelet has it (K-19)", nil},
	"/var/lib/onprem-infra": {"what has to be known again after a reboot", []string{
		"keepalived-monitor", "speaker-monitor", "haproxy-prepare", "haproxy-monitor", "coredns-prepare",
		"coredns-monitor",
	}},
	"/etc/keepalived": {"keepalived.conf, for operators to read", []string{
		"keepalived",
	}},
	"/run/onprem-infra/keepalived": {"what keepalived's parent and its monitor say to each other, and the order to leave; what the monitor knows of its checks, wherever it runs", []string{"keepalived", "keepalived-monitor", "speaker-monitor"}},
	"/run/onprem-infra/speak":      {"what FRR's parent and the monitor say to each other, and the order to leave", []string{"speaker", "keepalived-monitor", "speaker-monitor"}},
	"/etc/onprem-infra-speaker":    {"the routers' passwords, for FRR's parent alone", nil},
	"/etc/haproxy": {"haproxy.cfg, for operators to read", []string{
		"haproxy-prepare", "haproxy-monitor",
	}},
	"/run/onprem-infra/haproxy": {"HAProxy's sockets, which outlive a reload", []string{
		"haproxy", "haproxy-prepare", "haproxy-monitor",
	}},
	"/etc/coredns": {"Corefile and hosts, for operators to read", []string{
		"coredns-prepare", "coredns-monitor",
	}},
	"/run/onprem-infra/mdns": {"what the host is called, as NetworkManager notes it (M-05)", nil},
	"/run/NetworkManager":    {"the name servers that NetworkManager has learnt", nil},
	"/run/systemd/resolve":   {"the name servers that systemd-resolved has learnt", nil},
}

// elsewhere are the directories of the host that have another path in a container, where the image
// has a directory of that name with files of its own (ND-03). All others are where the host has
// them, as both sides write their paths into configuration.
var elsewhere = map[string]string{vrrpd.HostDir: vrrpd.Dir}

// TestHostPaths holds that no pod sees more of the host than it has a reason to, and writes to
// nothing of it but what is its own.
func TestHostPaths(t *testing.T) {
	used := map[string]bool{}
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		for _, m := range c.VolumeMounts {
			v := p.Spec.Volumes[slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
				return v.Name == m.Name
			})]
			if v.HostPath == nil {
				if v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumMemory ||
					v.EmptyDir.SizeLimit == nil {
					t.Errorf("%s: the volume %s has the source %+v", p.Name, v.Name, v.VolumeSource)
				}
				continue
			}
			reason, ok := hostPaths[v.HostPath.Path]
			used[v.HostPath.Path] = true
			if !ok {
				t.Errorf(
					"%s sees %s of the host: say in this table why it must", c.Name,
					v.HostPath.Path,
				)
			}
			if !m.ReadOnly && !slices.Contains(reason.writers, c.Name) {
				t.Errorf("%s may write to %s of the host", c.Name, v.HostPath.Path)
			}
			// What is mounted there later, or made anew by a rename, must be seen: so directories,
			// and the host's mounts (P-07).
			if m.MountPropagation == nil ||
				*m.MountPropagation != corev1.MountPropagationHostToContainer {
				t.Errorf("%s does not see what the host mounts below %s", c.Name, v.HostPath.Path)
			}
			kind := corev1.HostPathDirectoryOrCreate
			if v.Name == "kubeconfig" { // beside it are an administrator's credentials and the keys of the cluster
				kind = corev1.HostPathFile
			}
			at := v.HostPath.Path
			if other, ok := elsewhere[at]; ok {
				at = other
			}
			if m.MountPath != at || m.SubPath != "" || *v.HostPath.Type != kind {
				t.Errorf(
					"%s: %s of the host, a %s, is at %s %s", c.Name, v.HostPath.Path,
					*v.HostPath.Type, m.MountPath, m.SubPath,
				)
			}
		}
	})
	for path := range hostPaths {
		if !used[path] && !t.Failed() {
			t.Errorf("%s is used by nobody: take it out of this table", path)
		}
	}
}

// TestMounted holds that the directories which a user cannot list are those that pods have, and
// that a file is seen where it is mounted.
func TestMounted(t *testing.T) {
	listed := []string{"/var/lib/k0s/pki", k3s}
	var want []string
	for path := range hostPaths {
		if !slices.Contains(listed, path) && path != "/var/lib/kubelet/kubeconfig" &&
			path != "/etc/kubernetes/kubelet.conf" {
			want = append(want, path)
		}
	}
	if got := name.Mounted(); !slices.Equal(
		slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)),
	) {
		t.Errorf("a user cannot list\n%v\nand pods have\n%v", got, want)
	}
	p := plan.Plan{Nodes: spec.Nodes{CertificateDirectories: listed}}
	for path, want := range map[string]bool{
		"/var/lib/kubelet/pki/a.pem": true, k3s + "/client-kubelet.crt": true,
		"/var/lib/k0s/pki/x/ca.crt": true,
		"/var/lib/k0s/pkis/ca.crt":  false, "/var/lib/kubelet/ca.crt": false,
		"/etc/kubernetes/pki/ca.crt": false,
	} {
		if Sees(p, path) != want {
			t.Errorf("monitors see %s: want %t", path, want)
		}
	}
}

// TestOwnRun holds that keepalived has a /run of its own: while it starts, 2.3.2 or later locks a
// file there, and ends if another keepalived of the host has locked it (ND-06). FRR's daemons have
// their sockets there, and another FRR of the host has the same ones.
func TestOwnRun(t *testing.T) {
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		if c.Name != keepalived && c.Name != speaker {
			return
		}
		own := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			volume := func(v corev1.Volume) bool { return v.Name == m.Name && v.EmptyDir != nil }
			return m.MountPath == "/run" && !m.ReadOnly &&
				slices.ContainsFunc(p.Spec.Volumes, volume)
		})
		if !own {
			t.Errorf("%s has the mounts %+v, and none is a /run of its own", c.Name, c.VolumeMounts)
		}
	})
}

// TestRoutersPasswords holds that one container alone sees the routers' passwords.
func TestRoutersPasswords(t *testing.T) {
	seen := 0
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		sees := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return path.Dir(spoken.PasswordsFile) == m.MountPath
		})
		if sees {
			seen++
		}
		if sees != (p.Name == speaker && c.Name == speaker) {
			t.Errorf("%s of %s sees the passwords: %v", c.Name, p.Name, sees)
		}
	})
	if seen == 0 {
		t.Error("none sees them")
	}
}

// TestMonitorOfVIPs holds that one container of a node decides about its VIPs, and that it and each
// daemon see the files that they have between them.
func TestMonitorOfVIPs(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		monitors := map[string]corev1.Container{}
		daemons := map[string]bool{}
		for _, p := range n.pods {
			for _, c := range p.Spec.Containers {
				if slices.Contains(c.Command, "vip") {
					monitors[c.Name] = c
				}
				daemons[c.Name] = true
			}
		}
		if want := daemons[keepalived] || daemons[speaker]; (len(monitors) == 1) != want || len(monitors) > 1 {
			t.Fatalf("%v of %v", monitors, daemons)
		}
		for name, c := range monitors {
			for _, dir := range []string{spoken.RunDir, "/run/onprem-infra/keepalived"} {
				if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == dir && !m.ReadOnly }) {
					t.Errorf("%s does not write to %s", name, dir)
				}
			}
		}
	})
}

// TestDecisionMounts holds K-19: what decides which address is the node's own must see what kubelet
// has been told, and every monitor the cluster's decisions, the way to the API and its memory.
func TestDecisionMounts(t *testing.T) {
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		asks := strings.HasSuffix(c.Name, "-monitor") || strings.HasSuffix(c.Name, "-prepare")
		if !asks || c.Name == "dnsmasq-monitor" { // whose orders follow from this host alone
			return
		}
		want := []string{
			"/run/nodeip-configuration", "/etc/onprem-infra", "/var/lib/kubelet/pki",
			"/var/lib/onprem-infra",
		}
		kubeconfig := func(m corev1.VolumeMount) bool {
			return m.Name == "kubeconfig" || m.MountPath == k3s
		}
		if i := slices.IndexFunc(c.VolumeMounts, kubeconfig); i < 0 ||
			slices.ContainsFunc(c.VolumeMounts[i+1:], kubeconfig) {
			t.Errorf("%s does not see one kubeconfig: %+v", c.Name, c.VolumeMounts)
		}
		for _, path := range want {
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
				return m.MountPath == path
			}) {
				t.Errorf("%s does not see %s", c.Name, path)
			}
		}
	})
}

// TestConventions holds what every static pod of a platform is.
func TestConventions(t *testing.T) {
	apps := map[string]string{
		keepalived: "vrrp", haproxy: "api-lb", coredns: "coredns", publisher: "mdns",
		boots: "provisioning", speaker: "bgp",
	}
	eachPod(t, func(t *testing.T, n node, p *corev1.Pod) {
		short, openShift := n.plan.Platform.Short(), n.plan.Distribution == spec.OpenShift
		if !openShift {
			short = "onprem"
		}
		if want := short + "-infra-" + apps[p.Name]; p.Labels["app"] != want || len(p.Labels) != 1 {
			t.Errorf("%s: labels %v, want app=%s", p.Name, p.Labels, want)
		}
		if p.Namespace != n.plan.Namespace || p.Namespace == "" || p.APIVersion != "v1" ||
			p.Kind != "Pod" {
			t.Errorf(
				"%s is a %s %s in namespace %q, want %q", p.Name, p.APIVersion, p.Kind, p.Namespace,
				n.plan.Namespace,
			)
		}
		if !openShift && len(p.Annotations) > 0 {
			t.Errorf("%s: annotations %v", p.Name, p.Annotations)
		}
		if openShift && p.Annotations["openshift.io/required-scc"] != "privileged" { // P-06
			t.Errorf("%s: any security context constraints may be laid on its mirror", p.Name)
		}
		if got := p.Annotations["target.workload.openshift.io/management"]; openShift &&
			got != `{"effect": "PreferredDuringScheduling"}` {
			t.Errorf("%s: annotation %q", p.Name, got)
		}
		if !p.Spec.HostNetwork || !slices.Equal(p.Spec.Tolerations, []corev1.Toleration{
			{Operator: corev1.TolerationOpExists},
		}) {
			t.Errorf(
				"%s: host network %v, tolerations %v", p.Name, p.Spec.HostNetwork,
				p.Spec.Tolerations,
			)
		}
		// kubelet's graceful shutdown sorts by the number (K-66), and the grace period of metadata
		// is the server's (W-25).
		if p.Spec.Priority == nil || *p.Spec.Priority != 2000001000 ||
			p.Spec.PriorityClassName != "system-node-critical" {
			t.Errorf(
				"%s: priority %v of class %q", p.Name, p.Spec.Priority, p.Spec.PriorityClassName,
			)
		}
		if p.Spec.TerminationGracePeriodSeconds == nil ||
			*p.Spec.TerminationGracePeriodSeconds != 65 || p.DeletionGracePeriodSeconds != nil {
			t.Errorf(
				"%s: grace period %v, in metadata %v", p.Name, p.Spec.TerminationGracePeriodSeconds,
				p.DeletionGracePeriodSeconds,
			)
		}
	})
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		if c.ImagePullPolicy != corev1.PullIfNotPresent ||
			c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
			t.Errorf(
				"%s: pulls %s, messages %s", c.Name, c.ImagePullPolicy, c.TerminationMessagePolicy,
			)
		}
		r := c.Resources // P-05
		if r.Requests.Cpu().String() != "100m" || r.Requests.Memory().String() != "200Mi" ||
			len(r.Requests) != 2 || len(r.Limits) != 0 {
			t.Errorf("%s: resources %+v", c.Name, r)
		}
		if c.Image == "" || len(c.Command) == 0 {
			t.Errorf("%s: image %q, command %q", c.Name, c.Image, c.Command)
		}
	})
}

// TestSecrets holds that no pod takes a secret along: a container's environment and command are for
// everybody to read.
func TestSecrets(t *testing.T) {
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		if len(c.Env) > 0 || len(c.EnvFrom) > 0 || slices.ContainsFunc(
			c.Command, func(w string) bool { return strings.Contains(w, "_vip") },
		) {
			t.Errorf("%s: environment %v, command %v", c.Name, c.Env, c.Command)
		}
		if p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken ||
			len(p.Spec.ImagePullSecrets) > 0 {
			t.Errorf("%s takes a token or a pull secret along", p.Name)
		}
	})
}
