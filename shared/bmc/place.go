package bmc

import (
	"errors"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

var (
	errNoHost = errors.New("names no host: write a DNS name or an IP address after ://, IPv6 in " +
		"brackets")
	errNoPort = errors.New("has no port from 1 to 65535 after its colon: write a number, or " +
		"remove the colon")
	errUser = errors.New("has a user name in it: write user name and password into fields of " +
		"their own, and remove them here")
	errTail = errors.New("has a ? or # in it, which no driver reads: remove it with what follows")
	errIPMI = errors.New("has a path, and IPMI has none: remove it, or write redfish://... if " +
		"that is meant")
	errLevel = errors.New("has a query that IPMI does not know: write ?privilegelevel= with one " +
		"of ADMINISTRATOR, OPERATOR, USER, CALLBACK, or remove it")
	errManager = errors.New("has the path of a manager: write that of the system, such as " +
		"/redfish/v1/Systems/1")
)

// place is the part of a URL after its scheme.
type place struct {
	host, port, path, query string
	user, fragment          bool
}

// The usual ports of BMCs.
const (
	portHTTP  = 80
	portHTTPS = 443
	portIPMI  = 623
)

func (a Address) usualPort() uint16 {
	switch {
	case a.Protocol == IPMI:
		return portIPMI
	case a.Plain:
		return portHTTP
	}
	return portHTTPS
}

func digits(n uint16) string { return strconv.Itoa(int(n)) }

// locate adds host, port and path.
func (a Address) locate(p place) (Address, error) {
	switch {
	case p.user:
		return Address{}, errUser
	case p.host == "":
		return Address{}, errNoHost
	case p.fragment, p.query != "" && a.Protocol == Redfish:
		return Address{}, errTail
	}
	a.Host, a.Port = strings.ToLower(p.host), a.usualPort()
	if addr, err := netip.ParseAddr(p.host); err == nil {
		a.Host = addr.Unmap().String()
	}
	if p.port != "" {
		n, err := strconv.ParseUint(p.port, 10, 16)
		if err != nil || n == 0 {
			return Address{}, errNoPort
		}
		a.Port = uint16(n)
	}
	if a.Protocol == IPMI {
		return a.ofIPMI(p)
	}
	return a.ofRedfish(p)
}

// levels are the privileges that a session of IPMI can ask for. The first one is the default.
func levels() []string { return []string{"ADMINISTRATOR", "OPERATOR", "USER", "CALLBACK"} }

func (a Address) ofIPMI(p place) (Address, error) {
	if strings.Trim(p.path, "/") != "" {
		return Address{}, errIPMI
	}
	if p.query != "" {
		level, ok := strings.CutPrefix(p.query, "privilegelevel=")
		if !ok || !slices.Contains(levels(), level) {
			return Address{}, errLevel
		}
		if level != levels()[0] {
			a.Privilege = level
		}
	}
	return a, nil
}

// root is the service root of Redfish, which names no system.
const root = "/redfish/v1"

func (a Address) ofRedfish(p place) (Address, error) {
	a.Path = path.Clean("/" + p.path)
	if a.Path == "/" || a.Path == root {
		a.Path = "" // the only system
	}
	if strings.HasPrefix(a.Path, root+"/Managers/") {
		return Address{}, errManager
	}
	return a, nil
}
