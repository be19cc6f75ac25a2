package cluster

import (
	"maps"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// access is the name of each object that gives nodes a right.
const access = "onprem-infra-nodes"

// kubelets is the group of every kubelet.
const kubelets = "system:nodes"

// Objects are the objects that must exist once in a cluster, in the order of application.
func Objects(p plan.Plan) []object.Object {
	return append([]object.Object{namespace(p, p.Namespace)}, Grants(p)...)
}

// Grants are the objects that give Rights: a role and its binding for each namespace.
func Grants(p plan.Plan) (objects []object.Object) {
	var rules []object.Rule
	all := Rights(p)
	for i, r := range all {
		rules = append(rules, r.rule())
		if i+1 < len(all) && all[i+1].Namespace == r.Namespace {
			continue
		}
		scope := ""
		if r.Namespace == "" {
			scope = "Cluster"
		}
		objects = append(objects, grant(scope, r.Namespace, rules...)...)
		rules = nil
	}
	return objects
}

// namespace lets pods use the host's network and files, and run on the CPUs that are reserved for
// the cluster's own work.
func namespace(p plan.Plan, name string) object.Object {
	const level = "privileged"
	labels := map[string]string{
		"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/audit": level,
		"pod-security.kubernetes.io/warn": level,
	}
	maps.Copy(labels, p.Flavour().NamespaceLabels)
	return object.Namespace{Head: object.Head{APIVersion: object.Core, Kind: "Namespace",
		Metadata: object.Meta{
			Name:        name,
			Annotations: p.Flavour().NamespaceAnnotations,
			Labels:      labels,
		}}}
}

// grant gives kubelets rights: in a namespace, or, with scope Cluster, everywhere.
func grant(scope, namespace string, rules ...object.Rule) []object.Object {
	about := func(kind string) object.Head {
		return object.Head{APIVersion: object.RBAC, Kind: scope + kind, Metadata: object.Meta{
			Namespace: namespace, Name: access,
		}}
	}
	return []object.Object{
		object.Role{Head: about("Role"), Rules: rules},
		object.Binding{
			Head:     about("RoleBinding"),
			Subjects: []object.Subject{{APIGroup: object.RBACGroup, Kind: "Group", Name: kubelets}},
			RoleRef: object.RoleRef{
				APIGroup: object.RBACGroup, Kind: scope + "Role", Name: access,
			},
		},
	}
}
