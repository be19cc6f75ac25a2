package cluster

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Right is something that nodes may do in the cluster's API because Objects say so. What runs on a
// node asks the API with its kubelet's credentials, so each right is one of the group of all
// kubelets: RBAC knows no group of control plane nodes alone. README.md says of each what the worst
// is that a kubelet can do with it.
type Right struct {
	Verbs           []string
	Group, Resource string
	Namespace       string      // empty: everywhere
	Names           []string    // none: whatever they are called
	Roles           []role.Role // that need it
	Without         string      // what a node does that lacks it
}

// read is what a watch needs that lists once.
func read() []string { return []string{"get", "list", "watch"} }

// Rights are all, those of one namespace beside each other. Nobody may create an object or delete
// one: with either a kubelet could speak for a bootstrap machine that has left.
func Rights(p plan.Plan) []Right {
	all := []Right{
		{
			Verbs: read(), Group: object.CoreGroup, Resource: "nodes", Roles: role.Nodes(),
			Without: "it knows no other node: the peers and servers of an earlier run stay, and a node without any takes no VIP",
		}, {
			Verbs: read(), Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace, Names: []string{notice.Bootstrap},
			Roles: []role.Role{role.Master},
			Without: "it sends the bootstrap machine no adverts, and accepts the API VIP's adverts of unknown routers until it has held" +
				" that VIP for a minute",
		}, {
			Verbs: read(), Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace, Names: []string{notice.Candidates},
			Roles:   []role.Role{role.Master, role.Worker},
			Without: "while no control plane node of this release runs, it keeps the ingress candidates that it has",
		}, {
			Verbs: []string{"update"}, Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace, Names: []string{notice.Candidates},
			Roles:   []role.Role{role.Master},
			Without: "nodes of the former release keep the ingress candidates that they have",
		},
	}
	if p.Flavour().Routers {
		all = append(all, Right{
			Verbs: read(), Group: object.DiscoveryGroup, Resource: "endpointslices", Namespace: health.RouterNamespace,
			Roles:   []role.Role{role.Master},
			Without: "it lists ingress candidates by their names: of more than 64 nodes those with a ready router may be missing",
		})
	}
	return all
}

// RightsOf are those that a node of a role needs.
func RightsOf(p plan.Plan, r role.Role) []Right {
	return slices.DeleteFunc(Rights(p), func(one Right) bool { return !slices.Contains(one.Roles, r) })
}

// String is the right in words.
func (r Right) String() string {
	text := strings.Join(r.Verbs, ", ") + " " + r.Resource
	if len(r.Names) > 0 {
		text += " " + strings.Join(r.Names, ", ")
	}
	if r.Namespace != "" {
		text += " in the namespace " + r.Namespace
	}
	return text
}

// Remedy is what somebody has to do where a right is missing.
const Remedy = "apply the objects that 'onprem-infra render --role=cluster' writes"

// rule is the right as an object says it.
func (r Right) rule() object.Rule {
	return object.Rule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, ResourceNames: r.Names, Verbs: r.Verbs}
}
