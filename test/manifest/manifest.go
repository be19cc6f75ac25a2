// Package manifest reads the manifests of Kubernetes' objects as an API server does when it is
// asked to be strict: a field that the type does not have, in just this spelling, is an error,
// where kubelet would pass over it.
package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// Object reads an object of any type that the API has.
func Object(text []byte) (runtime.Object, error) {
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, serializer.SerializerOptions{Yaml: true, Strict: true})
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

// Exact is nil when an object says to the API what its text says: read strictly and written by the
// API's own types it is the same document, but for what those write of everything, a status and a
// specification that are empty.
func Exact(text []byte) error {
	object, err := Object(text)
	if err != nil {
		return err
	}
	again, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	var written, understood map[string]any
	if err := yaml.Unmarshal(text, &written); err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	if err := json.Unmarshal(again, &understood); err != nil {
		return fmt.Errorf("read manifest again: %w", err)
	}
	delete(understood, "status")
	if spec, ok := understood["spec"].(map[string]any); ok && len(spec) == 0 {
		delete(understood, "spec")
	}
	if !reflect.DeepEqual(written, understood) {
		return fmt.Errorf("the manifest has\n%v\nand the API understands\n%v", written, understood)
	}
	return nil
}
