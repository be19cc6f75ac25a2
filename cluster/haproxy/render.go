package haproxy

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/comment"
)

//go:embed haproxy.cfg.tmpl
var text string

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("haproxy.cfg").Parse(text))
})

// page is a Config as the template's values.
type page struct {
	Header, Structure  string
	Run                Path
	Ports              Ports
	Serves             bool
	Any, Dual          string       // the wildcard address, and the option for both families
	VIPs, VIPs6        []netip.Addr // by family
	Host, Verify, Pace string
	lines
}

// lines are the servers of each backend.
type lines struct{ API, MachineConfig, Ironic, VirtualMedia []string }

// Render writes the configuration. Equal values give equal bytes.
//
// The text relies on HAProxy 2.6 and later:
//   - A refused connection goes to another server at once (redispatch 1), and three in a row take
//     the server down before a check does. If no check passes, the last resort is a backend of
//     the same servers without checks.
//   - A check with its connection and TLS handshake may take its whole interval, as there is no
//     timeout check. health.ServerCheck computes how long a failed server still counts as up. The
//     answers 401 and 403 pass: the server refuses anonymous requests, but it runs.
//   - A new or returning server gets its share over a minute: it is ready before the pods on its
//     node are.
//   - A server that goes down keeps its sessions, so that a draining one can end them itself. The
//     monitor cuts those of a dead one.
//   - No frontend has a backend's name, which HAProxy 3.3 and later refuse. Backends keep their
//     names over releases: state files, the monitor's commands and its statistics use them.
//   - Old workers end after 2 minutes or three more reloads, whatever long watches they hold.
//   - Idle clients cannot fill the process: its maxconn is above the sum of the frontends that they
//     reach.
//   - One source may have a quarter of the connections to the API, so that no client takes all. The
//     quota is large because up to 500 pods share a node's address where the network plugin
//     rewrites it, as do the hosts behind a router with NAT.
//   - The balanced machine config port rejects connections that were not redirected from a VIP,
//     whatever the packet filter does. For an IPv4 socket the kernel reports the original port. For
//     an IPv6 socket it reports only the VIP, so there are two sockets.
//   - Statistics need no password: they are on the loopback and change nothing, and a password in a
//     template is no secret.
//   - The health that the public frontend reports is served on the loopback too. A frontend has a
//     limit of connections, and other hosts must not use up those of the VIP's checks.
//   - A free slot has an address without a listener, and is disabled.
//   - A host may allow fewer files than 45,000 connections need: a smaller balancer is better than
//     none.
//   - Ironic's frontends reset a connection at once if no pod is ready, by a rule that runs before
//     the connection is accepted into a session. Their backends have no last resort.
//   - Without members nothing is balanced, and the ports that report readiness are closed.
func Render(c Config) []byte {
	return execute(parsed(), words(c))
}

func execute(t *template.Template, p page) []byte {
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		// The template only prints values, so only a wrong template fails.
		panic(fmt.Sprintf("render haproxy.cfg: %v", err))
	}
	return out.Bytes()
}

// Structure is the hash of everything that a running HAProxy changes only by a reload: all but the
// servers' addresses. It is the file's description, so HAProxy reports the structure that it runs.
func Structure(c Config) string { return words(c).Structure }

func words(c Config) page {
	p := page{
		Header: comment.Text(c.Header), Run: c.Run, Ports: c.Ports,
		Any: "0.0.0.0", Host: "localhost", Verify: "verify none",
		Pace: fmt.Sprintf("inter %dms fastinter %dms fall %d rise %d",
			c.Server.Inter.Milliseconds(), c.Server.FastInter.Milliseconds(),
			c.Server.Fall, c.Server.Rise),
		lines: lines{
			API: servers(c.at(c.Ports.API)), MachineConfig: servers(c.at(c.Ports.MachineConfig)),
			Ironic: servers(c.Ironic.API), VirtualMedia: servers(c.Ironic.VirtualMedia),
		},
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
	blank, _, _ := take(execute(parsed(), p))
	p.Structure = digest(blank)
	return p
}

// Server is the name of a slot in every backend.
func Server(slot int) string { return "s" + strconv.Itoa(slot) }

// Free is the address of a free slot: no process listens on port 1 of the loopback, and the slot is
// disabled.
var Free = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 1)

func servers(slots []netip.AddrPort) []string {
	var out []string
	for i, at := range slots {
		if usable(at.Addr()) {
			out = append(out, Server(i)+" "+at.String())
		} else {
			out = append(out, Server(i)+" "+Free.String()+" disabled")
		}
	}
	return out
}
