// Package haproxy writes haproxy.cfg and reads HAProxy's statistics.
package haproxy

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Config is one whole haproxy.cfg. Every field has a type that cannot hold text which HAProxy would
// read as syntax.
type Config struct {
	Header string // one line of provenance, without the comment sign; empty for none
	Run    Path   // the directory of HAProxy's sockets
	IPv6   bool   // the host can open IPv6 sockets; one that was booted without IPv6 cannot
	Ports  Ports
	VIPs   []netip.Addr // of the API: for these only is the machine config server balanced
	Trust  Trust
	Server health.ServerCheck // of API servers and machine config servers
	// Members are the control plane's addresses by slot; a free slot is the zero Addr. Which member
	// has which slot changes nothing but names, so one that stays keeps its slot.
	Members []netip.Addr
}

// Where HAProxy's files are, in its container and in its monitor's.
const (
	File = "/etc/haproxy/haproxy.cfg"
	Run  = Path("/run/onprem-infra/haproxy")
)

// MasterSocket is where HAProxy's master process takes commands, Socket where the worker of the
// present configuration does, and State the file from which a new worker learns what the former one
// knew of its servers.
func (p Path) MasterSocket() string { return string(p) + "/master.sock" }
func (p Path) Socket() string       { return string(p) + "/haproxy.sock" }
func (p Path) State() string        { return string(p) + "/servers.state" }

// Command starts HAProxy in the foreground, as a master process whose workers are replaced at each
// reload.
func Command() []string {
	return []string{"haproxy", "-W", "-db", "-S", Run.MasterSocket() + ",mode,600,level,admin", "-f", File}
}

// Ports are those that HAProxy listens on and those of its servers.
type Ports struct {
	LB, Ready, Monitor, Stats, MachineConfigLB uint16
	API, MachineConfig                         uint16 // without machine config servers 0, and so is MachineConfigLB
}

// Trust is what the API servers' certificates are held against when their health is asked. The data
// path is not opened.
type Trust struct {
	CAFile Path        // empty: nothing is verified
	Name   record.Name // that the certificate must have; empty: any that the CA has signed
}

// Path is an absolute path without blanks, always made by the program: no path of a user's comes
// here.
type Path string

// The backends of the API. Each of the open ones has the same servers without checks.
const (
	Masters           = "masters"
	MastersOpen       = "masters-open"
	MachineConfig     = "machine-config"
	MachineConfigOpen = "machine-config-open"
)

// Slots is the number of slots for so many members: adding a member to a free one is no new
// structure.
func Slots(members int) int { return max(1, (members+step-1)/step) * step }

const step = 8

// Place gives each wanted member a slot, and every member that stays the one that it has. Unless
// there is no room the number of slots stays as well. Invalid addresses and repetitions have no
// place.
func Place(before, wanted []netip.Addr) []netip.Addr {
	var members []netip.Addr
	for _, a := range wanted {
		if a = a.Unmap().WithZone(""); usable(a) && !slices.Contains(members, a) {
			members = append(members, a)
		}
	}
	slices.SortFunc(members, netip.Addr.Compare)
	after := make([]netip.Addr, max(len(before), Slots(len(members))))
	for i, a := range before {
		if slices.Contains(members, a) && !slices.Contains(after, a) {
			after[i] = a
		}
	}
	for _, a := range members {
		if !slices.Contains(after, a) {
			after[slices.Index(after, netip.Addr{})] = a
		}
	}
	return after
}

// usable is an address that a server can have: 0.0.0.0 would mean to HAProxy whatever the client
// asked for.
func usable(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsLoopback() && !a.IsLinkLocalUnicast()
}
