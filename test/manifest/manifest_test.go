package manifest

import (
	"strings"
	"testing"
)

const good = `apiVersion: v1
kind: Pod
metadata:
  name: d
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 65
  containers:
  - name: d
    image: d
  volumes:
  - name: run
    emptyDir: {}
`

func TestPod(t *testing.T) {
	pod, err := Pod([]byte(good))
	if err != nil || pod.Name != "d" || !pod.Spec.HostNetwork || pod.Spec.Volumes[0].EmptyDir == nil {
		t.Errorf("%v: read as %+v", err, pod)
	}
}

// TestStrict_Refuses proves that the judge sees what kubelet passes over (W-25).
func TestStrict_Refuses(t *testing.T) {
	for name, edit := range map[string][2]string{
		"a source that does not exist": {"emptyDir:", "empty-dir:"},
		"another case":                 {"hostNetwork:", "hostnetwork:"},
		"a field of nobody":            {"spec:\n", "spec:\n  privileged: false\n"},
		"a field in another's place":   {"  terminationGracePeriodSeconds", "terminationGracePeriodSeconds"},
		"a key that stands twice":      {"spec:\n", "spec:\n  hostNetwork: false\n"},
		"a number for a word":          {"name: d\n", "name: 1\n"},
		"a word for a number":          {": 65", ": long"},
		"another kind":                 {"kind: Pod", "kind: Namespace"},
		"a kind that does not exist":   {"kind: Pod", "kind: Pot"},
	} {
		bad := strings.Replace(good, edit[0], edit[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := Pod([]byte(bad)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestExact proves that a value which the API's types understand as another one, or as none, is
// seen.
func TestExact(t *testing.T) {
	exact := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: d\nspec:\n  containers:\n  - image: d\n    name: d\n    resources:\n      requests:\n        memory: 200Mi\n"
	if err := Exact([]byte(exact)); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string][2]string{
		"a quantity that is written in another way": {"200Mi", "204800Ki"},
		"nothing where something must be":           {"    name: d\n", ""},
		"a list that is empty":                      {"spec:\n", "spec:\n  volumes: []\n"},
		"a field of nobody":                         {"spec:\n", "spec:\n  privileged: false\n"},
	} {
		bad := strings.Replace(exact, edit[0], edit[1], 1)
		if bad == exact {
			t.Fatalf("%s: nothing was changed", name)
		}
		if Exact([]byte(bad)) == nil {
			t.Errorf("%s is exact", name)
		}
	}
}
