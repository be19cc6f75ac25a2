package spec

import (
	"net/netip"
	"regexp"
	"slices"
)

// own reads the fields that only d's platform has, as far as they meet what is served here. Those
// of the machines to be made are the installer's business: what it would refuse is worth a warning,
// as one learns of it before the installation.
func (r *reader) own(d *draft, section object) {
	switch d.platform {
	case BareMetal:
		d.hosts = r.hosts(r.field(section, "hosts"))
		if network := r.text(r.field(section, "provisioningNetwork")); network.value != "" {
			r.oneOf(network, "Managed", "Unmanaged", "Disabled")
		}
	case OpenStack:
		r.externalDNS(r.field(section, "externalDNS"), slices.Concat(d.api.list, d.ingress.list))
	case VSphere:
		r.failureDomains(r.field(section, "failureDomains"), r.field(section, "vcenters"))
	case Nutanix:
		r.subnets(r.field(section, "subnetUUIDs"))
	}
}

// externalDNS checks the name servers that the hosts' subnet announces: DNS on the hosts forwards
// to them.
func (r *reader) externalDNS(v value, vips []vip) {
	servers, _ := r.list(v)
	for _, e := range servers {
		s := r.text(e)
		addr, err := netip.ParseAddr(s.value)
		switch {
		case !s.ok:
		case err != nil:
			r.warnf(s.at, "%s is no IP address, and the installer takes no other name server: write one such as 192.0.2.53", quote(s.value))
		case slices.ContainsFunc(vips, func(v vip) bool { return v.addr == addr }):
			r.warnf(s.at, "%s is a virtual IP of the cluster, whose DNS would ask itself: write a name server outside of it", addr)
		}
	}
}

// failureDomains checks that each names one of the vCenters. The names are not repeated:
// credentials stand beside them.
func (r *reader) failureDomains(v, vcenters value) {
	domains, _ := r.list(v)
	centers, given := r.list(vcenters)
	known := map[string]bool{}
	for _, e := range centers {
		known[r.text(r.field(r.object(e), "server")).value] = true
	}
	for _, e := range domains {
		if s := r.text(r.field(r.object(e), "server")); given && s.ok && !known[s.value] {
			r.warnf(s.at, "no entry under vcenters has this server, and the installer wants one: write a server that stands there")
		}
	}
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// subnets checks what the hosts' subnets are known by.
func (r *reader) subnets(v value) {
	subnets, _ := r.list(v)
	seen := map[string]int{}
	for _, e := range subnets {
		s := r.text(e)
		switch line, twice := seen[s.value]; {
		case !s.ok:
		case !uuid.MatchString(s.value):
			r.warnf(s.at, "%s is no UUID, and Prism Central knows subnets by nothing else: write one such as 01234567-89ab-cdef-0123-456789abcdef", quote(s.value))
		case twice:
			r.warnf(s.at, "%s stands at line %d too, and the installer takes each subnet once: remove one of the two", quote(s.value), line)
		default:
			seen[s.value] = s.at.line
		}
	}
}
