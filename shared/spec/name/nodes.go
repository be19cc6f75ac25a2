package name

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Nodes is a cluster.yaml's settings of its nodes.
type Nodes struct {
	Namespace, Kubeconfig, KubeletUnit, ControlPlane document.Scalar[string]

	Certificates []document.Scalar[string]
}

// ReadNodes reads them out of the map that they stand in.
func ReadNodes(r *document.Reader, spec document.Map) Nodes {
	labels := r.Map(spec.Get("nodeLabels"))
	r.Known(labels, "controlPlane")
	return Nodes{
		Namespace:    r.Text(spec.Get("namespace")),
		Kubeconfig:   r.Text(spec.Get("kubeconfig")),
		Certificates: readCertificates(r, spec.Get("certificateDirectories")),
		KubeletUnit:  r.Text(spec.Get("kubeletUnit")),
		ControlPlane: r.Text(labels.Get("controlPlane")),
	}
}

// hostPath is a path that means the same in a unit, a pod and a shell: nothing in it is a separator
// or a sign of theirs.
var hostPath = regexp.MustCompile(`^(/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

// maxPath is how long a path may be in Linux, in bytes with its final NUL.
const maxPath = 4096

func isPath(s string) bool { return hostPath.MatchString(s) && len(s) < maxPath }

// service is a unit's name without anything that systemd reads as more than a name.
var service = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.service$`)

// maxUnit is the longest name of a unit (systemd.unit(5)).
const maxUnit = 255

// labelKey is the name of a label, without what may stand before its slash.
var labelKey = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// Check holds each word to the grammar of what reads it: Kubernetes, systemd, the kernel.
func (n Nodes) Check(r *document.Report) {
	r.Refuse(n.Namespace, noNamespace(n.Namespace.Value))
	r.Refuse(n.Kubeconfig, noKubeconfig(n.Kubeconfig.Value))
	n.checkCertificates(r)
	if s := n.KubeletUnit; !service.MatchString(s.Value) || len(s.Value) > maxUnit {
		r.Refuse(s, "is no name of a service: write one such as kubelet.service")
	}
	if s := n.ControlPlane; !isLabelKey(s.Value) {
		r.Refuse(s, "is no key of a label: write one such as "+
			"node-role.kubernetes.io/control-plane, without a value")
	}
}

func noNamespace(s string) string {
	lower := strings.ToLower(s)
	if isLabel(s) && s == lower {
		return ""
	}
	return fmt.Sprintf("is no name of a namespace: use lower-case letters, digits and inner "+
		"hyphens only, at most %d%s", MaxLabel, suggest(lower))
}

func noKubeconfig(s string) string {
	switch {
	case !isPath(s):
		return "is no path of a file: write an absolute one of letters, digits, dots, hyphens " +
			"and underscores, such as /etc/kubernetes/kubelet.conf"
	// Pods get its directory: with the file alone they would keep the old one after a change.
	case strings.Count(s, "/") < 3:
		return fmt.Sprintf("lies in %s, and no pod is given as much of the host: write one in a "+
			"directory of its own, such as /etc/kubernetes/kubelet.conf", path.Dir(s))
	}
	return ""
}

func isLabelKey(s string) bool {
	prefix, name, ok := strings.Cut(s, "/")
	if !ok {
		return labelKey.MatchString(s)
	}
	domain, err := record.ParseName(prefix)
	return err == nil && string(domain) == prefix && labelKey.MatchString(name)
}
