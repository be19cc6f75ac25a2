package ironic

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"time"
)

// plainPath is what the configuration and the scripts can carry without quotes: Ironic takes a
// dollar sign for the name of an option.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// judge collects findings.
type judge struct{ found []error }

func (j *judge) find(at, format string, args ...any) {
	j.found = append(j.found, fmt.Errorf(at+": "+format, args...))
}

// Validate returns all findings about settings at once, joined; nil if they can be rendered. Each
// begins with the field that it is about.
func (s Settings) Validate() error {
	j := &judge{}
	j.address("api", s.API)
	j.address("http", s.HTTP)
	if s.API.Addr().Is4() != s.HTTP.Addr().Is4() {
		j.find("http", "%s and the API, %s, are of different families: a ramdisk may have one only",
			s.HTTP.Addr(), s.API.Addr())
	}
	j.hosts(s)
	j.times(s.Times)
	j.paths(s.Paths)
	return errors.Join(j.found...)
}

func (j *judge) address(at string, a netip.AddrPort) {
	ip := a.Addr()
	if !a.IsValid() || a.Port() == 0 || ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() ||
		ip.Zone() != "" {
		j.find(at, "%s is not the address and port of a server", a)
	}
}

func (j *judge) hosts(s Settings) {
	if len(s.Hosts) == 0 {
		j.find("hosts", "there are none, so there is nothing that Ironic could load")
	}
	media := false
	for _, h := range s.Hosts {
		kind, redfish := hardware(h.Driver)
		switch {
		case kind == "":
			j.find("hosts", "Ironic has no hardware type for the driver %q", h.Driver)
		case h.Boot != PXE && h.Boot != UEFIHTTP && h.Boot != VirtualMedia:
			j.find("hosts", "%q is not a way to boot", h.Boot)
		case h.Boot != PXE && !redfish:
			j.find("hosts", "the driver %q boots by PXE only, not by %s", h.Driver, h.Boot)
		}
		media = media || h.Boot == VirtualMedia && !h.Adopted
	}
	switch {
	case media:
		j.address("media", s.Media)
		if !plainPath.MatchString(s.GRUB) {
			j.find("grub", "%q is not the path of a boot loader's configuration", s.GRUB)
		}
	case s.Media.IsValid():
		j.find("media", "no host boots by virtual media: leave %s out", s.Media)
	}
}

// shortestHeartbeat is what Ironic's ramdisk can keep: it reports after a third of the time.
const shortestHeartbeat = 10 * time.Second

func (j *judge) times(t Times) {
	if t.Heartbeat < shortestHeartbeat {
		j.find("times", "a ramdisk cannot report every %v: specify %v or more", t.Heartbeat,
			shortestHeartbeat)
	}
	if t.Retry <= t.Heartbeat {
		j.find("times", "a host would be booted again after %v, before its ramdisk has to report, "+
			"after %v", t.Retry, t.Heartbeat)
	}
	if t.CallBack <= t.Retry {
		j.find("times", "the wait for a ramdisk, %v, ends before its host is booted again, after "+
			"%v", t.CallBack, t.Retry)
	}
}

func (j *judge) paths(p Paths) {
	for _, f := range [][2]string{{"state", p.State}, {"data", cmp.Or(p.Data, p.State)},
		{"http", p.HTTP}, {"tftp", p.TFTP},
		{"images", p.Images}, {"certificate", p.Certificate}, {"key", p.Key},
		{"htpasswd", p.Htpasswd}, {"template", p.Template}, {"script", p.Script}} {
		if !path.IsAbs(f[1]) || path.Clean(f[1]) != f[1] || !plainPath.MatchString(f[1]) {
			j.find("paths", "%s: %q is not an absolute path of letters, digits and ._-", f[0],
				f[1])
		}
	}
	if !strings.HasPrefix(p.Images, p.HTTP+"/") {
		j.find("paths", "images: %s is not below %s, which hosts can reach", p.Images, p.HTTP)
	}
	if base := path.Base(p.Script); base == "boot.ipxe" {
		j.find("paths", "script: Ironic would write over the %s that hosts load", base)
	}
}
