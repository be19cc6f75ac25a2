package spec

import (
	"slices"
	"strings"
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
// not keep anybody from a socket), and what the image and the container runtime have at the same
// path.
var closed = []string{
	"/dev", "/etc/kubernetes/manifests", "/proc", "/run", "/sys", "/usr/bin", "/var/lib/containerd",
	"/var/lib/containers", "/var/lib/etcd", "/var/lib/kubelet/pods", "/var/run",
}

// Mounted are the directories of a host that no cluster needs to list.
func Mounted() []string { return slices.Clone(mounted) }

// certificates reads the directories of the files that the kubeconfig names.
func (r *reader) certificates(v value) (all []said[string]) {
	list, ok := r.list(v)
	if ok && len(list) == 0 {
		r.errorf(v.at, "has no directory: list those of the files that the kubeconfig names, or remove the field")
	}
	for _, e := range list {
		s := r.text(e)
		if !s.given {
			r.errorf(e.at, "is empty: write the path of a directory, or remove the line")
		}
		all = append(all, s)
	}
	return all
}

func values(all []said[string]) (list []string) {
	for _, s := range all {
		list = append(list, s.value)
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
		if !s.ok {
			continue
		}
		dir, q := s.value, quote(s.value)
		below := func(other string) bool { return Within(dir, other) }
		above := func(other string) bool { return Within(other, dir) }
		listed := func(other said[string]) bool { return other.ok && below(other.value) }
		before, after := n.certificates[:i], n.certificates[i+1:]
		switch {
		case !hostPath.MatchString(dir) || len(dir) >= maxPath:
			r.errorf(s.at, "%s is no path of a directory: write an absolute one of letters, digits, dots, hyphens and underscores, without a slash at its end, %s", q, such)
		case strings.Count(dir, "/") < 2:
			r.errorf(s.at, "%s is too much of the host for a pod: write the directory of the certificates itself, %s", q, such)
		case n.kubeconfig.ok && below(n.kubeconfig.value):
			r.errorf(s.at, "%s is the kubeconfig, or below it: write the directory of the certificates that it names, %s", q, such)
		case slices.ContainsFunc(mounted, below):
			r.errorf(s.at, "%s is in %s, which pods have already: remove it", q, mounted[slices.IndexFunc(mounted, below)])
		case slices.ContainsFunc(closed, below):
			r.errorf(s.at, "%s is in %s, of which no pod is given anything: write a directory of certificates alone, %s", q, closed[slices.IndexFunc(closed, below)], such)
		case slices.ContainsFunc(mounted, above), slices.ContainsFunc(closed, above):
			all := slices.Concat(mounted, closed)
			r.errorf(s.at, "%s contains %s, and pods are given no more of it: write the directory of the certificates itself, %s", q, all[slices.IndexFunc(all, above)], such)
		case slices.ContainsFunc(before, listed):
			r.errorf(s.at, "%s is in %s, which is listed before it: remove it", q, quote(before[slices.IndexFunc(before, listed)].value))
		case slices.ContainsFunc(after, func(o said[string]) bool { return listed(o) && o.value != dir }):
			i := slices.IndexFunc(after, func(o said[string]) bool { return listed(o) && o.value != dir })
			r.errorf(s.at, "%s is in %s, which is listed after it: remove it", q, quote(after[i].value))
		}
	}
}
