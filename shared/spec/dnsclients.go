package spec

import "github.com/onprem-infra/onprem-infra/shared/spec/document"

// dnsClients reads the networks whose hosts may query the name servers of the cluster, beside hosts
// of the machine networks. Without those the cluster's own hosts could be left out.
func (r *reader) dnsClients(spec document.Map) networks {
	v := spec.Get("dnsClients")
	l := r.networks(v, func(e document.Value) document.Value { return e })
	switch {
	case !v.Given():
	case l.whole && len(l.list) == 0:
		r.Errorf(v.At,
			"has no network: list those whose hosts may ask, or remove the field for everybody")
	case !spec.Get("machineNetworks").Given():
		r.Errorf(v.At,
			"would keep the cluster's own hosts from the name servers: list machineNetworks, too")
	}
	return l
}
