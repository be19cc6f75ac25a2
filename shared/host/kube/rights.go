package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Subject is what a right is about.
type Subject struct {
	Group, Resource string
	Namespace       string // empty for what is in none
	Name            string // empty for all
}

// May asks the API whether it lets these credentials do something.
func (a *API) May(ctx context.Context, verb string, s Subject) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	client, config, err := a.access.load()
	if err != nil {
		return false, err
	}
	api, err := restClient(client, config, authorizationv1.SchemeGroupVersion)
	if err != nil {
		return false, err
	}
	question := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Name: s.Name,
		},
	}}
	answer := new(authorizationv1.SelfSubjectAccessReview)
	if err := api.Post().Resource("selfsubjectaccessreviews").Body(question).Do(ctx).Into(answer); err != nil {
		return false, fmt.Errorf("ask whether this node may %s %s: %w", verb, s.Resource, stable(err))
	}
	return answer.Status.Allowed, nil
}

// Refused is what the API does not let this machine follow, as it said last.
func (a *API) Refused() []Subject { return a.troubles.refused() }

func (t *troubles) refused() (all []Subject) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f, one := range t.ill {
		if one.right {
			all = append(all, Subject{Group: f.kind.group.Group, Resource: f.kind.resource, Namespace: f.kind.namespace, Name: f.kind.name})
		}
	}
	slices.SortFunc(all, func(a, b Subject) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}
