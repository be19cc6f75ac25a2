package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// trace is what names OpenShift, or something that only its hosts have.
var trace = regexp.MustCompile(`(?i)openshift|\bocp|_ocp|\bmco\b|-mco-|/mco/|\bkni\b|\bmcs\b|_mcs|machine-?config|22623|9446|\bovs|br-ex|nmstate|\bscc\b|crio-wipe|kubelet-dependencies|ostree|osupdate`)

// TestNoTraceOfOpenShift holds that nothing of OpenShift stands in what the hosts and the API of
// another Kubernetes get, on any platform.
func TestNoTraceOfOpenShift(t *testing.T) {
	inspected := 0
	for _, platform := range []spec.Platform{spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere, spec.None} {
		for _, balancer := range []spec.LoadBalancer{spec.Managed, spec.UserManaged} {
			for _, topology := range []spec.Topology{spec.HighlyAvailable, spec.HighlyAvailableArbiter} {
				t.Run(fmt.Sprint(platform, balancer, topology), func(t *testing.T) {
					inspected += untraced(t, spec.Cluster{
						Name: "prod", BaseDomain: "example.com", Platform: platform, Distribution: spec.Kubernetes, Topology: topology, LoadBalancer: balancer,
						APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")},
						IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("2001:db8::6")},
						Images: map[string]string{
							spec.KeepalivedImage: "r/keepalived:1", spec.HAProxyImage: "r/haproxy:1", spec.CoreDNSImage: "r/coredns:1", spec.RuntimeCfgImage: "r/own:1",
						},
					})
				})
			}
		}
	}
	if inspected < 500 {
		t.Errorf("only %d files were looked at", inspected)
	}
}

// untraced says how many files it has looked at.
func untraced(t *testing.T, c spec.Cluster) int {
	t.Helper()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := cluster.Manifests(p)
	if err != nil {
		t.Fatal(err)
	}
	files := slices.Clone(all.Tree())
	for _, r := range p.Roles() {
		set, err := goods(p, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, set.Tree()...)
	}
	for _, f := range files {
		if found := trace.FindString(f.Path); found != "" {
			t.Errorf("%s: its name has %q", f.Path, found)
		}
		if found := trace.Find(f.Contents); found != nil {
			t.Errorf("%s holds %q", f.Path, found)
		}
	}
	return len(files)
}
