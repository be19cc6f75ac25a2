// Package bare decides how a host comes to a running cluster of any Kubernetes, and how it leaves:
// there it belongs to no Machine, so that nothing but these steps sets its image or drains its
// node. Each step is safe to repeat, so that whatever does them may be ended at any time and begin
// again.
package bare

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// World is what the API has, seen from one host.
type World struct {
	Host Host
	// Node is the host's own; nil without one.
	Node *Node
	// Taken is the other host to which Node belongs by its name or by a note; empty for none.
	Taken string
	// Misnamed is the host's node where a person has named another one, which does not exist.
	Misnamed string
	// Unknown are the workers that belong to no host, by name or note. Not read if Node is found.
	Unknown []string
	Control []scale.Node // of the control plane
	Pods    []Pod        // of Node, that have to leave it
	// Ingress are nodes that serve ingress and may hold its VIP: Node, if it does, and then at
	// least one other, if there is one.
	Ingress []string
	// Bootstrap means that the bootstrap machine still provisions hosts of the cluster, and Ironic
	// that the cluster's own Ironic is ready. Deployment is the name of Ironic's Deployment.
	Bootstrap, Ironic bool
	Deployment        string
	// Unlisted means that the description that Ironic and the DHCP server have lacks the host.
	Unlisted bool
	// Outdated means that the host's Secret has another document than the given one.
	Outdated bool
}

// Host is a BareMetalHost.
type Host struct {
	scale.Host
	Image   bool // metal3 is to write its disk
	Version string
}

// Node is the node of a host.
type Node struct {
	scale.Node
	// Cordoned means that no new pod comes to it, and Leaving that Cordon has marked it.
	Cordoned, Leaving bool
}

// Pod is a pod that has to leave a node. Those of DaemonSets, static pods (from kubelet's files),
// and those that have ended do not have to.
type Pod struct {
	Namespace, Name, UID string
	// Alone means that it belongs to no controller: nothing starts it elsewhere.
	Alone bool
	// Leaving means that it is being deleted, and Lost that its node's kubelet does not end it.
	Leaving, Lost bool
	// Blocked is why the API refused its eviction a moment ago; empty if it has not. Rests means
	// that it is too early to ask again.
	Blocked string
	Rests   bool
}

// String is the pod as kubectl names it.
func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// Action is what a step does.
type Action string

// The actions. The zero value waits.
const (
	Create Action = "create" // the host, and its Secrets
	Resume Action = "resume" // the host: metal3 begins with it
	Deploy Action = "deploy" // the image and the document of the host
	Renew  Action = "renew"  // that document, before the disk is written
	Note   Action = "note"   // that Node is the host's, of another name; empty: remove the note
	Cordon Action = "cordon" // Node, and mark it
	Evict  Action = "evict"  // Pods from Node
	Wipe   Action = "wipe"   // the host: it gets no image, and no power
	Off    Action = "off"    // the host's power
	Unlist Action = "unlist" // Node, which is no node any more
	Delete Action = "delete" // the host, and its Secrets if they are ours
)

// Step is what is next.
type Step struct {
	Action  Action
	Node    string
	Pods    []Pod
	Image   object.Image // of Deploy
	Version string       // of the host, as it was read
	Waits   string       // what it waits for; an Evict that was refused waits too
	Done    bool         // nothing is left to do
}

// Next is Add or Remove with what a person has given.
type Next func(World) (Step, error)

func wait(format string, args ...any) (Step, error) {
	return Step{Waits: fmt.Sprintf(format, args...)}, nil
}

func refuse(format string, args ...any) (Step, error) {
	return Step{}, scale.Refusal{Text: fmt.Sprintf(format, args...)}
}

// The states of a BareMetalHost's provisioning that steps depend on.
const (
	provisioning   = "provisioning"
	provisioned    = "provisioned"
	deprovisioning = "deprovisioning"
	available      = "available"
	ready          = "ready" // available, in former releases of metal3
	unmanaged      = "unmanaged"
)
