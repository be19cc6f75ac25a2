package spec

import (
	"fmt"
	"strings"
	"testing"
)

// TestNodes holds each word to what reads it. What is refused says so at its place, and says what
// to write.
func TestNodes(t *testing.T) {
	for field, words := range map[string]struct{ good, bad []string }{
		"namespace": {
			[]string{"a", "onprem-infra", "1-2", strings.Repeat("a", 63)},
			[]string{"", "A", "a.b", "a_b", "-a", "a-", "a b", "a/b", "../a", strings.Repeat("a", 64)},
		},
		"kubeconfig": {
			[]string{"/var/lib/kubelet/kubeconfig", "/etc/kubernetes/kubelet.conf", "/root/.kube/config", "/a_1/b-2/c"},
			[]string{"", "a/b/c/d", "/", "/kubeconfig", "/etc/passwd", "/root/kubeconfig", "/a/b/c/", "/a/b//c", "/a/b/../c", "/a/b/./c", "/a/b/c:d", "/a/b/c d", "/a/b/%n", "/a/b/c\\n", "/a/b/c,d", "/a/b/$c", "/a/b/" + strings.Repeat("b", 4096)},
		},
		"kubeletUnit": {
			[]string{"kubelet.service", "k3s-agent.service", "snap.k8s.kubelet.service"},
			[]string{"", "kubelet", "kubelet.target", ".service", "-.service", "a b.service", "a@%i.service", "../a.service", "a.service b.service", strings.Repeat("a", 250) + ".service"},
		},
		"nodeLabels": {
			[]string{"a", "node-role.kubernetes.io/control-plane", "example.com/A_b.c"},
			[]string{"", "/a", "a/", "a/b/c", "a=b", "Example.com/a", "a,b", "!a", "a b", "-a", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "b/c"},
		},
	} {
		try := func(word string) (Cluster, Findings, string) {
			line, path := fmt.Sprintf("  %s: %q", field, word), "spec."+field
			if field == "nodeLabels" {
				line, path = fmt.Sprintf("  nodeLabels: {controlPlane: %q}", word), "spec.nodeLabels.controlPlane"
			}
			text := edit{"  platform: none", "  platform: none\n" + line}.of(t, goodCluster)
			cluster, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			return cluster, findings, path
		}
		for _, word := range words.good {
			cluster, findings, _ := try(word)
			got := map[string]string{
				"namespace": cluster.Nodes.Namespace, "kubeconfig": cluster.Nodes.Kubeconfig, "kubeletUnit": cluster.Nodes.KubeletUnit,
				"nodeLabels": cluster.Nodes.ControlPlaneLabel,
			}[field]
			if len(findings) > 0 || got != word {
				t.Errorf("%s %q: read as %q\n%s", field, word, got, lines(findings))
			}
		}
		for _, word := range words.bad {
			_, findings, path := try(word)
			if len(findings) != 1 || findings[0].Path != path || findings[0].Severity != Error || findings[0].Line != 8 {
				t.Errorf("%s %q: want one error at line 8, got\n%s", field, word, lines(findings))
			}
		}
	}
}

func TestNodeFindings(t *testing.T) {
	at := func(lines string) edit { return edit{"  platform: none", "  platform: none\n" + lines} }
	check(t, goodCluster, []findingCase{
		{"namespace", at("  namespace: Onprem Infra"), `c:8:14: error: spec.namespace: "Onprem Infra" is no name of a namespace: use lower-case letters, digits and inner hyphens only, at most 63, such as "onprem-infra"`},
		{"kubeconfig", at("  kubeconfig: kubelet.conf"), `c:8:15: error: spec.kubeconfig: "kubelet.conf" is no path of a file: write an absolute one of letters, digits, dots, hyphens and underscores, such as /etc/kubernetes/kubelet.conf`},
		{"kubeconfig in the root", at("  kubeconfig: /kubeconfig"), `c:8:15: error: spec.kubeconfig: "/kubeconfig" lies in /, and no pod is given as much of the host: write one in a directory of its own, such as /etc/kubernetes/kubelet.conf`},
		{"unit", at("  kubeletUnit: kubelet"), `c:8:16: error: spec.kubeletUnit: "kubelet" is no name of a service: write one such as kubelet.service`},
		{"label with a value", at("  nodeLabels:\n    controlPlane: a=b"), `c:9:19: error: spec.nodeLabels.controlPlane: "a=b" is no key of a label: write one such as node-role.kubernetes.io/control-plane, without a value`},
		{"label of another role", at("  nodeLabels:\n    worker: a"), `c:9:5: error: spec.nodeLabels.worker: there is no such field: remove it, or use one of controlPlane`},
		{"labels are a list", at("  nodeLabels: [a]"), `c:8:15: error: spec.nodeLabels: want a map, got a list: write a map here`},
		{"path is a number", at("  kubeconfig: 1"), `c:8:15: error: spec.kubeconfig: want a string, got a number: put it in quotes`},
	})
}

func TestShort(t *testing.T) {
	for p, want := range map[Platform]string{
		BareMetal: "kni", OpenStack: "openstack", OVirt: "ovirt", VSphere: "vsphere", Nutanix: "nutanix", None: "onprem",
	} {
		if got := p.Short(); got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
}
