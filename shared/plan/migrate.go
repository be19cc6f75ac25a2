package plan

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Way is how the nodes of a cluster speak VRRP with each other. Nodes that speak in two ways do not
// hear each other, and both hold the VIPs.
type Way struct {
	Timing string    `json:"timing"` // profile
	Mode   spec.Mode `json:"vrrp"`
}

// String is the way in one word, such as "lan/unicast".
func (w Way) String() string { return w.Timing + "/" + string(w.Mode) }

// Way is how the cluster's nodes speak, or are going to.
func (p Plan) Way() Way { return Way{Timing: p.Timing.Profile, Mode: p.VRRP.Mode} }

// words say of a way what makes it incompatible with others.
func (p Plan) words() string {
	return fmt.Sprintf("timing %s (VRRPv%d for IPv4, an advert every %d ms), vrrp %s", p.Timing.Profile, p.Timing.Model.IPv4, p.Timing.AdvertIntervalMs, p.VRRP.Mode)
}

// Consent is what the user has said of a live cluster whose elections change.
type Consent struct {
	Migrate  bool // all nodes shall change at one instant
	Migrated bool // the last migration has happened on every node
}

// Incompatible is the error of Live for a change that would leave two holders of each VIP.
type Incompatible struct{ Reason string }

func (i Incompatible) Error() string { return i.Reason }

// Live makes of a cluster's description what the nodes of the live cluster can be given that has
// been given the plan there: nodes get their files one after the other, so that none may speak
// otherwise than the others before all of them can. The error is an Incompatible, or one of
// Compile.
//
// From a plan that migrates nobody can tell how far its nodes are. So its migration is carried on
// until the user says that it has happened.
func Live(there Plan, next spec.Cluster, say Consent) (spec.Cluster, error) {
	wanted, err := Compile(next)
	if err != nil {
		return spec.Cluster{}, err
	}
	if err := sameIDs(there, wanted); err != nil {
		return spec.Cluster{}, err
	}
	if there.Former != nil && !say.Migrated {
		return underWay(there, wanted, next, say)
	}
	switch {
	case wanted.Way() == there.Way():
		return next, nil
	case wanted.Former != nil && wanted.Former.Way() == there.Way():
		return next, nil // the description itself says from where
	case !say.Migrate:
		return spec.Cluster{}, Incompatible{fmt.Sprintf("its nodes speak VRRP with %s, and this description has %s. Nodes get their files one after the other: as long as "+
			"some speak one way and some the other, they do not hear each other, and each VIP has two holders. Leave the description as it was there, "+
			"or say --migrate: all nodes then change at one instant, once every one of them can", there.words(), wanted.words())}
	}
	return migrating(there, wanted, next), nil
}

// sameIDs refuses another virtual router ID for a VIP that the cluster has. There is no way from
// one to another: who hears adverts of an ID that is not its own takes no notice.
func sameIDs(there, wanted Plan) error {
	var other []string
	for _, r := range []struct {
		name        string
		is, next    Router
		vips, nexts []netip.Addr
	}{
		{"api", there.VRRP.API, wanted.VRRP.API, there.VIPs.API, wanted.VIPs.API},
		{"ingress", there.VRRP.Ingress, wanted.VRRP.Ingress, there.VIPs.Ingress, wanted.VIPs.Ingress},
		{"dns", there.VRRP.DNS, wanted.VRRP.DNS, there.VIPs.DNS, wanted.VIPs.DNS},
	} {
		if r.is.ID != r.next.ID && len(r.vips) > 0 && len(r.nexts) > 0 {
			other = append(other, fmt.Sprintf("vrids.%s is %d there and %d in this description", r.name, r.is.ID, r.next.ID))
		}
	}
	if len(other) == 0 {
		return nil
	}
	return Incompatible{strings.Join(other, ", ") + ". Nodes get their files one after the other: as long as some have one virtual router ID and some another, they take no " +
		"notice of each other, and the VIP has two holders. Write the IDs that are there under vrids"}
}

// Resume is the plan of a cluster, migrating from the way that a node remembers to have spoken, as
// Way.String has written it: a file that says nothing of a migration has come before that was over.
// A way that is no other one, or none at all, is nothing to migrate from.
func Resume(c spec.Cluster, spoken string) (Plan, error) {
	wanted, err := Compile(c)
	if err != nil || wanted.Former != nil || spoken == "" || spoken == wanted.Way().String() {
		return wanted, err
	}
	timing, mode, _ := strings.Cut(spoken, "/")
	c.Timing, c.VRRP, c.MigrateFrom = timing, spec.Mode(mode), spec.Former{}
	former, err := Compile(c)
	if err != nil {
		return wanted, nil
	}
	return Compile(migrating(former, wanted, c))
}

// underWay is Live while a migration is, or may be.
func underWay(there, wanted Plan, next spec.Cluster, say Consent) (spec.Cluster, error) {
	former := there.Former
	switch {
	case wanted.Way() == there.Way():
		return migrating(*former, wanted, next), nil
	case wanted.Way() == former.Way() && say.Migrate:
		return migrating(there, wanted, next), nil // nodes that have not changed yet remember it, and are where they should be
	}
	return spec.Cluster{}, Incompatible{fmt.Sprintf("its nodes are told to go over from %s to %s, and this description has %s. Whether they have done so stands in the annotation "+
		"%s of each Node: say --migrated beside --migrate when it is %s on all of them, or --migrate alone to go back to %s",
		former.words(), there.words(), wanted.words(), notice.Way, there.Way(), former.Way())}
}

// migrating has the nodes go over from one plan to another. Both are written out: a default may be
// another one in the next release.
func migrating(from, to Plan, next spec.Cluster) spec.Cluster {
	next.Timing, next.VRRP, next.MigrateFrom = to.Timing.Profile, to.VRRP.Mode, spec.Former{}
	if from.Timing.Profile != to.Timing.Profile {
		next.MigrateFrom.Timing = from.Timing.Profile
	}
	if from.VRRP.Mode != to.VRRP.Mode {
		next.MigrateFrom.VRRP = from.VRRP.Mode
	}
	return next
}
