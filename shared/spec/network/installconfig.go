package network

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Inner are the networks inside a cluster, of an install-config only. Hosts route the addresses of
// all of them, so that none may hold an address of a host or a virtual IP.
type Inner struct {
	services, pods List[Network]
	join           List[Network] // one at most
	ovn            bool          // the network plugin is OVN-Kubernetes, which is the default
}

// ReadNetworking reads the networks of an install-config, or those of older fields.
func (a *Addresses) ReadNetworking(r *document.Reader, networking document.Map) {
	cidr := func(e document.Value) document.Value { return r.Field(r.Map(e), "cidr") }
	list := func(v document.Value, at func(document.Value) document.Value) List[Network] {
		return networkElement().list(r, v, at)
	}
	a.Machines = list(r.Field(networking, "machineNetwork"), cidr)
	if old := r.Field(networking, "machineCIDR"); old.Node != nil {
		a.addMachineCIDR(r, old)
	}
	in := &a.inner
	in.services = list(r.Field(networking, "serviceNetwork"), itself)
	in.pods = list(r.Field(networking, "clusterNetwork"), cidr)
	if old := r.Field(networking, "serviceCIDR"); old.Node != nil {
		r.Warnf(old.At, "is deprecated: write serviceNetwork, a list")
		if one := networkElement().one(r, old); in.services.empty() {
			in.services = one
		}
	}
	if old := r.Field(networking, "clusterNetworks"); old.Node != nil {
		r.Warnf(old.At, "is deprecated: write clusterNetwork, the same list")
		if all := list(old, cidr); in.pods.empty() {
			in.pods = all
		}
	}
	ipv4 := r.Map(r.Field(r.Map(r.Field(networking, "ovnKubernetesConfig")), "ipv4"))
	if join := r.Field(ipv4, "internalJoinSubnet"); join.Node != nil {
		in.join = networkElement().one(r, join)
	}
	plugin, _ := r.Field(networking, "networkType").Word()
	if former, _ := r.Field(networking, "type").Word(); plugin == "" {
		plugin = former
	}
	in.ovn = plugin == "" || strings.EqualFold(plugin, "OVNKubernetes")
}

// addMachineCIDR reads the single machine network of older files.
func (a *Addresses) addMachineCIDR(r *document.Reader, old document.Value) {
	r.Warnf(old.At, "is deprecated: write machineNetwork, a list of maps with a cidr each")
	l, one := &a.Machines, networkElement().one(r, old)
	switch {
	case !one.Whole:
		l.Whole = false
	case len(l.All) == 0:
		l.All = one.All
	case l.Whole && !slices.Contains(Prefixes(*l), one.All[0].Prefix):
		r.Errorf(old.At, "machineNetwork does not hold %s: remove machineCIDR", one.All[0].Prefix)
	}
}

// ReadOldVIPs reads a platform's list of virtual IPs, or the single one of older files.
func ReadOldVIPs(r *document.Reader, section document.Map, name, old string) List[VIP] {
	l, o := ReadVIPs(r, r.Field(section, name)), r.Field(section, old)
	if word, ok := o.Word(); o.Node == nil || ok && word == "" {
		if !l.Given {
			misspelt(r, section, name)
		}
		return l
	}
	r.Warnf(o.At, "is deprecated: write %s, a list", name)
	one := vipElement().one(r, o)
	switch {
	case !one.Whole:
		l.Given, l.Whole = true, false
	case l.empty():
		return one
	case l.Whole && !slices.Contains(Addrs(l.All), one.All[0].Addr):
		r.Errorf(o.At, "%s does not hold %s: remove %s", name, one.All[0].Addr, old)
	}
	return l
}

// misspelt reports another platform's spelling: underscores for capitals, or the other way round.
// The installer, which ignores case only, would not read it either.
func misspelt(r *document.Reader, section document.Map, name string) {
	for _, key := range section.Names {
		if document.Fold(key) != document.Fold(name) && document.Alike(key, name) {
			r.Errorf(section.Key(key), "is not read on this platform: spell it %s", name)
		}
	}
}
