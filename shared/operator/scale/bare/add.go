package bare

import (
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Add is the next step by which a host becomes a node. image is that of the host's description.
// given means that the caller has the document by which the host joins. Its token expires, so no
// object has it before. The error is a scale.Refusal.
func Add(w World, image object.Image, given bool) (Step, error) {
	h := w.Host
	switch {
	case h.External:
		return refuse("host %s was provisioned by another program than metal3: it is a node, or "+
			"becomes one without this", h.Name)
	case h.Deleting:
		return wait("host %s to be gone, as it is being deleted; it is %s", h.Name, h.Situation())
	case w.Taken != "":
		return refuse("node %s has the name of host %s: name another node by --node", w.Node.Name,
			w.Taken)
	case w.Bootstrap:
		return wait(scale.UntilEnded)
	case h.Consumer != "":
		return refuse("host %s belongs to %s, which deploys it", h.Name, h.Consumer)
	case h.Paused && !h.Handover:
		return refuse("a person has paused host %s: remove its annotation %s first", h.Name,
			object.Paused)
	case h.Image:
		return w.joins()
	case w.Node != nil:
		return refuse("there is a node %s, and metal3 has not written the disk of host %s: that "+
			"would end the node: remove the node first", w.Node.Name, h.Name)
	case h.State == provisioned || h.State == provisioning || h.State == unmanaged:
		return refuse("host %s is %s without an image: it becomes a node without this, or not at "+
			"all", h.Name, h.State)
	case !given:
		return refuse("host %s has no document by which it joins: name one by --user-data", h.Name)
	case w.Unlisted:
		return refuse("the cluster's own Ironic and DHCP server do not know host %s: render the "+
			"description that has it, and apply the files of the cluster and of the control plane "+
			"nodes first", h.Name)
	case !h.Exists:
		return Step{Action: Create}, nil
	case h.Handover:
		return Step{Action: Resume}, nil
	}
	return w.deploys(image)
}

// deploys is the next step for a host that has no image.
func (w World) deploys(image object.Image) (Step, error) {
	h := w.Host
	switch {
	case !w.Ironic:
		return wait("%s", scale.UntilIronic(w.Deployment))
	case h.Problem != "":
		return wait("what metal3 reports to be fixed in the host or its Secrets: %s", h.Problem)
	case h.State != available && h.State != ready:
		return wait("metal3 to inspect the host and to prepare it; it is %s", h.Situation())
	case h.Host.Node != "":
		return Step{Action: Note}, nil // remove the note of the node that it was before
	}
	return Step{Action: Deploy, Image: image, Version: h.Version}, nil
}

// joins is the next step for a host with an image.
func (w World) joins() (Step, error) {
	h := w.Host
	switch {
	case h.Paused:
		return Step{Action: Resume}, nil // it waits for the handover
	case h.State != provisioned && w.Outdated:
		return Step{Action: Renew}, nil // the token of the former one may have expired
	case h.State != provisioned:
		return wait("metal3 to write the host's disk; it is %s", h.Situation())
	case w.Misnamed != "":
		return w.misnamed()
	case w.Node == nil && len(w.Unknown) > 0:
		return wait("the host to boot and to join as node %s; of these nodes no host has the "+
			"name, and --node names one that is this host: %s", h.Name, some(w.Unknown))
	case w.Node == nil:
		return wait("the host to boot and to join as node %s", h.Name)
	case !scale.OfHost(w.Node.Name, h.Name) && h.Host.Node != w.Node.Name:
		return Step{Action: Note, Node: w.Node.Name}, nil
	case !w.Node.Ready:
		return wait("node %s to be Ready", w.Node.Name)
	}
	return Step{Done: true}, nil
}
