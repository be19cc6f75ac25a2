package health

import "testing"

// K-50: which router's pod makes a node fit for the ingress VIP was got wrong one way after the
// other.
func TestDefaultRouter(t *testing.T) {
	for _, tt := range []struct {
		name, namespace, pod string
		want                 bool
	}{
		{"a hash of 10", "openshift-ingress", "router-default-5d9f8c7b6d-x7k2p", true},
		{"a hash of 9", "openshift-ingress", "router-default-7c4d9b8f5-2qxzv", true},
		{"a hash of 8", "openshift-ingress", "router-default-7c4d9b8f-2qxzv", true},
		{"a hash of 5", "openshift-ingress", "router-default-7c4d9-2qxzv", true},
		{"a longer suffix", "openshift-ingress", "router-default-7c4d9b8f5-2qxzvab", true},
		{"a hash of 4", "openshift-ingress", "router-default-7c4d-2qxzv", false},
		{"a hash of 11", "openshift-ingress", "router-default-5d9f8c7b6d1-x7k2p", false},
		{"a short suffix", "openshift-ingress", "router-default-5d9f8c7b6d-x7k2", false},
		{"a router of another IngressController", "openshift-ingress", "router-shard-5d9f8c7b6d-x7k2p", false},
		{"one whose name begins alike", "openshift-ingress", "router-default-internal-5d9f8c7b6d-x7k2p", false},
		{"one whose name ends alike", "openshift-ingress", "my-router-default-5d9f8c7b6d-x7k2p", false},
		{"another namespace", "openshift-ingress-operator", "router-default-5d9f8c7b6d-x7k2p", false},
		{"a tenant's pod of that name", "tenant", "router-default-5d9f8c7b6d-x7k2p", false},
		{"no namespace", "", "router-default-5d9f8c7b6d-x7k2p", false},
		{"capitals", "openshift-ingress", "router-default-5D9F8C7B6D-x7k2p", false},
		{"a line more", "openshift-ingress", "router-default-5d9f8c7b6d-x7k2p\n", false},
		{"the Deployment itself", "openshift-ingress", "router-default", false},
		{"nothing", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := IsDefaultRouter(tt.namespace, tt.pod); got != tt.want {
				t.Errorf("IsDefaultRouter(%q, %q) = %v, want %v", tt.namespace, tt.pod, got, tt.want)
			}
		})
	}
}
