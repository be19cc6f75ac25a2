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

// Right is a right of nodes in the cluster's API, by Objects. Programs on a node use its kubelet's
// credentials, so each right is given to the group of all kubelets: RBAC knows no group of control
// plane nodes alone. SECURITY.md lists the worst that a kubelet can do with each.
type Right struct {
	Verbs           []string
	Group, Resource string
	Namespace       string      // empty: everywhere
	Names           []string    // none: any name
	Roles           []role.Role // that need it
	Without         string      // what a node does without it
}

// read are the verbs of a watch that lists once.
func read() []string { return []string{"get", "list", "watch"} }

// Rights are all rights, sorted by namespace. None creates or deletes an object: with either a
// kubelet could impersonate a bootstrap machine that has left.
func Rights(p plan.Plan) []Right {
	all := []Right{
		{
			Verbs: read(), Group: object.CoreGroup, Resource: "nodes", Roles: role.Nodes(),
			Without: "it knows no other node: the peers and servers of an earlier run stay, and " +
				"a node without any takes no VIP; after a start it accepts the API VIP's adverts " +
				"of unknown routers until it has read the Nodes",
		}, {
			Verbs: read(), Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace,
			Names: []string{notice.Bootstrap},
			Roles: []role.Role{role.Master},
			Without: "it sends the bootstrap machine no adverts, and accepts the API VIP's " +
				"adverts of unknown routers until it has held that VIP for a minute",
		}, {
			Verbs: read(), Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace,
			Names: []string{notice.Candidates},
			Roles: []role.Role{role.Master, role.Worker},
			Without: "while no control plane node of this release runs, it keeps the ingress " +
				"candidates that it has",
		}, {
			Verbs: []string{"update"}, Group: object.CoreGroup, Resource: "configmaps",
			Namespace: p.Namespace, Names: []string{notice.Candidates},
			Roles:   []role.Role{role.Master},
			Without: "nodes of the former release keep the ingress candidates that they have",
		},
	}
	if p.Flavour().Routers {
		all = append(all, Right{
			Verbs: read(), Group: object.DiscoveryGroup, Resource: "endpointslices",
			Namespace: health.RouterNamespace,
			Roles:     []role.Role{role.Master},
			Without: "it lists ingress candidates by their names: of more than 64 nodes those " +
				"with a ready router may be missing",
		})
	}
	if p.BalancesIronic() {
		all = append(all, Right{
			// Their names are made by the cluster, so that none can be listed here.
			Verbs: read(), Group: object.DiscoveryGroup, Resource: "endpointslices",
			Namespace: p.Flavour().Ironic.Namespace,
			Roles:     []role.Role{role.Master},
			Without: "it passes no connection to the cluster's Ironic: the API VIP's ports 6385 " +
				"and 6183 are left to what else serves them there",
		})
	}
	return all
}

// RightsOf are the rights that a node of a role needs.
func RightsOf(p plan.Plan, r role.Role) []Right {
	return slices.DeleteFunc(Rights(p), func(one Right) bool {
		return !slices.Contains(one.Roles, r)
	})
}

// String describes the right, for people.
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

// Remedy is what an administrator has to do if a right is missing.
const Remedy = "apply the objects that 'onprem-infra render --role=cluster' writes"

// rule is the right in an object.
func (r Right) rule() object.Rule {
	return object.Rule{
		APIGroups: []string{r.Group}, Resources: []string{r.Resource}, ResourceNames: r.Names,
		Verbs: r.Verbs,
	}
}
