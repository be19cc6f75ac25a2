package drift

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/drift/announced"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// meaning is the effect of a part of the plan that differs.
type meaning struct {
	of     []string // fields of plan.Plan
	effect func(there, next plan.Plan) []Effect
}

// allMeanings cover every field of a plan, which a test holds.
var allMeanings = []meaning{
	{[]string{"Cluster"}, ofIdentity},
	{[]string{"VIPs"}, ofVIPs},
	{[]string{"VRRP"}, ofElections},
	{[]string{"Timing", "MigrateFrom", "Former", "Fallback"}, ofWay},
	{[]string{"LoadBalancer"}, ofBalancer},
	{[]string{"MachineNetworks", "Families"}, ofNetworks},
	{[]string{"Management"}, announced.Management},
	{[]string{"BGP"}, announced.Sessions},
	{[]string{"ControlPlaneLabel"}, differing(MayMove, "other Nodes are the control plane from "+
		"then on: a VIP moves where its holder is none of them",
		func(p plan.Plan) any { return p.ControlPlaneLabel })},
	{[]string{"Kubeconfig", "CertificateDirectories"}, differing(Reload, "the monitors ask the "+
		"API with other credentials",
		func(p plan.Plan) any {
			return append([]string{p.Kubeconfig}, p.CertificateDirectories...)
		})},
	{[]string{"Namespace"}, differing(Unknown, "what nodes leave for each other in the API is "+
		"in another namespace from then on: those with the old file do not see it",
		func(p plan.Plan) any { return p.Namespace })},
	{[]string{"Ports"}, ofPorts},
	{[]string{"Platform", "Distribution", "Topology", "KubeletUnit"}, differing(Unknown,
		"it is a cluster of another kind: its other effects are not known",
		func(p plan.Plan) any {
			return []any{p.Platform, p.Distribution, p.Topology, p.KubeletUnit}
		})},
	// Names, metrics and how hosts are installed change no election; images are in the pods' files.
	{[]string{"Described", "Records", "DNSRecords", "MDNS", "DNSClients", "EtcdMembers", "Images",
		"Metrics", "Provisioning"}, nil},
}

// meanings are the effects of the parts that differ.
func meanings(there, next plan.Plan) (effects []Effect) {
	for _, m := range allMeanings {
		if m.effect != nil {
			effects = append(effects, m.effect(there, next)...)
		}
	}
	return effects
}

func differing(
	level Level, text string, part func(plan.Plan) any,
) func(there, next plan.Plan) []Effect {
	return func(there, next plan.Plan) []Effect {
		if reflect.DeepEqual(part(there), part(next)) {
			return nil
		}
		return one(level, "%s", text)
	}
}

// ofNetworks are the effects of other networks of nodes. On some platforms the Machine Config
// Operator knows none, and the nodes' file has none.
func ofNetworks(there, next plan.Plan) []Effect {
	unnamed := next.Platform == spec.Nutanix || next.Platform == spec.OVirt ||
		len(next.VIPs.All()) == 0
	some := len(next.MachineNetworks) > 0
	switch {
	case there.Families == next.Families &&
		slices.Equal(there.MachineNetworks, next.MachineNetworks):
		return nil
	case !unnamed || there.Families != next.Families || some == (len(there.MachineNetworks) > 0):
	case len(next.VIPs.All()) == 0:
		return one(Nothing, "the Machine Config Operator writes no machine networks here, and "+
			"render does: without a VIP nothing on this node goes by them")
	default:
		return one(MayMove, "the Machine Config Operator writes no machine networks on this "+
			"platform, and render does: with them nodes accept the address that a bootstrap "+
			"machine announces, and know a node with several addresses of a family by the last "+
			"one in the API, not by the first. Make all nodes in one of the two ways")
	}
	return one(MayMove, "nodes may choose another address or interface, and with it other "+
		"peers: a VIP moves where its holder does")
}

// ofIdentity are the effects of another name. It is VRRPv2's password, and a part of the names of
// keepalived's instances. The domain is in DNS answers alone.
func ofIdentity(there, next plan.Plan) []Effect {
	switch {
	case there.Cluster.Name == next.Cluster.Name:
		return nil
	case there.Timing.IPv4Version == 2 && next.Timing.IPv4Version == 2:
		return one(TwoHolders, "the cluster's name, %s, becomes %s, and is the password of "+
			"VRRPv2: until all nodes have this file those with the old one and those with the "+
			"new one do not receive each other's adverts", there.Cluster.Name, next.Cluster.Name)
	}
	return one(Moves, "the cluster's name, %s, becomes %s, and keepalived calls its instances "+
		"by it: to keepalived they are new, and it waits before it takes a "+
		"VIP", there.Cluster.Name, next.Cluster.Name)
}

func ofVIPs(there, next plan.Plan) (effects []Effect) {
	for _, v := range []struct {
		name     string
		is, will []netip.Addr
	}{
		{"the API's", there.VIPs.API, next.VIPs.API},
		{"the ingress", there.VIPs.Ingress, next.VIPs.Ingress},
		{"the DNS", there.VIPs.DNS, next.VIPs.DNS},
	} {
		switch {
		case slices.Equal(v.is, v.will):
		case len(v.is) == 0:
			effects = append(effects, one(Reload, "%s VIP, %s, is one more: the nodes elect a "+
				"holder as they get this file", v.name, orNone(v.will))...)
		default:
			effects = append(effects, one(Moves, "%s VIP is %s, and becomes %s: nodes with the "+
				"old file hold the old one on, and what uses that is cut off when the last one "+
				"has the new file", v.name, orNone(v.is), orNone(v.will))...)
		}
	}
	return effects
}

func orNone(list []netip.Addr) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// ofElections are the effects of other virtual router IDs and priorities.
func ofElections(there, next plan.Plan) (effects []Effect) {
	a, b := there.VRRP, next.VRRP
	for _, v := range []struct {
		name     string
		is, will plan.Router
	}{
		{"the API's VIP", a.API, b.API}, {"the ingress VIP", a.Ingress, b.Ingress},
		{"the DNS VIP", a.DNS, b.DNS},
		{"the provisioning address", a.Provisioning, b.Provisioning},
	} {
		if none := (plan.Router{}); v.is != v.will && v.is != none && v.will != none {
			effects = append(effects, one(TwoHolders, "the virtual router ID of %s is %d, and "+
				"becomes %d: until all nodes have this file those with the old one and "+
				"those with the new one do not receive each other's adverts. Leave it as it is, "+
				"or give all nodes the file while keepalived is stopped on all of them",
				v.name, v.is.ID, v.will.ID)...)
		}
	}
	// What is left differs in priorities alone. It counts only if neither the VRRP setting nor
	// the number of VIPs differs: those change the priorities too.
	for _, v := range []*plan.VRRP{&a, &b} {
		v.API, v.Ingress, v.DNS = plan.Router{}, plan.Router{}, plan.Router{}
		v.Provisioning, v.Margin, v.Proof = plan.Router{}, 0, nil
	}
	if there.Way() == next.Way() && len(there.VIPs.All()) == len(next.VIPs.All()) &&
		!reflect.DeepEqual(a, b) {
		effects = append(effects, one(MayMove, "priorities are counted otherwise: while nodes "+
			"differ in that a VIP may go to the one that counts more")...)
	}
	return effects
}

// ofWay are the effects of another VRRP setting.
func ofWay(there, next plan.Plan) []Effect {
	if there.Timing.Profile == next.Timing.Profile && there.VRRP.Mode == next.VRRP.Mode ||
		!there.ByVRRP() || !next.ByVRRP() {
		return nil // what else differs has effects of its own
	}
	switch {
	case next.Former != nil && (there.Former == nil || there.Way() != next.Way()):
		return one(MayMove, "the nodes go over from %s to %s, all at one instant, once every "+
			"one of them can: the VIPs stay; to keepalived an instance that goes from multicast "+
			"to unicast is a new one, which waits before it takes its "+
			"VIP", next.Former.Way(), next.Way())
	case there.Way() != next.Way():
		return one(TwoHolders, "the nodes use VRRP as %s, and this one would use it as %s: "+
			"until all nodes have this file they do not receive each other's adverts. render "+
			"and ignition refuse it without --migrate, with which all change at one "+
			"instant", there.Way(), next.Way())
	}
	return nil
}

func ofBalancer(there, next plan.Plan) []Effect {
	switch {
	case there.LoadBalancer == next.LoadBalancer:
		return nil
	case next.LoadBalancer == spec.UserManaged:
		return one(Moves, "the VIPs are those of a load balancer of yours: no node holds them "+
			"any more, and it must hold them when the last node has this file")
	}
	return one(Moves, "the nodes hold the VIPs from then on: a load balancer of yours must have "+
		"given them up")
}

// ofPorts are the effects of other ports. A port that only one of the plans has is no change.
func ofPorts(there, next plan.Plan) []Effect {
	for name, number := range next.Ports {
		if is, ok := there.Ports[name]; ok && is != number {
			return one(MayMove, "other ports: while daemons and monitors differ in them checks "+
				"fail, and a VIP may leave this node")
		}
	}
	return nil
}
