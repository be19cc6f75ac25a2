package kube

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Annotate gives a Node an annotation and leaves all else of it alone. A kubelet's credentials
// allow that for the kubelet's own Node, without any further right, and for no other. It takes at
// most half a minute.
func (a *API) Annotate(ctx context.Context, node, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	api, err := a.core()
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}})
	if err == nil {
		err = api.Patch(types.MergePatchType).Resource("nodes").Name(node).Body(patch).Do(ctx).Error()
	}
	if err != nil {
		return fmt.Errorf("annotate Node %s with %s=%s: %w", node, key, value, stable(err))
	}
	return nil
}
