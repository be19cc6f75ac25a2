package provisioning

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// Around is what the rules about provisioning depend on.
type Around struct {
	Hosts     machine.Hosts // which have been checked
	Addresses network.Addresses
	OpenShift bool
	Physical  bool // the platform is one of machines that have BMCs
	Operator  bool // there is an image of metal3's operator
}

// Check holds the settings to the rules. It also parses what Values returns of the range.
func (d *Draft) Check(r *document.Report, around Around) {
	if !d.Given {
		return
	}
	mode := d.Mode()
	if !slices.Contains([]Mode{Managed, Unmanaged, Disabled}, mode) {
		return // which has been reported: no rule can know what is meant
	}
	if !around.Physical && mode != Disabled {
		r.Errorf(d.network.At, "hosts of this platform are provisioned by virtual media at most: "+
			"write network: disabled, or use the platform baremetal or none")
	}
	d.two = d.sharing.Value == string(Two) || d.sharing.Value == "" && around.OpenShift
	for _, f := range d.exclusive() {
		if f.given && !slices.Contains(f.modes, mode) {
			r.Errorf(f.at, "does not exist with the mode %s: remove it, or write the mode %s",
				d.word(mode), d.words(f.modes))
		}
	}
	if d.link.OK {
		r.Refuse(d.link, grammar.NoLink(d.link.Value))
	}
	if d.extra.claim.OK && name.NoHost(d.extra.claim.Value) != "" {
		r.Refuse(d.extra.claim, "is not an object's name: write that of a PersistentVolumeClaim")
	}
	d.checkNetwork(r, around)
	d.checkAddresses(r, around)
	if mode == Managed {
		d.checkDHCP(r, len(around.Hosts.Cards()))
	}
	d.checkCards(r, around.Hosts.Cards())
	d.extra.static.Check(r, around.Addresses)
	d.checkNTP(r)
	d.checkCA(r)
}

// word is a mode as the document spells it.
func (d Draft) word(m Mode) string {
	if d.InstallConfig {
		return strings.ToUpper(string(m[:1])) + string(m[1:])
	}
	return string(m)
}

func (d Draft) words(modes []Mode) string {
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = d.word(m)
	}
	return strings.Join(words, " or ")
}

// checkNetwork reports a provisioning network that overlaps another one, or contains a VIP or a
// BMC. Findings are at cidr, or at its section if the default network is used.
func (d Draft) checkNetwork(r *document.Report, around Around) {
	cidr := d.CIDR()
	if !cidr.IsValid() {
		return
	}
	at, what := d.cidr.At, cidr.String()
	if !d.cidr.Given {
		what += ", which is taken for the provisioning network,"
	}
	if cidr.Addr().Is6() && cidr.Bits() < 64 && d.Mode() == Managed {
		r.Errorf(at, "%s is wider than the /64 for which dnsmasq answers: write a prefix "+
			"length of 64 or more", cidr)
	}
	if _, ip := subnet.Servers(cidr); !ip.IsValid() && d.Mode() == Unmanaged {
		r.Errorf(at, "%s has no room for hosts: write a larger network", cidr)
	}
	for _, n := range around.Addresses.Others() {
		if n.Prefix.Overlaps(cidr) {
			text := n.Text
			if n.At.Line > 0 && strings.Contains(text, "which is a") {
				text += ", " + n.At.Where()
			}
			r.Errorf(at, "%s overlaps %s: choose another network", what, text)
		}
	}
	for _, vip := range slices.Concat(around.Addresses.API.All, around.Addresses.Ingress.All,
		around.Addresses.DNS.All) {
		if cidr.Contains(vip.Addr) {
			r.Errorf(at, "%s contains the virtual IP %s, %s: choose another network", what,
				vip.Addr, vip.At.Where())
		}
	}
	for _, c := range around.Hosts.Controllers() {
		if cidr.Contains(c.IP) {
			r.Errorf(at, "%s contains the BMC of a host, %s: choose another network", what,
				c.At.Where())
		}
	}
}

// checkAddresses checks the addresses of the bootstrap machine and the cluster.
func (d Draft) checkAddresses(r *document.Report, around Around) {
	one := d.sharing.Value == string(One)
	if !around.OpenShift {
		d.checkHolder(r, around.Addresses)
		d.checkWorkers(r, around)
	}
	if one && around.OpenShift {
		r.Errorf(d.sharing.At, "OpenShift's operator sets the provisioning address by itself, "+
			"beside any holder of a virtual IP: write address: two")
	}
	both := d.ip.OK && d.bootstrapIP.OK
	switch {
	case d.Mode() != Disabled && !d.two && d.bootstrapIP.OK:
		r.Errorf(d.bootstrapIP.At, "with address: one the bootstrap machine has the cluster's: "+
			"remove it, or write address: two")
	case both && d.ip.Value == d.bootstrapIP.Value:
		text := "%s is the cluster's address too, %s: choose two addresses"
		if !d.InstallConfig {
			text += ", or write address: one"
		}
		r.Errorf(d.bootstrapIP.At, text, d.ip.Value, d.ip.At.Where())
	case !both && d.two:
		d.checkDefault(r)
	}
	for _, s := range []document.Scalar[netip.Addr]{d.ip, d.bootstrapIP} {
		if s.OK {
			d.checkAddress(r, s, around.Addresses)
		}
	}
}

// checkDefault reports an address that equals the other one's default.
func (d Draft) checkDefault(r *document.Report) {
	bootstrap, cluster := subnet.Servers(d.CIDR())
	for _, s := range []struct {
		document.Scalar[netip.Addr]
		other netip.Addr
		whose string
	}{{d.ip, bootstrap, "bootstrap machine"}, {d.bootstrapIP, cluster, "cluster"}} {
		if s.OK && s.Value == s.other && d.CIDR().IsValid() {
			r.Errorf(s.At, "%s is taken for the %s: choose another one, or write the %[2]s's too",
				s.Value, s.whose)
		}
	}
}

// checkAddress holds an address to the network that it is on.
func (d Draft) checkAddress(r *document.Report, s document.Scalar[netip.Addr],
	around network.Addresses) {
	cidr := d.CIDR()
	for _, vip := range slices.Concat(around.API.All, around.Ingress.All, around.DNS.All) {
		if vip.Addr == s.Value {
			r.Errorf(s.At, "%s is a virtual IP of the cluster, %s: choose another address",
				s.Value, vip.At.Where())
		}
	}
	switch {
	case d.Mode() == Disabled:
		in := slices.ContainsFunc(around.Machines.All,
			func(n network.Network) bool { return n.Prefix.Contains(s.Value) })
		if !in && len(around.Machines.All) > 0 {
			r.Errorf(s.At, "%s is in no machine network, and there is no other with the mode %s: "+
				"choose an address in one", s.Value, d.word(Disabled))
		}
	case cidr.IsValid() && (!cidr.Contains(s.Value) || s.Value == cidr.Addr() ||
		s.Value == subnet.Last(cidr)):
		r.Errorf(s.At, "%s is no host's address in the provisioning network %s: choose one in it",
			s.Value, cidr)
	}
}

// checkCards reports a MAC address of the bootstrap machine that another card or a host has too.
func (d Draft) checkCards(r *document.Report, hosts []machine.Card) {
	seen := map[mac.MAC]document.Place{}
	for _, c := range hosts {
		seen[c.MAC] = c.At
	}
	for _, m := range append(slices.Clone(d.macs), d.extra.external) {
		if first, twice := seen[m.Value]; twice && m.OK {
			r.Errorf(m.At, "%s is another card's too, %s: give each card its own", m.Value,
				first.Where())
		}
		if m.OK {
			seen[m.Value] = m.At
		}
	}
}

// checkNTP checks the time servers. DHCP has no names of them, and no name is resolved here: it may
// have another address when hosts boot. OpenShift's operator takes names too.
func (d Draft) checkNTP(r *document.Report) {
	for _, s := range d.dhcp.NTP {
		_, err := netip.ParseAddr(s.Value)
		switch {
		case !s.OK || err == nil:
		case !name.IsHost(s.Value):
			r.Refuse(s, "is no time server: write an IP address or a DNS name")
		case d.Mode() == Managed:
			r.Warnf(s.At, "%s is a name, and our DHCP server gives hosts no time server by name: "+
				"write its address", document.Quote(s.Value))
		}
	}
}

// checkCA checks the certificates that BMCs are verified by.
func (d Draft) checkCA(r *document.Report) {
	switch {
	case !d.ca.OK:
	case !d.InstallConfig && (d.ca.Value == "" || strings.ContainsAny(d.ca.Value, "\n\x00")):
		r.Errorf(d.ca.At, "is no path of a file: write the path of a file of certificates in PEM")
	case d.InstallConfig:
		if why := grammar.NoCertificate(d.ca.Value); why != "" {
			r.Errorf(d.ca.At, "%s", why)
		}
	}
}
