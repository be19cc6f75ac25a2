package fakeironic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Refusal is an answer that no repetition changes.
type Refusal struct{ Text string }

func (r Refusal) Error() string { return r.Text }

// Refused is always true.
func (r Refusal) Refused() bool { return true }

// Errors that pass.
var (
	ErrDown   = errors.New("connection refused")
	ErrLocked = errors.New("409: the node is locked")
)

// transitions are the requests that each state takes, and the state that follows.
var transitions = map[node.Verb]map[node.State]node.State{
	node.Manage: {node.Enroll: node.Verifying, node.Available: node.Manageable, node.CleanFailed: node.Manageable,
		node.InspectFailed: node.Manageable, node.AdoptFailed: node.Manageable},
	node.Inspect:  {node.Manageable: node.Inspecting, node.InspectFailed: node.Inspecting},
	node.Provide:  {node.Manageable: node.Cleaning},
	node.Deploy:   {node.Available: node.Deploying, node.DeployFailed: node.Deploying},
	node.Adopt:    {node.Manageable: node.Adopting, node.AdoptFailed: node.Adopting},
	node.Undeploy: {node.Active: node.Deleting, node.DeployFailed: node.Deleting, node.DeployWait: node.Deleting, node.Error: node.Deleting},
}

// Do does one request.
func (w *World) Do(_ context.Context, r node.Request) error {
	if !w.running {
		return ErrDown
	}
	if r.Verb == node.Create {
		return w.create(r)
	}
	i := slices.IndexFunc(w.Nodes, func(n *Node) bool { return n.UUID == r.UUID })
	if i < 0 {
		return Refusal{"404: there is no node " + r.UUID}
	}
	n := w.Nodes[i]
	if n.Locked {
		return ErrLocked
	}
	switch r.Verb {
	case node.Port:
		n.MACs = append(n.MACs, r.MAC)
	case node.Update:
		n.password = password(r.Spec)
	case node.Pin:
		n.Disk = r.Disk.String()
	case node.Clear:
		n.Maintenance, n.wrongs = node.Maintenance{}, 0
	case node.Hold:
		n.Maintenance = node.Maintenance{On: true, Reason: node.HoldReason}
	case node.BootNet, node.BootDisk:
		if r.Gently && n.machine.On && n.answers() {
			n.Power = node.On
			return nil
		}
		if !n.reset(w, true, r.Verb == node.BootNet) {
			return errors.New("the BMC does not answer")
		}
	default:
		return n.change(w, r)
	}
	return nil
}

func (w *World) create(r node.Request) error {
	if slices.ContainsFunc(w.Nodes, func(n *Node) bool { return n.Name == r.Spec.Name }) {
		return Refusal{"409: there is a node of this name"}
	}
	w.counter++
	n := &Node{Node: node.Node{UUID: fmt.Sprintf("%08d", w.counter), Name: r.Spec.Name, MACs: nil, Step: node.Step{Index: -1}}, password: password(r.Spec)}
	n.to(w.Now, node.Enroll)
	for _, m := range w.Machines {
		if m.Name == n.Name {
			n.machine = m
		}
	}
	n.MACs = append(n.MACs, r.MAC)
	w.Nodes = append(w.Nodes, n)
	return nil
}

func password(s node.Spec) string {
	text, _ := s.Info["redfish_password"].(secret.Text)
	return text.Reveal()
}

// change is a change of the provision state.
func (n *Node) change(w *World, r node.Request) error {
	to, ok := transitions[r.Verb][n.State]
	if !ok {
		return Refusal{fmt.Sprintf("400: %q is not possible in the state %q", r.Verb, n.State)}
	}
	if n.Maintenance.On && (r.Verb == node.Inspect || r.Verb == node.Deploy) {
		return Refusal{"400: the node is in maintenance"}
	}
	switch r.Verb {
	case node.Deploy:
		if n.Disk == "" || r.Image.URL == "" || r.Drive.UserData.Empty() {
			return Refusal{"400: no disk, no image or no config drive"}
		}
		n.Image = r.Image.URL
		n.step(0)
	case node.Inspect:
		n.Inspected = time.Time{}
	}
	n.Error = ""
	n.to(w.Now, to)
	return nil
}

// All is the API's list of nodes.
func (w *World) All(context.Context) (all []node.Node, err error) {
	if !w.running {
		return nil, ErrDown
	}
	for _, n := range w.Nodes {
		c := n.Node
		c.MACs = slices.Clone(n.MACs)
		all = append(all, c)
	}
	return all, nil
}

// Inventory is what a node's inspection found.
func (w *World) Inventory(_ context.Context, uuid string) (node.Disks, error) {
	if !w.running {
		return nil, ErrDown
	}
	for _, n := range w.Nodes {
		if n.UUID == uuid && !n.Inspected.IsZero() {
			return append(node.Disks{}, n.disks...), nil
		}
	}
	return nil, Refusal{"404: there is no inventory"}
}
