package spec

import (
	"path"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// nodes is a cluster.yaml's settings of its nodes.
type nodes struct {
	namespace, kubeconfig, kubeletUnit, controlPlane document.Scalar[string]

	certificates []document.Scalar[string]
}

func (n nodes) checked() Nodes {
	return Nodes{
		Namespace: n.namespace.Value, Kubeconfig: n.kubeconfig.Value,
		KubeletUnit: n.kubeletUnit.Value, ControlPlaneLabel: n.controlPlane.Value,
		CertificateDirectories: values(n.certificates),
	}
}

func (r *reader) nodes(spec document.Map) nodes {
	labels := r.Map(spec.Get("nodeLabels"))
	r.Known(labels, "controlPlane")
	return nodes{
		namespace:    r.Text(spec.Get("namespace")),
		kubeconfig:   r.Text(spec.Get("kubeconfig")),
		certificates: r.certificates(spec.Get("certificateDirectories")),
		kubeletUnit:  r.Text(spec.Get("kubeletUnit")),
		controlPlane: r.Text(labels.Get("controlPlane")),
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
	if s := n.namespace; s.OK && (!isLabel(s.Value) || s.Value != strings.ToLower(s.Value)) {
		r.Errorf(s.At, "%s is no name of a namespace: use lower-case letters, digits and inner "+
			"hyphens only, at most %d%s", document.Quote(s.Value), maxLabel,
			suggest(labelLike(strings.ToLower(s.Value))))
	}
	switch s := n.kubeconfig; {
	case s.OK && (!hostPath.MatchString(s.Value) || len(s.Value) >= maxPath):
		r.Errorf(s.At, "%s is no path of a file: write an absolute one of letters, digits, dots, "+
			"hyphens and underscores, such as /etc/kubernetes/kubelet.conf",
			document.Quote(s.Value))
	case s.OK && strings.Count(s.Value, "/") < 3: // pods get its directory, as a file that is replaced would stay the old one there
		r.Errorf(s.At, "%s lies in %s, and no pod is given as much of the host: write one in a "+
			"directory of its own, such as /etc/kubernetes/kubelet.conf",
			document.Quote(s.Value), path.Dir(s.Value))
	}
	r.checkCertificates(n)
	if s := n.kubeletUnit; s.OK && (!service.MatchString(s.Value) || len(s.Value) > maxUnit) {
		r.Errorf(s.At, "%s is no name of a service: write one such as kubelet.service",
			document.Quote(s.Value))
	}
	if s := n.controlPlane; s.OK && !isLabelKey(s.Value) {
		r.Errorf(s.At, "%s is no key of a label: write one such as "+
			"node-role.kubernetes.io/control-plane, without a value", document.Quote(s.Value))
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
