package spec

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
)

// spelling is how a platform's section of an install-config names its fields.
type spelling struct{ api, ingress, oldAPI, oldIngress string }

func spellingOf(p Platform) spelling {
	if p == OVirt {
		return spelling{"api_vips", "ingress_vips", "api_vip", "ingress_vip"}
	}
	return spelling{"apiVIPs", "ingressVIPs", "apiVIP", "ingressVIP"}
}

// platforms lists the platforms of an install-config that have no load balancer of a cloud.
func platforms() []string {
	return []string{string(BareMetal), string(Nutanix), string(OpenStack), string(OVirt),
		string(VSphere)}
}

// platform finds the one section under platform.
func (r *reader) platform(platform document.Map) (Platform, document.Map, bool) {
	five := strings.Join(platforms(), ", ")
	var found, names []string // right, and as written
	for _, name := range platform.Names {
		i := slices.IndexFunc(platforms(),
			func(p string) bool { return document.Fold(p) == document.Fold(name) })
		switch {
		case i < 0:
			r.Errorf(platform.Key(name), "this platform has no virtual IPs to serve: use one of "+
				"%s, or a cluster.yaml for another Kubernetes", five)
		case !slices.Contains(found, platforms()[i]):
			found, names = append(found, platforms()[i]), append(names, name)
		}
	}
	switch {
	case platform.Lost:
		return "", document.Map{}, false
	case len(platform.Names) == 0:
		r.Errorf(platform.At, "no platform is named: write one of %s", five)
		return "", document.Map{}, false
	case len(found) > 1:
		r.Errorf(platform.Key(names[1]), "stands beside %s: leave one platform", found[0])
		return "", document.Map{}, false
	case len(found) == 0:
		return "", document.Map{}, false
	}
	if found[0] == string(OVirt) {
		r.Warnf(platform.Key(names[0]), "today's installer refuses oVirt, which it has removed: "+
			"use a release that has it, or describe the cluster in a cluster.yaml")
	}
	return Platform(found[0]), r.Map(r.Field(platform, found[0])), true
}

// section reads what stands under a platform's name.
func (r *reader) section(d *draft, section document.Map) {
	s := spellingOf(d.platform)
	d.api = r.vipList(section, s.api, s.oldAPI)
	d.ingress = r.vipList(section, s.ingress, s.oldIngress)
	balancer := r.Map(r.Field(section, "loadBalancer"))
	d.loadBalancer = r.Text(r.Field(balancer, "type"))
	if balancer.Given && !d.loadBalancer.Given {
		r.Errorf(d.loadBalancer.At, "is missing: write one of %s, %s, or remove loadBalancer",
			Managed, UserManaged)
	}
	if records := r.Field(section, "dnsRecordsType"); d.platform != OVirt {
		d.dnsRecords = r.Text(records)
	} else if records.Node != nil {
		r.Warnf(records.At, "oVirt has no such field, its records are Internal: remove it")
	}
	if d.platform == BareMetal {
		d.hosts = r.hosts(r.Field(section, "hosts"))
		if network := r.Text(r.Field(section, "provisioningNetwork")); network.Value != "" {
			r.oneOf(network, "Managed", "Unmanaged", "Disabled")
		}
	}
	vips := addresses(slices.Concat(d.api.list, d.ingress.list))
	installer.CheckPlatform(&r.Report, r.Reader, string(d.platform), section, vips)
}

// vipList reads a list of virtual IPs, or the single one of older files.
func (r *reader) vipList(section document.Map, name, old string) vips {
	l, o := r.vips(r.Field(section, name)), r.Field(section, old)
	if word, ok := o.Word(); o.Node == nil || ok && word == "" {
		r.misspelt(section, name, l)
		return l
	}
	r.Warnf(o.At, "is deprecated: write %s, a list", name)
	addr, ok := r.vip(o)
	switch {
	case !ok:
		l.Given, l.whole = true, false
	case len(l.list) == 0 && l.whole:
		return vips{list: []vip{{addr, o.At}}, At: o.At, Given: true, whole: true}
	case l.whole && !slices.ContainsFunc(l.list, func(v vip) bool { return v.addr == addr }):
		r.Errorf(o.At, "%s does not hold %s: remove %s", name, addr, old)
	}
	return l
}

// misspelt reports another platform's spelling: underscores for capitals, or the other way round.
// The installer, which passes over case only, would not read it either.
func (r *reader) misspelt(section document.Map, name string, l vips) {
	for _, key := range section.Names {
		if !l.Given && document.Fold(key) != document.Fold(name) && document.Alike(key, name) {
			r.Errorf(section.Key(key), "is not read on this platform: spell it %s", name)
		}
	}
}

// ordered returns the addresses of a list as the platform keeps them: Nutanix and oVirt put IPv4
// first, whatever the user wrote.
func ordered(p Platform, l vips) []vip {
	list := slices.Clone(l.list)
	if p == Nutanix || p == OVirt {
		slices.SortStableFunc(list, func(a, b vip) int { return family(a.addr) - family(b.addr) })
	}
	return list
}

// family is 4 or 6.
func family(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}
