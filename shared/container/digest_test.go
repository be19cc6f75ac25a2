package container

import (
	"reflect"
	"testing"
)

func example() Spec {
	return Spec{
		Name:    "onprem-keepalived",
		Image:   "example.com/keepalived:1",
		Command: []string{"/usr/bin/onprem-supervise", "--"},
		Mounts: []Mount{
			{Source: "/etc/keepalived", Target: "/etc/keepalived", ReadOnly: true},
		},
		Tmpfs:        []string{"/tmp"},
		Capabilities: []string{"CAP_NET_ADMIN"},
		Env:          map[string]string{"A": "1", "B": "2"},
	}
}

// The digest is stored with containers that outlive this program, so it may change with a Spec
// only.
func TestDigestIsStable(t *testing.T) {
	const want = "608f2c14a501655b3f950ddae5efb0bebb6f36e37bf15adb1035d77946ba2f00"
	if got := example().Digest(); got != want {
		t.Errorf("Digest() = %s, want %s: every running container would be replaced", got, want)
	}
}

func TestDigestOfEqualContainersIsEqual(t *testing.T) {
	bare := Spec{Name: "a", Image: "b"}
	empty := Spec{
		Name: "a", Image: "b", Command: []string{}, Mounts: []Mount{}, Tmpfs: []string{},
		Capabilities: []string{}, Env: map[string]string{},
	}
	if bare.Digest() != empty.Digest() {
		t.Errorf("an empty list and none differ: %s, %s", bare.Digest(), empty.Digest())
	}
}

// Each field changes the digest; a later field is tested here too, by its kind.
func TestDigest_EachFieldMatters(t *testing.T) {
	seen := map[string]string{example().Digest(): "nothing"}
	for i := range reflect.TypeFor[Spec]().NumField() {
		s := example()
		name, field := reflect.TypeFor[Spec]().Field(i).Name, reflect.ValueOf(&s).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "x")
		case reflect.Slice:
			field.Set(reflect.Append(field, reflect.Zero(field.Type().Elem())))
		case reflect.Map:
			s.Env["B"] = "3"
		default:
			t.Fatalf("teach this test to change %s, a %s", name, field.Kind())
		}
		if other, double := seen[s.Digest()]; double {
			t.Errorf("a change of %s has the digest of a change of %s", name, other)
		}
		seen[s.Digest()] = name
	}
}
