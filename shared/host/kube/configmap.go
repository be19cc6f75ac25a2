package kube

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// Object knows one ConfigMap. No error ever empties what it knows.
type Object struct {
	*watch.Cache[map[string]string]
}

// Object watches the ConfigMap of this name. The API sends no other.
func (a *API) Object(namespace, name string) *Object {
	return &Object{watch.New(watch.Options[*corev1.ConfigMap, map[string]string]{
		API: a.watch,
		Kind: watch.Kind{
			Title: fmt.Sprintf("ConfigMap %s/%s", namespace, name),
			Group: corev1.SchemeGroupVersion, Resource: "configmaps",
			Namespace: namespace, Name: name,
			Fields: fields.OneTermEqualSelector("metadata.name", name).String(),
		},
		Read: func(c *corev1.ConfigMap) (map[string]string, bool) {
			return c.Data, c.Name == name
		},
		Equal: maps.Equal[map[string]string, map[string]string],
		Describe: func(all map[string]map[string]string) (key, value string) {
			return "exists", strconv.FormatBool(len(all) > 0)
		},
	})}
}

// Data is what the object held when the API last sent it; the map must not be changed. synced is
// false until the API has reported for the first time whether the object exists.
func (o *Object) Data() (data map[string]string, exists, synced bool) {
	all, synced := o.All()
	for _, data := range all {
		return data, true, synced
	}
	return nil, false, synced
}

// conflicts is how often a write is tried if another writer was faster.
const conflicts = 5

// Put makes the ConfigMap hold what change returns for what it holds; change gets nil if there is
// no ConfigMap. It writes only over what change has seen: after another writer it calls change
// again. change returns nil to leave everything as it is. What else the object has, such as its
// labels, stays. The whole takes at most half a minute.
func (a *API) Put(ctx context.Context, namespace, name string, change func(
	now map[string]string,
) map[string]string) error {
	try := func(ctx context.Context, api *rest.RESTClient, now *corev1.ConfigMap) error {
		if now == nil {
			made := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: change(nil),
			}
			if made.Data == nil {
				return nil
			}
			return api.Post().Namespace(namespace).Resource("configmaps").Body(made).Do(ctx).Error()
		}
		data := maps.Clone(now.Data)
		if data == nil {
			data = map[string]string{}
		}
		if data = change(data); data == nil || maps.Equal(data, now.Data) {
			return nil
		}
		now.Data = data // with the version that was read, which the API compares
		return api.Put().Namespace(namespace).Resource("configmaps").Name(name).Body(now).
			Do(ctx).Error()
	}
	return a.write(ctx, "put", namespace, name, try)
}

// Delete removes the ConfigMap if gone returns true for what it holds, and only if it still holds
// that. One that does not exist is no error. The whole takes at most half a minute.
func (a *API) Delete(
	ctx context.Context, namespace, name string, gone func(now map[string]string) bool,
) error {
	try := func(ctx context.Context, api *rest.RESTClient, now *corev1.ConfigMap) error {
		if now == nil || !gone(maps.Clone(now.Data)) {
			return nil
		}
		only := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: &now.UID, ResourceVersion: &now.ResourceVersion,
		}}
		err := api.Delete().Namespace(namespace).Resource("configmaps").Name(name).Body(only).
			Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return a.write(ctx, "delete", namespace, name, try)
}

// write reads the object, nil when there is none, and tries again when another writer was faster.
func (a *API) write(
	ctx context.Context, verb, namespace, name string,
	try func(context.Context, *rest.RESTClient, *corev1.ConfigMap) error,
) error {
	what := fmt.Sprintf("%s ConfigMap %s/%s", verb, namespace, name)
	retried := func(ctx context.Context, api *rest.RESTClient) (err error) {
		for range conflicts {
			now := new(corev1.ConfigMap)
			err = api.Get().Namespace(namespace).Resource("configmaps").Name(name).Do(ctx).Into(now)
			if apierrors.IsNotFound(err) {
				now, err = nil, nil
			}
			if err == nil {
				err = try(ctx, api, now)
			}
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				break
			}
		}
		return err
	}
	return a.call(ctx, corev1.SchemeGroupVersion, what, retried)
}
