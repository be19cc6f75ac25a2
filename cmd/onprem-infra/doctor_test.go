//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// doctorConf is keepalived's configuration on this node.
var doctorConf = string(keepalived.Render(keepalived.Config{Instances: []keepalived.Instance{
	doctorInstance("ostest_API_0", "192.0.2.5", "192.0.2.12", "192.0.2.13"),
	doctorInstance("ostest_INGRESS_0", "192.0.2.6", "192.0.2.12"),
}}))

func doctorInstance(name vrrp.InstanceName, vip string, peers ...string) keepalived.Instance {
	i := keepalived.Instance{
		Name: name, Interface: "ens3", ID: 14, Version: vrrp.V3, Priority: 40, Advert: time.Second,
		Source: netip.MustParseAddr("192.0.2.11"), VIP: netip.MustParseAddr(vip),
	}
	for _, p := range peers {
		i.Peers = append(i.Peers, netip.MustParseAddr(p))
	}
	return i
}

// doctorPlan is statusPlan with images.
func doctorPlan(t *testing.T) plan.Plan {
	t.Helper()
	p := statusPlan(t, vrrp.ProfileLan)
	p.Images = map[string]string{}
	for _, key := range []string{spec.RuntimeCfgImage, spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage} {
		p.Images[key] = "registry.example.com/one:1"
	}
	return p
}

// doctorOf is a look at a node on which all is well, in a FAKE network: 192.0.2.11 holds the API's
// VIP, 192.0.2.12 that of ingress.
func doctorOf(t *testing.T, p plan.Plan) *doctorLook {
	t.Helper()
	files := holderOf(t, p)
	set, err := cluster.Assets(p, role.Master)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Tree() {
		files[f.Path] = string(f.Contents)
	}
	files[keepalivedConf] = doctorConf
	status, err := supervised.Decode([]byte(files["/run/onprem-infra/keepalived/status.json"]))
	if err != nil {
		t.Fatal(err)
	}
	status.Applied = supervised.Digest([]byte(doctorConf))
	files["/run/onprem-infra/keepalived/status.json"] = string(supervised.Encode(status))
	files["/run/NetworkManager/resolv.conf"] = "nameserver 192.0.2.1\n"
	files["/etc/chrony.conf"] = "server 192.0.2.1 iburst\n"
	files[haproxy.File], files[dns.Config] = string(haproxy.Render(doctorBalancer)), string(corefile.Render(corefile.Config{Zone: p.Cluster.Zone}))
	look := &doctorLook{statusLook: statusOf(t, p, files), live: true, whole: p}
	look.rights = func(context.Context, role.Role) ([]missingRight, error) { return nil, nil }
	for _, f := range set.Tree() { // statusOf knows no permissions
		if err := os.Chmod(look.host.at(f.Path), f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	look.fakeNetwork(p)
	look.fakeHost(p)
	return look
}

// doctorBalancer has one member.
var doctorBalancer = haproxy.Config{Members: []netip.Addr{netip.MustParseAddr("192.0.2.11")}, Ports: haproxy.Ports{API: 6443}}

func (l *doctorLook) fakeNetwork(p plan.Plan) {
	mac := func(n string) string { return "52:54:00:00:00:" + n }
	l.stats = func(context.Context) ([]haproxy.Stat, error) {
		at := netip.MustParseAddrPort("192.0.2.11:6443")
		return []haproxy.Stat{{Backend: haproxy.Masters, Server: "s0", Status: "UP", Address: at}, {Backend: haproxy.MastersOpen, Server: "s0", Status: "no check", Address: at}}, nil
	}
	l.name = func(_ context.Context, name string) ([]netip.Addr, error) {
		if strings.HasSuffix(name, "apps.ostest.example.com") {
			return p.VIPs.Ingress, nil
		}
		return p.VIPs.API, nil
	}
	l.hear = func(ctx context.Context, link string, hear func(overhear.Heard)) error {
		for i := range 4 {
			hear(overhear.Heard{At: l.now().Add(time.Duration(i-4) * 100 * time.Millisecond), MAC: []byte{0x52, 0x54, 0, 0, 0, 0x12}, Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"),
				Hops: advert.Near, Version: vrrp.V3, ID: p.VRRP.Ingress.ID, Priority: 120, Interval: 100 * time.Millisecond, VIPs: p.VIPs.Ingress, Sound: true}})
		}
		return nil
	}
	l.whoHas = func(link string, a netip.Addr) ([]string, error) {
		switch a.String() {
		case "192.0.2.6":
			return []string{mac("12")}, nil
		case "192.0.2.12", "192.0.2.13":
			return []string{mac(a.String()[8:])}, nil
		}
		return nil, nil
	}
	l.neighbours = func(string) ([]link.Entry, error) {
		return []link.Entry{{Address: netip.MustParseAddr("192.0.2.1"), MAC: mac("01")}, {Address: netip.MustParseAddr("192.0.2.6"), MAC: mac("12")}}, nil
	}
	l.echo = func(netip.Addr, netip.Addr, int) (bool, error) { return true, nil }
	l.vrrp = func(netip.Addr, netip.Addr) (bool, error) { return true, nil }
	l.nodes = func(context.Context) (out []kube.Node, err error) {
		for _, n := range []string{"11", "12", "13"} {
			out = append(out, kube.Node{ControlPlane: true, Node: addr.Node{Name: "m" + n, InternalIPs: []netip.Addr{netip.MustParseAddr("192.0.2." + n)}}})
		}
		return out, nil
	}
}

func (l *doctorLook) fakeHost(p plan.Plan) {
	l.asks = doctorAsks{
		time:    func(context.Context, netip.Addr) (time.Duration, error) { return 0, nil },
		date:    func(context.Context, netip.AddrPort) (time.Duration, error) { return 0, nil },
		alive:   func(context.Context, uint16, string) error { return nil },
		image:   func(context.Context, string) error { return nil },
		version: func(context.Context, string) (string, error) { return "250", nil },
		present: func() (bool, error) { return true, nil }, listen: func(uint16, string) error { return nil }, mtu: func(string) int { return 1500 },
		shut: func(context.Context, netip.Addr) []string { return nil }, stepped: func() string { return "" },
		room:      func(string) (uint64, uint64, error) { return 1 << 30, 1 << 20, nil },
		watchable: func(string) error { return nil },
		name: func(_ context.Context, _ netip.Addr, name string) ([]netip.Addr, error) {
			return l.name(context.Background(), name)
		},
		server: func(context.Context, string) (health.API, string) { return health.Ready, "" },
		check: func(_ context.Context, c vrrp.CheckName) (health.Finding, string) {
			if c == vrrp.CheckLB || c == vrrp.CheckBoth {
				return health.Passed, "answers"
			}
			return health.Failed, "refused"
		},
		structure: func(context.Context) (string, error) { return haproxy.Structure(doctorBalancer), nil },
		text: func(_ context.Context, name string) ([]string, error) {
			is, _ := corefile.Digest(corefile.Render(corefile.Config{Zone: p.Cluster.Zone}))
			return map[string][]string{string(corefile.Running): {is}}[name], nil
		},
	}
}

// TestDoctorLooks holds that each thing which is looked at reaches the check that is about it, and
// that on a host where all is well nothing is found and everything was seen.
func TestDoctorLooks(t *testing.T) {
	p := doctorPlan(t)
	no := errors.New("refused")
	write := func(l *doctorLook, path, text string) {
		err := os.MkdirAll(filepath.Dir(l.host.at(path)), 0o755)
		if err := errors.Join(err, os.WriteFile(l.host.at(path), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(l *doctorLook, target string) {
		path := l.host.at("/var/lib/kubelet/pki/a.pem")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		first  doctor.Name // that is found; empty for nothing
		change func(l *doctorLook)
	}{
		{"all is well", "", func(*doctorLook) {}},
		{"the clock", doctor.CheckClock, func(l *doctorLook) {
			l.asks.time = func(context.Context, netip.Addr) (time.Duration, error) { return 5 * time.Minute, nil }
		}},
		{"a file", doctor.CheckFiles, func(l *doctorLook) { write(l, "/etc/kubernetes/manifests/haproxy.yaml", "x") }},
		{"the cluster's file, beside -c", doctor.CheckFiles, func(l *doctorLook) {
			l.whole = statusPlan(t, vrrp.ProfileVM)
			l.whole.Images = p.Images
		}},
		{"who answers", doctor.CheckForeign, func(l *doctorLook) {
			was := l.whoHas
			l.whoHas = func(on string, a netip.Addr) ([]string, error) {
				if a == p.VIPs.Ingress[0] {
					return []string{"52:54:00:00:00:99"}, nil
				}
				return was(on, a)
			}
		}},
		{"an advert", doctor.CheckVRID, func(l *doctorLook) {
			l.hear = func(_ context.Context, _ string, hear func(overhear.Heard)) error {
				hear(overhear.Heard{At: l.now(), Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.99"), Hops: advert.Near, Version: vrrp.V2, ID: p.VRRP.API.ID, Priority: 100,
					Interval: time.Second, VIPs: []netip.Addr{netip.MustParseAddr("192.0.2.77")}, Sound: true}})
				return nil
			}
		}},
		{"a monitor", doctor.CheckMonitors, func(l *doctorLook) {
			l.asks.alive = func(_ context.Context, number uint16, _ string) error {
				if number == p.Ports[port.MonitorDNS] {
					return no
				}
				return nil
			}
		}},
		{"keepalived's parent", doctor.CheckSupervisor, func(l *doctorLook) {
			l.asks.alive = func(_ context.Context, number uint16, _ string) error {
				if number == p.Ports[port.Supervise] {
					return no
				}
				return nil
			}
		}},
		{"what keepalived's parent cannot do", doctor.CheckSupervisor, func(l *doctorLook) {
			status, err := l.host.Status()
			if err != nil {
				t.Fatal(err)
			}
			status.Troubles = []string{"watch files: too many open files"}
			write(l, "/run/onprem-infra/keepalived/status.json", string(supervised.Encode(status)))
		}},
		{"a full disk", doctor.CheckLimits, func(l *doctorLook) {
			l.asks.room = func(string) (uint64, uint64, error) { return 0, 1 << 20, nil }
		}},
		{"a directory for a kubeconfig", doctor.CheckCredentials, func(l *doctorLook) {
			if err := os.MkdirAll(l.host.at(p.Kubeconfig), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"a kubeconfig of certificates elsewhere", doctor.CheckCredentials, func(l *doctorLook) {
			write(l, p.Kubeconfig, doctorKubeconfig("/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
		}},
		{"a certificate that is a link to elsewhere", doctor.CheckCredentials, func(l *doctorLook) {
			write(l, p.Kubeconfig, doctorKubeconfig("", "/var/lib/kubelet/pki/a.pem"))
			link(l, "../elsewhere/a.pem")
		}},
		{"a kubeconfig of kubelet's certificates", "", func(l *doctorLook) {
			write(l, p.Kubeconfig, doctorKubeconfig("/var/lib/kubelet/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
			link(l, "/var/lib/kubelet/pki/b.pem")
		}},
		{"a kubeconfig of certificates that are listed", "", func(l *doctorLook) {
			l.plan.CertificateDirectories = []string{"/etc/kubernetes/pki"}
			write(l, p.Kubeconfig, doctorKubeconfig("/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
		}},
		{"no inotify", doctor.CheckLimits, func(l *doctorLook) { l.asks.watchable = func(string) error { return no } }},
		{"keepalived's file", doctor.CheckOlder, func(l *doctorLook) { write(l, keepalivedConf, doctorConf+"#\n") }},
		{"HAProxy's file", doctor.CheckOlder, func(l *doctorLook) {
			changed := doctorBalancer
			changed.Ports.LB++
			write(l, haproxy.File, string(haproxy.Render(changed)))
		}},
		{"HAProxy's file, by hand", doctor.CheckOlder, func(l *doctorLook) {
			write(l, haproxy.File, strings.Replace(string(haproxy.Render(doctorBalancer)), "timeout client 1m", "timeout client 2m", 1))
		}},
		{"HAProxy's servers", doctor.CheckOlder, func(l *doctorLook) {
			was := l.stats
			l.stats = func(ctx context.Context) ([]haproxy.Stat, error) {
				stats, err := was(ctx)
				stats[1].Status = "MAINT"
				return stats, err
			}
		}},
		{"CoreDNS's file", doctor.CheckOlder, func(l *doctorLook) {
			write(l, dns.Config, string(corefile.Render(corefile.Config{Zone: p.Cluster.Zone, Upstreams: p.VIPs.API})))
		}},
		{"CoreDNS's file, being replaced at each look", "", func(l *doctorLook) {
			was, looks := l.asks.text, 0
			l.asks.text = func(ctx context.Context, name string) ([]string, error) {
				looks++
				write(l, dns.Config, string(corefile.Render(corefile.Config{Zone: p.Cluster.Zone, Header: strings.Repeat("x", looks)})))
				return was(ctx, name)
			}
		}},
		{"a peer list", doctor.CheckPeers, func(l *doctorLook) {
			l.more(kube.Node{ControlPlane: true, Node: nodeAt("m14", "192.0.2.14")})
		}},
		{"API servers", doctor.CheckAPIServers, func(l *doctorLook) {
			l.asks.server = func(context.Context, string) (health.API, string) { return health.Gone, "refused" }
		}},
		{"HAProxy", doctor.CheckHAProxy, func(l *doctorLook) {
			l.stats = func(context.Context) ([]haproxy.Stat, error) { return nil, no }
		}},
		{"the redirect", doctor.CheckRedirect, func(l *doctorLook) { l.asks.present = func() (bool, error) { return false, nil } }},
		{"a check", doctor.CheckTracked, func(l *doctorLook) {
			l.asks.check = func(context.Context, vrrp.CheckName) (health.Finding, string) { return health.Passed, "answers" }
		}},
		{"a neighbour", doctor.CheckNeighbours, func(l *doctorLook) {
			l.echo = func(from, _ netip.Addr, _ int) (bool, error) { return from != p.VIPs.API[0], nil }
		}},
		{"packets that fill the link", doctor.CheckMTU, func(l *doctorLook) {
			l.echo = func(_, _ netip.Addr, bytes int) (bool, error) { return bytes < 1500, nil }
		}},
		{"the name server behind", doctor.CheckUpstreamSelf, func(l *doctorLook) {
			write(l, "/run/NetworkManager/resolv.conf", "nameserver 192.0.2.11\nnameserver 192.0.2.1\n")
		}},
		{"a VIP behind", doctor.CheckUpstreamSelf, func(l *doctorLook) {
			write(l, "/run/NetworkManager/resolv.conf", "nameserver 192.0.2.5\nnameserver 192.0.2.1\n")
		}},
		{"CoreDNS", doctor.CheckCoreDNS, func(l *doctorLook) {
			l.asks.name = func(context.Context, netip.Addr, string) ([]netip.Addr, error) { return nil, probe.NoSuchName }
			l.name = func(context.Context, string) ([]netip.Addr, error) { return nil, no }
		}},
		{"a name outside", doctor.CheckOutsideRecord, func(l *doctorLook) {
			l.asks.name = func(context.Context, netip.Addr, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("198.51.100.1")}, nil
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			look := doctorOf(t, p)
			tt.change(look)
			r := look.examine(t.Context())
			if tt.first == "" && len(r.Findings)+len(r.Unseen) > 0 || tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) {
				t.Fatalf("%s", doctorText(r))
			}
			for line := range strings.Lines(doctorText(r)) {
				if len(line) > columns()+1 {
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
		})
	}
}

// doctorKubeconfig names files: of its CA, and of the client's certificate and key.
func doctorKubeconfig(ca, client string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://api:6443', certificate-authority: %q}}]\n"+
		"users: [{name: u, user: {client-certificate: %[2]q, client-key: %[2]q}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", ca, client)
}

// TestDoctorMany holds that in a cluster of hundreds of hosts nothing goes unchecked, but that an
// answer whose host nobody has asked for is said not to be known.
func TestDoctorMany(t *testing.T) {
	p := doctorPlan(t)
	for _, tt := range []struct {
		name   string
		first  doctor.Name
		unseen string // what one begins with; empty for nothing
		change func(l *doctorLook)
	}{
		{"all is well", "", "", func(*doctorLook) {}},
		{"a peer list", doctor.CheckPeers, "", func(l *doctorLook) { l.more(kube.Node{ControlPlane: true, Node: nodeAt("m14", "192.0.2.14")}) }},
		{"who answers", "", "who answers for 192.0.2.6: 52:54:00:00:00:99 ", func(l *doctorLook) {
			l.neighbours = func(string) ([]link.Entry, error) { return nil, nil }
			was := l.whoHas
			l.whoHas = func(on string, a netip.Addr) ([]string, error) {
				if a == p.VIPs.Ingress[0] {
					return []string{"52:54:00:00:00:99"}, nil
				}
				return was(on, a)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			look := doctorOf(t, p)
			for n := range 500 {
				look.more(kube.Node{Node: nodeAt(fmt.Sprint("w", n), fmt.Sprintf("192.0.%d.%d", 3+n/250, 1+n%250))})
			}
			tt.change(look)
			r := look.examine(t.Context())
			if tt.first == "" && len(r.Findings) > 0 || tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) ||
				tt.unseen == "" && len(r.Unseen) > 0 || tt.unseen != "" && (len(r.Unseen) != 1 || !strings.HasPrefix(r.Unseen[0], tt.unseen)) {
				t.Errorf("%s", doctorText(r))
			}
		})
	}
}

func nodeAt(name, address string) addr.Node {
	return addr.Node{Name: name, InternalIPs: []netip.Addr{netip.MustParseAddr(address)}}
}

// more has the API name one more node.
func (l *doctorLook) more(n kube.Node) {
	was := l.nodes
	l.nodes = func(ctx context.Context) ([]kube.Node, error) {
		all, err := was(ctx)
		return append(all, n), err
	}
}

// TestDoctorBefore holds what is found on a plain host, which is none of a cluster yet.
func TestDoctorBefore(t *testing.T) {
	p := doctorPlan(t)
	for _, tt := range []struct {
		name   string
		first  doctor.Name
		change func(l *doctorLook)
	}{
		{"all is well", "", func(*doctorLook) {}},
		{"a port", doctor.CheckPorts, func(l *doctorLook) {
			l.asks.listen = func(number uint16, network string) error {
				if number == 53 && network == "udp" {
					return errors.New("address already in use")
				}
				return nil
			}
		}},
		{"a VIP", doctor.CheckTaken, func(l *doctorLook) {
			l.whoHas = func(string, netip.Addr) ([]string, error) { return []string{"52:54:00:00:00:99"}, nil }
		}},
		{"VRRP", doctor.CheckVRRPPasses, func(l *doctorLook) { l.vrrp = func(netip.Addr, netip.Addr) (bool, error) { return false, nil } }},
		{"an image", doctor.CheckImages, func(l *doctorLook) {
			l.asks.image = func(context.Context, string) error { return errors.New("404") }
		}},
		{"a program", doctor.CheckPrograms, func(l *doctorLook) {
			l.asks.version = func(context.Context, string) (string, error) { return "", nil }
		}},
		{"a time server", doctor.CheckInStep, func(l *doctorLook) {
			l.asks.time = func(context.Context, netip.Addr) (time.Duration, error) { return 0, errors.New("late") }
			l.asks.stepped = func() string { return "no" }
		}},
		{"a range", doctor.CheckDHCP, func(l *doctorLook) {
			if err := os.WriteFile(l.host.at("/etc/dnsmasq.conf"), []byte("dhcp-range=192.0.2.2,192.0.2.99,12h\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"this host as name server", doctor.CheckUpstreamSelf, func(l *doctorLook) {
			if err := os.WriteFile(l.host.at("/etc/resolv.conf"), []byte("nameserver 192.0.2.11\nnameserver 192.0.2.1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			look := &doctorLook{statusLook: statusOf(t, p, map[string]string{"/etc/resolv.conf": "nameserver 192.0.2.1\n", "/etc/chrony.conf": "server 192.0.2.1\n"}), whole: p, peers: []netip.Addr{netip.MustParseAddr("192.0.2.12")}}
			look.fakeNetwork(p)
			look.fakeHost(p)
			look.whoHas = func(string, netip.Addr) ([]string, error) { return nil, nil }
			look.hear = func(context.Context, string, func(overhear.Heard)) error { return nil }
			look.links = func() (addr.Snapshot, error) {
				return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.11/24")}}}}}, nil
			}
			tt.change(look)
			r := look.examine(t.Context())
			if tt.first == "" && len(r.Findings) > 0 || tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) {
				t.Fatalf("%s", doctorText(r))
			}
		})
	}
}

// TestDoctorBlind holds that who may see nothing is told so, and that nothing is found which was
// not seen.
func TestDoctorBlind(t *testing.T) {
	p, no := doctorPlan(t), errors.New("operation not permitted")
	look := doctorOf(t, p)
	look.whoHas = func(string, netip.Addr) ([]string, error) { return nil, no }
	look.echo = func(netip.Addr, netip.Addr, int) (bool, error) { return false, no }
	look.hear = func(context.Context, string, func(overhear.Heard)) error { return no }
	look.nodes = func(context.Context) ([]kube.Node, error) { return nil, no }
	look.asks.present = func() (bool, error) { return false, no }
	look.asks.time = func(context.Context, netip.Addr) (time.Duration, error) { return 0, no }
	look.asks.structure = func(context.Context) (string, error) { return "", no }
	look.asks.text = func(context.Context, string) ([]string, error) { return nil, no }
	r := look.examine(t.Context())
	if len(r.Findings) > 0 {
		t.Errorf("%s", doctorText(r))
	}
	for _, what := range []string{"who answers", "adverts", "the control plane's nodes", "the redirect", "the clock of", "what HAProxy runs on", "what CoreDNS runs on"} {
		if !slices.ContainsFunc(r.Unseen, func(u string) bool { return strings.HasPrefix(u, what) && strings.HasSuffix(u, no.Error()) }) {
			t.Errorf("does not say that %s is not seen: %q", what, r.Unseen)
		}
	}
}

// TestDoctorEarlier holds that of daemons which say nothing of their files nothing is said but
// that: CoreDNS of an earlier release has no such name, or has it answered by somebody else.
func TestDoctorEarlier(t *testing.T) {
	p := doctorPlan(t)
	for _, said := range [][]string{nil, {"a", "b"}} {
		look := doctorOf(t, p)
		look.asks.structure = func(context.Context) (string, error) { return "", nil }
		look.asks.text = func(context.Context, string) ([]string, error) { return said, nil }
		r := look.examine(t.Context())
		if len(r.Findings) > 0 || !slices.Equal(r.Unseen, []string{"what CoreDNS runs on: it does not say", "what HAProxy runs on: it does not say"}) {
			t.Errorf("%s", doctorText(r))
		}
	}
}

// TestDoctorReads holds what is taken from the files of other programs.
func TestDoctorReads(t *testing.T) {
	conf, err := keepalived.Parse([]byte(doctorConf))
	if err != nil {
		t.Fatal(err)
	}
	if got := peersOf(conf, "ostest_API_0"); !slices.Equal(got, []netip.Addr{netip.MustParseAddr("192.0.2.12"), netip.MustParseAddr("192.0.2.13")}) {
		t.Errorf("peers %v", got)
	}
	if got := peersOf(conf, "other"); got != nil {
		t.Errorf("peers of none %v", got)
	}
	if got := timeServers([]byte("# server a\nserver b iburst\npool c\n[Time]\nNTP=d e\nFallbackNTP=f\nserver\n")); !slices.Equal(got, []string{"b", "c", "d", "e"}) {
		t.Errorf("time servers %q", got)
	}
	ranges := rangesIn([]byte("#dhcp-range=192.0.2.1,192.0.2.9\ndhcp-range=set:x,192.0.2.100,192.0.2.200,12h\n  range 198.51.100.1 198.51.100.9;\ndhcp-range=192.0.2.0,static\n"), "f")
	if len(ranges) != 2 || ranges[0].First.String() != "192.0.2.100" || ranges[0].Last.String() != "192.0.2.200" || ranges[1].Last.String() != "198.51.100.9" {
		t.Errorf("ranges %v", ranges)
	}
	for _, tt := range []struct {
		version, than string
		want          bool
	}{{"4.3.1", "4.0", false}, {"3.4.4", "4.0", true}, {"10.1", "9.9", false}, {"4", "4.0", false}, {"239", "239", false}, {"x", "1", true}} {
		if below(tt.version, tt.than) != tt.want {
			t.Errorf("%s below %s: %v", tt.version, tt.than, !tt.want)
		}
	}
}

// TestDoctorJSON holds the fields that scripts go by, and that the help names each.
func TestDoctorJSON(t *testing.T) {
	var out strings.Builder
	r := doctorReport{Findings: []doctor.Finding{{Check: doctor.CheckStale, Fault: facts.Fault{Subject: "a", Seen: "b", Do: "c"}}}}
	if err := printDoctor(streams{out: &out}, r, "json"); err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal([]byte(out.String()), &top); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"at", "cluster", "live", "nodeIPs", "checks", "findings", "unseen"} {
		if _, ok := top[name]; !ok || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the object, or not in the help", name)
		}
	}
	finding, _ := top["findings"].([]any)[0].(map[string]any)
	for _, name := range []string{"check", "looked", "seen", "do"} {
		if finding[name] == "" || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the object, or not in the help", name)
		}
	}
	for line := range strings.Lines(doctorLong) {
		if len(line) > columns()+1 {
			t.Errorf("the help has %d columns: %s", len(line)-1, line)
		}
	}
}

// TestDoctorUsage holds that a host of no cluster needs to be told which one, which is the host's
// fault.
func TestDoctorUsage(t *testing.T) {
	if o := invoke(t, "", "doctor"); o.code != exitHost || !strings.Contains(o.err, "name the description of its future cluster with -c") {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"doctor", "-o", "yaml"}, {"doctor", "--peer", "x"}, {"doctor", "x"}} {
		if o := invoke(t, "", args...); o.code != exitUsage || o.out != "" || o.err == "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
}

// TestDoctorOwnAddress holds that no VIP is taken for the host's own address, whichever the host
// holds.
func TestDoctorOwnAddress(t *testing.T) {
	own := netip.MustParseAddr("192.0.2.11")
	for _, held := range []string{"192.0.2.5", "192.0.2.6", "192.0.2.7"} {
		p := plan.Plan{VIPs: plan.VIPs{API: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, Ingress: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
			DNS: []netip.Addr{netip.MustParseAddr("192.0.2.7")}}}
		look := &doctorLook{statusLook: &statusLook{plan: p}}
		var on []addr.Address
		for _, text := range []string{held + "/24", "192.0.2.11/24"} {
			on = append(on, addr.Address{Prefix: netip.MustParsePrefix(text)})
		}
		links := addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: on}}}
		if got := look.ownOn(links, netip.MustParseAddr("192.0.2.5"), nil); got != own {
			t.Errorf("beside %s: %v, want %v", held, got, own)
		}
	}
}
