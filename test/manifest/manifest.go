// Package manifest reads the manifests of Kubernetes' objects as an API server does when it is asked to be strict: a field that the type does
// not have, in just this spelling, is an error, where kubelet would pass over it.
package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

// Object reads an object of any type that the API has.
func Object(text []byte) (runtime.Object, error) {
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	object, _, err := strict.Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return object, nil
}

// Pod reads a pod.
func Pod(text []byte) (*corev1.Pod, error) {
	object, err := Object(text)
	if err != nil {
		return nil, err
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("read manifest: want a Pod, got %s", object.GetObjectKind().GroupVersionKind().Kind)
	}
	return pod, nil
}
