package provisioning

import (
	"bytes"
	_ "embed"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/arch"
)

//go:embed dnsmasq.conf.tmpl
var dnsmasqText string

var dnsmasqTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("dnsmasq.conf").Parse(dnsmasqText))
})

// Unserved is the tag that dnsmasq's log shows for a client that boots from the network and is of
// an architecture for which there is no program.
const Unserved = "no-boot-program"

// localTag is the tag of hosts that boot from their disks.
const localTag = "local"

// What dnsmasq has by default, and what each host may need at a time: every stage of a boot over
// IPv6 has a lease of its own, and firmware may ask for a file again before the former transfer
// has timed out.
const (
	defaultLeases, leasesOfHost       = 1000, 16
	defaultTransfers, transfersOfHost = 50, 2
)

// doubled is a bound that is at least need: few changes of the number of hosts change it.
func doubled(bound, need int) int {
	for bound < need {
		bound *= 2
	}
	return bound
}

// httpClass is the content of DHCPv6's option 16 by which UEFI knows an answer to its HTTP boot: an
// enterprise number of four bytes, and the class with its length (RFC 8415 21.16). dnsmasq writes
// each text of the option with its length, and knows no number there. So a first text of two bytes
// makes up the number, with its length. EDK2 compares the class only.
const httpClass = "HB,HTTPClient"

// page is what dnsmasq.conf.tmpl is executed with.
type page struct {
	Network
	DNSPort           int
	Transfers, Leases int
	Managed, IPv6     bool
	Mask              string // of IPv4; the prefix length of IPv6
	Seconds           int
	Router            string
	ArchOption        string
	Matches           []match
	Boots             []boot
	Unserved          string
	HTTPClass         string
	Script            string
}

// match gives the clients of an architecture a tag.
type match struct{ Arch, Tag string }

// boot is the file that clients with a tag get.
type boot struct {
	Tag, File, URL string
	HTTP           bool
}

// Dnsmasq is the configuration of dnsmasq for a network of which Validate has no findings. Equal
// networks give equal bytes. A change of the reservations changes only Hosts, but for the
// bounds on leases and transfers, which double now and then.
//
// What the text relies on, of dnsmasq 2.90 and 2.91:
//   - A range with the word static leases reserved addresses only. dhcp-ignore silences it to hosts
//     without a reservation, also in its answers to requests for an address.
//   - no-daemon stays in the foreground and in its user's account, and writes no file of its
//     process: NET_BIND_SERVICE, NET_RAW and NET_ADMIN are all that it needs then.
//     keep-in-foreground would change its group, which takes SETGID.
//   - With no-daemon the log goes to its own output beside the file of log-facility. The name - is
//     the output alone.
//   - bind-dynamic waits for an interface that does not exist yet; bind-interfaces exits.
//   - Without an empty option for routers and name servers dnsmasq announces itself as both.
//   - An option that is forced is sent to clients that do not ask for it. UEFI ignores an answer
//     to its HTTP boot without the vendor class.
//   - iPXE sends the architecture of its firmware too. So what firmware gets excludes the tag ipxe,
//     which has two marks: programs that were built without one of them have the other.
//   - Router advertisements have lifetime 0: they name the prefix, and no default route.
//   - By default its addresses follow from a hash of the client: with dhcp-sequential-ip they would
//     follow the order of arrival, which two servers see differently.
func Dnsmasq(n Network) []byte {
	var out bytes.Buffer
	if err := dnsmasqTemplate().Execute(&out, pageOf(n)); err != nil {
		// The template calls nothing that fails: only a wrong template comes here.
		panic(fmt.Sprintf("render dnsmasq.conf: %v", err))
	}
	return out.Bytes()
}

func pageOf(n Network) page {
	hosts := len(n.Reservations)
	p := page{
		Network: n, Managed: n.Mode == Managed, IPv6: n.Server.Is6(), Unserved: Unserved,
		Transfers: doubled(defaultTransfers, transfersOfHost*hosts),
		Leases:    doubled(defaultLeases, leasesOfHost*hosts),
		Seconds:   int(n.Lease.Seconds()), Script: n.http(bootScript), HTTPClass: httpClass,
		ArchOption: "option:client-arch", Mask: net.IP(net.CIDRMask(n.Prefix.Bits(), 32)).String(),
	}
	if p.IPv6 {
		p.ArchOption, p.Mask = "option6:61", fmt.Sprint(n.Prefix.Bits())
	}
	if n.Gateway.IsValid() {
		p.Router = n.Gateway.String()
	}
	if slices.Contains(n.DNS, n.Server) {
		p.DNSPort = 53
	}
	for a := range arch.Known {
		file, http := n.Programs.Program(a)
		if file == "" {
			continue
		}
		p.Matches = append(p.Matches, match{archValue(a, p.IPv6), tag(a)})
		b := boot{Tag: tag(a), File: file, URL: n.tftp(file), HTTP: http}
		if http {
			b.URL = n.http(file)
		}
		if !slices.Contains(p.Boots, b) {
			p.Boots = append(p.Boots, b)
		}
	}
	return p
}

// NotLocal is a condition of what firmware and iPXE get. It is there even if no host boots from
// its disk: the list of hosts may get such a host while dnsmasq runs.
func (page) NotLocal() string { return ",tag:!" + localTag }

// tag is dnsmasq's tag for the clients that get the same file in the same way.
func tag(a arch.Number) string {
	p, http := a.Client()
	if http {
		return string(p) + "-http"
	}
	return string(p)
}

// archValue is an architecture as dnsmasq compares it: over IPv6 it does not know that the option
// is a list of 16-bit numbers.
func archValue(a arch.Number, ipv6 bool) string {
	if ipv6 {
		return fmt.Sprintf("%02x:%02x", uint16(a)>>8, uint16(a)&0xff)
	}
	return fmt.Sprint(uint16(a))
}

// http is the URL of a path below the HTTP server's root.
func (n Network) http(path string) string {
	return "http://" + netip.AddrPortFrom(n.Server, n.HTTPPort).String() + "/" + path
}

// tftp is the URL of a path below the TFTP root.
func (n Network) tftp(path string) string {
	if n.Server.Is6() {
		return "tftp://[" + n.Server.String() + "]/" + path
	}
	return "tftp://" + n.Server.String() + "/" + path
}

// Hosts is dnsmasq's list of hosts, sorted: at Paths.Hosts, which dnsmasq reads again on SIGHUP.
func Hosts(n Network) []byte {
	sorted := slices.SortedFunc(slices.Values(n.Reservations), func(a, b Reservation) int {
		return a.MAC.Compare(b.MAC)
	})
	var out bytes.Buffer
	for _, r := range sorted {
		address := r.Address.String()
		if r.Address.Is6() {
			block := ""
			if r.Bits != 0 {
				block = fmt.Sprintf("/%d", r.Bits)
			}
			address = "[" + address + block + "]"
		}
		fields := []string{r.MAC.String(), address}
		if r.Local {
			fields = slices.Insert(fields, 1, "set:"+localTag)
		}
		if r.Name != "" {
			fields = append(fields, r.Name)
		}
		fmt.Fprintln(&out, strings.Join(fields, ","))
	}
	return out.Bytes()
}
