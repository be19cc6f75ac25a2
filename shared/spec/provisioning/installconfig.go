package provisioning

import (
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/static"
)

// ReadInstallConfig reads the baremetal section of an install-config. If its hosts have no BMC,
// they are not provisioned, and nothing of it is held to the rules.
func ReadInstallConfig(r *document.Reader, o document.Map, provisioned bool) Draft {
	s := section{r, o}
	if !provisioned {
		s.unread()
		return Draft{}
	}
	d := Draft{At: o.At, Given: true, InstallConfig: true,
		network: s.mode(),
		// OpenShift's operator sets an address of the cluster's own.
		sharing:     document.Scalar[string]{Value: string(Two), At: o.At},
		link:        s.text("provisioningNetworkInterface"),
		cidr:        grammar.As(&r.Report, s.text("provisioningNetworkCIDR"), grammar.CIDR),
		ip:          s.clusterIP(),
		bootstrapIP: grammar.As(&r.Report, s.text("bootstrapProvisioningIP"), grammar.Addr),
		ca:          s.text("bmcVerifyCA"),
		dhcp:        dhcp.Server{Range: s.text("provisioningDHCPRange")},
	}
	for _, field := range []string{"provisioningMACAddress", "provisioningBridge"} {
		v := s.value(field)
		d.extra.only = append(d.extra.only, only{v.At, v.Given(), networks()})
	}
	s.cards(&d)
	clocks, _ := r.List(s.value("additionalNTPServers"))
	for _, e := range clocks {
		d.dhcp.NTP = append(d.dhcp.NTP, r.Text(e))
	}
	address := func(name string) document.Scalar[netip.Addr] {
		return grammar.As(&r.Report, s.text(name), grammar.Addr)
	}
	d.extra.static = static.Draft{IP: address("bootstrapExternalStaticIP"),
		Gateway: address("bootstrapExternalStaticGateway"),
		DNS:     address("bootstrapExternalStaticDNS")}
	s.images()
	return d
}

// unread warns of the first field that counts only where hosts have a BMC. The mode is no such
// field: an install-config for the agent-based installer often has it.
func (s section) unread() {
	for _, name := range []string{"provisioningNetworkCIDR", "provisioningNetworkInterface",
		"provisioningDHCPRange", "provisioningDHCPExternal", "clusterProvisioningIP",
		"provisioningHostIP", "bootstrapProvisioningIP", "provisioningMACAddress",
		"provisioningBridge"} {
		if v := s.value(name); v.Node != nil {
			s.Warnf(v.At, "is not checked, nor is any other field of provisioning, as no host "+
				"has a bmc: give the hosts theirs, or remove these fields")
			return
		}
	}
}

// section is the baremetal section of an install-config.
type section struct {
	*document.Reader
	o document.Map
}

// value is a field; to the installer, an empty text is the same as a missing field.
func (s section) value(name string) document.Value {
	v := s.Field(s.o, name)
	if word, ok := v.Word(); ok && word == "" {
		v.Node = nil
	}
	return v
}

func (s section) text(name string) document.Scalar[string] { return s.Text(s.value(name)) }

// mode reads the mode, or its deprecated predecessor, provisioningDHCPExternal.
func (s section) mode() document.Scalar[string] {
	network := s.text("provisioningNetwork")
	for _, mode := range []Mode{Managed, Unmanaged, Disabled} {
		if strings.EqualFold(network.Value, string(mode)) {
			network.Value = string(mode)
		}
	}
	external := grammar.Bool(s.Reader, s.value("provisioningDHCPExternal"))
	if external.Given {
		s.Warnf(external.At, "is deprecated: write provisioningNetwork: Unmanaged, or remove it")
	}
	if external.Value && !network.Given {
		return document.Given(string(Unmanaged), external.At)
	}
	return network
}

// clusterIP reads the cluster's provisioning address, by its name of today or the former one.
func (s section) clusterIP() document.Scalar[netip.Addr] {
	ip := grammar.As(&s.Report, s.text("clusterProvisioningIP"), grammar.Addr)
	old := grammar.As(&s.Report, s.text("provisioningHostIP"), grammar.Addr)
	if old.Given {
		s.Warnf(old.At, "is deprecated: write clusterProvisioningIP")
	}
	switch {
	case !ip.Given:
		return old
	case ip.OK && old.OK && ip.Value != old.Value:
		s.Errorf(old.At, "is another address than clusterProvisioningIP, which is the same "+
			"field: remove it")
	}
	return ip
}

// cards reads the MAC addresses that the bootstrap machine gets: of its card on the network that
// hosts boot from, and of the one on the machine network, which are one card if hosts boot from
// the machine network.
func (s section) cards(d *Draft) {
	own := grammar.As(&s.Report, s.text("externalMACAddress"), grammar.MAC)
	if d.Mode() != Disabled {
		d.extra.external = own
		own = grammar.As(&s.Report, s.text("provisioningMACAddress"), grammar.MAC)
	}
	if own.Given {
		d.macs = append(d.macs, own)
	}
}

// images reports images of the operating system, which newer installers bring along.
func (s section) images() {
	for _, name := range []string{"bootstrapOSImage", "clusterOSImage"} {
		image := s.text(name)
		if !image.OK {
			continue
		}
		url, sum, _ := strings.Cut(image.Value, "?sha256=")
		if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") ||
			len(sum) != 64 || strings.Trim(sum, "0123456789abcdefABCDEF") != "" {
			s.Errorf(image.At, "is no http or https URL with ?sha256= and 64 hexadecimal digits "+
				"at its end: write one, or remove the field")
		}
		s.Warnf(image.At, "is deprecated and has no effect since OpenShift 4.10: remove it")
	}
}
