package provisioning

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"time"
)

// What dnsmasq's configuration can carry without quotes: it ends values at commas, and comments
// begin with a number sign.
var (
	interfaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$`)
	plainPath     = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
	label         = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	// leaseTime is what dnsmasq takes for the time of a lease where a host's name may stand.
	leaseTime = regexp.MustCompile(`^[0-9]+[smhdw]?$`)
)

// The shortest lease that dnsmasq gives, and the longest: it counts seconds in 32 bits, of which
// the highest value means for ever.
const (
	shortestLease = 2 * time.Minute
	longestLease  = 10 * 365 * 24 * time.Hour
)

// judge collects findings.
type judge struct {
	n     Network
	found []error
}

func (j *judge) find(at, format string, args ...any) {
	j.found = append(j.found, fmt.Errorf(at+": "+format, args...))
}

// Validate returns all findings about a network at once, joined; nil if it can be rendered. Each
// begins with the field that it is about.
func (n Network) Validate() error {
	j := &judge{n: n}
	if !interfaceName.MatchString(n.Interface) || n.Interface == "lo" {
		j.find("interface", "%q is not the name of a network card's interface: specify it as "+
			"`ip link` shows it", n.Interface)
	}
	j.network()
	j.paths()
	j.programs()
	j.hosts()
	switch n.Mode {
	case Managed:
		j.lease()
		j.addresses()
		j.options()
	case Unmanaged:
	default:
		j.find("mode", "%q is not a mode: specify %s or %s", n.Mode, Managed, Unmanaged)
	}
	return errors.Join(j.found...)
}

// network judges the prefix and the server's address.
func (j *judge) network() {
	p := j.n.Prefix
	shortest, longest := 8, 30
	if p.Addr().Is6() {
		shortest, longest = 64, 126 // dnsmasq refuses shorter ones
	}
	switch {
	case !p.IsValid() || p.Addr().Is4In6() || p.Addr().IsMulticast() || p.Addr().IsLoopback():
		j.find("prefix", "%s is not a network of hosts: specify one such as 172.22.0.0/24", p)
		return
	case p.Bits() < shortest || p.Bits() > longest:
		j.find("prefix", "%s: specify a prefix length from %d to %d", p, shortest, longest)
	case p.Masked() != p:
		j.find("prefix", "%s has host bits: specify %s", p, p.Masked())
	}
	j.inside("server", j.n.Server)
}

// inside judges whether a host of the network can have an address.
func (j *judge) inside(at string, a netip.Addr) {
	p := j.n.Prefix
	switch {
	case !a.IsValid() || a.Zone() != "" || !p.Contains(a):
		j.find(at, "%s is not in %s: specify an address of that network", a, p)
	case a == p.Masked().Addr():
		j.find(at, "%s is the address of the network %s itself: specify another one", a, p)
	case a.Is4() && a == last(p):
		j.find(at, "%s is the broadcast address of %s: specify another one", a, p)
	}
}

// last is the highest address of a network.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func (j *judge) paths() {
	absolute := func(at, p string) {
		if !path.IsAbs(p) || path.Clean(p) != p || !plainPath.MatchString(p) {
			j.find(at, "%q is not a plain absolute path: specify one of letters, digits and ._-/",
				p)
		}
	}
	absolute("paths.tftp", j.n.Paths.TFTP)
	absolute("paths.http", j.n.Paths.HTTP)
	if j.n.Mode == Managed {
		absolute("paths.hosts", j.n.Paths.Hosts)
		absolute("paths.leases", j.n.Paths.Leases)
	}
	if j.n.Paths.Log != "" {
		absolute("paths.log", j.n.Paths.Log)
	}
	if j.n.HTTPPort == 0 {
		j.find("httpPort", "0 is not a port: specify the one of the HTTP server, such as 6180")
	}
}

func (j *judge) programs() {
	p := j.n.Programs
	all := []struct{ at, path string }{
		{"programs.bios", p.BIOS}, {"programs.ia32", p.IA32}, {"programs.x64", p.X64},
		{"programs.arm32", p.ARM32}, {"programs.arm64", p.ARM64},
	}
	any := false
	for _, one := range all {
		any = any || one.path != ""
		local := path.Clean("/" + one.path)[1:]
		if one.path != local || one.path != "" && !plainPath.MatchString(one.path) ||
			len(one.path) > 60 {
			j.find(one.at, "%q is not a plain path below the TFTP root: specify one of at most "+
				"60 letters, digits and ._-/", one.path)
		}
	}
	if !any {
		j.find("programs", "no firmware gets a boot program: specify one for each kind of host")
	}
}

func (j *judge) lease() {
	if l := j.n.Lease; l < shortestLease || l > longestLease || l%time.Second != 0 {
		j.find("lease", "%s: specify whole seconds from %s to %s", l, shortestLease, longestLease)
	}
}

// options judges what hosts get beside their addresses.
func (j *judge) options() {
	n := j.n
	switch {
	case !n.Gateway.IsValid():
	case n.Gateway.Is6():
		j.find("gateway", "%s: over IPv6 a router announces itself: leave the gateway out",
			n.Gateway)
	default:
		j.inside("gateway", n.Gateway)
	}
	j.servers("dns", n.DNS)
	j.servers("ntp", n.NTP)
	shortest := 576 // RFC 791
	if n.Server.Is6() {
		shortest = 1280 // RFC 8200 5
	}
	if n.MTU != 0 && (n.MTU < shortest || n.MTU > 65535) {
		j.find("mtu", "%d: specify %d to 65535, or leave it out", n.MTU, shortest)
	}
}

// servers judges a list of servers whose addresses DHCP gives to hosts.
func (j *judge) servers(at string, list []netip.Addr) {
	for i, a := range list {
		place := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case !a.IsValid() || a.Is4() != j.n.Server.Is4() || a.Is4In6() || a.Zone() != "" ||
			a.IsUnspecified() || a.IsMulticast():
			j.find(place, "%s is not the address of a server that hosts of %s reach: specify one "+
				"of its family", a, j.n.Prefix)
		case slices.Contains(list[:i], a):
			j.find(place, "%s is there already: leave it out", a)
		}
	}
}
