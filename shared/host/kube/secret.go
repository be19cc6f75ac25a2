package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// Change makes a Secret that exists hold what change returns for what it holds, and writes only
// over what change has seen: after another writer it calls change again. Equal data are not
// written. It makes no Secret, so that no right is needed to make any. The whole takes at most half
// a minute.
func (a *API) Change(ctx context.Context, namespace, name string, change func(
	now map[string][]byte,
) (map[string][]byte, error)) error {
	try := func(ctx context.Context, api *rest.RESTClient) error {
		now := new(corev1.Secret)
		err := api.Get().Namespace(namespace).Resource("secrets").Name(name).Do(ctx).Into(now)
		if err != nil {
			return err
		}
		data, err := change(maps.Clone(now.Data))
		if err != nil || maps.EqualFunc(data, now.Data, slices.Equal[[]byte]) {
			return err
		}
		now.Data = data // with the version that was read, which the API compares
		return api.Put().Namespace(namespace).Resource("secrets").Name(name).Body(now).
			Do(ctx).Error()
	}
	return a.call(ctx, corev1.SchemeGroupVersion,
		fmt.Sprintf("change Secret %s/%s", namespace, name),
		func(ctx context.Context, api *rest.RESTClient) (err error) {
			for range conflicts {
				if err = try(ctx, api); !apierrors.IsConflict(err) {
					break
				}
			}
			return err
		})
}
