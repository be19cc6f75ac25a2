//go:build remote

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	haproxyd "github.com/onprem-infra/onprem-infra/shared/host/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// doctorAsks are the questions to programs and servers, apart so that a test can answer.
type doctorAsks struct {
	time    func(ctx context.Context, server netip.Addr) (time.Duration, error)
	date    func(ctx context.Context, server netip.AddrPort) (time.Duration, error)
	name    func(ctx context.Context, server netip.Addr, name string) ([]netip.Addr, error)
	alive   func(ctx context.Context, port uint16, path string) error // on the loopback
	image   func(ctx context.Context, reference string) error
	version func(ctx context.Context, program string) (string, error)
	present func() (bool, error) // the redirect
	listen  func(number uint16, network string) error
	mtu     func(link string) int
	shut    func(ctx context.Context, host netip.Addr) []string
	stepped func() (why string)

	room      func(dir string) (bytes, files uint64, err error)
	watchable func(dir string) error
	server    func(ctx context.Context, address string) (health.API, string)
	check     func(ctx context.Context, check vrrp.CheckName) (health.Finding, string)

	structure func(ctx context.Context) (string, error)                // that HAProxy has read
	text      func(ctx context.Context, name string) ([]string, error) // of this host's own name server
}

func newDoctorAsks(p plan.Plan, services probes.Options) doctorAsks {
	rules := redirect.Of(p.VIPs.API, p.MachineNetworks, p.Ports)
	return doctorAsks{
		time: func(ctx context.Context, server netip.Addr) (time.Duration, error) {
			return probe.Time(ctx, netip.AddrPortFrom(server, ntpPort))
		},
		date: func(ctx context.Context, server netip.AddrPort) (time.Duration, error) {
			return probe.Date(ctx, "https://"+server.String()+"/version")
		},
		name: func(ctx context.Context, server netip.Addr, name string) ([]netip.Addr, error) {
			return probe.Lookup(ctx, netip.AddrPortFrom(server, p.Ports[port.DNS]), name)
		},
		alive: func(ctx context.Context, number uint16, path string) error {
			_, err := probe.NewHTTP(fmt.Sprintf("http://localhost:%d%s", number, path), localhost.Dial).Good(ctx)
			return err
		},
		image: probe.Image, version: proc.Version, present: func() (bool, error) { return nft.Present(rules) },
		listen: listenOnce, mtu: linkMTU, shut: func(ctx context.Context, host netip.Addr) []string { return shutPorts(ctx, p, host) }, stepped: notStepped,
		room: file.Room, watchable: file.Watchable,
		server: func(ctx context.Context, address string) (health.API, string) {
			return services.APIAt(address).Probe(ctx)
		}, check: probes.New(services).Probe,
		structure: func(ctx context.Context) (string, error) { return haproxyd.Structure(ctx, haproxy.Run.Socket()) },
		text: func(ctx context.Context, name string) ([]string, error) {
			return probe.Text(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS]), name)
		},
	}
}

// ntpPort is where time servers listen.
const ntpPort = 123

// listenOnce listens at a port of every address for a moment.
func listenOnce(number uint16, network string) error {
	at := fmt.Sprintf(":%d", number)
	if network == "udp" {
		c, err := net.ListenPacket(network, at)
		if err != nil {
			return err
		}
		return c.Close()
	}
	c, err := net.Listen(network, at)
	if err != nil {
		return err
	}
	return c.Close()
}

// linkMTU is 0 where it is not known.
func linkMTU(name string) int {
	on, err := net.InterfaceByName(name)
	if err != nil {
		return 0
	}
	return on.MTU
}

// between are the ports that the cluster's hosts need of each other, and their clients of them.
var between = []string{port.API}

// shutPorts are those from which nothing comes back. A refusal does: nobody listens there yet.
func shutPorts(ctx context.Context, p plan.Plan, host netip.Addr) (shut []string) {
	for _, name := range between {
		bound, cancel := context.WithTimeout(ctx, doctorWithin)
		c, err := new(net.Dialer).DialContext(bound, "tcp", netip.AddrPortFrom(host, p.Ports[name]).String())
		cancel()
		var late net.Error
		switch {
		case err == nil:
			_ = c.Close() // nothing was said
		case errors.As(err, &late) && late.Timeout() && ctx.Err() == nil:
			shut = append(shut, fmt.Sprintf("%d (%s)", p.Ports[name], name))
		}
	}
	return shut
}

// Of the kernel's clock (adjtimex(2)).
const (
	timeError    = 5
	timeUnsynced = 0x40
)

// notStepped says why the kernel's clock is not kept in step; empty when it is, or when nobody can
// tell.
func notStepped() string {
	var t syscall.Timex
	state, err := syscall.Adjtimex(&t)
	if err != nil || state != timeError && t.Status&timeUnsynced == 0 {
		return ""
	}
	return "the kernel says that its clock is not synchronised"
}

// timeFiles are where a host's time servers stand.
var timeFiles = []string{"/etc/chrony.conf", "/etc/chrony/chrony.conf", "/etc/systemd/timesyncd.conf", "/etc/ntp.conf"}

// mostServers bounds how many servers of a kind are asked.
const mostServers = 4

// timeServers are the addresses in the text of such a file, and the names there of those that have
// none.
func timeServers(text []byte) (out []string) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(strings.NewReplacer("=", " ").Replace(lines.Text()))
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "server", "pool", "peer":
			out = append(out, words[1])
		case "NTP":
			out = append(out, words[1:]...)
		}
	}
	return out
}

// clocks are those of the time servers that this host is told to follow, and of the control plane's
// nodes.
func (l *doctorLook) clocks(ctx context.Context, members []doctor.Member) (out []doctor.Clock) {
	var servers []netip.Addr
	for _, path := range timeFiles {
		text, err := os.ReadFile(l.host.at(path))
		if err != nil {
			continue // most hosts have one of them
		}
		for _, name := range timeServers(text) {
			if a, err := netip.ParseAddr(name); err == nil {
				servers = append(servers, a)
				continue
			}
			bound, cancel := context.WithTimeout(ctx, doctorWithin)
			found, err := net.DefaultResolver.LookupNetIP(bound, "ip", name)
			cancel()
			if err == nil && len(found) > 0 {
				servers = append(servers, found[0].Unmap())
			}
		}
	}
	var mu sync.Mutex
	var asked sync.WaitGroup
	add := func(who string, server bool, ask func(context.Context) (time.Duration, error)) {
		asked.Go(func() {
			bound, cancel := context.WithTimeout(ctx, doctorWithin)
			defer cancel()
			ahead, err := ask(bound)
			if err != nil {
				if server {
					l.unseen("the clock of the time server "+who, err)
				}
				return // of a host that does not answer another check speaks
			}
			mu.Lock()
			defer mu.Unlock()
			out = append(out, doctor.Clock{Who: who, Server: server, Ahead: ahead})
		})
	}
	for _, s := range servers[:min(len(servers), mostServers)] {
		add(s.String(), true, func(ctx context.Context) (time.Duration, error) { return l.asks.time(ctx, s) })
	}
	for _, s := range apiServers(l.plan, members) {
		add(s.Addr().String(), false, func(ctx context.Context) (time.Duration, error) { return l.asks.date(ctx, s) })
	}
	asked.Wait()
	slices.SortFunc(out, func(a, b doctor.Clock) int { return strings.Compare(a.Who, b.Who) })
	return out
}

// apiServers are those of the control plane's nodes, this one's among them.
func apiServers(p plan.Plan, members []doctor.Member) (out []netip.AddrPort) {
	for _, m := range members {
		if m.ControlPlane && len(out) < mostEchoes {
			out = append(out, netip.AddrPortFrom(m.Addresses[0], p.Ports[port.API]))
		}
	}
	return out
}
