package spec

import (
	"net/netip"
	"slices"
	"strings"
)

// spelling is how a platform's section of an install-config names its fields.
type spelling struct{ api, ingress, oldAPI, oldIngress string }

func spellingOf(p Platform) spelling {
	if p == OVirt {
		return spelling{"api_vips", "ingress_vips", "api_vip", "ingress_vip"}
	}
	return spelling{"apiVIPs", "ingressVIPs", "apiVIP", "ingressVIP"}
}

// installed lists the platforms of an install-config that have no load balancer of a cloud.
func installed() []string {
	return []string{string(BareMetal), string(Nutanix), string(OpenStack), string(OVirt), string(VSphere)}
}

// platform finds the one section under platform.
func (r *reader) platform(platform object) (Platform, object, bool) {
	five := strings.Join(installed(), ", ")
	var found, names []string // right, and as written
	for _, name := range platform.order {
		i := slices.IndexFunc(installed(), func(p string) bool { return fold(p) == fold(name) })
		switch {
		case i < 0:
			r.errorf(platform.key(name), "this platform has no virtual IPs to serve: use one of %s, or a cluster.yaml for another Kubernetes", five)
		case !slices.Contains(found, installed()[i]):
			found, names = append(found, installed()[i]), append(names, name)
		}
	}
	switch {
	case platform.lost:
		return "", object{}, false
	case len(platform.order) == 0:
		r.errorf(platform.at, "no platform is named: write one of %s", five)
		return "", object{}, false
	case len(found) > 1:
		r.errorf(platform.key(names[1]), "stands beside %s: leave one platform", found[0])
		return "", object{}, false
	case len(found) == 0:
		return "", object{}, false
	}
	if found[0] == string(OVirt) {
		r.warnf(platform.key(names[0]), "today's installer refuses oVirt, which it has removed: "+
			"use a release that has it, or describe the cluster in a cluster.yaml")
	}
	return Platform(found[0]), r.object(r.field(platform, found[0])), true
}

// section reads what stands under a platform's name.
func (r *reader) section(d *draft, section object) {
	s := spellingOf(d.platform)
	d.api = r.vipList(section, s.api, s.oldAPI)
	d.ingress = r.vipList(section, s.ingress, s.oldIngress)
	balancer := r.object(r.field(section, "loadBalancer"))
	d.loadBalancer = r.text(r.field(balancer, "type"))
	if balancer.given && !d.loadBalancer.given {
		r.errorf(d.loadBalancer.at, "is missing: write one of %s, %s, or remove loadBalancer", Managed, UserManaged)
	}
	if records := r.field(section, "dnsRecordsType"); d.platform != OVirt {
		d.dnsRecords = r.text(records)
	} else if records.node != nil {
		r.warnf(records.at, "oVirt has no such field, its records are Internal: remove it")
	}
	r.own(d, section)
}

// vipList reads a list of virtual IPs, or the single one of older files.
func (r *reader) vipList(section object, name, old string) vips {
	l, o := r.vips(r.field(section, name)), r.field(section, old)
	if o.node == nil || o.node.Value == "" && kindOf(o.node) == kindString {
		r.misspelt(section, name, l)
		return l
	}
	r.warnf(o.at, "is deprecated: write %s, a list", name)
	addr, ok := r.vip(o)
	switch {
	case !ok:
		l.given, l.whole = true, false
	case len(l.list) == 0 && l.whole:
		return vips{list: []vip{{addr, o.at}}, at: o.at, given: true, whole: true}
	case l.whole && !slices.ContainsFunc(l.list, func(v vip) bool { return v.addr == addr }):
		r.errorf(o.at, "%s does not hold %s: remove %s", name, addr, old)
	}
	return l
}

// misspelt reports another platform's spelling: underscores for capitals, or the other way round.
// The installer, which passes over case only, would not read it either.
func (r *reader) misspelt(section object, name string, l vips) {
	for _, key := range section.order {
		if !l.given && fold(key) != fold(name) && alike(key, name) {
			r.errorf(section.key(key), "is not read on this platform: spell it %s", name)
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
