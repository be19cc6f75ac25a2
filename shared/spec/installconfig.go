package spec

import (
	"net/netip"
	"slices"
)

// draft is what a document says, each value with its place, before the rules that look at several
// of them.
type draft struct {
	name, domain  said[string]
	platform      Platform
	distribution  said[string]
	topology      said[string]
	families      said[string]
	replicas      said[int]
	arbiters      said[int]
	networks      networks
	inner         innerNetworks
	pools         pools
	clients       networks // who may ask the name servers besides
	api, ingress  vips
	dns           vips // one at most
	loadBalancer  said[string]
	dnsRecords    said[string]
	settings      settings
	images        map[string]string
	hosts         []Host
	nodes         nodes
	installConfig bool
}

// installConfig reads what concerns us of an OpenShift install-config. Of the rest it says what the
// installer is known to refuse; secrets it leaves alone.
func (r *reader) installConfig(root object) draft {
	d := draft{installConfig: true}
	d.name = r.text(r.field(r.object(r.field(root, "metadata")), "name"))
	d.domain = r.text(r.field(root, "baseDomain"))
	d.replicas = r.number(r.field(r.object(r.field(root, "controlPlane")), "replicas"))
	d.arbiters = r.number(r.field(r.object(r.field(root, "arbiter")), "replicas"))
	networking := r.object(r.field(root, "networking"))
	d.networks, d.inner, d.pools = r.machineNetworks(networking), r.innerNetworks(networking), r.pools(root)
	if p, section, ok := r.platform(r.object(r.field(root, "platform"))); ok {
		d.platform = p
		r.section(&d, section)
	}
	r.remarks(root, d.platform)
	r.unknownFields(root)
	return d
}

// machineNetworks reads networking.machineNetwork, or the single CIDR of older files.
func (r *reader) machineNetworks(networking object) networks {
	l := r.networks(r.field(networking, "machineNetwork"), func(e value) value { return r.field(r.object(e), "cidr") })
	old := r.field(networking, "machineCIDR")
	if old.node == nil {
		return l
	}
	r.warnf(old.at, "is deprecated: write machineNetwork, a list of maps with a cidr each")
	n, ok := r.networkAt(old)
	switch {
	case !ok:
		l.whole = false
	case len(l.list) == 0:
		l.list = []network{n}
	case l.whole && !slices.ContainsFunc(l.list, func(m network) bool { return m.prefix == n.prefix }):
		r.errorf(old.at, "machineNetwork does not hold %s: remove machineCIDR", n.prefix)
	}
	return l
}

// assumedNetwork is the machine network that the installer takes for an install-config without any.
func assumedNetwork() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, 0}), 16)
}
