package browse

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// node is what a node of the cluster announces.
func node(name string, addresses ...string) announce.Host {
	h := announce.Host{Name: record.Name(name), Reverse: true, Services: []announce.Service{{Instance: "ostest Workstation-" + name, Type: wire.Workstation, Port: 42424, TTL: 3200 * time.Second}}}
	for _, a := range addresses {
		h.Addresses = append(h.Addresses, netip.MustParseAddr(a))
	}
	return h
}

// announcer is a responder with one host, set at once.
func announcer(h announce.Host, now time.Time) *announce.Responder {
	var own []string
	for _, a := range h.Addresses {
		own = append(own, a.String())
	}
	r := announce.New(mdnslink.On(own...), mdnslink.Even)
	r.Set(now, mdnslink.On(own...), []announce.Host{h})
	return r
}

// established is a link with one announcer that has announced everything, some time ago.
func established(t *testing.T, h announce.Host) (*mdnslink.Link, *announce.Responder) {
	t.Helper()
	e := mdnslink.New(t)
	r := announcer(h, e.Now)
	e.Add(r, h.Addresses[0].String())
	e.Run(time.Minute)
	e.Clear()
	return e, r
}

// of makes a node one of a cluster.
func of(cluster string, h announce.Host) announce.Host {
	h.Cluster, h.Services = record.Name(cluster), slices.Clone(h.Services)
	for i := range h.Services {
		h.Services[i].Instance = strings.Replace(h.Services[i].Instance, "ostest", cluster, 1)
	}
	return h
}
