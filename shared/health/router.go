package health

import "regexp"

// The namespace of an OpenShift cluster's routers, and the service whose endpoints are the ready
// default ones.
const (
	RouterNamespace = "openshift-ingress"
	RouterService   = "router-internal-default"
)

// defaultRouter is a pod of the Deployment router-default: the hash of its template, of 5 to 10
// characters as Kubernetes has grown, and the pod's own suffix. The router of another
// IngressController has one part more, as in router-default-internal-5d9f8c7b6d-x7k2p.
var defaultRouter = regexp.MustCompile(`^router-default-[a-z0-9]{5,10}-[a-z0-9]{5,}$`)

// IsDefaultRouter reports whether a pod is one of the routers that the ingress VIP leads to.
func IsDefaultRouter(namespace, name string) bool {
	return namespace == RouterNamespace && defaultRouter.MatchString(name)
}
