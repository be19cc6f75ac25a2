// Package bmc reads the addresses of baseboard management controllers as metal3 reads them, and
// knows what each driver needs and can do.
package bmc

import (
	"net/netip"
	"strings"

	"github.com/metal3-io/baremetal-operator/pkg/hardwareutils/bmc"
)

// Protocol is the family of protocols by which a BMC is controlled.
type Protocol string

// The protocols.
const (
	Redfish Protocol = "redfish"
	IPMI    Protocol = "ipmi"
)

// Address is where a BMC is, and by which driver. It is comparable, and every spelling of one
// address is one value.
type Address struct {
	Driver    string // the scheme without its transport: redfish, idrac-virtualmedia, ipmi
	Protocol  Protocol
	Plain     bool   // HTTP without TLS
	Host      string // a name in lower case, or an IP address without brackets
	Port      uint16 // never 0
	Path      string // of the system in Redfish, escaped; empty for the only one
	Privilege string // of IPMI, empty for the default
	Abilities
}

// Abilities are what a driver needs and can do.
type Abilities struct {
	// NeedsNetwork means that hosts boot by PXE, from a network on which nothing else answers.
	NeedsNetwork bool
	SecureBoot   bool // the driver can switch it
	VirtualMedia bool // the BMC is given an ISO
	UEFIHTTP     bool // the firmware fetches its boot program by HTTP
}

// Identity is the system behind a BMC, whatever the driver.
type Identity struct {
	Host string
	Port uint16
	Path string
}

// Identity is equal for two addresses of one system.
func (a Address) Identity() Identity { return Identity{a.Host, a.Port, a.Path} }

// IP is the BMC's IP address, not valid if the host is a name.
func (a Address) IP() netip.Addr {
	addr, _ := netip.ParseAddr(a.Host)
	return addr
}

// Parse reads an address. Errors begin with a verb and do not repeat the text: a password may stand
// in it by mistake.
func Parse(text string) (Address, error) {
	if err := checkText(text); err != nil {
		return Address{}, err
	}
	scheme, rest, err := schemeOf(text)
	if err != nil {
		return Address{}, err
	}
	driver, transport, _ := strings.Cut(scheme, "+")
	asked := driver
	if driver == uefiHTTP { // the release of the library that is used here does not know it
		asked = virtualMedia
	}
	if transport != "" {
		asked += "+" + transport
	}
	u, err := bmc.GetParsedURL(asked + "://" + rest)
	if err != nil {
		return Address{}, errNoHost
	}
	details, err := bmc.NewAccessDetails(asked+"://"+rest, false)
	if err != nil {
		return Address{}, unknownScheme(scheme)
	}
	a := Address{Driver: driver, Protocol: protocolOf(details.Driver()), Plain: transport == "http",
		Abilities: Abilities{NeedsNetwork: details.RequiresProvisioningNetwork(),
			SecureBoot:   details.SupportsSecureBoot(),
			VirtualMedia: details.SupportsISOPreprovisioningImage()}}
	if driver == uefiHTTP {
		a.VirtualMedia, a.UEFIHTTP = false, true
	}
	return a.locate(place{u.Hostname(), u.Port(), u.EscapedPath(), u.RawQuery,
		u.User != nil, u.Fragment != "" || strings.Contains(rest, "#")})
}

// protocolOf is the protocol of one of Ironic's hardware types.
func protocolOf(hardware string) Protocol {
	if hardware == "ipmi" {
		return IPMI
	}
	return Redfish
}

// String is the address in the one form that is the same for all its spellings.
func (a Address) String() string {
	scheme, host := a.Driver, a.Host
	if a.Plain {
		scheme += "+http"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.Port != a.usualPort() {
		host += ":" + digits(a.Port)
	}
	query := ""
	if a.Privilege != "" {
		query = "?privilegelevel=" + a.Privilege
	}
	return scheme + "://" + host + a.Path + query
}
