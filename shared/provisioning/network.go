// Package provisioning renders what boots bare machines from the network, for both phases:
// dnsmasq's configuration, its list of hosts, and iPXE's scripts.
//
// The bootstrap machine and the cluster call it with the same addresses and another set of hosts.
// So a host gets the same answer in each phase, and only from the phase that it belongs to.
package provisioning

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/arch"
)

// Mode specifies which program answers DHCP on the provisioning network.
type Mode string

const (
	// Managed means that dnsmasq answers DHCP and TFTP.
	Managed Mode = "managed"
	// Unmanaged means that the user's DHCP server answers, and dnsmasq serves TFTP only.
	Unmanaged Mode = "unmanaged"
)

// Network is one family of the provisioning network, as one phase serves it. A network of both
// families is two values and two processes of dnsmasq.
type Network struct {
	Interface string
	Server    netip.Addr // of this phase: boot programs and scripts are there
	Prefix    netip.Prefix
	Mode      Mode
	// Reservations are the answered hosts. In mode managed, others get only addresses of Pool.
	Reservations []Reservation
	// Pool has addresses for hosts without a reservation; without a Pool they get no answer.
	Pool  []Range
	Lease time.Duration
	// Gateway is announced over IPv4 only: over IPv6 a router announces itself. Without it no host
	// gets a default route from here.
	Gateway netip.Addr
	// DNS are the name servers that hosts get. If Server is one of them, dnsmasq serves DNS there.
	DNS []netip.Addr
	NTP []netip.Addr
	MTU int // 0: hosts keep their own
	// Authoritative has dnsmasq answer for addresses of which it knows no lease.
	//
	// Without it a server that has just started ignores the renewals of its hosts, which lose their
	// addresses when the leases end. With it two servers for one set of hosts do harm: the server
	// that a host did not choose refuses what the other one has granted.
	//
	// So it may be set if no other server answers the same hosts: the phases have disjoint sets, or
	// the other phase's end is recorded. It may also be set if both phases have the same Server
	// address, which one host at a time holds: a request for it is then a request to either.
	Authoritative bool
	HTTPPort      uint16 // of the server of iPXE's scripts and programs
	Programs      Programs
	Paths         Paths
}

// Reservation is one host and its address. Firmware, iPXE, ramdisk and operating system of a host
// have different client identifiers: the hardware address is all that they share.
type Reservation struct {
	MAC     mac.MAC
	Address netip.Addr
	// Bits, over IPv6, makes Address the first of a block with that prefix length; 0 for a single
	// address. A lease of DHCPv6 belongs to an identifier, and dnsmasq gives no second identifier a
	// leased address: without a block only the first stage of a boot gets one. A block needs an
	// address for each stage of all boots within the time of a lease: firmware and iPXE keep their
	// identifiers, a ramdisk may have another one at each boot. 124 has sixteen.
	Bits int
	Name string // a single label; empty for none
	// Local is whether the host boots from its disk: it gets its address, no boot file and no
	// script, so that its firmware goes on with its next device at once.
	Local bool
}

// Range has a first and a last address.
type Range struct{ First, Last netip.Addr }

// Programs are paths of iPXE's programs below both roots, by the firmware that loads them. Firmware
// without a program gets an address and no boot file.
type Programs struct{ BIOS, IA32, X64, ARM32, ARM64 string }

// Paths are where the host that runs dnsmasq and the HTTP server has their files.
type Paths struct {
	Hosts  string // the list of hosts, which dnsmasq reads again on SIGHUP
	Leases string
	TFTP   string // the root directory of TFTP
	HTTP   string // the root directory of the HTTP server
	// Log is a file that has the log too, and that dnsmasq opens again on SIGUSR2; empty for none.
	// The log is written to dnsmasq's own output in any case.
	Log string
}

// Program is the program that a client of an architecture gets, and whether over HTTP. It is empty
// for a client that gets none.
func (p Programs) Program(a arch.Number) (path string, http bool) {
	platform, http := a.Client()
	path = map[arch.Platform]string{
		arch.BIOS: p.BIOS, arch.IA32: p.IA32, arch.X64: p.X64, arch.ARM32: p.ARM32,
		arch.ARM64: p.ARM64,
	}[platform]
	return path, path != "" && http
}
