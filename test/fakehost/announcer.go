package fakehost

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Routed describes a cluster whose hosts announce the VIPs 198.51.100.5 and 198.51.100.6 to the
// routers 192.0.2.1 and 192.0.2.2.
func Routed() spec.Cluster {
	c := Cluster("")
	c.APIVIPs, c.IngressVIPs = Addresses("198.51.100.5"), Addresses("198.51.100.6")
	c.Routing.Management = routing.BGP
	c.Routing.BGP = routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: netip.MustParsePrefix("192.0.2.0/24"),
		Peers: []routing.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}, {Address: netip.MustParseAddr("192.0.2.2"), ASN: 65102}}}}}
	return c
}

// RoutedPlan is the plan of Routed.
func RoutedPlan(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Compile(Routed())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Spoken are what the speaker of 192.0.2.11 and its monitor report when all is well: it announces
// the API's VIP, and 192.0.2.12 that of ingress.
func Spoken(p plan.Plan) (config spoken.Config, wish spoken.Wish, status spoken.Status) {
	now := Begin.Add(time.Hour)
	config = spoken.Config{ASN: p.BGP.ASN, Router: netip.MustParseAddr("192.0.2.11"), Timing: p.BGP.Model,
		VIPs: append(append([]netip.Addr{}, p.VIPs.API...), p.VIPs.Ingress...)}
	wish = spoken.Wish{Beat: now.Add(-time.Second), Routes: []spoken.Route{{VIP: p.VIPs.API[0], Grade: 4, Demotions: []bgp.Grade{5, 8}}}}
	status = spoken.Status{At: now.Add(-time.Second), Daemons: []spoken.Daemon{
		{Name: "zebra", Running: true, Starts: 1}, {Name: "bfdd", Running: true, Starts: 1}, {Name: "bgpd", Running: true, Starts: 1},
	}}
	for _, peer := range p.BGP.Racks[0].Peers {
		config.Peers = append(config.Peers, spoken.Peer{Address: peer.Address, ASN: peer.ASN})
		status.Sessions = append(status.Sessions, spoken.Session{Peer: peer.Name(), State: "Established", Since: Begin, BFD: "Up",
			Advertised: p.VIPs.API[:1]})
	}
	other := []spoken.Other{{Session: "192.0.2.1", Announcer: netip.MustParseAddr("192.0.2.12"), Length: 6}}
	status.VIPs = []spoken.VIP{
		{VIP: p.VIPs.API[0], Phase: speak.Announced, Since: Begin, Grade: 4, Others: other},
		{VIP: p.VIPs.Ingress[0], Phase: speak.Idle, Since: Begin, Others: other},
	}
	return config, wish, status
}

// Announcer are the files of 192.0.2.11 as a node that announces VIPs. What Spoken returns may be
// changed before it is written.
func Announcer(p plan.Plan, change func(*spoken.Config, *spoken.Wish, *spoken.Status)) map[string]string {
	config, wish, status := Spoken(p)
	if change != nil {
		change(&config, &wish, &status)
	}
	return map[string]string{
		nodestate.Path:                           `{"open":true}`,
		vip.AgreedDir + "/ipv4":                  "192.0.2.11",
		"/etc/kubernetes/manifests/haproxy.yaml": "",
		spoken.RunDir + "/" + spoken.ConfigFile:  string(spoken.Encode(config)),
		spoken.RunDir + "/" + spoken.WishFile:    string(spoken.Encode(wish)),
		spoken.RunDir + "/" + spoken.StatusFile:  string(spoken.Encode(status)),
	}
}
