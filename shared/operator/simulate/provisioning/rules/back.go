package rules

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// oneAddress judges the machines that have the address which the bootstrap machine and the nodes
// share. OpenShift's is not judged: its pods set it, and only Kubernetes keeps those apart.
func oneAddress(w *world.World) {
	all := w.Holders(w.Plan.Provisioning.IP)
	if !w.Shared() || len(all) < 2 && len(w.Rules.Addresses) == 0 {
		return
	}
	for a := world.BootSite; int(a) < w.Nodes; a++ {
		for b := world.BootSite; b < a; b++ {
			// Only one of two nodes has it by their adverts, which go over the machine network.
			meet := slices.Contains(all, a) && slices.Contains(all, b) && w.OnBootNetwork(a, b) &&
				(b == world.BootSite || w.OnMachineNetwork(a, b))
			watch := w.Rules.Watch(&w.Rules.Addresses, w.Name(a)+" and "+w.Name(b))
			if watch.Exceeds(w.Now, meet, settles(w, a, b)) {
				w.Break(OneAddress, "%s and %s have %s", w.Name(b), w.Name(a),
					w.Plan.Provisioning.IP)
			}
		}
	}
}

// resumed judges a bootstrap machine that has taken provisioning back: while no fault lasts and
// nothing of the cluster provisions hosts, it has to serve within world.Resumes.
func resumed(w *world.World) {
	b, m := w.Boot, w.Boot.Memory
	if m.Held.IsZero() && w.Rules.Back == nil {
		return
	}
	fleet := w.Fleet()
	begins := !m.Held.IsZero() && m.Phase != progress.TakeBack && b.On && b.Program &&
		w.Open == 0 && fleet.Pods == 0 && len(fleet.MayRun) == 0 && len(fleet.Begun()) == 0 &&
		len(w.WhoHas(world.BootSite, w.Plan.Provisioning.IP)) == 0
	watch := w.Rules.Watch(&w.Rules.Back, "bootstrap")
	if watch.Exceeds(w.Now, begins && !w.Serves(b.Server), world.Resumes) {
		w.Break(Resumed, "provisioning was taken back, and the phase %q waits for %s", m.Phase,
			b.Shown.Waits)
	}
}
