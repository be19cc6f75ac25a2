package system

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// timeFiles are the files that name a host's time servers.
var timeFiles = []string{
	"/etc/chrony.conf", "/etc/chrony/chrony.conf", "/etc/systemd/timesyncd.conf", "/etc/ntp.conf",
}

// maxTimeServers bounds how many time servers are asked.
const maxTimeServers = 4

// Clocks are those of the time servers that this host is configured to follow, and of API servers.
func (i Inspector) Clocks(ctx context.Context, apiServers []netip.AddrPort) (out []facts.Clock) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	add := func(host netip.Addr, server bool, ask func(context.Context) (time.Duration, error)) {
		asked.Go(func() {
			bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
			defer cancel()
			ahead, err := ask(bound)
			if server { // another check reports on API servers that do not answer
				i.Unseen.Add("the clock of the time server "+host.String(), err)
			}
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out = append(out, facts.Clock{Host: host.String(), Server: server, Ahead: ahead})
		})
	}
	servers := i.timeServers(ctx)
	for _, s := range servers[:min(len(servers), maxTimeServers)] {
		add(s, true, func(ctx context.Context) (time.Duration, error) { return i.Time(ctx, s) })
	}
	for _, s := range apiServers {
		add(s.Addr(), false,
			func(ctx context.Context) (time.Duration, error) { return i.Date(ctx, s) })
	}
	asked.Wait()
	slices.SortFunc(out, func(a, b facts.Clock) int { return strings.Compare(a.Host, b.Host) })
	return out
}

// timeServers are the addresses of the time servers in this host's files.
func (i Inspector) timeServers(ctx context.Context) (servers []netip.Addr) {
	for _, path := range timeFiles {
		text, err := os.ReadFile(i.Files.Path(path))
		if err != nil {
			continue // most hosts have one of them
		}
		for _, name := range serversIn(text) {
			if a, err := netip.ParseAddr(name); err == nil {
				servers = append(servers, a)
				continue
			}
			bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
			found, err := net.DefaultResolver.LookupNetIP(bound, "ip", name)
			cancel()
			if err == nil && len(found) > 0 {
				servers = append(servers, found[0].Unmap())
			}
		}
	}
	return servers
}

// serversIn are the addresses and names of time servers in the text of such a file.
func serversIn(text []byte) (out []string) {
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.ReplaceAll(line, "=", " "))
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
