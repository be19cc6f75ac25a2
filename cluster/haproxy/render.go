package haproxy

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"unicode"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

//go:embed haproxy.cfg.tmpl
var text string

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("haproxy.cfg").Parse(text))
})

// page is a Config in the words of an haproxy.cfg.
type page struct {
	Header, Structure  string
	Run                Path
	Ports              Ports
	Serves             bool
	Any, Dual          string       // the wildcard address, and what makes it one of both families
	VIPs, VIPs6        []netip.Addr // by family
	Host, Verify, Pace string
	API, MachineConfig []string // the servers
}

// Render writes the configuration. Equal values give equal bytes.
//
// What the text relies on, of HAProxy 2.6 and later:
//   - A server that refuses a connection is masked: the connection goes to another at once
//     (redispatch 1), and three of these in a row take
//     the server out before a check does. The last resort is a backend of the same servers without checks: when no check passes, trying
//     them beats refusing everybody.
//   - A check, with its connection and TLS, may take as long as its interval, as there is no
//     timeout check. How long a server
//     that ends or hangs is still taken for one that serves is what health.ServerCheck says. 401 and 403 are answers of a server
//     that tells strangers nothing: it lives, and nobody knows more.
//   - A server that comes back, or is new, is given its share over a minute: it is ready before the
//     pods on its node are.
//   - Sessions of a server that is down are not cut: one that drains ends them itself. Who cuts
//     those of a dead one is the monitor.
//   - No frontend has a backend's name, which HAProxy 3.3 and later refuse. Backends keep theirs
//     from
//     release to release: servers' states, the monitor's commands and its statistics go by them.
//   - Old workers end after 2 minutes, or when there have been three reloads since, whatever long
//     watches they hold.
//   - Idle clients cannot fill the process: maxconn of the process is above that of all the
//     frontends that they reach.
//   - No client alone can take all connections to the API: a source may have a quarter of them. It
//     is that many because a node's pods, 500 at
//     most, come with the node's address where a network plugin rewrites theirs, and so do the hosts behind a router that does.
//   - The balanced machine config port refuses what was not redirected to it from a VIP, whatever
//     the packet filter does: of an IPv4 socket
//     the kernel tells HAProxy the port that the client asked for. Of an IPv6 one it is the VIP alone, and so there are two sockets.
//   - Statistics need no password: they are on the loopback, can change nothing, and a password in
//     a template keeps no secret.
//   - What is told of its health to everybody is told on the loopback too, to those who act upon
//     it: a frontend takes so many connections,
//     idle ones as well, and nobody beyond this host may use up the room of those who decide where the VIP is.
//   - A free slot has an address that nobody serves at, and is disabled.
//   - A host may allow fewer files than 45,000 connections need: a balancer for fewer is better
//     than none.
//   - Without members nothing is balanced and the ports that say "ready" are closed.
func Render(c Config) []byte {
	return execute(parsed(), words(c))
}

func execute(t *template.Template, p page) []byte {
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		// The template prints values and calls nothing: only a wrong template comes here.
		panic(fmt.Sprintf("render haproxy.cfg: %v", err))
	}
	return out.Bytes()
}

// pace is how a server is looked at.
func pace(c health.ServerCheck) string {
	return fmt.Sprintf("inter %dms fastinter %dms fall %d rise %d", c.Inter.Milliseconds(), c.FastInter.Milliseconds(), c.Fall, c.Rise)
}

// Structure names everything about a configuration that a running HAProxy can take over by a reload
// only: all but who has which slot. It stands in the file as its description, so HAProxy says which
// structure it runs with.
func Structure(c Config) string { return words(c).Structure }

func words(c Config) page {
	p := page{
		Header: strings.Map(printable, c.Header), Run: c.Run, Ports: c.Ports, Any: "0.0.0.0", Host: "localhost", Verify: "verify none",
		Pace: pace(c.Server),
		API:  servers(c.Members, c.Ports.API), MachineConfig: servers(c.Members, c.Ports.MachineConfig),
	}
	if c.IPv6 {
		p.Any, p.Dual = "::", " v4v6"
	}
	for _, vip := range c.VIPs {
		if vip.Is4() {
			p.VIPs = append(p.VIPs, vip)
		} else {
			p.VIPs6 = append(p.VIPs6, vip.WithZone(""))
		}
	}
	if c.Trust.CAFile != "" {
		p.Verify = "verify required ca-file " + string(c.Trust.CAFile)
		if name := string(c.Trust.Name); name != "" {
			p.Host = name
			p.Verify += " check-sni " + name + " verifyhost " + name
		}
	}
	for _, a := range c.Members {
		p.Serves = p.Serves || usable(a)
	}
	p.Structure = structure(p)
	return p
}

func structure(p page) string {
	blank, _, _ := take(execute(parsed(), p))
	return digest(blank)
}

// Server is the name of a slot in every backend.
func Server(slot int) string { return "s" + strconv.Itoa(slot) }

// Free is the address of a free slot: nobody listens on port 1 of the loopback, and the slot is
// disabled.
var Free = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 1)

func servers(members []netip.Addr, port uint16) []string {
	var out []string
	for i, a := range members {
		if usable(a) {
			out = append(out, Server(i)+" "+netip.AddrPortFrom(a.WithZone(""), port).String())
		} else {
			out = append(out, Server(i)+" "+Free.String()+" disabled")
		}
	}
	return out
}

// printable drops what would end a comment.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}
