package spec

import (
	"path"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// nodes is what a cluster.yaml says of its nodes.
type nodes struct {
	namespace, kubeconfig, kubeletUnit, controlPlane said[string]

	certificates []said[string]
}

func (n nodes) said() Nodes {
	return Nodes{
		Namespace: n.namespace.value, Kubeconfig: n.kubeconfig.value, KubeletUnit: n.kubeletUnit.value, ControlPlaneLabel: n.controlPlane.value,
		CertificateDirectories: values(n.certificates),
	}
}

func (r *reader) nodes(spec object) nodes {
	labels := r.object(spec.get("nodeLabels"))
	r.fields(labels, "controlPlane")
	return nodes{
		namespace:    r.text(spec.get("namespace")),
		kubeconfig:   r.text(spec.get("kubeconfig")),
		certificates: r.certificates(spec.get("certificateDirectories")),
		kubeletUnit:  r.text(spec.get("kubeletUnit")),
		controlPlane: r.text(labels.get("controlPlane")),
	}
}

// hostPath is a path that means the same in a unit, a pod and a shell: nothing in it is a separator
// or a sign of theirs.
var hostPath = regexp.MustCompile(`^(/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

// maxPath is what Linux takes for a path, its end included.
const maxPath = 4096

// service is a unit's name without anything that systemd reads as more than a name.
var service = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.service$`)

// maxUnit is the longest name of a unit (systemd.unit(5)).
const maxUnit = 255

// labelKey is the name of a label, without what may stand before its slash.
var labelKey = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// checkNodes holds each word to the grammar of what reads it: Kubernetes, systemd, the kernel.
func (r *report) checkNodes(n nodes) {
	if s := n.namespace; s.ok && (!isLabel(s.value) || s.value != strings.ToLower(s.value)) {
		r.errorf(s.at, "%s is no name of a namespace: use lower-case letters, digits and inner hyphens only, at most %d%s", quote(s.value), maxLabel,
			suggest(labelLike(strings.ToLower(s.value))))
	}
	switch s := n.kubeconfig; {
	case s.ok && (!hostPath.MatchString(s.value) || len(s.value) >= maxPath):
		r.errorf(s.at, "%s is no path of a file: write an absolute one of letters, digits, dots, hyphens and underscores, such as /etc/kubernetes/kubelet.conf", quote(s.value))
	case s.ok && strings.Count(s.value, "/") < 3: // pods get its directory, as a file that is replaced would stay the old one there
		r.errorf(s.at, "%s lies in %s, and no pod is given as much of the host: write one in a directory of its own, such as /etc/kubernetes/kubelet.conf",
			quote(s.value), path.Dir(s.value))
	}
	r.checkCertificates(n)
	if s := n.kubeletUnit; s.ok && (!service.MatchString(s.value) || len(s.value) > maxUnit) {
		r.errorf(s.at, "%s is no name of a service: write one such as kubelet.service", quote(s.value))
	}
	if s := n.controlPlane; s.ok && !isLabelKey(s.value) {
		r.errorf(s.at, "%s is no key of a label: write one such as node-role.kubernetes.io/control-plane, without a value", quote(s.value))
	}
}

func isLabelKey(s string) bool {
	prefix, name, ok := strings.Cut(s, "/")
	if !ok {
		return labelKey.MatchString(s)
	}
	domain, err := record.ParseName(prefix)
	return err == nil && string(domain) == prefix && labelKey.MatchString(name)
}
