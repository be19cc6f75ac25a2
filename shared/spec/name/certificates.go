package name

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// mounted are the directories of a host that its pods have in any case.
var mounted = []string{
	"/etc/coredns", "/etc/haproxy", "/etc/keepalived", "/etc/onprem-infra",
	"/etc/onprem-infra-speaker",
	"/run/NetworkManager", "/run/nodeip-configuration", "/run/onprem-infra/haproxy",
	"/run/onprem-infra/keepalived", "/run/onprem-infra/mdns", "/run/onprem-infra/speak",
	"/run/systemd/resolve",
	"/var/lib/kubelet/pki", "/var/lib/kubelet/pod-resources", "/var/lib/onprem-infra",
}

// closed are directories that no pod of ours is given anything of: the secrets of all pods, what
// kubelet starts, the sockets and data of container runtimes and of etcd (a read-only mount does
// not protect a socket), and what the image and the container runtime have at the same path.
var closed = []string{
	"/dev", "/etc/kubernetes/manifests", "/proc", "/run", "/sys", "/usr/bin", "/var/lib/containerd",
	"/var/lib/containers", "/var/lib/etcd", "/var/lib/kubelet/pods", "/var/run",
}

// Mounted are the directories of a host that no cluster needs to list.
func Mounted() []string { return slices.Clone(mounted) }

// readCertificates reads the directories of the files that the kubeconfig names.
func readCertificates(r *document.Reader, v document.Value) (all []document.Scalar[string]) {
	list, ok := r.List(v)
	if ok && len(list) == 0 {
		r.Errorf(v.At, "has no directory: list those of the files that the kubeconfig names, or "+
			"remove the field")
	}
	for _, e := range list {
		s := r.Text(e)
		if !s.Given {
			r.Errorf(e.At, "is empty: write the path of a directory, or remove the line")
		}
		all = append(all, s)
	}
	return all
}

// Within reports whether a path is a directory, or lies below it.
func Within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// checkCertificates checks that the monitors' pods get nothing of a host but certificates, and
// each directory once.
func (n Nodes) checkCertificates(r *document.Report) {
	listed := map[string]int{} // the first of each
	for i, s := range slices.Backward(n.Certificates) {
		listed[s.Value] = i
	}
	for i, s := range n.Certificates {
		why := n.noCertificates(s.Value)
		if why == "" {
			j := i // the first listed directory that this one is in
			for dir := s.Value; dir != "/"; dir = path.Dir(dir) {
				if k, ok := listed[dir]; ok && k != i && (j == i || k < j) {
					j = k
				}
			}
			if j != i {
				why = fmt.Sprintf("is in %s, which is listed %s it: remove it",
					document.Quote(n.Certificates[j].Value),
					map[bool]string{true: "before", false: "after"}[j < i])
			}
		}
		r.Refuse(s, why)
	}
}

// noCertificates is why pods cannot get a directory; empty if they can.
func (n Nodes) noCertificates(dir string) string {
	const such = "such as /etc/kubernetes/pki"
	within := func(other string) bool { return Within(dir, other) }
	has := slices.IndexFunc(mounted, within)
	shut := slices.IndexFunc(closed, within)
	all := slices.Concat(mounted, closed)
	inside := slices.IndexFunc(all, func(other string) bool { return Within(other, dir) })
	switch {
	case !isPath(dir):
		return "is no path of a directory: write an absolute one of letters, digits, dots, " +
			"hyphens and underscores, without a slash at its end, " + such
	case strings.Count(dir, "/") < 2:
		return "is too much of the host for a pod: write the directory of the certificates " +
			"itself, " + such
	case n.Kubeconfig.OK && within(n.Kubeconfig.Value):
		return "is the kubeconfig, or below it: write the directory of the certificates that it " +
			"names, " + such
	case has >= 0:
		return fmt.Sprintf("is in %s, which pods have already: remove it", mounted[has])
	case shut >= 0:
		return fmt.Sprintf("is in %s, of which no pod is given anything: write a directory of "+
			"certificates alone, %s", closed[shut], such)
	case inside >= 0:
		return fmt.Sprintf("contains %s, and pods are given no more of it: write the directory "+
			"of the certificates itself, %s", all[inside], such)
	}
	return ""
}
