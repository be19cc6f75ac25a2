package matrix

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// cell is one kind of cluster.
type cell struct {
	platform spec.Platform
	balancer spec.LoadBalancer
	records  spec.DNSRecords
	families string
	topology shape
	noVIPs   bool
	routed   bool // hosts announce VIPs by BGP; see routedCells
}

// shape is a control plane as an install-config describes it, and what the Infrastructure object
// says of it.
type shape struct {
	name                       string
	masters, arbiters, workers int
	is                         spec.Topology
}

var (
	shapes = []shape{
		{"ha3", 3, 0, 2, spec.HighlyAvailable}, {"ha5", 5, 0, 2, spec.HighlyAvailable}, {"compact", 3, 0, 0, spec.HighlyAvailable},
		{"arbiter", 2, 1, 0, spec.HighlyAvailableArbiter}, {"two-node", 2, 0, 0, spec.DualReplica}, {"single-node", 1, 0, 0, spec.SingleReplica},
	}
	platforms = []spec.Platform{spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere}
	balancers = []spec.LoadBalancer{spec.Managed, spec.UserManaged}
	records   = []spec.DNSRecords{spec.Internal, spec.External}
)

func (c cell) String() string {
	words := []string{string(c.platform), map[spec.LoadBalancer]string{spec.Managed: "managed", spec.UserManaged: "user-managed"}[c.balancer],
		strings.ToLower(string(c.records)), c.families, c.topology.name}
	if c.noVIPs {
		words[1] = "without-VIPs"
	}
	if c.routed {
		words = append(words, "by BGP")
	}
	return strings.Join(words, " ")
}

// cells are all kinds. oVirt has no external records; vSphere and Nutanix may have no VIPs.
func cells() []cell {
	var all []cell
	for _, platform := range platforms {
		for _, families := range spec.Families() {
			for _, topology := range shapes {
				for _, record := range records {
					if platform == spec.OVirt && record == spec.External {
						continue
					}
					for _, balancer := range balancers {
						all = append(all, cell{platform: platform, balancer: balancer, records: record, families: families, topology: topology})
					}
					if platform == spec.VSphere || platform == spec.Nutanix {
						all = append(all, cell{platform: platform, balancer: spec.Managed, records: record, families: families, topology: topology, noVIPs: true})
					}
				}
			}
		}
	}
	return all
}

// networks and the two kinds of VIPs, by families; Nutanix and oVirt have IPv4 first whatever is
// primary.
func (c cell) networks() []string { return c.inOrder("192.0.2.0/24", "2001:db8:1::/64", false) }
func (c cell) api() []string      { return c.vips("192.0.2.5", "2001:db8:1::5") }
func (c cell) ingress() []string  { return c.vips("192.0.2.6", "2001:db8:1::6") }

func (c cell) vips(v4, v6 string) []string {
	if c.noVIPs {
		return nil
	}
	if c.routed {
		v4, v6 = strings.Replace(v4, "192.0.2.", "198.51.100.", 1), strings.Replace(v6, "2001:db8:1:", "2001:db8:99:", 1)
	}
	return c.inOrder(v4, v6, c.platform == spec.Nutanix || c.platform == spec.OVirt)
}

func (c cell) inOrder(v4, v6 string, v4First bool) []string {
	switch {
	case c.families == "IPv4":
		return []string{v4}
	case c.families == "IPv6":
		return []string{v6}
	case c.families == "DualStackIPv6Primary" && !v4First:
		return []string{v6, v4}
	}
	return []string{v4, v6}
}

// refs are the images of a release.
var refs = map[string]string{
	spec.KeepalivedImage: digest("keepalived", "1"), spec.HAProxyImage: digest("haproxy", "2"), spec.CoreDNSImage: digest("coredns", "3"),
	spec.RuntimeCfgImage: digest("onprem-infra", "4"),
}

// frrRef is the image of FRR, which not all releases have for us.
var frrRef = digest("frr", "5")

func digest(name, digit string) string {
	return "registry.example.com:5000/release/" + name + "@sha256:" + strings.Repeat(digit, 64)
}

// installConfig is the cell as a user writes it.
func (c cell) installConfig() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nmetadata: {name: ostest}\nbaseDomain: lab.example.com\ncontrolPlane: {name: master, replicas: %d}\n", c.topology.masters)
	if c.topology.arbiters > 0 {
		fmt.Fprintf(&b, "arbiter: {name: arbiter, replicas: %d}\n", c.topology.arbiters)
	}
	if c.topology.is == spec.DualReplica && c.platform == spec.BareMetal {
		b.Reset()
		b.WriteString("apiVersion: v1\nmetadata: {name: ostest}\nbaseDomain: lab.example.com\ncontrolPlane: {name: master, replicas: 2, " +
			"fencing: {credentials: [{address: 'redfish://bmc-0.example.com'}, {address: 'redfish://bmc-1.example.com'}]}}\n")
	}
	fmt.Fprintf(&b, "compute: [{name: worker, replicas: %d}]\nnetworking:\n  machineNetwork:\n", c.topology.workers)
	for _, network := range c.networks() {
		fmt.Fprintf(&b, "  - cidr: %s\n", network)
	}
	api, ingress := "apiVIPs", "ingressVIPs"
	if c.platform == spec.OVirt {
		api, ingress = "api_vips", "ingress_vips"
	}
	fmt.Fprintf(&b, "platform:\n  %s:\n", c.platform)
	if !c.noVIPs {
		fmt.Fprintf(&b, "    %s: ['%s']\n    %s: ['%s']\n", api, strings.Join(c.api(), "', '"), ingress, strings.Join(c.ingress(), "', '"))
		fmt.Fprintf(&b, "    loadBalancer: {type: %s}\n", c.balancer)
	}
	if c.platform != spec.OVirt {
		fmt.Fprintf(&b, "    dnsRecordsType: %s\n", c.records)
	}
	if c.routed {
		fmt.Fprintf(&b, "    bgpVIPConfig: {localASN: 64512, communities: ['64512:100'], peers: %s}\n", c.peersOf("failureDetection", "BFD"))
	}
	return b.String()
}

// refused says whether the installer takes no such install-config. The operator knows such clusters
// all the same, and we make them of a cluster.yaml.
func (c cell) refused() bool {
	two := c.topology.arbiters > 0 || c.topology.is == spec.DualReplica
	return c.records == spec.External && (c.balancer == spec.Managed || c.noVIPs) || two && c.platform != spec.BareMetal
}

// clusterYAML is the cell in our own form.
func (c cell) clusterYAML() string {
	list := func(all []string) string {
		if len(all) == 0 {
			return "[]"
		}
		return "['" + strings.Join(all, "', '") + "']"
	}
	text := fmt.Sprintf("apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata: {name: ostest}\nspec:\n  baseDomain: lab.example.com\n"+
		"  platform: %s\n  topology: %s\n  controlPlaneReplicas: %d\n  machineNetworks: %s\n  apiVIPs: %s\n  ingressVIPs: %s\n",
		c.platform, c.topology.is, c.topology.masters, list(c.networks()), list(c.api()), list(c.ingress()))
	if !c.noVIPs {
		text += fmt.Sprintf("  loadBalancer: %s\n", c.balancer)
	}
	if c.platform != spec.OVirt {
		text += fmt.Sprintf("  dnsRecords: %s\n", c.records)
	}
	return text
}

// described is the cell as it is read.
func (c cell) described(t *testing.T) (spec.Cluster, spec.Findings) {
	t.Helper()
	text := c.installConfig()
	if c.refused() {
		if _, findings := spec.Parse("install-config.yaml", []byte(text), spec.Knobs{}); !findings.HasErrors() {
			t.Errorf("%s: the installer refuses it, and nothing is said of it\n%s", c, text)
		}
		text = c.clusterYAML()
	}
	described, findings := spec.Parse("install-config.yaml", []byte(text), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatalf("%s: %v\n%s", c, findings, text)
	}
	described.Images = maps.Clone(refs)
	if c.routed {
		described.Images[spec.FRRImage] = frrRef
	}
	return described, findings
}

func compiled(t *testing.T, c spec.Cluster) plan.Plan {
	t.Helper()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// goods are what a host of a role gets.
func goods(t *testing.T, p plan.Plan, r role.Role) asset.Set {
	t.Helper()
	assets := func() (asset.Set, error) { return cluster.Assets(p, r) }
	if r == role.Bootstrap {
		assets = func() (asset.Set, error) { return bootstrap.Assets(p) }
	}
	set, err := assets()
	if err != nil {
		t.Fatal(err)
	}
	return set
}
