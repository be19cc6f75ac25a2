package fabric

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// kubelet is a FAKE one: it has the certificate that kubelet makes for its host, and answers nothing.
func (f *Fabric) kubelet(h *lab.Host) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	f.must(err)
	c := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: h.Name + "@1764158400"}}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	f.must(err)
	l, err := h.Listen(fmt.Sprintf("[::]:%d", spread.Kubelet))
	f.must(err)
	f.t.Cleanup(func() { _ = l.Close() })
	server := tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _ = c.(*tls.Conn).Handshake(); _ = c.Close() }()
		}
	}()
}

// spreading is a fabric of which the first rack has two nodes that announce, and a worker, and the second
// one has a node. A client behind the spine counts as a worker of a third rack.
type spreading struct {
	*Fabric
	n      [3]*Node
	worker *Node
	plan   plan.Plan
}

// hosts are those on which doctor looks, by their names.
var hosts = []string{"n1", "n2", "n3", "worker", "client"}

// found is what doctor finds on each host of what concerns paths and ways, in words without blanks.
func (s *spreading) found() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, name := range hosts {
		f := facts.Facts{Plan: s.plan, Live: true}
		var own netip.Addr
		host, dir := s.Client, s.t.TempDir()
		for i, n := range append(s.n[:], s.worker) {
			a, _ := RackAddress(n.rack, n.number)
			if n.Name == name {
				host, dir, own = n.Host, n.Dir, a.Addr()
			}
			if i == len(s.n) {
				continue
			}
			f.Network.Members = append(f.Network.Members, facts.Member{Name: n.Name, Addresses: []netip.Addr{a.Addr()}, ControlPlane: true, Named: true, Self: n.Name == name})
			f.Daemons.Servers = append(f.Daemons.Servers, facts.Server{Address: netip.AddrPortFrom(a.Addr(), 6443), Ready: n.serves.Load()})
		}
		if name == "client" {
			own = netip.MustParseAddr("10.0.0.2")
		}
		var words []string
		for _, one := range doctor.Examine(s.examined(host, own, dir, f)) {
			switch one.Check {
			case doctor.CheckFiltered, doctor.CheckRacks, doctor.CheckNotReported:
				words = append(words, string(one.Check))
			case doctor.CheckWidth:
				_, without, _ := strings.Cut(one.Seen, "came to ")
				without, _, _ = strings.Cut(without, ", and ")
				words = append(words, string(one.Check)+":"+strings.ReplaceAll(without, " ", ""))
			default:
				continue
			}
			s.t.Logf("%s: %s: %s: %s", name, one.Check, one.Subject, one.Seen)
		}
		all[name] = strings.Join(words, " ")
	}
	return all
}

// expect waits until doctor finds that on each host, and nothing on the others. Racks with different
// numbers of nodes are found on all.
func (s *spreading) expect(what string, want map[string]string, always ...string) {
	s.t.Helper()
	s.t.Log(what)
	var got map[string]string
	for begun := time.Now(); time.Since(begun) < 40*time.Second; time.Sleep(time.Second) {
		got = s.found()
		same := true
		for _, name := range hosts {
			words := append(strings.Fields(want[name]), always...)
			same = same && got[name] == strings.Join(words, " ")
		}
		if same {
			return
		}
	}
	s.t.Fatalf("%s: %v, want %v, and %v", what, got, want, always)
}

// leaf changes how the first leaf treats IPv4 routes, and has it judge them anew.
func (s *spreading) leaf(lines ...string) {
	s.t.Helper()
	s.change(s.Leaves[0], FirstASN, lines...)
}

func (s *spreading) change(r Router, asn bgp.ASN, lines ...string) {
	s.t.Helper()
	all := slices.Concat([]string{fmt.Sprintf("router bgp %d", asn), "address-family ipv4 unicast"}, lines, []string{"exit-address-family", "exit"})
	r.Apply(frr.BGP, append(commands(all), frr.Command{Text: "clear bgp ipv4 unicast * soft"})...)
}

// uses are what the first leaf does with the path of a node.
func (s *spreading) uses(n *Node) spoken.Use {
	for _, v := range n.Status().VIPs {
		if v.VIP == VIP4 {
			return v.Use(s.n[0].config.Peers[0].Address.String())
		}
	}
	return ""
}

// TestSpread holds what doctor finds of routers that do not use what nodes announce, where all are real: of a
// healthy fabric nothing, in either mode.
func TestSpread(t *testing.T) {
	t.Parallel()
	s := spreading{}
	s.Fabric, s.n = rack(t, bgp.ProfileLan)
	defer func() {
		if t.Failed() {
			for _, n := range s.n {
				t.Logf("%s: %+v", n.Name, n.Status().VIPs)
			}
			t.Logf("the leaves' next hops: %v, %v", s.Nexthops(s.Leaves[0], VIP4), s.Nexthops(s.Leaves[1], VIP4))
		}
	}()
	s.worker = s.Node(s.n[0].program, "worker", 1, 14)
	// A node of Kubernetes forwards, and so takes no redirects: with one it would stay at that node.
	s.Run(s.worker.Host, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
	until(t, "the worker's sessions", 30*time.Second, s.worker.established)
	for _, n := range s.n {
		s.kubelet(n.Host)
	}
	s.plan = s.Fabric.plan([2]bgp.ASN{FirstASN, FirstASN + 1})
	s.plan.VIPs.API = s.plan.VIPs.API[:1] // the kernel's hash of IPv6 is the sender's, at each router the same
	spine := netip.MustParseAddr("10.0.0.1")
	third := s.plan.BGP.Racks[0]
	third.Network, third.Peers = netip.PrefixFrom(spine, 24).Masked(), slices.Clone(third.Peers[:1])
	third.Peers[0].Address, third.Peers[0].ASN = spine, SpineASN
	s.plan.BGP.Racks = append(s.plan.BGP.Racks, third)
	const racks = string(doctor.CheckRacks)
	s.expect("all is well", nil, racks)
	first, second := s.n[0], s.n[1]
	if s.uses(first) == spoken.UseEqual {
		first, second = second, first
	}
	// A host takes no path back whose next hop is the host itself, as FRR has it on a link in common.
	if s.uses(first) != spoken.UseUnknown || s.uses(second) != spoken.UseEqual || s.uses(s.n[2]) != spoken.UseUnknown {
		t.Errorf("%s %s, %s %s", first.Name, s.uses(first), second.Name, s.uses(second))
	}
	t.Log("one way")
	s.leaf("maximum-paths 1")
	s.reached(s.Leaves[0], VIP4, 1, 20*time.Second)
	s.expect("the leaf uses one way", map[string]string{"worker": "bgp-width:" + second.Name, "client": "bgp-width:" + second.Name}, racks)
	s.leaf("maximum-paths 8")
	s.reached(s.Leaves[0], VIP4, 2, 20*time.Second)
	s.change(s.Spine, SpineASN, "maximum-paths 1")
	s.reached(s.Spine, VIP4, 1, 20*time.Second)
	other := "n3"
	if slices.Equal(s.Nexthops(s.Spine, VIP4), []string{"10.0.2.2"}) {
		other = "n1,n2"
	}
	s.expect("the spine uses one way", map[string]string{"client": "bgp-width:" + other}, racks)
	s.change(s.Spine, SpineASN, "maximum-paths 8")
	s.reached(s.Spine, VIP4, 2, 20*time.Second)

	deny := []frr.Command{{Text: "configure terminal", Section: true}, {Text: fmt.Sprintf("ip prefix-list vip deny %s/32", VIP4)}, {Text: "ip prefix-list vip permit any"}, {Text: "end"}}
	s.Leaves[0].Apply(frr.BGP, deny...)
	s.Spine.Apply(frr.BGP, deny...)
	s.leaf("neighbor hosts-ipv4 prefix-list vip in")
	s.expect("the leaf refuses the VIP", map[string]string{"n1": "bgp-filtered", "n2": "bgp-filtered", "worker": "bgp-width:n1,n2", "client": "bgp-width:n1,n2"}, racks)
	if d := s.report(s.n[0]).Faults(time.Now()); !slices.ContainsFunc(d.Degraded, func(text string) bool { return strings.Contains(text, "does not use this host's path") }) {
		t.Errorf("%+v", d)
	}
	s.leaf("no neighbor hosts-ipv4 prefix-list vip in")
	s.reached(s.Leaves[0], VIP4, 2, 20*time.Second)
	s.change(s.Spine, SpineASN, "neighbor 10.0.1.2 prefix-list vip in")
	s.expect("the spine refuses it of the first rack", map[string]string{"client": "bgp-width:n1,n2"}, racks)
	s.change(s.Spine, SpineASN, "no neighbor 10.0.1.2 prefix-list vip in")
	s.reached(s.Spine, VIP4, 2, 20*time.Second)
	s.expect("all is well again", nil, racks)

	s.plan.BGP.Mode = routing.Preferred
	ranked := bgp.Policy{Depth: 1, Bootstrap: true, Ranks: 3}
	for rank, n := range s.n {
		grade, _ := ranked.OfNode(rank, bgp.Health{Balancer: true}, false)
		n.Serve(true, grade)
	}
	s.reached(s.Leaves[0], VIP4, 1, 20*time.Second)
	s.reached(s.Leaves[1], VIP4, 1, 20*time.Second)
	until(t, "both leaves prefer n1", 20*time.Second, func() bool {
		return s.uses(s.n[0]) == spoken.UseUnknown && s.uses(s.n[1]) == spoken.UseBehind && slices.Equal(s.Nexthops(s.Leaves[1], VIP4), []string{"10.0.2.1"})
	})
	s.expect("one node is in front", nil)

	// The last one's path has their own number 13 times, which is more than FRR accepts as a number.
	s.n[0].Serve(false, 0)
	s.n[1].Serve(false, 0)
	until(t, "the others know the path of the last node", 20*time.Second, func() bool {
		return s.receives(s.n[0], 13) && s.receives(s.n[1], 13)
	})
}

// receives reports whether a node has received a path of another one with more than so many numbers.
func (s *spreading) receives(n *Node, numbers int) bool {
	return slices.ContainsFunc(n.Status().VIPs, func(v spoken.VIP) bool {
		return v.VIP == VIP4 && slices.ContainsFunc(v.Others, func(o spoken.Other) bool { return o.Length > numbers })
	})
}

// report is what status prints of a node.
func (s *spreading) report(n *Node) *announcing.Report {
	a, _ := RackAddress(n.rack, n.number)
	return s.examined(n.Host, a.Addr(), n.Dir, facts.Facts{Plan: s.plan, Live: true}).Routed.Report
}
