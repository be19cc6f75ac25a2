package scale

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// DeleteFirst marks the Machine that its MachineSet deletes first.
const DeleteFirst = "machine.openshift.io/delete-machine"

// Unpause is the command by which OpenShift's operator of metal3 begins, or goes on.
const Unpause = "kubectl annotate provisionings.metal3.io " + object.Operator + " " +
	object.OperatorPaused + "-"

// Stop is the command that ends the cluster's own Ironic, so that it does not start again.
func (f Fleet) Stop() string {
	at, command := object.AnyHosts(), ""
	if f.openShift() {
		at = object.OpenShiftHosts()
		command = fmt.Sprintf("kubectl annotate --overwrite provisionings.metal3.io %s %s=%q && ",
			object.Operator, object.OperatorPaused, object.UntilHandover)
	}
	return command + fmt.Sprintf("kubectl --namespace %s scale deployment %s --replicas=0",
		at.Namespace, at.Ironic)
}

// Drop is the command that ends a pod of the cluster's own Ironic which no Deployment counts. If
// the pod was deleted before, it is removed from the API by force, without its node's report.
func (f Fleet) Drop(p Pod) string {
	at, what := object.AnyHosts(), "pod "+p.Name
	if f.openShift() {
		at = object.OpenShiftHosts()
	}
	switch {
	case p.Ended:
		what += " --grace-period=0 --force"
	case p.ReplicaSet != "":
		what = "replicaset " + p.ReplicaSet
	}
	return fmt.Sprintf("kubectl --namespace %s delete %s", at.Namespace, what)
}

// Text is what a step does, or waits for, to a host.
func (s Step) Text(host string) string {
	switch s.Action {
	case Create:
		return fmt.Sprintf("create host %s, with its Secrets", host)
	case Resume:
		return fmt.Sprintf("let metal3 begin with host %s", host)
	case Raise:
		return fmt.Sprintf("have MachineSet %s make a Machine: %d replicas", s.Set, s.Replicas)
	case Mark:
		return fmt.Sprintf("mark Machine %s to be the one that goes", s.Machine)
	case Lower:
		return fmt.Sprintf("have MachineSet %s delete it: %d replicas", s.Set, s.Replicas)
	case Discard:
		return fmt.Sprintf("delete Machine %s, which belongs to no MachineSet", s.Machine)
	case Off:
		return fmt.Sprintf("switch host %s off", host)
	case Delete:
		return fmt.Sprintf("delete host %s, and the Secrets %s and %s", host,
			object.AccountOf(host), object.NetworkOf(host))
	}
	if s.Done {
		return "done"
	}
	return "wait for " + s.Waits
}

// Command is how kubectl does a step; empty for one that waits, and for Create, whose objects
// "render --role=cluster" writes.
func (s Step) Command(host string) string {
	const kubectl = "kubectl --namespace " + object.MachineNamespace + " "
	switch s.Action {
	case Resume:
		return kubectl + "annotate bmh " + host + " " + object.Paused + "-"
	case Raise, Lower:
		now := s.Replicas - 1
		if s.Action == Lower {
			now = s.Replicas + 1
		}
		// The command changes nothing if the replicas were changed meanwhile.
		return fmt.Sprintf(kubectl+"scale machinesets.machine.openshift.io %s "+
			"--current-replicas=%d --replicas=%d", s.Set, now, s.Replicas)
	case Mark:
		return kubectl + "annotate machines.machine.openshift.io " + s.Machine + " " +
			DeleteFirst + "=yes"
	case Discard:
		return kubectl + "delete machines.machine.openshift.io " + s.Machine
	case Off:
		return kubectl + "patch bmh " + host + ` --type=merge --patch='{"spec":{"online":false}}'`
	case Delete:
		return kubectl + "delete bmh " + host + " && " + kubectl +
			"delete secrets --ignore-not-found " + object.AccountOf(host) + " " +
			object.NetworkOf(host)
	}
	return ""
}
