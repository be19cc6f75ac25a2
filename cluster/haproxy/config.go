// Package haproxy writes haproxy.cfg and reads HAProxy's statistics.
package haproxy

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Config is a whole haproxy.cfg. No field can hold text that HAProxy would read as syntax.
type Config struct {
	Header string // one comment line without its sign; empty for none
	Run    Path   // the directory of HAProxy's sockets
	IPv6   bool   // the host can open IPv6 sockets
	Ports  Ports
	VIPs   []netip.Addr // of the API: the machine config server is balanced for these only
	Trust  Trust
	Server health.ServerCheck // of API servers and machine config servers
	// Members are the control plane's addresses by slot; a free slot is the zero Addr. A member
	// keeps its slot, which only decides its server's name.
	Members []netip.Addr
	// Ironic is that of the cluster; it counts if Ports has its ports.
	Ironic Ironic
}

// Ironic is where the API and the virtual media of the cluster's Ironic are, by slot. A free slot
// is the zero AddrPort.
type Ironic struct {
	API          []netip.AddrPort `json:"api"`
	VirtualMedia []netip.AddrPort `json:"virtualMedia"`
}

// Slots are how many slots each of the two has.
func (i Ironic) Slots() [2]int { return [2]int{len(i.API), len(i.VirtualMedia)} }

// The paths of HAProxy's files, in its container and in its monitor's.
const (
	File = "/etc/haproxy/haproxy.cfg"
	Run  = Path("/run/onprem-infra/haproxy")
)

// MasterSocket takes commands for HAProxy's master process, Socket those for the worker of the
// running configuration. State is the file from which a new worker reads its servers' states.
func (p Path) MasterSocket() string { return string(p) + "/master.sock" }
func (p Path) Socket() string       { return string(p) + "/haproxy.sock" }
func (p Path) State() string        { return string(p) + "/servers.state" }

// Command starts HAProxy in the foreground, as a master process whose workers are replaced at each
// reload.
func Command() []string {
	return []string{"haproxy", "-W", "-db", "-S", Run.MasterSocket() + ",mode,600,level,admin",
		"-f", File}
}

// Ports are those that HAProxy listens on and those of its servers.
type Ports struct {
	LB, Ready, Monitor, Stats, MachineConfigLB uint16
	API, MachineConfig                         uint16 // 0, as MachineConfigLB, without its servers
	IronicLB, VirtualMediaLB                   uint16 // both 0 if Ironic is not balanced
}

// Trust verifies the API servers' certificates in health checks. Clients' connections are passed on
// unchanged.
type Trust struct {
	CAFile Path        // empty: nothing is verified
	Name   record.Name // that the certificate must have; empty: any that the CA has signed
}

// Path is an absolute path without blanks. It is never a user's input.
type Path string

// The backends. Each "-open" one has the same servers without checks. Ironic's backends have no
// such one: a connection goes to a pod that is ready, or nowhere.
const (
	Masters           = "masters"
	MastersOpen       = "masters-open"
	MachineConfig     = "machine-config"
	MachineConfigOpen = "machine-config-open"
	IronicAPI         = "ironic"
	VirtualMedia      = "virtual-media"
)

// IsIronic reports whether a backend is one of the cluster's Ironic.
func IsIronic(backend string) bool { return backend == IronicAPI || backend == VirtualMedia }

// backend is one of the configuration's, with its servers by slot.
type backend struct {
	name    string
	servers []netip.AddrPort
	checked bool
	weight  int // of a server that is not slow to start
}

// backends are all that the configuration has.
func (c Config) backends() []backend {
	api, machineConfig := c.at(c.Ports.API), c.at(c.Ports.MachineConfig)
	all := []backend{{Masters, api, true, weight}, {MastersOpen, api, false, 1}}
	if c.Ports.MachineConfig != 0 {
		all = append(all, backend{MachineConfig, machineConfig, true, 1},
			backend{MachineConfigOpen, machineConfig, false, 1})
	}
	if c.Ports.IronicLB != 0 {
		all = append(all, backend{IronicAPI, c.Ironic.API, true, 1},
			backend{VirtualMedia, c.Ironic.VirtualMedia, true, 1})
	}
	return all
}

// at are the members at a port of theirs, by slot.
func (c Config) at(port uint16) []netip.AddrPort {
	servers := make([]netip.AddrPort, len(c.Members))
	for i, a := range c.Members {
		if usable(a) {
			servers[i] = netip.AddrPortFrom(a.WithZone(""), port)
		}
	}
	return servers
}

// Slots is the number of slots for so many members. A member in a free slot needs no new structure.
func Slots(members int) int { return max(1, (members+step-1)/step) * step }

const step = 8

// Place gives each wanted member a slot; a member that stays keeps its own. The number of slots
// grows only if there is no free one. Invalid addresses and repetitions get no slot.
func Place(before, wanted []netip.Addr) []netip.Addr {
	var members []netip.Addr
	for _, a := range wanted {
		if a = a.Unmap().WithZone(""); usable(a) {
			members = append(members, a)
		}
	}
	slices.SortFunc(members, netip.Addr.Compare)
	return place(before, slices.Compact(members))
}

// PlaceAt is Place for servers that each have a port of their own.
func PlaceAt(before, wanted []netip.AddrPort) []netip.AddrPort {
	var members []netip.AddrPort
	for _, s := range wanted {
		a := s.Addr().Unmap().WithZone("")
		if usable(a) && s.Port() != 0 {
			members = append(members, netip.AddrPortFrom(a, s.Port()))
		}
	}
	slices.SortFunc(members, netip.AddrPort.Compare)
	return place(before, slices.Compact(members))
}

// place gives members slots, each of them one.
func place[T comparable](before, members []T) []T {
	var free T
	after := make([]T, max(len(before), Slots(len(members))))
	for i, m := range before {
		if slices.Contains(members, m) && !slices.Contains(after, m) {
			after[i] = m
		}
	}
	for _, m := range members {
		if !slices.Contains(after, m) {
			after[slices.Index(after, free)] = m
		}
	}
	return after
}

// usable reports whether a server can have the address. HAProxy would take 0.0.0.0 for the client's
// destination.
func usable(a netip.Addr) bool { return a.IsGlobalUnicast() }
