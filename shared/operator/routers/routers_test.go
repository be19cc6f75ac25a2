package routers_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/operator/routers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/golden"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

var (
	vip4 = netip.MustParseAddr("198.51.100.5")
	vip6 = netip.MustParseAddr("2001:db8:99::5")
)

func compiled(t *testing.T, peers ...routing.Peer) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("2001:db8:1::/64")},
		APIVIPs:         []netip.Addr{vip4, vip6}, IngressVIPs: []netip.Addr{vip4.Next(), vip6.Next()},
		Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Communities: []string{"64512:100"}, Racks: []routing.Rack{
			{Network: netip.MustParsePrefix("10.1.1.0/24"), Peers: append(peers, routing.Peer{Address: netip.MustParseAddr("2001:db8:1::1"), ASN: 65101})},
			{Name: "far", Peers: []routing.Peer{{Interface: "ens3"}, {Address: netip.MustParseAddr("10.9.9.9"), ASN: 65109, Hops: 3}}},
			{Name: "gateways"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestText holds what is printed for each vendor. That of FRR is applied to FRR by TestFRR; no device has
// read the others.
func TestText(t *testing.T) {
	p := compiled(t, routing.Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}, routing.Peer{Address: netip.MustParseAddr("10.1.1.2"), ASN: 65102, TTLSecurity: true})
	for _, v := range routers.Vendors() {
		t.Run(v, func(t *testing.T) {
			text, err := routers.Text(p, routers.Vendor(v))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, []byte(text))
		})
	}
	far := compiled(t, routing.Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}, routing.Peer{Address: netip.MustParseAddr("2001:db8:9::1"), ASN: 65103, Hops: 2})
	if text, err := routers.Text(far, routers.FRR); err != nil || !strings.Contains(text, "router bgp 65103\n") || !strings.Contains(text, "bgp listen range NETWORK-OF-THE-HOSTS peer-group hosts-ipv6") {
		t.Errorf("hosts whose network of the router's family is not known: %v\n%s", err, text)
	}
	ended := compiled(t, routing.Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101, Source: routing.Source{Prefix: netip.MustParsePrefix("10.9.0.0/24")}})
	if text, err := routers.Text(ended, routers.FRR); err != nil || !strings.Contains(text, "bgp listen range 10.9.0.0/24 peer-group") {
		t.Errorf("hosts with ends of their own: %v\n%s", err, text)
	}
	if _, err := routers.Text(p, "ios"); err == nil || !strings.Contains(err.Error(), "frr, eos, nxos, junos") {
		t.Errorf("another vendor: %v", err)
	}
	p.BGP = nil
	if _, err := routers.Text(p, routers.FRR); err == nil || !strings.Contains(err.Error(), "spec.vipManagement") {
		t.Errorf("without sessions: %v", err)
	}
}

// TestFRR applies what is printed for FRR to real FRR, and holds that sessions with our own
// configuration come up with BFD, that the router takes the VIPs and nothing else, and that it passes
// the path of one host back to another.
func TestFRR(t *testing.T) {
	p := compiled(t, routing.Peer{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101})
	l := lab.New(t)
	start := func(name string, number int) (*lab.Host, *daemons.Daemons) {
		h, err := l.Add(name, netip.MustParsePrefix(fmt.Sprintf("10.1.1.%d/24", number)), netip.MustParsePrefix(fmt.Sprintf("2001:db8:1::%d/64", number)))
		if err != nil {
			t.Fatal(err)
		}
		return h, daemons.Start(t, h, number == 1)
	}
	_, router := start("leaf", 1)
	text, err := routers.Text(p, routers.FRR)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = strings.Cut(text, "! Rack far:")
	ofBFD, ofBGP := []frr.Command{{Text: "configure terminal", Section: true}}, []frr.Command{{Text: "configure terminal", Section: true}}
	inBFD := false
	for line := range strings.Lines(text) {
		words := strings.TrimSpace(line)
		if strings.HasPrefix(line, "!") || words == "" {
			continue
		}
		inBFD = inBFD || words == "bfd"
		c := frr.Command{Text: words, Section: words == "bfd" || strings.HasPrefix(words, "router bgp") || strings.HasPrefix(words, "address-family") || strings.HasPrefix(words, "route-map ")}
		if inBFD {
			ofBFD = append(ofBFD, c)
		} else {
			ofBGP = append(ofBGP, c)
		}
		inBFD = inBFD && line != "exit\n"
	}
	router.Apply(frr.BFD, append(ofBFD, frr.Command{Text: "end"})...)
	router.Apply(frr.BGP, append(ofBGP, frr.Command{Text: "end"})...)
	var hosts []*daemons.Daemons
	for number, grade := range map[int]bgp.Grade{11: 0, 12: 2} {
		_, host := start(fmt.Sprint("n", number), number)
		c := frr.Config{ASN: 64512, Router: netip.MustParseAddr(fmt.Sprintf("10.1.1.%d", number)), Timing: p.BGP.Model, VIPs: []netip.Addr{vip4, vip6, netip.MustParseAddr("203.0.113.9")},
			Announced: map[netip.Addr]bgp.Grade{vip4: grade, vip6: grade, netip.MustParseAddr("203.0.113.9"): 0}, Communities: p.BGP.Communities,
			Peers: []frr.Peer{{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}, {Address: netip.MustParseAddr("2001:db8:1::1"), ASN: 65101}}}
		for _, d := range frr.Daemons() {
			host.Apply(d, frr.Configure(d, c)...)
		}
		hosts = append(hosts, host)
	}
	within := func(what string, done func() bool) {
		t.Helper()
		for begun := time.Now(); !done(); time.Sleep(100 * time.Millisecond) {
			if time.Since(begun) > 40*time.Second {
				t.Fatalf("%s: not within 40 s\n%s\n%s\n%s", what, router.Show(frr.BGP, "show bgp summary"), router.Show(frr.BFD, "show bfd peers"), hosts[0].Show(frr.BFD, "show bfd peers"))
			}
		}
	}
	within("sessions with BFD", func() bool {
		for _, h := range hosts {
			var all map[string]json.RawMessage
			if err := json.Unmarshal([]byte(h.Show(frr.BGP, "show bgp neighbors json")), &all); err != nil {
				t.Fatal(err)
			}
			for _, peer := range []string{"10.1.1.1", "2001:db8:1::1"} {
				var s struct {
					State string                  `json:"bgpState"`
					BFD   struct{ Status string } `json:"peerBfdInfo"`
				}
				if err := json.Unmarshal(all[peer], &s); err != nil || s.State != "Established" || s.BFD.Status != "Up" {
					return false
				}
			}
		}
		return true
	})
	paths := func(d *daemons.Daemons, vip netip.Addr) int {
		all, err := report.Paths(d.Show(frr.BGP, report.AskPaths(vip)), 64512)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	within("the VIPs at the router", func() bool { return paths(router, vip4) == 2 && paths(router, vip6) == 2 })
	within("the path of one host at the other", func() bool {
		return paths(hosts[0], vip4)+paths(hosts[1], vip4) > 0
	})
	if n := paths(router, netip.MustParseAddr("203.0.113.9")); n != 0 {
		t.Errorf("the router takes a route that is no VIP: %d", n)
	}
}
