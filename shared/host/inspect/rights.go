package inspect

import (
	"context"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// RightsFile is where a node's monitor writes the rights that it lacks, below supervised.RunDir: a
// list of MissingRight in JSON.
const RightsFile = "checks/rights.json"

// MissingRight is a right that this node lacks, in words.
type MissingRight struct {
	Right   string `json:"right"`
	Without string `json:"without"` // what the node does
}

// RefusedRights are the rights of a role to watch a subject that the API has refused.
func RefusedRights(p plan.Plan, r role.Role, refused []kube.Subject) []MissingRight {
	missing := []MissingRight{}
	for _, right := range cluster.RightsOf(p, r) {
		matches := func(s kube.Subject) bool {
			return s.Group == right.Group && s.Resource == right.Resource &&
				s.Namespace == right.Namespace &&
				(len(right.Names) == 0 || slices.Contains(right.Names, s.Name))
		}
		if slices.Contains(right.Verbs, "watch") && slices.ContainsFunc(refused, matches) {
			missing = append(missing, MissingRight{Right: right.String(), Without: right.Without})
		}
	}
	return missing
}

// AskRights asks the API which rights of a role this node lacks.
func AskRights(
	ctx context.Context, p plan.Plan, r role.Role, api *kube.API,
) (missing []MissingRight, err error) {
	for _, right := range cluster.RightsOf(p, r) {
		lacks, names := false, right.Names
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range right.Verbs {
			for _, name := range names {
				may, err := api.May(ctx, verb, kube.Subject{
					Group: right.Group, Resource: right.Resource, Namespace: right.Namespace,
					Name: name,
				})
				if err != nil {
					return nil, err
				}
				lacks = lacks || !may
			}
		}
		if lacks {
			missing = append(missing, MissingRight{Right: right.String(), Without: right.Without})
		}
	}
	return missing, nil
}
