package cluster

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// access is the name of each object that gives nodes a right.
const access = "onprem-infra-nodes"

// kubelets is the group of every kubelet. What runs on a node asks the API with its kubelet's credentials, so each right that it needs is one of
// this group: RBAC knows no group of control plane nodes alone.
const kubelets = "system:nodes"

// read is what a watch needs that lists once.
func read() []string { return []string{"get", "list", "watch"} }

// Objects are the cluster's own: what must exist once, whatever nodes there are. Each can be applied by itself, in this order.
func Objects(p plan.Plan) []object.Object {
	objects := []object.Object{namespace(p)}
	objects = append(objects, seeNodes()...)
	objects = append(objects, keepNotices(p)...)
	if p.Flavour().Routers {
		objects = append(objects, seeRouters()...)
	}
	return objects
}

// namespace lets pods use the host's network and files, and be placed on the CPUs that are set apart for the cluster's own work.
func namespace(p plan.Plan) object.Object {
	const level = "privileged"
	return object.Namespace{Head: object.Head{APIVersion: object.Core, Kind: "Namespace", Metadata: object.Meta{
		Name:        p.Namespace,
		Annotations: p.Flavour().NamespaceAnnotations,
		Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/audit": level, "pod-security.kubernetes.io/warn": level,
		},
	}}}
}

// seeNodes lets kubelets read all Nodes. An API that authorizes nodes by selector shows a kubelet its own Node alone.
func seeNodes() []object.Object {
	return grant("Cluster", "", object.Rule{APIGroups: []string{object.CoreGroup}, Resources: []string{"nodes"}, Verbs: read()})
}

// keepNotices lets kubelets read our two objects and keep the list of candidates. The right to create knows no names. The bootstrap machine's
// object is written with an administrator's credentials; where there is none a control plane node creates it, as that of a machine that is gone, so
// that no kubelet can create another.
func keepNotices(p plan.Plan) []object.Object {
	rule := func(verbs []string, names ...string) object.Rule {
		return object.Rule{APIGroups: []string{object.CoreGroup}, Resources: []string{"configmaps"}, ResourceNames: names, Verbs: verbs}
	}
	return grant("", p.Namespace, rule(read(), notice.Candidates, notice.Bootstrap), rule([]string{"update"}, notice.Candidates), rule([]string{"create"}))
}

// seeRouters lets kubelets read on which nodes the routers are ready.
func seeRouters() []object.Object {
	return grant("", health.RouterNamespace, object.Rule{APIGroups: []string{object.DiscoveryGroup}, Resources: []string{"endpointslices"}, Verbs: read()})
}

// grant gives kubelets rights: in a namespace, or everywhere by objects whose kinds begin with Cluster.
func grant(scope, namespace string, rules ...object.Rule) []object.Object {
	about := func(kind string) object.Head {
		return object.Head{APIVersion: object.RBAC, Kind: scope + kind, Metadata: object.Meta{Namespace: namespace, Name: access}}
	}
	return []object.Object{
		object.Role{Head: about("Role"), Rules: rules},
		object.Binding{
			Head:     about("RoleBinding"),
			Subjects: []object.Subject{{APIGroup: object.RBACGroup, Kind: "Group", Name: kubelets}},
			RoleRef:  object.RoleRef{APIGroup: object.RBACGroup, Kind: scope + "Role", Name: access},
		},
	}
}
