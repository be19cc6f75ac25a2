package fakehost

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/network"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/routed"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/system"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// KeepalivedConf is keepalived's configuration on the node of Doctor.
var KeepalivedConf = string(keepalived.Render(keepalived.Config{Instances: []keepalived.Instance{
	instance("ostest_API_0", "192.0.2.5", "192.0.2.12", "192.0.2.13"),
	instance("ostest_INGRESS_0", "192.0.2.6", "192.0.2.12"),
}}))

func instance(name vrrp.InstanceName, vip string, peers ...string) keepalived.Instance {
	return keepalived.Instance{
		Name: name, Interface: "ens3", ID: 14, Version: vrrp.V3, Priority: 40, Advert: time.Second,
		Source: netip.MustParseAddr(
			"192.0.2.11"), VIP: netip.MustParseAddr(vip), Peers: Addresses(peers...),
	}
}

// Balancer is HAProxy's configuration on the node of Doctor.
var Balancer = haproxy.Config{Members: Addresses("192.0.2.11"), Ports: haproxy.Ports{API: 6443}}

// PlanWithImages is Plan with images.
func PlanWithImages(t *testing.T) plan.Plan {
	t.Helper()
	p := Plan(t, vrrp.ProfileLan)
	p.Images = map[string]string{}
	for _, key := range []string{spec.RuntimeCfgImage, spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage} {
		p.Images[key] = "registry.example.com/one:1"
	}
	return p
}

// Doctor is a healthy control plane node: 192.0.2.11 holds the API's VIP, 192.0.2.12 that of
// ingress. Its files are those of its plan.
func Doctor(t *testing.T, p plan.Plan) *diagnose.Host {
	t.Helper()
	files := Holder(p)
	set, err := cluster.Assets(p, role.Master)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Tree() {
		files[f.Path] = string(f.Contents)
	}
	files[inspect.KeepalivedConf] = KeepalivedConf
	const statusFile = "/run/onprem-infra/keepalived/status.json"
	status, err := supervised.Decode([]byte(files[statusFile]))
	if err != nil {
		t.Fatal(err)
	}
	status.Applied = supervised.Digest([]byte(KeepalivedConf))
	files[statusFile] = string(supervised.Encode(status))
	files["/run/NetworkManager/resolv.conf"] = "nameserver 192.0.2.1\n"
	files["/etc/chrony.conf"] = "server 192.0.2.1 iburst\n"
	files[haproxy.File] = string(haproxy.Render(Balancer))
	files[dns.Config] = string(corefile.Render(corefile.Config{Zone: p.Cluster.Zone}))
	h := &diagnose.Host{Inspector: New(t, p, files), Live: true}
	for _, f := range set.Tree() { // New knows no permissions
		if err := os.Chmod(h.Files.Path(f.Path), f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	h.Drift = func(role.Role) (drift.Report, error) { return drift.Report{}, nil }
	answer(h, p)
	return h
}

// Plain is a plain host of a future cluster.
func Plain(t *testing.T, p plan.Plan) *diagnose.Host {
	t.Helper()
	files := map[string]string{
		"/etc/resolv.conf": "nameserver 192.0.2.1\n",
		"/etc/chrony.conf": "server 192.0.2.1\n",
	}
	h := &diagnose.Host{Inspector: New(t, p, files), Peers: Addresses("192.0.2.12")}
	answer(h, p)
	h.Network.WhoHas = func(string, netip.Addr) ([]string, error) { return nil, nil }
	h.Network.Adverts = func(context.Context, string, func(capture.Received)) error { return nil }
	h.Links = func() (addr.Snapshot, error) { return Links("192.0.2.11/24"), nil }
	return h
}

// answer has the network and the programs of a host answer as if all were healthy.
func answer(h *diagnose.Host, p plan.Plan) {
	h.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if strings.HasSuffix(name, "apps.ostest.example.com") {
			return p.VIPs.Ingress, nil
		}
		return p.VIPs.API, nil
	}
	h.Backends = func(context.Context) ([]haproxy.Stat, error) {
		at := netip.MustParseAddrPort("192.0.2.11:6443")
		return []haproxy.Stat{
			{Backend: haproxy.Masters, Server: "s0", Status: "UP", Address: at},
			{Backend: haproxy.MastersOpen, Server: "s0", Status: "no check", Address: at},
		}, nil
	}
	h.Network, h.System, h.Daemons = networkOf(h, p), systemOf(), daemonsOf(h, p)
	h.Routed = routedOf(h)
}

func networkOf(h *diagnose.Host, p plan.Plan) network.Probes {
	mac := func(n string) string { return "52:54:00:00:00:" + n }
	return network.Probes{
		Now: h.Now,
		Adverts: func(_ context.Context, _ string, receive func(capture.Received)) error {
			for i := range 4 {
				advert := Advert(12, p.VRRP.Ingress.ID, 120, p.VIPs.Ingress...)
				advert.At = h.Now().Add(time.Duration(i-4) * 100 * time.Millisecond)
				advert.MAC = []byte{0x52, 0x54, 0, 0, 0, 0x12}
				receive(advert)
			}
			return nil
		},
		WhoHas: func(_ string, a netip.Addr) ([]string, error) {
			switch a.String() {
			case "192.0.2.6":
				return []string{mac("12")}, nil
			case "192.0.2.12", "192.0.2.13":
				return []string{mac(a.String()[8:])}, nil
			}
			return nil, nil
		},
		Neighbours: func(string) ([]link.Entry, error) {
			return []link.Entry{
				{
					Address: netip.MustParseAddr("192.0.2.1"),
					MAC:     mac("01"),
				}, {Address: netip.MustParseAddr("192.0.2.6"), MAC: mac("12")},
			}, nil
		},
		Echo: func(netip.Addr, netip.Addr, int) (bool, error) { return true, nil },
		VRRP: func(netip.Addr, netip.Addr) (bool, error) { return true, nil },
		MTU:  func(string) int { return 1500 },
		Shut: func(context.Context, netip.Addr) []string { return nil },
		Nodes: func(context.Context) (out []kube.Node, err error) {
			for _, n := range []string{"11", "12", "13"} {
				out = append(out, kube.Node{ControlPlane: true, Candidate: Node("m"+n, "192.0.2."+n)})
			}
			return out, nil
		},
	}
}

// Node is a node with one address.
func Node(name, address string) addr.Candidate {
	return addr.Candidate{Name: name, InternalIPs: Addresses(address)}
}

func routedOf(h *diagnose.Host) routed.Probes {
	return routed.Probes{
		Alive: h.Daemons.Alive,
		Ask: func(context.Context, bgpprobe.Question) message.Answer {
			return message.Answer{Outcome: message.Accepted}
		},
		Connect: func(context.Context, bgpprobe.Question) message.Answer {
			return message.Answer{Outcome: message.Connected}
		},
		Echo: h.Network.Echo, MTU: h.Network.MTU,
		Sockets:  func() ([]facts.Socket, error) { return nil, nil },
		Sessions: func(netip.Addr) ([]facts.Socket, error) { return nil, nil },
		Drops:    func() (facts.Drops, error) { return facts.Drops{}, nil },
		Filter:   func(string) (int, error) { return 0, nil },
		UsedDown: func(string) (bool, error) { return false, nil },
		Sources:  func() ([]facts.Source, error) { return nil, nil },
		Spread:   func(context.Context, spread.Question) facts.Spread { return facts.Spread{} },
	}
}

func systemOf() system.Probes {
	return system.Probes{
		Time:      func(context.Context, netip.Addr) (time.Duration, error) { return 0, nil },
		Date:      func(context.Context, netip.AddrPort) (time.Duration, error) { return 0, nil },
		Unsynced:  func() string { return "" },
		Version:   func(context.Context, string) (string, error) { return "250", nil },
		Image:     func(context.Context, string) error { return nil },
		Listen:    func(uint16, string) error { return nil },
		Room:      func(string) (uint64, uint64, error) { return 1 << 30, 1 << 20, nil },
		Watchable: func(string) error { return nil },
	}
}

func daemonsOf(h *diagnose.Host, p plan.Plan) daemons.Probes {
	return daemons.Probes{
		Alive:      func(context.Context, uint16, string) error { return nil },
		Backends:   h.Backends,
		Lookup:     h.Lookup,
		Structure:  func(context.Context) (string, error) { return haproxy.Structure(Balancer), nil },
		Redirected: func() (bool, error) { return true, nil },
		Server:     func(context.Context, string) (health.API, string) { return health.Ready, "" },
		Check: func(_ context.Context, c vrrp.CheckName) (health.Finding, string) {
			if c == vrrp.CheckLB || c == vrrp.CheckBoth {
				return health.Passed, "answers"
			}
			return health.Failed, "refused"
		},
		Rights: func(context.Context, role.Role) ([]inspect.MissingRight, error) { return nil, nil },
		LookupAt: func(_ context.Context, _ netip.Addr, name string) ([]netip.Addr, error) {
			return h.Lookup(context.Background(), name)
		},
		Text: func(_ context.Context, name string) ([]string, error) {
			is, _ := corefile.Digest(corefile.Render(corefile.Config{Zone: p.Cluster.Zone}))
			return map[string][]string{string(corefile.Running): {is}}[name], nil
		},
	}
}
