package mco

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// situation is a plan that stands for all clusters in which a node has the same files. Its values
// that differ among them are symbols.
type situation struct{ plan plan.Plan }

// The situations, in this order: what they differ in decides which files there are.
const (
	managed     presence = 1 << iota // we balance the API
	userManaged                      // the VIPs are a balancer's of the user's own
	withoutVIPs                      // there are none
)

// symbol stands for a value until expressions are put in its place. It is a word to YAML, to
// systemd and in a path.
func symbol(name string) string { return "zz" + strings.ToLower(name) + "zz" }

// shortName is the platform in names of objects.
const shortName = "shortname"

// images are the keys of the images that the operator knows for us.
func images() []string {
	return []string{spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage, spec.RuntimeCfgImage}
}

// some is a cluster with settings of elections, an arbiter among its roles, and images.
func some(elections spec.Cluster) spec.Cluster {
	c := spec.Cluster{
		Name: "cluster", BaseDomain: "example.com", Platform: spec.BareMetal, Topology: spec.HighlyAvailableArbiter, Images: map[string]string{},
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Timing: elections.Timing, VRRP: elections.VRRP, MigrateFrom: elections.MigrateFrom, VRIDs: elections.VRIDs, Ports: elections.Ports,
		MDNS: elections.MDNS, Metrics: elections.Metrics,
	}
	for _, key := range images() {
		c.Images[key] = symbol(key)
	}
	return c
}

// situations are all that there are.
func situations(elections spec.Cluster) ([]situation, error) {
	ours := some(elections)
	theirs, none := ours, ours
	theirs.LoadBalancer = spec.UserManaged
	none.Platform, none.APIVIPs, none.IngressVIPs = spec.VSphere, nil, nil
	var list []situation
	for _, c := range []spec.Cluster{ours, theirs, none} {
		p, err := plan.Compile(c)
		if err != nil {
			return nil, err
		}
		p.Platform = spec.Platform(symbol(shortName))
		p.Namespace = "openshift-" + p.Flavour().Short + "-infra"
		list = append(list, situation{plan: p})
	}
	return list, nil
}

// presence is the situations in which a file is there.
type presence uint

// vips and ours are what the situations are told apart by.
const (
	vips = "onPremPlatformAPIServerInternalIPs ."
	ours = "isOpenShiftManagedDefaultLB ."
)

// around puts the condition around a template's whole text.
func (p presence) around(body string) (string, error) {
	var condition string
	switch p {
	case managed | userManaged | withoutVIPs:
		return body, nil
	case managed | userManaged:
		condition = vips
	case managed:
		condition = "and (" + vips + ") (" + ours + ")"
	case userManaged:
		condition = "and (" + vips + ") (not (" + ours + "))"
	default:
		return "", fmt.Errorf("there is no condition for the situations %03b", p)
	}
	return "{{ if " + condition + " -}}\n" + body + "{{ end -}}\n", nil
}
