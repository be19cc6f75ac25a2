package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// TestCertificateDirectories holds what a user may have mounted into the monitors' pods.
func TestCertificateDirectories(t *testing.T) {
	for _, good := range [][]string{
		{"/etc/kubernetes/pki"}, {"/var/lib/k0s/pki", "/var/lib/k0s/kubelet/pki"}, {"/var/lib/rancher/k3s/agent"},
		{"/var/lib/kubelet/certificates"}, {"/a/b", "/a/b-c", "/a/c"}, {"/root/.kube"},
	} {
		text := edit{"  platform: none", fmt.Sprintf("  platform: none\n  certificateDirectories: [%s]", strings.Join(good, ", "))}.of(t, goodCluster)
		cluster, findings := Parse("c", []byte(text), Knobs{})
		if got := cluster.Nodes.CertificateDirectories; len(findings) > 0 || !slices.Equal(got, good) {
			t.Errorf("%q is read as %q\n%s", good, got, lines(findings))
		}
	}
	bad := []string{
		"/", "/etc", "/var", "/var/lib", "/etc/kubernetes", "/usr", "/usr/bin", "/run/systemd", "/proc/1", "/sys/fs", "/dev/shm",
		"/var/lib/kubelet", "/var/lib/kubelet/pods", "/var/lib/kubelet/pods/1/volumes",
		"/run/podman", "/run/containerd", "/run/crio", "/var/run/onprem-infra/keepalived",
		"/var/lib/etcd", "/var/lib/etcd/member", "/var/lib/containers/storage", "/var/lib/containerd/x",
		"", "pki", "./pki/a", "/a/b/", "/a//b", "/a/../b", "/a/./b", "/a/b:c", "/a/b,c", "/a/b c", "/a/b/" + strings.Repeat("c", 4096),
	}
	for _, dir := range name.Mounted() {
		bad = append(bad, dir, dir+"/a")
	}
	for _, dir := range bad {
		text := edit{"  platform: none", fmt.Sprintf("  platform: none\n  certificateDirectories: [%q]", dir)}.of(t, goodCluster)
		_, findings := Parse("c", []byte(text), Knobs{})
		if len(findings) != 1 || findings[0].Path != "spec.certificateDirectories[0]" || findings[0].Severity != Error || findings[0].Line != 8 {
			t.Errorf("%q: want one error at line 8, got\n%s", dir, lines(findings))
		}
	}
}

func TestCertificateFindings(t *testing.T) {
	at := func(line string) edit { return edit{"  platform: none", "  platform: none\n" + line} }
	const field = "  certificateDirectories: "
	check(t, goodCluster, []findingCase{
		{"relative", at(field + "[pki]"), `c:8:28: error: spec.certificateDirectories[0]: "pki" is no path of a directory: write an absolute one of letters, digits, dots, hyphens and underscores, without a slash at its end, such as /etc/kubernetes/pki`},
		{"the root", at(field + "[/etc]"), `c:8:28: error: spec.certificateDirectories[0]: "/etc" is too much of the host for a pod: write the directory of the certificates itself, such as /etc/kubernetes/pki`},
		{"all of kubelet's", at(field + "[/var/lib/kubelet]"), `c:8:28: error: spec.certificateDirectories[0]: "/var/lib/kubelet" contains /var/lib/kubelet/pki, and pods are given no more of it: write the directory of the certificates itself, such as /etc/kubernetes/pki`},
		{"all of Kubernetes'", at(field + "[/etc/kubernetes]"), `c:8:28: error: spec.certificateDirectories[0]: "/etc/kubernetes" contains /etc/kubernetes/manifests, and pods are given no more of it: write the directory of the certificates itself, such as /etc/kubernetes/pki`},
		{"mounted", at(field + "[/var/lib/kubelet/pki]"), `c:8:28: error: spec.certificateDirectories[0]: "/var/lib/kubelet/pki" is in /var/lib/kubelet/pki, which pods have already: remove it`},
		{"closed", at(field + "[/proc/1/fd]"), `c:8:28: error: spec.certificateDirectories[0]: "/proc/1/fd" is in /proc, of which no pod is given anything: write a directory of certificates alone, such as /etc/kubernetes/pki`},
		{"twice", at(field + "[/a/b, /a/b]"), `c:8:34: error: spec.certificateDirectories[1]: "/a/b" is in "/a/b", which is listed before it: remove it`},
		{"inner second", at(field + "[/a/b, /a/b/c]"), `c:8:34: error: spec.certificateDirectories[1]: "/a/b/c" is in "/a/b", which is listed before it: remove it`},
		{"inner first", at(field + "[/a/b/c, /a/b]"), `c:8:28: error: spec.certificateDirectories[0]: "/a/b/c" is in "/a/b", which is listed after it: remove it`},
		{"inner of two", at(field + "[/a/b/c, /a/b/c/d, /a/b]"), `c:8:28: error: spec.certificateDirectories[0]: "/a/b/c" is in "/a/b", which is listed after it: remove it
c:8:36: error: spec.certificateDirectories[1]: "/a/b/c/d" is in "/a/b/c", which is listed before it: remove it`},
		{"the kubeconfig", at("  kubeconfig: /a/b/c\n" + field + "[/a/b/c]"), `c:9:28: error: spec.certificateDirectories[0]: "/a/b/c" is the kubeconfig, or below it: write the directory of the certificates that it names, such as /etc/kubernetes/pki`},
		{"none", at(field + "[]"), `c:8:27: error: spec.certificateDirectories: has no directory: list those of the files that the kubeconfig names, or remove the field`},
		{"an empty one", at(field + "[null]"), `c:8:28: error: spec.certificateDirectories[0]: is empty: write the path of a directory, or remove the line`},
		{"no list", at(field + "/a/b"), `c:8:27: error: spec.certificateDirectories: want a list, got a string: write a list here`},
		{"a number", at(field + "[1]"), `c:8:28: error: spec.certificateDirectories[0]: want a string, got a number: put it in quotes`},
	})
}
