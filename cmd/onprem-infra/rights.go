//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// rightsFile is where a node's monitor writes which rights it lacks, below election.RunDir: a list
// of missingRight in JSON.
const rightsFile = "checks/rights.json"

// missingRight is one that this node lacks, for people.
type missingRight struct {
	Right   string `json:"right"`   // in words
	Without string `json:"without"` // what the node does
}

// missingRights are those of a role that are about one of some subjects.
func missingRights(p plan.Plan, r role.Role, refused []kube.Subject) []missingRight {
	missing := []missingRight{}
	for _, right := range cluster.RightsOf(p, r) {
		about := func(s kube.Subject) bool {
			return s.Group == right.Group && s.Resource == right.Resource && s.Namespace == right.Namespace &&
				(len(right.Names) == 0 || slices.Contains(right.Names, s.Name))
		}
		if slices.Contains(right.Verbs, "watch") && slices.ContainsFunc(refused, about) {
			missing = append(missing, missingRight{Right: right.String(), Without: right.Without})
		}
	}
	return missing
}

// keepRights writes down which rights the API says that this node lacks, when that changes, until
// ctx ends.
func (h nodeVIPHost) keepRights(ctx context.Context, missing func() []missingRight) error {
	return keepJSON(ctx, h.at(election.RunDir, rightsFile), "which rights this node lacks", missing)
}

// rights is what keepRights wrote; nothing on a host that follows nothing.
func (h nodeVIPHost) rights() (missing []missingRight, err error) {
	text, err := os.ReadFile(h.at(election.RunDir, rightsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &missing)
	}
	return missing, err
}

// askRights asks the API which of a role's rights this node lacks.
func askRights(ctx context.Context, p plan.Plan, r role.Role, api *kube.API) (missing []missingRight, err error) {
	for _, right := range cluster.RightsOf(p, r) {
		lacks := false
		names := right.Names
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range right.Verbs {
			for _, name := range names {
				may, err := api.May(ctx, verb, kube.Subject{Group: right.Group, Resource: right.Resource, Namespace: right.Namespace, Name: name})
				if err != nil {
					return nil, err
				}
				lacks = lacks || !may
			}
		}
		if lacks {
			missing = append(missing, missingRight{Right: right.String(), Without: right.Without})
		}
	}
	return missing, nil
}
