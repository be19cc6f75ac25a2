package mco

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The situations, in this order. Their differences decide which files exist.
const (
	managed     presence = 1 << iota // we balance the API
	userManaged                      // the VIPs belong to a user-managed balancer
	withoutVIPs                      // there are none
	announced                        // hosts announce them by BGP; in a tree with that alone
)

// symbol stands for a value until an expression replaces it. It needs no quotes in YAML, in units
// and in paths.
func symbol(name string) string { return "zz" + strings.ToLower(name) + "zz" }

// shortName is the symbol of the platform in names of objects.
const shortName = "shortname"

// images are the keys of the images that the operator has for us.
var images = []string{
	spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage, spec.RuntimeCfgImage,
}

// nameOf is the operator's name of an image.
func nameOf(key string) string {
	if key == spec.FRRImage {
		return "frrK8sImage"
	}
	return key
}

// some is a cluster with settings of elections, an arbiter among its roles, and images.
func some(elections spec.Cluster) spec.Cluster {
	c := spec.Cluster{
		Name: "cluster", BaseDomain: "example.com", Platform: spec.BareMetal,
		Topology: spec.HighlyAvailableArbiter, Images: map[string]string{},
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Timing:      elections.Timing, VRRP: elections.VRRP, MigrateFrom: elections.MigrateFrom,
		TimingProof: elections.TimingProof, VRIDs: elections.VRIDs, Ports: elections.Ports,
		MDNS: elections.MDNS, Metrics: elections.Metrics,
	}
	for _, key := range images {
		c.Images[key] = symbol(key)
	}
	return c
}

// situations are a plan for each situation, in order. Values that differ among the clusters of a
// situation are symbols.
func situations(elections spec.Cluster) ([]plan.Plan, error) {
	ours := some(elections)
	theirs, none := ours, ours
	theirs.LoadBalancer = spec.UserManaged
	none.Platform, none.APIVIPs, none.IngressVIPs = spec.VSphere, nil, nil
	clusters := []spec.Cluster{ours, theirs, none}
	if announces(elections) {
		clusters = append(clusters, routed(elections))
	}
	var list []plan.Plan
	for _, c := range clusters {
		p, err := plan.Compile(c)
		if err != nil {
			return nil, err
		}
		list = append(list, onPlatform(p, spec.Platform(symbol(shortName))))
	}
	return list, nil
}

// onPlatform is the plan for another platform.
func onPlatform(p plan.Plan, platform spec.Platform) plan.Plan {
	p.Platform = platform
	p.Namespace = "openshift-" + p.Flavour().Short + "-infra"
	return p
}

// presence is the set of situations in which a file exists.
type presence uint

// vips and ours are the conditions that distinguish the situations.
const (
	vips = "onPremPlatformAPIServerInternalIPs ."
	ours = "isOpenShiftManagedDefaultLB ."
)

// conditions are those of the sets of situations for which there is one; empty: no condition.
var conditions = map[presence]string{
	managed | userManaged | withoutVIPs: "",
	managed | userManaged:               vips,
	managed:                             "and (" + vips + ") (" + ours + ")",
	userManaged:                         "and (" + vips + ") (not (" + ours + "))",
}

// around puts the condition around a template's whole text.
func (p presence) around(body string, conditions map[presence]string) (string, error) {
	condition, ok := conditions[p]
	switch {
	case !ok:
		return "", fmt.Errorf("there is no condition for the situations %03b", p)
	case condition == "":
		return body, nil
	}
	return "{{ if " + condition + " -}}\n" + body + "{{ end -}}\n", nil
}
