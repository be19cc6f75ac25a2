// Package offer describes the servers of a link that configure hosts which boot there: DHCP,
// ProxyDHCP, DHCPv6 and router advertisements.
package offer

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Kind is the protocol by which a server configures hosts.
type Kind string

// The kinds of servers.
const (
	DHCP      Kind = "dhcp"
	ProxyDHCP Kind = "proxy-dhcp" // offers a boot file and no address
	DHCPv6    Kind = "dhcpv6"
	Router    Kind = "router-advertisement"
)

// Mode is which of a network's services an installation runs itself.
type Mode string

// The modes, by OpenShift's names in lower case.
const (
	Managed   Mode = "managed"   // DHCP and the boot files are its own
	Unmanaged Mode = "unmanaged" // DHCP is the user's
	Disabled  Mode = "disabled"  // there is no network for provisioning: hosts boot virtual media
)

// Modes are all modes.
func Modes() []Mode { return []Mode{Managed, Unmanaged, Disabled} }

// Server is one server, as its packets describe it. Texts are as they were received: print them
// quoted.
type Server struct {
	Kind    Kind       `json:"kind"`
	Message string     `json:"message"` // of its last packet: OFFER, ACK, NAK, ADVERTISE, REPLY, RA
	ID      netip.Addr `json:"id"`      // DHCP's server identifier; invalid if there is none
	DUID    string     `json:"duid,omitempty"`
	Source  netip.Addr `json:"source"` // of the packet; of a relay agent if one forwarded it
	MAC     string     `json:"mac"`    // of the sender on the link, in lower case with colons
	VLAN    uint16     `json:"vlan,omitempty"`
	Offered Offered    `json:"offered"`
	First   time.Time  `json:"first"`
	Last    time.Time  `json:"last"`
}

// Offered is what a host gets from a server.
type Offered struct {
	Address    netip.Addr `json:"address"`
	NextServer netip.Addr `json:"nextServer"`
	BootFile   string     `json:"bootFile,omitempty"`
	// AsksPXE means that the server answers with the client's vendor class: such a client asks its
	// port 4011 for the boot file.
	AsksPXE bool `json:"asksPXE,omitempty"`
	// Of router advertisements: a default route, and the flags M and O, which send hosts to DHCPv6.
	DefaultRoute bool           `json:"defaultRoute,omitempty"`
	Managed      bool           `json:"managed,omitempty"`
	Other        bool           `json:"other,omitempty"`
	Prefixes     []netip.Prefix `json:"prefixes,omitempty"`
}

// key identifies a server: two packets with equal keys are of one server.
type key struct {
	kind       Kind
	id, source netip.Addr
	duid, mac  string
	vlan       uint16
}

func (s Server) key() key {
	k := key{s.Kind, s.ID, s.Source, s.DUID, s.MAC, s.VLAN}
	if s.DUID != "" {
		k.source = netip.Addr{} // a DHCPv6 server answers from any of its addresses
	}
	return k
}

// Same reports whether both are one server.
func (s Server) Same(other Server) bool { return s.key() == other.key() }

// merge adds a later packet of the same server. A server may offer another boot file for each
// architecture: the first one stays.
func (s Server) merge(later Server) Server {
	first, had := s.First, s.Offered
	s, now := later, later.Offered
	s.First = first
	if had.Address.IsValid() {
		now.Address = had.Address
	}
	if had.NextServer.IsValid() {
		now.NextServer = had.NextServer
	}
	if had.BootFile != "" {
		now.BootFile = had.BootFile
	}
	now.AsksPXE = now.AsksPXE || had.AsksPXE
	s.Offered = now
	return s
}

// How many servers are kept: a host that invents servers must neither use up memory nor keep others
// from the list.
const (
	limit       = 64
	limitOfHost = 8 // with one MAC
)

// List is the servers of a link. The zero value is empty.
type List struct {
	all  []Server
	more bool
}

// Add adds what a packet shows.
func (l *List) Add(s Server) {
	if i := slices.IndexFunc(l.all, s.Same); i >= 0 {
		l.all[i] = l.all[i].merge(s)
	} else if len(l.all) < limit && l.ofHost(s.MAC) < limitOfHost {
		l.all = append(l.all, s)
	} else {
		l.more = true
	}
}

func (l *List) ofHost(card string) (count int) {
	for _, s := range l.all {
		if s.MAC == card {
			count++
		}
	}
	return count
}

// Servers are all servers in the order of their first packets, and whether there were more than are
// kept.
func (l *List) Servers() (all []Server, more bool) { return slices.Clone(l.all), l.more }

// Expected are the servers that may answer on a link, by any address or any MAC of theirs.
type Expected struct {
	Addresses []netip.Addr
	MACs      []mac.MAC
}

// Expect are the servers that a person states, each by its address or its MAC. The error is about
// the first wrong one, without its text.
func Expect(servers ...string) (e Expected, err error) {
	for _, text := range servers {
		if a, err := netip.ParseAddr(text); err == nil {
			e.Addresses = append(e.Addresses, a)
		} else if m, err := mac.Parse(text); err == nil {
			e.MACs = append(e.MACs, m)
		} else {
			return e, errors.New("is neither an address nor a MAC: write one such as 172.22.0.2 " +
				"or 52:54:00:00:00:02")
		}
	}
	return e, nil
}

// And are the servers of both.
func (e Expected) And(o Expected) Expected {
	return Expected{Addresses: slices.Concat(e.Addresses, o.Addresses),
		MACs: slices.Concat(e.MACs, o.MACs)}
}

// Has reports whether a server is one of them. A DHCPv6 server sends from a link-local address
// that follows from its card, and names no other. So the host in its boot file's URL identifies
// it: a server that names an expected one there has hosts boot the expected file.
func (e Expected) Has(s Server) bool {
	boots := netip.Addr{}
	if s.Kind == DHCPv6 {
		boots = bootServer(s.Offered.BootFile)
	}
	same := func(a netip.Addr) bool {
		a = a.Unmap().WithZone("")
		return a == s.ID || a == s.Source || a == boots
	}
	return e.HasMAC(s.MAC) || slices.ContainsFunc(e.Addresses, same)
}

// bootServer is the address of a boot file's URL; invalid if that is none.
func bootServer(file string) netip.Addr {
	at, err := url.Parse(file)
	if err != nil {
		return netip.Addr{}
	}
	a, _ := netip.ParseAddr(at.Hostname())
	return a.Unmap()
}

// HasMAC reports whether a MAC is one of theirs, in whatever form it was written.
func (e Expected) HasMAC(text string) bool {
	m, err := mac.Parse(text)
	return err == nil && slices.Contains(e.MACs, m)
}

// Empty reports whether no server is expected.
func (e Expected) Empty() bool { return len(e.Addresses)+len(e.MACs) == 0 }
