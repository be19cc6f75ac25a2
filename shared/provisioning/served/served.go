// Package served derives from the plan of a cluster what one phase serves on the provisioning
// network: the address of its server, those of the hosts, and what the hosts get to boot.
package served

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// Place is where a phase serves.
type Place struct {
	Link     string // of the network that hosts boot from, on the machine that serves
	HTTPPort uint16
	Programs provisioning.Programs
}

// Server is the address of a phase on the network that hosts boot from; it is not valid where there
// is no such network.
func Server(p *provision.Plan, phase provision.Phase) netip.Addr {
	switch {
	case p == nil || p.Network == plans.Disabled || p.Network == "":
		return netip.Addr{}
	case phase == provision.Bootstrap && p.Address != plans.One:
		return p.BootstrapIP
	}
	return p.IP
}

// Other is the address of the other phase's server, which may answer its own hosts on the network
// at the same time. It is not valid if both phases share one address, which one host holds at a
// time: a second host that answers from it is not part of the cluster.
func Other(p *provision.Plan, phase provision.Phase) netip.Addr {
	other := provision.Bootstrap
	if phase == provision.Bootstrap {
		other = provision.Cluster
	}
	if a := Server(p, other); a != Server(p, phase) {
		return a
	}
	return netip.Addr{}
}

// answers reports whether a phase answers a host: one of its own and, if both phases share one
// address, in the cluster phase also those of the bootstrap machine. One machine at a time has
// that address. When the cluster has it, these hosts run their systems: they keep their leases,
// and boot from their disks.
func answers(p *provision.Plan, phase provision.Phase, h provision.Host) bool {
	return h.Phase == phase || phase == provision.Cluster && p.Address == plans.One
}

// Cards are those of all hosts that a phase answers, sorted.
func Cards(p *provision.Plan, phase provision.Phase) (all []mac.MAC) {
	for _, h := range p.Hosts {
		if answers(p, phase, h) {
			all = append(all, h.MAC)
		}
	}
	slices.SortFunc(all, mac.MAC.Compare)
	return all
}

// Network is what a phase serves: all hosts that it answers. ok is false where hosts boot from no
// network.
//
// If both phases share one address, the server is authoritative: a request for that address is
// meant for whichever server has it. If they have two, it is not: a server of the cluster that is
// not ours answers all hosts, and this one would refuse what that one grants.
//
// Hosts that are not listed get addresses of the plan's pool, in the cluster phase only. The pool
// has no address that either phase reserves, also if n does not list its host. The bootstrap
// machine answers the hosts that it installs, and no others.
func Network(
	p *provision.Plan, phase provision.Phase, at Place,
) (n provisioning.Network, ok bool) {
	server := Server(p, phase)
	if !server.IsValid() {
		return n, false
	}
	n = provisioning.Network{Interface: at.Link, Server: server, Prefix: p.CIDR,
		Mode: provisioning.Unmanaged, HTTPPort: at.HTTPPort, Programs: at.Programs,
		Authoritative: p.Address == plans.One,
		Paths: provisioning.Paths{Hosts: layout.DnsmasqHost, Leases: Leases, TFTP: layout.TFTP,
			HTTP: layout.HTTP, Log: layout.DnsmasqLog}}
	for _, h := range p.Hosts {
		if answers(p, phase, h) {
			n.Reservations = append(n.Reservations, provisioning.Reservation{MAC: h.MAC,
				Address: h.Address, Name: h.Name, Local: h.Phase != phase})
		}
	}
	nameHosts(n.Reservations)
	d := p.DHCP
	if d == nil {
		return n, true
	}
	n.Mode, n.Lease = provisioning.Managed, time.Duration(d.LeaseSeconds)*time.Second
	for i := range n.Reservations {
		n.Reservations[i].Bits = d.Block
	}
	if phase == provision.Cluster {
		for _, free := range d.Pool {
			n.Pool = append(n.Pool, provisioning.Range(free))
		}
	}
	family := func(a netip.Addr) bool { return a.Is4() == server.Is4() }
	for _, a := range d.DNS {
		if family(a) {
			n.DNS = append(n.DNS, a)
		}
	}
	if d.Gateway.IsValid() && d.Gateway.Is4() && server.Is4() {
		n.Gateway = d.Gateway
	}
	for _, text := range p.NTP { // DHCP has no names of time servers, and ours has one family
		if a, err := netip.ParseAddr(text); err == nil && family(a) &&
			!slices.Contains(n.NTP, a) {
			n.NTP = append(n.NTP, a)
		}
	}
	return n, true
}

// Leases is dnsmasq's file of leases. It has a directory of its own, which a container gets.
const Leases = layout.Leases + "/dnsmasq.leases"

// nameHosts cuts the names of hosts to single labels. A name that is no label, or that two hosts
// would share, is left out: the host is known by its card. If a host that boots from its disk
// shares a name with one that is installed, only the latter keeps it.
func nameHosts(all []provisioning.Reservation) {
	type label struct {
		text  string
		local bool
	}
	seen := map[label]int{}
	for i, r := range all {
		text, _, _ := strings.Cut(strings.ToLower(r.Name), ".")
		if !provisioning.IsName(text) {
			text = ""
		}
		all[i].Name = text
		seen[label{text, r.Local}]++
	}
	for i, r := range all {
		if seen[label{r.Name, r.Local}] > 1 || r.Local && seen[label{r.Name, false}] > 0 {
			all[i].Name = ""
		}
	}
}

// Programs are the paths of iPXE's programs below both roots.
func Programs() provisioning.Programs {
	return provisioning.Programs{BIOS: "undionly.kpxe", X64: "snponly.efi",
		ARM64: "arm64-efi/snponly.efi"}
}

// Present are those of the programs that exist, and missing what hosts of a phase need beside
// them. The plan does not have the architecture of a host with UEFI: one program for UEFI is
// enough for the phase to begin, and dnsmasq's log names a host without one.
func Present(
	p *provision.Plan, phase provision.Phase, exists func(path string) bool,
) (programs provisioning.Programs, missing []string) {
	programs = Programs()
	for _, path := range []*string{&programs.BIOS, &programs.X64, &programs.ARM64} {
		if !exists(*path) {
			*path = ""
		}
	}
	needs := func(ways ...provision.Boot) bool {
		return slices.ContainsFunc(p.Hosts, func(h provision.Host) bool {
			return h.Phase == phase && slices.Contains(ways, h.Boot)
		})
	}
	if programs.BIOS == "" && needs(provision.PXEBIOS) {
		missing = append(missing, Programs().BIOS)
	}
	if programs.X64 == "" && programs.ARM64 == "" &&
		needs(provision.PXEUEFI, provision.UEFIHTTP) {
		missing = append(missing, Programs().X64)
	}
	if programs == (provisioning.Programs{}) { // none exists; missing has those that are needed
		programs = Programs()
	}
	return programs, missing
}
