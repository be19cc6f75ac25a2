package spec

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
)

// draft is a document's values, each with its place, before the rules that compare several of them.
type draft struct {
	name, domain document.Scalar[string]
	platform     Platform
	distribution document.Scalar[string]
	topology     document.Scalar[string]
	families     document.Scalar[string]
	replicas     document.Scalar[int]
	arbiters     document.Scalar[int]
	lists
	loadBalancer document.Scalar[string]
	dnsRecords   document.Scalar[string]
	settings     settings
	images       map[string]string
	nodes        nodes
	installed
}

// lists are a draft's networks and virtual IPs.
type lists struct {
	networks     networks
	clients      networks // whose hosts may query the name servers besides
	api, ingress vips
	dns          vips // one at most
}

// installed is what only an install-config has.
type installed struct {
	installConfig bool
	inner         innerNetworks
	pools         pools
	hosts         []Host
}

// installConfig reads what concerns us of an OpenShift install-config. In the rest it reports what
// the installer is known to refuse. It does not read secrets.
func (r *reader) installConfig(root document.Map) draft {
	d := draft{installed: installed{installConfig: true}}
	d.name = r.Text(r.Field(r.Map(r.Field(root, "metadata")), "name"))
	d.domain = r.Text(r.Field(root, "baseDomain"))
	d.replicas = r.Number(r.Field(r.Map(r.Field(root, "controlPlane")), "replicas"))
	d.arbiters = r.Number(r.Field(r.Map(r.Field(root, "arbiter")), "replicas"))
	networking := r.Map(r.Field(root, "networking"))
	d.networks, d.inner = r.machineNetworks(networking), r.innerNetworks(networking)
	d.pools = r.pools(root)
	if p, section, ok := r.platform(r.Map(r.Field(root, "platform"))); ok {
		d.platform = p
		r.section(&d, section)
	}
	installer.Check(&r.Report, r.Reader, root, string(d.platform))
	return d
}

// machineNetworks reads networking.machineNetwork, or the single CIDR of older files.
func (r *reader) machineNetworks(networking document.Map) networks {
	l := r.networks(r.Field(networking, "machineNetwork"),
		func(e document.Value) document.Value { return r.Field(r.Map(e), "cidr") })
	old := r.Field(networking, "machineCIDR")
	if old.Node == nil {
		return l
	}
	r.Warnf(old.At, "is deprecated: write machineNetwork, a list of maps with a cidr each")
	n, ok := r.networkAt(old)
	switch {
	case !ok:
		l.whole = false
	case len(l.list) == 0:
		l.list = []network{n}
	case l.whole &&
		!slices.ContainsFunc(l.list, func(m network) bool { return m.prefix == n.prefix }):
		r.Errorf(old.At, "machineNetwork does not hold %s: remove machineCIDR", n.prefix)
	}
	return l
}

// assumedNetwork is the machine network that the installer takes for an install-config without any.
func assumedNetwork() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, 0}), 16)
}
