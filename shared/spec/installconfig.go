package spec

import (
	"net/netip"
	"slices"
)

// draft is what a document says, each value with its place, before the rules that look at several of them.
type draft struct {
	name, domain  said[string]
	platform      Platform
	topology      said[string]
	replicas      said[int]
	arbiters      said[int]
	networks      networks
	api, ingress  vips
	loadBalancer  said[string]
	dnsRecords    said[string]
	settings      settings
	images        map[string]string
	hosts         []Host
	installConfig bool
}

// installConfig reads what concerns us of an OpenShift install-config. The rest is the installer's and is left alone, secrets first.
func (r *reader) installConfig(root object) draft {
	d := draft{installConfig: true}
	d.name = r.text(r.object(root.get("metadata")).get("name"))
	d.domain = r.text(root.get("baseDomain"))
	d.replicas = r.number(r.object(root.get("controlPlane")).get("replicas"))
	d.arbiters = r.number(r.object(root.get("arbiter")).get("replicas"))
	d.networks = r.machineNetworks(r.object(root.get("networking")))
	if p, section, ok := r.platform(r.object(root.get("platform"))); ok {
		d.platform = p
		r.section(&d, section)
	}
	return d
}

// machineNetworks reads networking.machineNetwork, or the single CIDR of older files.
func (r *reader) machineNetworks(networking object) networks {
	l := r.networks(networking.get("machineNetwork"), func(e value) value { return r.object(e).get("cidr") })
	old := networking.get("machineCIDR")
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
