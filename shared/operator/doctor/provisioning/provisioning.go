// Package provisioning finds what is wrong with the link on which hosts are installed, by pure
// checks of what was seen there.
package provisioning

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Name is the name of a check, for programs.
type Name string

// The names of the checks, a cause before its consequences.
const (
	CheckLink        Name = "prov-link"    // the link is missing, down or without carrier
	CheckMTU         Name = "prov-mtu"     // its MTU is too small, or not the stated one
	CheckTaken       Name = "prov-taken"   // another host has the provisioning address
	CheckOverlap     Name = "prov-overlap" // another link has the provisioning network
	CheckVLAN        Name = "prov-vlan"    // the switch takes no frames without a tag
	CheckPorts       Name = "prov-ports"   // another program has a port that provisioning needs
	CheckDHCPForeign Name = "dhcp-foreign" // a DHCP server answers that is not expected
	CheckDHCPProxy   Name = "dhcp-proxy"   // a ProxyDHCP server answers that is not expected
	CheckRAForeign   Name = "ra-foreign"   // a router that is not expected configures hosts
	CheckRADefault   Name = "ra-default"   // an expected router makes the network a way out
	CheckDHCPMissing Name = "dhcp-missing" // no DHCP server answers, and the user's should
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // hosts are not installed, or boot something else
	Warning Severity = "warning" // they may be, by what cannot be seen from here
)

// Finding is one thing that is wrong. Vantage is where it was seen from: another host may see more.
type Finding struct {
	Check    Name     `json:"check"`
	Severity Severity `json:"severity"`
	facts.Fault
	Vantage string `json:"vantage"`
}

// check inspects facts. It reports nothing on what is not in them.
type check struct {
	name Name
	find func(facts.Provisioning) []fault
}

// fault is a finding before its check and vantage are known.
type fault struct {
	severity           Severity
	subject, seen, fix string
}

// checks are all, in the order of their names above.
var checks = []check{
	{CheckLink, link}, {CheckMTU, mtu}, {CheckTaken, taken}, {CheckOverlap, overlap},
	{CheckVLAN, vlan}, {CheckPorts, ports},
	{CheckDHCPForeign, foreign}, {CheckDHCPProxy, proxies}, {CheckRAForeign, routers},
	{CheckRADefault, defaultRoutes}, {CheckDHCPMissing, missing},
}

// All are the names of all checks.
func All() []Name {
	all := make([]Name, len(checks))
	for i, c := range checks {
		all[i] = c.name
	}
	return all
}

// Examine makes every check, and returns the findings in the order of All. Equal facts give equal
// findings.
func Examine(f facts.Provisioning) []Finding {
	vantage := "from this host"
	if f.Link != nil {
		vantage = fmt.Sprintf("from this host, link %s (%s)", f.Link.Name, f.Link.MAC)
	}
	var all []Finding
	for _, c := range checks {
		for _, one := range c.find(f) {
			all = append(all, Finding{
				Check: c.name, Severity: one.severity, Vantage: vantage,
				Fault: facts.Fault{Subject: one.subject, Seen: one.seen, Do: one.fix},
			})
		}
	}
	return all
}
