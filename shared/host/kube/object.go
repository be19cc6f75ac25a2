package kube

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object knows one ConfigMap. No error ever empties what it knows.
type Object struct {
	namespace, name string
	follower        *follower
	table           *table[map[string]string]
}

// Object follows the ConfigMap of this name. The API sends no other.
func (a *API) Object(namespace, name string) *Object {
	what := fmt.Sprintf("ConfigMap %s/%s", namespace, name)
	o := &Object{namespace: namespace, name: name, follower: &follower{access: a.access, log: a.log, troubles: a.troubles, crowd: a.crowd, kind: kind{
		what: what, group: corev1.SchemeGroupVersion, resource: "configmaps", namespace: namespace, name: name,
		fields: fields.OneTermEqualSelector("metadata.name", name).String(), object: &corev1.ConfigMap{},
	}}}
	o.table = &table[map[string]string]{
		all: map[string]map[string]string{}, equal: maps.Equal[map[string]string, map[string]string], well: o.follower.well, changed: o.tell,
		read: func(object runtime.Object) (string, map[string]string, bool, error) {
			c, ok := object.(*corev1.ConfigMap)
			if !ok {
				return "", nil, false, fmt.Errorf("read %s: it is a %T", what, object)
			}
			return c.Name, c.Data, c.Name == name, nil
		},
	}
	return o
}

// Data is what the object held when the API last said so; nobody may change the map. heard is false
// until the API has said for the first time whether it exists, and then exists tells.
func (o *Object) Data() (data map[string]string, exists, heard bool) {
	all, heard := o.table.now()
	data, exists = all[o.name]
	return data, exists, heard
}

// Heard says whether the API has said if the object exists, and when it last said anything of it,
// if only that nothing has happened.
func (o *Object) Heard() (synced bool, last time.Time) {
	_, synced = o.table.now()
	return synced, o.table.last()
}

// Run follows the object until ctx ends, and wakes whenever Data has a new answer. Its error is
// ctx's, no other.
func (o *Object) Run(ctx context.Context, wakes ...chan<- struct{}) error {
	return o.table.follow(ctx, o.follower, wakes)
}

func (o *Object) tell() {
	_, exists, _ := o.Data()
	o.follower.learnt("exists", strconv.FormatBool(exists))
}
