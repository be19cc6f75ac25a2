package objects

import "strings"

// TemplateHash is the label that the pods of a Deployment have, and no others.
const TemplateHash = "pod-template-hash"

// Pod is a pod.
type Pod struct {
	Metadata Meta `json:"metadata"`
	Spec     struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// Of reports whether a Deployment has made a pod, even if it or its ReplicaSet no longer exists:
// a ReplicaSet has the name of its Deployment with the hash of the template behind it, and its
// pods that name with five more characters (Kubernetes, "Deployments": Pod-template-hash label).
func (p Pod) Of(deployment string) bool {
	hash := p.Metadata.Labels[TemplateHash]
	return hash != "" && strings.HasPrefix(p.Metadata.Name, deployment+"-"+hash+"-")
}

// ReplicaSet is the name of the ReplicaSet that replaces the pod if it is deleted; or empty.
func (p Pod) ReplicaSet() string { return p.Metadata.owner("ReplicaSet") }

// MayRun reports whether a pod runs, or is to, as far as Kubernetes has seen: one that was ended
// too, until its node has reported its end. One that was ended before it had a node never runs.
func (p Pod) MayRun() bool {
	over := p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
	return !over && (p.Spec.NodeName != "" || !p.Metadata.Deletes())
}
