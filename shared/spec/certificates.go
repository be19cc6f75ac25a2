package spec

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// mounted are the directories of a host that its pods have in any case.
var mounted = []string{
	"/etc/coredns", "/etc/haproxy", "/etc/keepalived", "/etc/onprem-infra",
	"/run/NetworkManager", "/run/nodeip-configuration", "/run/onprem-infra/haproxy",
	"/run/onprem-infra/keepalived", "/run/onprem-infra/mdns", "/run/systemd/resolve",
	"/var/lib/kubelet/pki", "/var/lib/kubelet/pod-resources", "/var/lib/onprem-infra",
}

// closed are directories that no pod of ours is given anything of: the secrets of all pods, what
// kubelet starts, the sockets and data of container runtimes and of etcd (a read-only mount does
// not protect a socket), and what the image and the container runtime have at the same
// path.
var closed = []string{
	"/dev", "/etc/kubernetes/manifests", "/proc", "/run", "/sys", "/usr/bin", "/var/lib/containerd",
	"/var/lib/containers", "/var/lib/etcd", "/var/lib/kubelet/pods", "/var/run",
}

// Mounted are the directories of a host that no cluster needs to list.
func Mounted() []string { return slices.Clone(mounted) }

// certificates reads the directories of the files that the kubeconfig names.
func (r *reader) certificates(v document.Value) (all []document.Scalar[string]) {
	list, ok := r.List(v)
	if ok && len(list) == 0 {
		r.Errorf(v.At,
			"has no directory: list those of the files that the kubeconfig names, or remove the "+
				"field")
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

func values(all []document.Scalar[string]) (list []string) {
	for _, s := range all {
		list = append(list, s.Value)
	}
	return list
}

// Within reports whether a path is a directory, or lies below it.
func Within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// checkCertificates holds that the monitors' pods get no more of a host than certificates, and each
// of it once.
func (r *report) checkCertificates(n nodes) {
	const such = "such as /etc/kubernetes/pki"
	for i, s := range n.certificates {
		if !s.OK {
			continue
		}
		dir, q := s.Value, document.Quote(s.Value)
		below := func(other string) bool { return Within(dir, other) }
		above := func(other string) bool { return Within(other, dir) }
		listed := func(other document.Scalar[string]) bool { return other.OK && below(other.Value) }
		before, after := n.certificates[:i], n.certificates[i+1:]
		switch {
		case !hostPath.MatchString(dir) || len(dir) >= maxPath:
			r.Errorf(s.At, "%s is no path of a directory: write an absolute one of letters, "+
				"digits, dots, hyphens and underscores, without a slash at its end, %s", q, such)
		case strings.Count(dir, "/") < 2:
			r.Errorf(s.At, "%s is too much of the host for a pod: write the directory of the "+
				"certificates itself, %s", q, such)
		case n.kubeconfig.OK && below(n.kubeconfig.Value):
			r.Errorf(s.At, "%s is the kubeconfig, or below it: write the directory of the "+
				"certificates that it names, %s", q, such)
		case slices.ContainsFunc(mounted, below):
			r.Errorf(s.At, "%s is in %s, which pods have already: remove it", q,
				mounted[slices.IndexFunc(mounted, below)])
		case slices.ContainsFunc(closed, below):
			r.Errorf(s.At, "%s is in %s, of which no pod is given anything: write a directory of "+
				"certificates alone, %s", q, closed[slices.IndexFunc(closed, below)], such)
		case slices.ContainsFunc(mounted, above), slices.ContainsFunc(closed, above):
			all := slices.Concat(mounted, closed)
			r.Errorf(s.At, "%s contains %s, and pods are given no more of it: write the "+
				"directory of the certificates itself, %s", q, all[slices.IndexFunc(all, above)],
				such)
		case slices.ContainsFunc(before, listed):
			r.Errorf(s.At, "%s is in %s, which is listed before it: remove it", q,
				document.Quote(before[slices.IndexFunc(before, listed)].Value))
		case slices.ContainsFunc(after,
			func(o document.Scalar[string]) bool { return listed(o) && o.Value != dir }):
			i := slices.IndexFunc(after,
				func(o document.Scalar[string]) bool { return listed(o) && o.Value != dir })
			r.Errorf(s.At, "%s is in %s, which is listed after it: remove it", q,
				document.Quote(after[i].Value))
		}
	}
}
