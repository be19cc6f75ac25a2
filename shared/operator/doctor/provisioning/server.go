package provisioning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// The subjects of the checks.
var subjects = map[offer.Kind]string{
	offer.DHCP: "DHCP servers", offer.ProxyDHCP: "ProxyDHCP servers",
	offer.DHCPv6: "DHCPv6 servers", offer.Router: "router advertisements",
}

// kinds are by what a server configures hosts, as a person knows it.
var kinds = map[offer.Kind]string{
	offer.DHCP: "DHCP", offer.ProxyDHCP: "ProxyDHCP", offer.DHCPv6: "DHCPv6",
	offer.Router: "router advertisements",
}

// unexpected are the servers of these kinds that are not expected. An expected DHCPv6 server is
// also known by its MAC: its router advertisements show no more.
func unexpected(f facts.Provisioning, kinds ...offer.Kind) (out []offer.Server) {
	expected := f.Expected
	expected.MACs = slices.Clone(expected.MACs)
	for _, s := range f.Servers {
		if card, err := mac.Parse(s.MAC); err == nil && s.Kind == offer.DHCPv6 && expected.Has(s) {
			expected.MACs = append(expected.MACs, card)
		}
	}
	for _, s := range f.Servers {
		if slices.Contains(kinds, s.Kind) && !expected.Has(s) {
			out = append(out, s)
		}
	}
	return out
}

// of is a finding about a server. One in another VLAN may serve another network.
func of(s offer.Server, severity Severity, fix string) fault {
	seen := Describe(s)
	if s.VLAN != 0 {
		severity = Warning
		seen += fmt.Sprintf("; its frames have the tag of VLAN %d, so that hosts whose switch "+
			"ports are not in that VLAN do not receive them", s.VLAN)
	}
	return fault{severity, subjects[s.Kind], seen, fix}
}

const expectIt = "; if it belongs there, state its address or MAC: expectedServers in " +
	"spec.provisioning of a cluster.yaml, or --provisioning-server"

// foreign are servers that give addresses.
func foreign(f facts.Provisioning) (out []fault) {
	others := unexpected(f, offer.DHCP, offer.DHCPv6)
	switch f.Mode {
	case offer.Managed:
		for _, s := range others {
			out = append(out, of(s, Error, "stop it on this network, or have it ignore hosts that "+
				"boot (vendor class PXEClient and HTTPClient): the fastest answer decides what a "+
				"host boots"+expectIt))
		}
	case offer.Unmanaged:
		if !f.Expected.Empty() {
			for _, s := range others {
				out = append(out, of(s, Error, "stop it on this network: the fastest answer "+
					"decides what a host boots"+expectIt))
			}
			break
		}
		for _, kind := range []offer.Kind{offer.DHCP, offer.DHCPv6} {
			if several := unexpected(f, kind); hosts(several) > 1 {
				out = append(out, fault{Warning, subjects[kind],
					"several answer: " + list(several),
					"let one answer, or have all give the same; state those that belong there by " +
						"their addresses or MACs: expectedServers in spec.provisioning"})
			}
		}
	case offer.Disabled:
		for _, s := range others {
			if s.Offered.BootFile != "" {
				out = append(out, of(s, Warning, "nothing, if hosts boot virtual media before the "+
					"network; else leave the boot file out for them"+expectIt))
			}
		}
	}
	return out
}

func proxies(f facts.Provisioning) (out []fault) {
	severity := Error
	if f.Mode == offer.Disabled || f.Mode == offer.Unmanaged && f.Expected.Empty() {
		severity = Warning
	}
	for _, s := range unexpected(f, offer.ProxyDHCP) {
		out = append(out, of(s, severity, "stop it on this network: hosts prefer its boot file to "+
			"that of the DHCP server"+expectIt))
	}
	return out
}

func routers(f facts.Provisioning) (out []fault) {
	if f.Mode != offer.Managed {
		return nil // the network's router is the user's
	}
	for _, s := range unexpected(f, offer.Router) {
		out = append(out, of(s, Error, "stop router advertisements on this network (radvd, "+
			"dnsmasq's enable-ra, the router's interface): hosts configure addresses and routes "+
			"by them"+expectIt))
	}
	return out
}

// defaultRoutes are those of expected servers. Unexpected ones have been reported.
func defaultRoutes(f facts.Provisioning) (out []fault) {
	if f.Mode != offer.Managed {
		return nil
	}
	for _, s := range f.Servers {
		if s.Kind == offer.Router && s.Offered.DefaultRoute && f.Expected.Has(s) {
			out = append(out, of(s, Error, "advertise no default route: of dnsmasq by "+
				"ra-param=LINK,0,0; hosts would send all traffic into the provisioning network"))
		}
	}
	return out
}

// missing reports that the user's DHCP server does not answer. It may answer known hosts only.
func missing(f facts.Provisioning) []fault {
	gives := func(s offer.Server) bool { return s.Kind == offer.DHCP || s.Kind == offer.DHCPv6 }
	if f.Mode != offer.Unmanaged || !f.Asked || slices.ContainsFunc(f.Servers, gives) {
		return nil
	}
	return []fault{{Warning, subjects[offer.DHCP], "none answers a host that is not known to it",
		"see that the DHCP server runs, and that its network is this link's; if it answers known " +
			"hosts alone, this is no fault"}}
}

// Describe is a server with what it offers. Its texts are quoted: it may be hostile.
func Describe(s offer.Server) string {
	text := fmt.Sprintf("%s by %s", name(s), kinds[s.Kind])
	var offers []string
	if s.Offered.Address.IsValid() {
		offers = append(offers, "the address "+s.Offered.Address.String())
	}
	if s.Offered.BootFile != "" {
		offers = append(offers, fmt.Sprintf("the boot file %q", s.Offered.BootFile))
	}
	if s.Offered.NextServer.IsValid() {
		offers = append(offers, "files from "+s.Offered.NextServer.String())
	}
	if s.Offered.AsksPXE && s.Kind == offer.DHCP {
		offers = append(offers, "boot files at its port 4011")
	}
	if s.Offered.DefaultRoute {
		offers = append(offers, "a default route")
	}
	if s.Offered.Managed || s.Offered.Other {
		offers = append(offers, "to ask for DHCPv6")
	}
	for _, p := range s.Offered.Prefixes {
		offers = append(offers, "the prefix "+p.String())
	}
	if len(offers) == 0 {
		return text + " sends " + s.Message
	}
	return text + " offers " + strings.Join(offers, ", ")
}

// name is a server by its address and MAC.
func name(s offer.Server) string {
	a := s.ID
	if !a.IsValid() {
		a = s.Source
	}
	if a != s.Source && s.Source.IsValid() {
		return fmt.Sprintf("%s (by %s, %s)", a, s.Source, s.MAC)
	}
	return fmt.Sprintf("%s (%s)", a, s.MAC)
}

func list(all []offer.Server) string {
	var out []string
	for _, s := range all {
		out = append(out, name(s))
	}
	return strings.Join(out, ", ")
}

// hosts counts the MACs of servers: one server may have several addresses.
func hosts(all []offer.Server) int {
	macs := map[string]bool{}
	for _, s := range all {
		macs[s.MAC] = true
	}
	return len(macs)
}
