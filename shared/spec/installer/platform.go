package installer

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
)

// FindPlatform finds the one section under platform. It returns false after a finding.
func FindPlatform(r *document.Reader, o document.Map) (platform.Platform, document.Map, bool) {
	five := strings.Join(platform.Installed(), ", ")
	var found, names []string // right, and as written
	for _, name := range o.Names {
		i := slices.IndexFunc(platform.Installed(),
			func(p string) bool { return document.Fold(p) == document.Fold(name) })
		switch {
		case i < 0:
			r.Errorf(o.Key(name), "this platform has no virtual IPs to serve: use one of "+
				"%s, or a cluster.yaml for another Kubernetes", five)
		case !slices.Contains(found, platform.Installed()[i]):
			found, names = append(found, platform.Installed()[i]), append(names, name)
		}
	}
	switch {
	case o.Lost:
	case len(o.Names) == 0:
		r.Errorf(o.At, "no platform is named: write one of %s", five)
	case len(found) > 1:
		r.Errorf(o.Key(names[1]), "stands beside %s: leave one platform", found[0])
	case len(found) == 1:
		p := platform.Platform(found[0])
		if p == platform.OVirt {
			r.Warnf(o.Key(names[0]), "today's installer refuses oVirt, which it has removed: use "+
				"a release that has it, or describe the cluster in a cluster.yaml")
		}
		return p, r.Map(r.Field(o, found[0])), true
	}
	return "", document.Map{}, false
}

// CheckPlatform reports what the installer refuses of the fields that only one platform has, as far
// as they concern hosts, name servers and VIPs.
func CheckPlatform(reader *document.Reader, p platform.Platform, section document.Map,
	vips []netip.Addr) {
	r := checker{reader}
	switch p {
	case platform.BareMetal:
		if network := r.Text(r.Field(section, "provisioningNetwork")); network.Value != "" {
			r.OneOf(network, "Managed", "Unmanaged", "Disabled")
		}
		r.libvirt(r.Text(r.Field(section, "libvirtURI")))
	case platform.OpenStack:
		r.externalDNS(r.Field(section, "externalDNS"), vips)
	case platform.VSphere:
		r.failureDomains(r.Field(section, "failureDomains"), r.Field(section, "vcenters"))
	case platform.Nutanix:
		r.subnets(r.Field(section, "subnetUUIDs"))
	}
}

// libvirt checks where the installer makes its bootstrap machine. The text is not repeated: a URI
// may hold a password.
func (r checker) libvirt(s document.Scalar[string]) {
	if _, err := url.Parse(s.Value); s.OK && err != nil {
		r.Warnf(s.At, "is no URI, and the installer refuses it: write one such as qemu:///system")
	}
}

// externalDNS checks the name servers that the hosts' subnet announces: DNS on the hosts forwards
// to them.
func (r checker) externalDNS(v document.Value, vips []netip.Addr) {
	servers, _ := r.List(v)
	for _, e := range servers {
		s := r.Text(e)
		addr, err := netip.ParseAddr(s.Value)
		switch {
		case !s.OK:
		case err != nil:
			r.Warnf(s.At, "%s is no IP address, and the installer takes no other name server: "+
				"write one such as 192.0.2.53", document.Quote(s.Value))
		case slices.Contains(vips, addr):
			r.Warnf(s.At, "%s is a virtual IP of the cluster, whose DNS would ask itself: write "+
				"a name server outside of it", addr)
		}
	}
}

// failureDomains checks that each names one of the vCenters. The names are not repeated:
// credentials stand beside them.
func (r checker) failureDomains(v, vcenters document.Value) {
	domains, _ := r.List(v)
	centers, given := r.List(vcenters)
	known := map[string]bool{}
	for _, e := range centers {
		known[r.Text(r.Field(r.Map(e), "server")).Value] = true
	}
	for _, e := range domains {
		if s := r.Text(r.Field(r.Map(e), "server")); given && s.OK && !known[s.Value] {
			r.Warnf(s.At, "no entry under vcenters has this server, and the installer wants one: "+
				"write a server that stands there")
		}
	}
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// subnets checks that the hosts' subnets are UUIDs, each listed once.
func (r checker) subnets(v document.Value) {
	subnets, _ := r.List(v)
	seen := map[string]int{}
	for _, e := range subnets {
		s := r.Text(e)
		switch line, twice := seen[s.Value]; {
		case !s.OK:
		case !uuid.MatchString(s.Value):
			r.Warnf(s.At, "%s is no UUID, and Prism Central knows subnets by nothing else: write "+
				"one such as 01234567-89ab-cdef-0123-456789abcdef", document.Quote(s.Value))
		case twice:
			r.Warnf(s.At, "%s stands at line %d too, and the installer takes each subnet once: "+
				"remove one of the two", document.Quote(s.Value), line)
		default:
			seen[s.Value] = s.At.Line
		}
	}
}
