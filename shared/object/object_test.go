package object_test

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// TestExact compares each type with the API's own, with every field set: a field that the API would
// read differently, or ignore, is an error.
func TestExact(t *testing.T) {
	about := func(version, kind, namespace string) object.Head {
		return object.Head{APIVersion: version, Kind: kind, Metadata: object.Meta{
			Name: "n", Namespace: namespace, Labels: map[string]string{"a": "1"},
			Annotations: map[string]string{"b": "true"},
		}}
	}
	rules := []object.Rule{{
		APIGroups: []string{object.CoreGroup}, Resources: []string{"nodes"},
		ResourceNames: []string{"x"}, Verbs: []string{"get"},
	}}
	bound := func(kind string) object.Binding {
		return object.Binding{
			Head:     about(object.RBAC, kind+"Binding", ""),
			RoleRef:  object.RoleRef{APIGroup: object.RBACGroup, Kind: kind, Name: "n"},
			Subjects: []object.Subject{{APIGroup: object.RBACGroup, Kind: "Group", Name: "g"}},
		}
	}
	for name, o := range map[string]object.Object{
		"a namespace":    object.Namespace{Head: about(object.Core, "Namespace", "")},
		"a role":         object.Role{Head: about(object.RBAC, "Role", "here"), Rules: rules},
		"a cluster role": object.Role{Head: about(object.RBAC, "ClusterRole", ""), Rules: rules},
		"a binding":      bound("Role"),
		"one everywhere": bound("ClusterRole"),
		"a secret":       object.Secret{Head: about(object.Core, "Secret", "here"), Data: map[string]string{"k": "dg=="}},
		"a config map":   object.ConfigMap{Head: about(object.Core, "ConfigMap", "here"), Data: map[string]string{"k": "v"}},
		"an account":     object.ServiceAccount{Head: about(object.Core, "ServiceAccount", "here"), AutomountToken: new(false)},
		"a service": object.Service{Head: about(object.Core, "Service", "here"), Spec: object.ServiceSpec{
			Ports: []object.ServicePort{{Name: "p", Port: 1, Protocol: "TCP", TargetPort: 2}}, Selector: map[string]string{"a": "b"}}},
		"a deployment": object.Deployment{Head: about(object.Apps, "Deployment", "here"), Spec: object.DeploymentSpec{
			Replicas: new(int32(1)), Selector: object.Selector{MatchLabels: map[string]string{"a": "b"}}, Strategy: object.Strategy{Type: "Recreate"},
			Template: object.PodTemplate{Metadata: object.Meta{Labels: map[string]string{"a": "b"}}, Spec: fullest()}}},
		"a policy": object.NetworkPolicy{Head: about(object.Networking, "NetworkPolicy", "here"), Spec: object.NetworkPolicySpec{
			Egress: []object.Egress{{Ports: []object.PolicyPort{{Port: 53, Protocol: "UDP"}}}}, PodSelector: object.Selector{MatchLabels: map[string]string{"a": "b"}}, PolicyTypes: []string{"Egress"}}},
		"a binding of an account": object.Binding{Head: about(object.RBAC, "RoleBinding", "here"), RoleRef: object.RoleRef{APIGroup: object.RBACGroup, Kind: "Role", Name: "n"},
			Subjects: []object.Subject{{Kind: "ServiceAccount", Name: "s", Namespace: "here"}}},
		"a pod": object.Pod{Head: about(object.Core, "Pod", "here"), Spec: fullest()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := manifest.Exact(object.Encode(o)); err != nil {
				t.Errorf("%v\n%s", err, object.Encode(o))
			}
		})
	}
}

func fullest() object.PodSpec {
	probe := &object.Probe{
		HTTPGet:       &object.HTTPGet{Host: "127.0.0.1", Path: "/", Port: 1, Scheme: "HTTP"},
		PeriodSeconds: 1, TimeoutSeconds: 2, FailureThreshold: 3, SuccessThreshold: 4,
		TerminationGracePeriodSeconds: new(int64(5)),
	}
	container := object.Container{
		Name: "c", Image: "i", ImagePullPolicy: "Always", Command: []string{"a", "-1"},
		Env:                      []object.Variable{{Name: "E", Value: "v"}},
		TerminationMessagePolicy: "File",
		Resources: &object.Resources{
			Requests: map[string]string{"cpu": "100m", "memory": "200Mi"},
		},
		SecurityContext: &object.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &object.Capabilities{Add: []string{"A"}, Drop: []string{"B"}},
		},
		Ports: []object.ContainerPort{
			{Name: "p", HostPort: 1, ContainerPort: 2, Protocol: "UDP"},
		},
		VolumeMounts: []object.VolumeMount{
			{Name: "v", MountPath: "/v", ReadOnly: true, MountPropagation: "None"},
		},
		StartupProbe: probe, LivenessProbe: probe, ReadinessProbe: probe,
	}
	return object.PodSpec{
		HostNetwork: true, ShareProcessNamespace: new(false), DNSPolicy: "Default",
		Tolerations:        []object.Toleration{{Operator: "Exists", Key: "k", Effect: "NoExecute", TolerationSeconds: new(int64(30))}},
		ServiceAccountName: "s",
		Affinity: &object.Affinity{NodeAffinity: object.NodeAffinity{Required: object.NodeTerms{
			Terms: []object.NodeTerm{{MatchExpressions: []object.Requirement{{Key: "c", Operator: "Exists"}}}}}}},
		Priority: new(int32(2000001000)), PriorityClassName: "p",
		TerminationGracePeriodSeconds: new(int64(0)),
		AutomountServiceAccountToken:  new(false), EnableServiceLinks: new(false),
		SecurityContext: &object.PodSecurityContext{
			RunAsUser: new(int64(0)), RunAsGroup: new(int64(0)), RunAsNonRoot: new(false), FSGroup: new(int64(1)),
			SeccompProfile: &object.SeccompProfile{Type: "RuntimeDefault"},
			SELinuxOptions: &object.SELinuxOptions{Type: "spc_t"},
		},
		Volumes: []object.Volume{
			{Name: "h", VolumeSource: object.VolumeSource{
				HostPath: &object.HostPath{Path: "/h", Type: "Directory"},
			}},
			{Name: "e", VolumeSource: object.VolumeSource{
				EmptyDir: &object.EmptyDir{Medium: "Memory", SizeLimit: "64Mi"},
			}},
			{Name: "c", VolumeSource: object.VolumeSource{
				ConfigMap: &object.NamedSource{Name: "n", Items: []object.Item{{Key: "k", Path: "p"}}},
			}},
			{Name: "s", VolumeSource: object.VolumeSource{
				Secret: &object.SecretSource{SecretName: "n", DefaultMode: new(int32(0o400)), Items: []object.Item{{Key: "k", Path: "p"}}},
			}},
			{Name: "p", VolumeSource: object.VolumeSource{Claim: &object.Claim{ClaimName: "n"}}},
			{Name: "t", VolumeSource: object.VolumeSource{Projected: &object.Projected{Sources: []object.Projection{
				{Token: &object.Token{Path: "token", ExpirationSeconds: 3600}}, {ConfigMap: &object.NamedSource{Name: "n"}},
			}}}},
		},
		InitContainers: []object.Container{container}, Containers: []object.Container{container},
	}
}
