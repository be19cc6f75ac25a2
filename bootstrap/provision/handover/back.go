package handover

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// AgainCommand is what a person runs to hand provisioning over again after it was taken back.
const AgainCommand = "onprem-infra hosts hand-over"

// Refusal is why a person may not take provisioning back, by the journal and by what was seen;
// empty if it is permitted.
func (c Cluster) Refusal(m ledger.Memory, v View) string {
	switch {
	case !m.Held.IsZero():
		return fmt.Sprintf("it was taken back at %s: '%s' hands it over again",
			m.Held.UTC().Format(time.RFC3339), AgainCommand)
	case m.Phase == progress.Ended:
		return "the handover has ended, and nothing of this machine is ever on again"
	case !m.Phase.HandsOver():
		return fmt.Sprintf("the handover has not begun: the phase is %q", m.Phase)
	case !m.Released.IsZero():
		return "this machine has let hosts of the cluster begin at " +
			m.Released.UTC().Format(time.RFC3339) + ": its Ironic writes their disks"
	case !c.Returns:
		return "without a provisioning network hosts reach this machine's Ironic at the API VIP, " +
			"which it does not get back from a node"
	case !c.Metal3:
		return ""
	case v.Err != nil:
		return fmt.Sprintf("it is not known whether hosts of the cluster have begun: %v", v.Err)
	}
	return c.inTheWay(v)
}

// inTheWay is what of the cluster prevents a start of this machine's parts; empty for nothing.
func (c Cluster) inTheWay(v View) string {
	begun := v.Fleet.Begun()
	switch {
	case len(begun) > 0:
		return fmt.Sprintf("metal3 may have begun with %d hosts (%s): the cluster's own Ironic "+
			"writes their disks", len(begun), loop.List(begun))
	case v.Fleet.Pods > 0:
		return fmt.Sprintf("the cluster's own Ironic runs: stop it by '%s'", v.Fleet.Stop())
	case len(v.Fleet.MayRun) > 0:
		return uncounted(v.Fleet, v.Fleet.MayRun[0])
	case len(v.Holders) > 0 && c.Address.IsValid():
		return fmt.Sprintf("%s has %s, the address of the cluster's own Ironic: it leaves with "+
			"that: '%s'", c.machines(v.Holders), c.Address, v.Fleet.Stop())
	}
	return ""
}

// uncounted is what to do about a pod of the cluster's own Ironic that no Deployment counts.
func uncounted(f scale.Fleet, pod scale.Pod) string {
	if !pod.Ended {
		return fmt.Sprintf("the cluster's own Ironic runs in the pod %s, without its Deployment: "+
			"stop it by '%s'", pod.Name, f.Drop(pod))
	}
	return fmt.Sprintf("Kubernetes has not seen the end of the cluster's own Ironic on %s, which "+
		"may run on there: if that node does not come back, switch it off and run '%s'", pod.Node,
		f.Drop(pod))
}

// TakeBack waits until nothing of the cluster provisions hosts, and pauses OpenShift's operator
// again, which would start its Ironic beside that of this machine.
func (c Cluster) TakeBack(v View) Next {
	if !c.Metal3 {
		return Next{Evidence: Foreign}
	}
	if n, unread := v.unread(); unread {
		return n
	}
	if begun := v.Fleet.Begun(); len(begun) > 0 {
		return waits("'%s': %s", AgainCommand, c.inTheWay(v))
	}
	if c.Operator && v.Fleet.Operator.Exists && !v.Fleet.Operator.Paused {
		return Next{Waits: "OpenShift's operator of metal3 to be paused", Pause: true}
	}
	if text := c.inTheWay(v); text != "" {
		return waits("the cluster: %s", text)
	}
	return Next{Evidence: "the cluster's own Ironic is off, and no host of the cluster has begun"}
}
