package pod

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Workload is a Deployment of one pod on a control plane node. The next pod starts when the former
// one has ended.
type Workload struct {
	Name        string // also of the pod's label app
	Namespace   string
	Labels      map[string]string // of the Deployment
	Annotations map[string]string // of the pod: a change replaces the pod

	HostNetwork  bool
	ControlPlane string // the label, and the taint, of control plane nodes
	// Away is how long a node may be not ready or unreachable until the pod runs on another one.
	Away       time.Duration
	User       int64 // and its group; 0 is root, without a capability
	Account    string
	Grace      time.Duration // how long a container may take to end
	Init       []Container
	Containers []Container
}

// Deployment is the object. Its pods have no token of the API but where a container mounts one.
func Deployment(w Workload) object.Deployment {
	seconds, labels := int64(w.Grace/time.Second), map[string]string{"app": w.Name}
	spec := object.PodSpec{
		HostNetwork: w.HostNetwork, ServiceAccountName: w.Account,
		Affinity:                      labelled(w.ControlPlane),
		Tolerations:                   tolerations(w),
		PriorityClassName:             "system-cluster-critical",
		TerminationGracePeriodSeconds: &seconds,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		SecurityContext: &object.PodSecurityContext{
			RunAsUser: &w.User, RunAsGroup: &w.User,
			SeccompProfile: &object.SeccompProfile{Type: "RuntimeDefault"},
		},
		Volumes: volumes(w.Init, w.Containers),
	}
	if w.User != 0 {
		spec.SecurityContext.RunAsNonRoot = new(true)
		spec.SecurityContext.FSGroup = &w.User // by which it reads files of Secrets
	}
	if w.HostNetwork {
		spec.DNSPolicy = "Default" // the host's resolv.conf
	}
	for _, c := range w.Init {
		spec.InitContainers = append(spec.InitContainers, container(c))
	}
	for _, c := range w.Containers {
		spec.Containers = append(spec.Containers, container(c))
	}
	return object.Deployment{
		Head: object.Head{APIVersion: object.Apps, Kind: "Deployment", Metadata: object.Meta{
			Name: w.Name, Namespace: w.Namespace, Labels: w.Labels}},
		Spec: object.DeploymentSpec{
			Replicas: new(int32(1)), Selector: object.Selector{MatchLabels: labels},
			Strategy: object.Strategy{Type: "Recreate"},
			Template: object.PodTemplate{
				Metadata: object.Meta{Labels: labels, Annotations: w.Annotations}, Spec: spec},
		},
	}
}

// labelled is the nodes with a label, whatever its value: programs that install clusters write
// different ones.
func labelled(key string) *object.Affinity {
	exists := object.Requirement{Key: key, Operator: "Exists"}
	return &object.Affinity{NodeAffinity: object.NodeAffinity{Required: object.NodeTerms{
		Terms: []object.NodeTerm{{MatchExpressions: []object.Requirement{exists}}}}}}
}

func tolerations(w Workload) []object.Toleration {
	away := int64(w.Away / time.Second)
	list := []object.Toleration{
		{Key: w.ControlPlane, Operator: "Exists", Effect: "NoSchedule"},
	}
	for _, taint := range []string{"not-ready", "unreachable"} {
		list = append(list, object.Toleration{Key: "node.kubernetes.io/" + taint,
			Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &away})
	}
	return list
}
