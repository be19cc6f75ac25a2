package clients

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

func addrs(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// TestPeers holds which nodes get reports of which VIP, at which addresses, and by which key.
func TestPeers(t *testing.T) {
	p := plan.Plan{
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
		VIPs:            plan.VIPs{API: addrs("192.0.2.5", "2001:db8::5"), Ingress: addrs("192.0.2.6")},
	}
	node := func(name, key string, addresses ...string) member.Node {
		return member.Node{Candidate: addr.Candidate{Name: name, InternalIPs: addrs(addresses...)}, ControlPlane: true, ClientsKey: key}
	}
	arbiter, worker := node("a", "ka", "192.0.2.14"), node("w1", "kw", "192.0.2.21")
	arbiter.NoVIP, worker.ControlPlane = true, false
	nodes := []member.Node{
		node("m1", "k1", "192.0.2.11", "2001:db8::11"), node("m2", "k2", "192.0.2.12"), node("old", "", "192.0.2.13"), node("none", "k3", "192.0.2.5"),
		arbiter, worker,
	}
	list := []notice.Candidate{
		{Name: "m2", Addresses: addrs("192.0.2.12"), Key: "older"},
		{Name: "w1", Addresses: addrs("192.0.2.21", "2001:db8::21"), Key: "kw"},
		{Name: "w2", Addresses: addrs("192.0.2.22"), Key: "k22"},
		{Name: "w3", Addresses: addrs("192.0.2.23")},
		{Name: "w4", Addresses: addrs("2001:db8::24"), Key: "k24"},
	}
	want := []clients.Peer{
		{Addresses: addrs("192.0.2.11", "2001:db8::11"), Key: "k1", VIPs: p.VIPs.API},
		{Addresses: addrs("192.0.2.12"), Key: "k2", VIPs: addrs("192.0.2.5", "192.0.2.6")},
		{Addresses: addrs("192.0.2.21"), Key: "kw", VIPs: p.VIPs.Ingress},
		{Addresses: addrs("192.0.2.22"), Key: "k22", VIPs: p.VIPs.Ingress},
	}
	if got := Peers(p, nodes, list); !slices.EqualFunc(got, want, clients.Peer.Equal) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	p.VIPs.Ingress = p.VIPs.API[:1] // one VIP for both
	if got := Peers(p, nodes[:2], list[:1]); len(got) != 2 || len(got[1].VIPs) != 1 || len(got[1].Addresses) != 1 {
		t.Errorf("one VIP for both: %+v", got)
	}
}

// TestPublished holds that a node knows what the API shows of it: on its Node, or else in the list.
func TestPublished(t *testing.T) {
	nodes := []member.Node{{Candidate: addr.Candidate{Name: "m1"}, ClientsKey: "new"}, {Candidate: addr.Candidate{Name: "m2"}}}
	list := []notice.Candidate{{Name: "m1", Key: "old"}, {Name: "m2", Key: "old"}, {Name: "w1", Key: "kw"}, {Name: "w2"}}
	for name, want := range map[string]struct {
		key string
		ok  bool
	}{"m1": {"new", true}, "m2": {"", true}, "w1": {"kw", true}, "w2": {"", true}, "w3": {}, "": {}} {
		if key, ok := Published(name, nodes, list); key != want.key || ok != want.ok {
			t.Errorf("%s: %q %t, want %+v", name, key, ok, want)
		}
	}
}
