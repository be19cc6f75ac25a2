package mco

import (
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/mco/theirs"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/units"
)

// An operator that knows vipManagement has a function, a field and manifests that others lack, and
// a template that names an unknown function fails. So only a tree that is asked for has them.

// announces reports whether a tree is for clusters whose hosts announce VIPs by BGP, too.
func announces(elections spec.Cluster) bool { return elections.Routing.Management == spec.ByBGP }

// byBGP is the condition of such a cluster. The operator's function requires bare metal and VIPs,
// and does not check the balancer.
const (
	byBGP     = "and (" + ours + ") (isBGPVIPManagement .)"
	notRouted = " (not (isBGPVIPManagement .))"
)

// routedConditions are the conditions in such a tree.
var routedConditions = map[presence]string{
	managed | userManaged | withoutVIPs | announced: "",
	managed | userManaged | withoutVIPs:             "not (" + byBGP + ")",
	managed | userManaged | announced:               vips,
	managed | userManaged:                           "and (" + vips + ") (not (" + byBGP + "))",
	managed | announced:                             conditions[managed],
	managed:                                         conditions[managed] + notRouted,
	userManaged:                                     conditions[userManaged],
	announced:                                       byBGP,
}

// routed is some cluster whose hosts announce its VIPs. It has no elections. Its routers have BFD,
// as those of other clusters may not have.
func routed(elections spec.Cluster) spec.Cluster {
	c := some(spec.Cluster{
		Ports: elections.Ports, MDNS: elections.MDNS, Metrics: elections.Metrics,
	})
	c.Images[spec.FRRImage] = symbol(spec.FRRImage)
	network := netip.MustParsePrefix("192.0.2.0/24")
	c.MachineNetworks = []netip.Prefix{network}
	c.APIVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.5")}
	c.IngressVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.6")}
	c.Routing = spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{
		ASN: 64512, Racks: []routing.Rack{{Network: network}},
	}}
	return c
}

// assets are the files of a node. One that announces VIPs makes its description by itself.
func assets(p plan.Plan, r role.Role) (asset.Set, error) {
	set, err := cluster.Assets(p, r)
	if err != nil || p.BGP == nil {
		return set, err
	}
	for _, u := range (units.Host{OpenShift: true}).Describe() {
		if err := set.AddUnit(u); err != nil {
			return asset.Set{}, err
		}
	}
	return set, nil
}

// description is the file in which a template describes the cluster, with its text. Where hosts
// announce VIPs it has their routers' passwords: root alone may read it.
func description(p plan.Plan, f asset.File) (asset.File, string) {
	if p.BGP == nil {
		return f, clusterJSON(f.Contents, nodesFields())
	}
	f.Path, f.Mode = described.Path, 0o600
	return f, routersJSON(p, nodesFields())
}

// routersJSON is a cluster.json with the operator's text of routers in the place of ours. Go quotes
// it: for YAML, as which it is read, that is one text.
func routersJSON(p plan.Plan, fields map[string]string) string {
	const next = `    "clusterDomain":`
	p.Described = spec.Routing{}
	text := clusterJSON(plan.Encode(p), fields)
	field := `    "` + described.Field + `": ` + quoted(".BGPVIPPeersJSON") + ",\n"
	return strings.Replace(text, next, field+next, 1)
}

// routedManifests adds the files that the operator's bootstrap command knows by name for a cluster
// whose hosts announce VIPs.
func routedManifests(b *asset.Builder, p plan.Plan) {
	dir := "/manifests/" + theirs.Layer + "/"
	b.File(dir+"0000-frr-k8s.yaml", 0o644,
		[]byte(inSpec().Replace(text(pod.Render(static.Speaker(p))))))
	b.File(dir+"0010-kube-vip-api.yaml", 0o644, []byte(static.NoPod))
	b.File(dir+"0011-kube-vip-api-secondary.yaml", 0o644, []byte(static.NoPod))
	b.File(dir+"frr-peers.json.tmpl", 0o644, []byte(inController(
		routersJSON(p, bootstrapFields()))))
}

// withoutNetworks leaves out the machine networks where hosts announce VIPs by BGP: the bootstrap
// machine's CoreDNS has no routers, and without them a VIP outside of these networks is an error.
func withoutNetworks(fields map[string]string) map[string]string {
	fields["machineNetworks"] = strings.Replace(fields["machineNetworks"],
		list(".MachineNetworks"),
		`{{ if ne .VIPManagement "BGP" }}`+list(".MachineNetworks")+`{{ end }}`, 1)
	return fields
}
