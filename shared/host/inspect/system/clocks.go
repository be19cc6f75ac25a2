package system

import (
	"context"
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

// timeServers are the addresses of the time servers in this host's files, in their order. Names are
// looked up side by side: with a name server that is silent, they cost one timeout.
func (i Inspector) timeServers(ctx context.Context) []netip.Addr {
	var names []string
	for _, path := range timeFiles {
		if text, err := os.ReadFile(i.Files.Path(path)); err == nil { // most hosts have one of them
			names = append(names, serversIn(text)...)
		}
	}
	servers := make([]netip.Addr, len(names))
	inspect.Each(names, func(n int, name string) { servers[n] = i.address(ctx, name) })
	return slices.DeleteFunc(servers, func(a netip.Addr) bool { return !a.IsValid() })
}

// address is what an address or a name stands for; the zero Addr if that cannot be found out.
func (i Inspector) address(ctx context.Context, name string) netip.Addr {
	if a, err := netip.ParseAddr(name); err == nil {
		return a
	}
	bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
	defer cancel()
	found, err := i.Lookup(bound, name)
	if err != nil || len(found) == 0 {
		return netip.Addr{}
	}
	return found[0].Unmap()
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
