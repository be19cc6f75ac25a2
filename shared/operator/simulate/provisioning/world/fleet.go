package world

import (
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
)

// Fleet is what the cluster's API has of the hosts that it provisions, and of its own Ironic.
func (w *World) Fleet() scale.Fleet {
	place := object.OpenShiftHosts()
	if w.Shared() {
		place = object.AnyHosts()
	}
	f := scale.Fleet{Ironic: w.Pod.Runs, Deployment: place.Ironic,
		Operator: scale.Operator{Exists: !w.Shared(), Paused: w.Pod.Paused, Handover: w.Pod.Paused}}
	if w.Pod.Begun {
		f.Pods = 1
	}
	for _, h := range w.Hosts[:w.Nodes] {
		if h.Ends && w.Defect != schedule.Uncounted {
			f.MayRun = append(f.MayRun, scale.Pod{Name: f.Deployment, Node: h.Plan.Name,
				Ended: true})
		}
	}
	for _, h := range w.Hosts[w.Nodes:] {
		f.Hosts = append(f.Hosts, scale.Host{Name: h.Plan.Name, Exists: true, State: h.State(),
			Problem: h.Metal3.Problem, Paused: h.Metal3.Waits, Handover: h.Metal3.Waits})
	}
	return f
}

// Begin lets metal3 begin with a host.
func (w *World) Begin(name string) {
	for _, h := range w.Hosts[w.Nodes:] {
		h.Metal3.Waits = h.Metal3.Waits && h.Plan.Name != name
	}
}
