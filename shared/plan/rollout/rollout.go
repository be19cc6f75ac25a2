// Package rollout computes the plan that the nodes of a live cluster can safely be given next when
// its VRRP settings change. Package cluster/migrate carries the change out on the nodes.
package rollout

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// words describes the settings that make the nodes of a plan incompatible with others.
func words(p plan.Plan) string {
	text := fmt.Sprintf("timing %s (VRRPv%d for IPv4, an advert every %d ms), vrrp %s",
		p.Timing.Profile, p.Timing.Model.IPv4, p.Timing.AdvertIntervalMs, p.VRRP.Mode)
	if p.Management != spec.ByVRRP {
		text += fmt.Sprintf(", vipManagement %s", p.Management)
	}
	return text
}

// Consent is what the user has confirmed for a live cluster whose elections change.
type Consent struct {
	Migrate  bool // all nodes may change at one instant
	Migrated bool // the last migration has happened on every node
}

// Incompatible is the error of Live for a change that would leave two holders of each VIP.
type Incompatible struct{ Reason string }

func (i Incompatible) Error() string { return i.Reason }

// Live is the description to give to the nodes of a live cluster: next, or a migration to it
// from there, their plan. Nodes get their files one after the other, so none may send another
// kind of VRRP before all of them can. The error is an Incompatible, or one of Compile.
//
// The plan of a migration does not show how far the nodes are. So the migration goes on until the
// user confirms that it has happened.
func Live(there plan.Plan, next spec.Cluster, consent Consent) (spec.Cluster, error) {
	wanted, err := plan.Compile(next)
	if err != nil {
		return spec.Cluster{}, err
	}
	if err := inPlace(there, wanted); err != nil {
		return spec.Cluster{}, err
	}
	if there.Former != nil && !consent.Migrated {
		return underWay(there, wanted, next, consent)
	}
	switch {
	case wanted.Way() == there.Way():
		return next, nil
	case wanted.Former != nil && wanted.Former.Way() == there.Way():
		return next, nil // the description itself has the migration
	case !consent.Migrate && sameVRRP(wanted, there):
		return spec.Cluster{}, Incompatible{fmt.Sprintf("its nodes have vipManagement %s, and "+
			"this description has %s. Nodes get their files one after the other, so that "+
			"routers would be led to some of them only. Add --migrate: all nodes then change "+
			"at one instant, once every one of them can", there.Management, wanted.Management)}
	case !consent.Migrate:
		return spec.Cluster{}, Incompatible{fmt.Sprintf("its nodes send VRRP with %s, and this "+
			"description has %s. Nodes get their files one after the other: as long as they send "+
			"VRRP in two ways, they do not receive each other's adverts, and each VIP has two "+
			"holders. Keep the former settings, or add --migrate: all nodes then change at one "+
			"instant, once every one of them can", words(there), words(wanted))}
	}
	return migrating(there, wanted, next), nil
}

// inPlace refuses what no live cluster can change.
func inPlace(there, wanted plan.Plan) error {
	if err := sameIDs(there, wanted); err != nil {
		return err
	}
	return sameSide(there, wanted)
}

// sameSide refuses to change a cluster to BGP alone, or from BGP alone: the VIPs of such a
// cluster are in no network of the hosts, and all other VIPs are in one.
func sameSide(there, wanted plan.Plan) error {
	if (there.Management == spec.ByBGP) == (wanted.Management == spec.ByBGP) {
		return nil
	}
	why := "no network of the hosts. Keep vipManagement bgp"
	if wanted.Management == spec.ByBGP {
		why = "the hosts' own networks. Write vipManagement both, to which hosts and routers " +
			"reach them alike"
	}
	return Incompatible{fmt.Sprintf("its nodes have vipManagement %s, and this description has "+
		"%s: %[1]s does not lead to %[2]s in place, as the virtual IPs are in %s",
		there.Management, wanted.Management, why)}
}

// sameVRRP reports whether nodes of two plans receive each other's adverts.
func sameVRRP(a, b plan.Plan) bool {
	return a.Timing.Profile == b.Timing.Profile && a.VRRP.Mode == b.VRRP.Mode
}

// sameIDs refuses another virtual router ID for a VIP that the cluster has. There is no migration
// from one ID to another: a router drops adverts of an ID that is not its own.
func sameIDs(there, wanted plan.Plan) error {
	var other []string
	for _, r := range []struct {
		name        string
		is, next    plan.Router
		vips, nexts []netip.Addr
	}{
		{"api", there.VRRP.API, wanted.VRRP.API, there.VIPs.API, wanted.VIPs.API},
		{"ingress", there.VRRP.Ingress, wanted.VRRP.Ingress, there.VIPs.Ingress,
			wanted.VIPs.Ingress},
		{"dns", there.VRRP.DNS, wanted.VRRP.DNS, there.VIPs.DNS, wanted.VIPs.DNS},
		{"provisioning", there.VRRP.Provisioning, wanted.VRRP.Provisioning,
			there.VIPs.Provisioning, wanted.VIPs.Provisioning},
	} {
		if r.is.ID != r.next.ID && len(r.vips) > 0 && len(r.nexts) > 0 {
			other = append(other, fmt.Sprintf("vrids.%s is %d there and %d in this description",
				r.name, r.is.ID, r.next.ID))
		}
	}
	if len(other) == 0 {
		return nil
	}
	return Incompatible{strings.Join(other, ", ") + ". Nodes get their files one after the " +
		"other: as long as they have two virtual router IDs, they drop each other's adverts, and " +
		"the VIP has two holders. Write the IDs that are there under vrids"}
}

// Resume is the plan of a cluster that migrates from the way in which a node has last sent VRRP, as
// written by way.Way.String: the node may get a file without the migration before that is over.
// There is no migration if the way is empty, or the wanted one, or that of the Fallback to which
// the node fell back: it stays there.
func Resume(c spec.Cluster, last string, fellBack bool) (plan.Plan, error) {
	wanted, err := plan.Compile(c)
	if err != nil || wanted.Former != nil || last == "" || last == wanted.Way().String() {
		return wanted, err
	}
	if fellBack && wanted.Fallback != nil && last == wanted.Fallback.Way().String() {
		return wanted, nil
	}
	is := way.Parse(last)
	before := c
	before.Timing, before.VRRP, before.MigrateFrom = is.Timing, is.Mode, spec.Former{}
	if before.Routing.Management = is.Management; is.Management == "" {
		before.Routing = spec.Routing{}
	}
	former, err := plan.CompileFormer(before)
	if err != nil {
		return wanted, nil
	}
	next, err := plan.Compile(migrating(former, wanted, c))
	if err != nil {
		return wanted, nil // there is no way from one to the other
	}
	return next, nil
}

// underWay is Live during a migration.
func underWay(there, wanted plan.Plan, next spec.Cluster, consent Consent) (spec.Cluster, error) {
	former := there.Former
	switch {
	case wanted.Way() == there.Way():
		return migrating(*former, wanted, next), nil
	case wanted.Way() == former.Way() && consent.Migrate:
		return migrating(there, wanted, next), nil // a node that has not changed yet stays as it is
	}
	return spec.Cluster{}, Incompatible{fmt.Sprintf("its nodes are migrating from %s to %s, and "+
		"this description has %s. The annotation %s of each Node shows whether it has migrated: "+
		"add --migrated beside --migrate if it is %s on all of them, or --migrate alone to go "+
		"back to %s",
		words(*former), words(there), words(wanted), notice.Way, there.Way(), former.Way())}
}

// migrating is the description of a migration from one plan to another. Both are written out: the
// next release may have another default.
func migrating(from, to plan.Plan, next spec.Cluster) spec.Cluster {
	next.MigrateFrom = spec.Former{}
	if to.ByVRRP() {
		next.Timing, next.VRRP = to.Timing.Profile, to.VRRP.Mode
	}
	if from.Timing.Profile != to.Timing.Profile {
		next.MigrateFrom.Timing = from.Timing.Profile
	}
	if from.VRRP.Mode != to.VRRP.Mode {
		next.MigrateFrom.VRRP = from.VRRP.Mode
	}
	if from.Management != to.Management {
		next.MigrateFrom.Management, next.Routing.Management = from.Management, to.Management
	}
	if from.BGP != nil && to.BGP == nil { // by which hosts announce until then
		next.Routing.BGP = from.Described.BGP
	}
	return next
}
