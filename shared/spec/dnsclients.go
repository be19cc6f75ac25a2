package spec

// dnsClients reads the networks whose hosts may ask the name servers of the cluster, besides those
// of the machine networks. Without the machine networks the cluster's own hosts could be left out.
func (r *reader) dnsClients(spec object) networks {
	v := spec.get("dnsClients")
	l := r.networks(v, func(e value) value { return e })
	switch {
	case !v.given():
	case l.whole && len(l.list) == 0:
		r.errorf(v.at, "has no network: list those whose hosts may ask, or remove the field for everybody")
	case !spec.get("machineNetworks").given():
		r.errorf(v.at, "would keep the cluster's own hosts from the name servers: list machineNetworks, too")
	}
	return l
}
