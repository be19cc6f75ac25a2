// Package schedule describes what is simulated of a cluster whose hosts elect the holder of a VIP
// by VRRP and announce it to their routers: both sides of it, and when which fault happens.
package schedule

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	routed "github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	elections "github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Cluster is the cluster to simulate.
type Cluster struct {
	Plan      plan.Plan
	Elections elections.Cluster
	Routed    routed.Cluster
	Filmed    bool   // a picture is drawn of the run
	Defect    Defect // of the hosts' monitors
}

// Defect breaks the product on purpose, so that tests hold that each rule finds something.
type Defect int

// The defects.
const (
	Sound Defect = iota
	Blind        // a monitor does not know which state keepalived has
	Early        // the holder ends announcing first
)

// Migrate is the kind of fault by which all nodes change at an instant, to ToBoth or to ToVRRP.
const Migrate script.Kind = "migrate"

// To what nodes change.
const (
	ToBoth = "both"
	ToVRRP = "vrrp"
)

// Kinds are all kinds of faults: those of the hosts' programs and of elections, those of FRR and of
// routers, and Migrate. elections.Part, the removal of a node, is not among them.
func Kinds() []script.Kind {
	all := slices.Concat(elections.Kinds(), ofRouters(), []script.Kind{Migrate})
	return slices.DeleteFunc(all, func(k script.Kind) bool { return k == elections.Part })
}

// ofRouters are the kinds that only the routers' side has.
func ofRouters() []script.Kind {
	return slices.DeleteFunc(routed.Kinds(), func(k script.Kind) bool {
		return slices.Contains(elections.Kinds(), k)
	})
}

// ForRouters reports whether a fault is one of FRR, of routers or of their links. All others happen
// to hosts and their programs.
func (c Cluster) ForRouters(f script.Fault) bool {
	return slices.Contains(ofRouters(), f.Kind) || c.Routed.Find(f.Host) >= c.Routed.Hosts ||
		c.Routed.FindLink(f.Host) >= 0
}

// Parse reads a schedule.
func Parse(text string) (script.Schedule, error) {
	return script.Grammar{Kinds: Kinds(), Longest: elections.MaxLength,
		Amounts: elections.MostAmount, Check: elections.CheckAmount}.Parse(text)
}

// Check returns an error if a fault is of a host or a part of the network that the cluster lacks.
func (c Cluster) Check(s script.Schedule) error {
	for _, f := range s.Faults {
		if all := c.targets(f); !slices.Contains(all, f.Host) {
			return fmt.Errorf("%v: %s is not for %s, but for %s", f, f.Kind, f.Host,
				strings.Join(all, ", "))
		}
	}
	return nil
}

// targets are what the kind of a fault can happen to.
func (c Cluster) targets(f script.Fault) (all []string) {
	if f.Kind == Migrate {
		return []string{ToBoth, ToVRRP}
	}
	if slices.Contains(elections.Kinds(), f.Kind) {
		all = append(c.Elections.Hosts(), elections.Holder)
	}
	if !slices.Contains(routed.Kinds(), f.Kind) {
		return all
	}
	own := len(all) == 0 // FRR's and the routers'
	for _, name := range c.Routed.Targets(f.Kind) {
		switch {
		case c.ForRouters(script.Fault{Host: name}), own && c.Routed.Find(name) < 0:
			all = append(all, name)
		case own:
			all = append(slices.DeleteFunc(all, isHolder), name, elections.Holder)
		}
	}
	return all
}

func isHolder(name string) bool { return name == elections.Holder }

// For is the cluster for the VIP of a kind (empty: API), with equally many hosts on both sides.
func (c Cluster) For(kind vrrp.Kind) Cluster {
	c.Elections.Kind, c.Elections.Announces = cmp.Or(kind, vrrp.API), true
	c.Routed.Elected, c.Routed.Clients = c.Elections.Kind, routed.API
	if kind == vrrp.Ingress {
		c.Routed.Clients = routed.Ingress
	}
	c.Routed.Bootstrap = c.Elections.Bootstrap
	c.Routed = c.Routed.Sized(c.Elections.Masters, c.Elections.Workers)
	return c
}

// Announces reports whether hosts announce the VIP when a schedule begins: they do unless its
// first migration is to ToBoth.
func Announces(s script.Schedule) bool {
	i := slices.IndexFunc(s.Faults, func(f script.Fault) bool { return f.Kind == Migrate })
	return i < 0 || s.Faults[i].Host != ToBoth
}

// Trial is a random cluster with the plan of c, and a schedule for it: faults of hosts and of
// elections, faults of routers beside them, and sometimes a migration.
func Trial(seed uint64, c Cluster) (Cluster, script.Schedule) {
	d := rand.New(rand.NewPCG(seed, 0x626f7468))
	kind := vrrp.API
	c.Elections.Bootstrap, c.Elections.Workers = d.IntN(3) == 0, 0
	switch {
	case !c.Elections.Bootstrap && len(c.Plan.VIPs.Ingress) > 0 && d.IntN(5) == 0:
		kind, c.Elections.Workers = vrrp.Ingress, 3
	case len(c.Plan.VIPs.DNS) > 0 && d.IntN(5) == 0:
		kind = vrrp.DNS
	}
	c.Elections.Client = elections.ClientPace // its errors mark servers down too
	c = c.For(kind)
	s := elections.Random(seed, c.Elections)
	for _, f := range routed.Random(seed, c.Routed).Faults {
		if c.ForRouters(f) {
			s.Faults = append(s.Faults, f)
		}
	}
	if !c.Elections.Bootstrap && d.IntN(4) == 0 {
		to, at := []string{ToBoth, ToVRRP}, time.Duration(d.Int64N(int64(s.Length)))
		for range 1 + d.IntN(2) {
			s.Faults = append(s.Faults, script.Fault{At: at.Round(time.Millisecond), Kind: Migrate,
				Host: to[d.IntN(2)]})
			at += time.Duration(d.Int64N(int64(20 * time.Second)))
		}
	}
	for _, f := range s.Faults {
		s.Length = max(s.Length, f.At+f.For)
	}
	s.Length += 30 * time.Second
	slices.SortStableFunc(s.Faults, func(a, b script.Fault) int { return cmp.Compare(a.At, b.At) })
	return c, s
}
