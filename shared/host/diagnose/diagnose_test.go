package diagnose_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestDiagnose holds that each inspected thing reaches the check that is about it, and that on a
// healthy host nothing is found and everything was seen.
func TestDiagnose(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	no := errors.New("refused")
	write := func(h *diagnose.Host, path, text string) {
		err := os.MkdirAll(filepath.Dir(h.Files.Path(path)), 0o755)
		if err := errors.Join(err, os.WriteFile(h.Files.Path(path), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(h *diagnose.Host, target string) {
		path := h.Files.Path("/var/lib/kubelet/pki/a.pem")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		first  doctor.Name // that is found; empty for nothing
		change func(h *diagnose.Host)
	}{
		{"all is well", "", func(*diagnose.Host) {}},
		{"the clock", doctor.CheckClock, func(h *diagnose.Host) {
			h.System.Time = func(context.Context, netip.Addr) (time.Duration, error) { return 5 * time.Minute, nil }
		}},
		{"a file", doctor.CheckFiles, func(h *diagnose.Host) {
			h.Drift = func(r role.Role) (drift.Report, error) {
				changes := []drift.Change{{Path: "/etc/kubernetes/manifests/haproxy.yaml", Kind: drift.Differs}}
				return drift.Report{Changes: changes}, map[role.Role]error{role.Master: nil, "": no}[r]
			}
		}},
		{"the answers", doctor.CheckForeign, func(h *diagnose.Host) {
			was := h.Network.WhoHas
			h.Network.WhoHas = func(on string, a netip.Addr) ([]string, error) {
				if a == p.VIPs.Ingress[0] {
					return []string{"52:54:00:00:00:99"}, nil
				}
				return was(on, a)
			}
		}},
		{"the card for provisioning", doctor.CheckBootCard, func(h *diagnose.Host) {
			h.Plan.VIPs.Provisioning = fakehost.Addresses("172.22.0.3")
			h.Plan.Provisioning = &provision.Plan{CIDR: netip.MustParsePrefix("172.22.0.0/24"), Interface: "eno2"}
			h.Cards = func() ([]addr.Ethernet, error) { return []addr.Ethernet{{Name: "eno2"}}, nil }
		}},
		{"no card for provisioning", doctor.CheckBootCard, func(h *diagnose.Host) {
			h.Plan.VIPs.Provisioning = fakehost.Addresses("172.22.0.3")
			h.Plan.Provisioning = &provision.Plan{CIDR: netip.MustParsePrefix("172.22.0.0/24"), Interface: "eno2"}
		}},
		{"an advert", doctor.CheckVRID, func(h *diagnose.Host) {
			h.Network.Adverts = func(_ context.Context, _ string, receive func(capture.Received)) error {
				receive(capture.Received{At: h.Now(), Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.99"), Hops: advert.Near, Version: vrrp.V2, ID: p.VRRP.API.ID, Priority: 100,
					Interval: time.Second, VIPs: []netip.Addr{netip.MustParseAddr("192.0.2.77")}, Sound: true}})
				return nil
			}
		}},
		{"a monitor", doctor.CheckMonitors, func(h *diagnose.Host) {
			h.Daemons.Alive = func(_ context.Context, number uint16, _ string) error {
				if number == p.Ports[port.MonitorDNS] {
					return no
				}
				return nil
			}
		}},
		{"keepalived's parent", doctor.CheckSupervisor, func(h *diagnose.Host) {
			h.Daemons.Alive = func(_ context.Context, number uint16, _ string) error {
				if number == p.Ports[port.Supervise] {
					return no
				}
				return nil
			}
		}},
		{"what keepalived's parent cannot do", doctor.CheckSupervisor, func(h *diagnose.Host) {
			status, err := h.Files.Supervisor()
			if err != nil {
				t.Fatal(err)
			}
			status.Troubles = []string{"watch files: too many open files"}
			write(h, "/run/onprem-infra/keepalived/status.json", string(supervised.Encode(status)))
		}},
		{"a full disk", doctor.CheckLimits, func(h *diagnose.Host) {
			h.System.Room = func(string) (uint64, uint64, error) { return 0, 1 << 20, nil }
		}},
		{"a directory for a kubeconfig", doctor.CheckCredentials, func(h *diagnose.Host) {
			if err := os.MkdirAll(h.Files.Path(p.Kubeconfig), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"a kubeconfig of certificates elsewhere", doctor.CheckCredentials, func(h *diagnose.Host) {
			write(h, p.Kubeconfig, kubeconfig("/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
		}},
		{"a certificate that is a link to elsewhere", doctor.CheckCredentials, func(h *diagnose.Host) {
			write(h, p.Kubeconfig, kubeconfig("", "/var/lib/kubelet/pki/a.pem"))
			link(h, "../elsewhere/a.pem")
		}},
		{"a kubeconfig of kubelet's certificates", "", func(h *diagnose.Host) {
			write(h, p.Kubeconfig, kubeconfig("/var/lib/kubelet/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
			link(h, "/var/lib/kubelet/pki/b.pem")
		}},
		{"a kubeconfig of certificates that are listed", "", func(h *diagnose.Host) {
			h.Plan.CertificateDirectories = []string{"/etc/kubernetes/pki"}
			write(h, p.Kubeconfig, kubeconfig("/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/pki/a.pem"))
		}},
		{"no inotify", doctor.CheckLimits, func(h *diagnose.Host) { h.System.Watchable = func(string) error { return no } }},
		{"keepalived's file", doctor.CheckOlder, func(h *diagnose.Host) { write(h, inspect.KeepalivedConf, fakehost.KeepalivedConf+"#\n") }},
		{"CoreDNS's file, being replaced at each host", "", func(h *diagnose.Host) {
			was, inspections := h.Daemons.Text, 0
			h.Daemons.Text = func(ctx context.Context, name string) ([]string, error) {
				inspections++
				write(h, dns.Config, string(corefile.Render(corefile.Config{Zone: p.Cluster.Zone, Header: strings.Repeat("x", inspections)})))
				return was(ctx, name)
			}
		}},
		{"a peer list", doctor.CheckPeers, func(h *diagnose.Host) {
			addNode(h, kube.Node{ControlPlane: true, Candidate: fakehost.Node("m14", "192.0.2.14")})
		}},
		{"API servers", doctor.CheckAPIServers, func(h *diagnose.Host) {
			h.Daemons.Server = func(context.Context, string) (health.API, string) { return health.Gone, "refused" }
		}},
		{"HAProxy", doctor.CheckHAProxy, func(h *diagnose.Host) {
			h.Daemons.Backends = func(context.Context) ([]haproxy.Stat, error) { return nil, no }
		}},
		{"the redirect", doctor.CheckRedirect, func(h *diagnose.Host) { h.Daemons.Redirected = func() (bool, error) { return false, nil } }},
		{"a check", doctor.CheckTracked, func(h *diagnose.Host) {
			h.Daemons.Check = func(context.Context, vrrp.CheckName) (health.Finding, string) { return health.Passed, "answers" }
		}},
		{"a neighbour", doctor.CheckNeighbours, func(h *diagnose.Host) {
			h.Network.Echo = func(from, _ netip.Addr, _ int) (bool, error) { return from != p.VIPs.API[0], nil }
		}},
		{"packets that fill the link", doctor.CheckMTU, func(h *diagnose.Host) {
			h.Network.Echo = func(_, _ netip.Addr, bytes int) (bool, error) { return bytes < 1500, nil }
		}},
		{"the name server behind", doctor.CheckUpstreamSelf, func(h *diagnose.Host) {
			write(h, "/run/NetworkManager/resolv.conf", "nameserver 192.0.2.11\nnameserver 192.0.2.1\n")
		}},
		{"a router behind, with the link-local address of another link here", "", func(h *diagnose.Host) {
			links, _ := h.Links()
			links.Links = append(links.Links, addr.Link{Index: 9, Name: "docker0", Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("fe80::1/64")}}})
			h.Links = func() (addr.Snapshot, error) { return links, nil }
			write(h, "/run/NetworkManager/resolv.conf", "nameserver fe80::1%ens3\n")
		}},
		{"a VIP behind", doctor.CheckUpstreamSelf, func(h *diagnose.Host) {
			write(h, "/run/NetworkManager/resolv.conf", "nameserver 192.0.2.5\nnameserver 192.0.2.1\n")
		}},
		{"another node behind", doctor.CheckUpstreamSelf, func(h *diagnose.Host) {
			write(h, "/run/NetworkManager/resolv.conf", "nameserver 192.0.2.1\nnameserver 192.0.2.13\n")
		}},
		{"CoreDNS", doctor.CheckCoreDNS, func(h *diagnose.Host) {
			h.Daemons.LookupAt = func(context.Context, netip.Addr, string) ([]netip.Addr, error) { return nil, probe.NoSuchName }
			h.Daemons.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, no }
		}},
		{"a name outside", doctor.CheckOutsideRecord, func(h *diagnose.Host) {
			h.Daemons.LookupAt = func(context.Context, netip.Addr, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("198.51.100.1")}, nil
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.Doctor(t, p)
			tt.change(host)
			r := host.Diagnose(t.Context(), diagnose.Progress{})
			if tt.first == "" && len(r.Findings)+len(r.Unseen) > 0 ||
				tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) {
				t.Fatalf("%s", describe(r))
			}
		})
	}
}

// TestDiagnose_Unproven holds that a node says so if its timing needs a proof and has none of it.
func TestDiagnose_Unproven(t *testing.T) {
	for host, want := range map[string]int{"m11": 0, "m11.example.com": 0, "worker-0": 1} {
		c := fakehost.Cluster("fast")
		c.Images = fakehost.PlanWithImages(t).Images
		c.TimingProof = map[string]uint32{"m11": 900, "m12": 900, "m13": 900}
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		h := fakehost.Doctor(t, p)
		h.Hostname = func() (string, error) { return host, nil }
		found := slices.DeleteFunc(h.Diagnose(t.Context(), diagnose.Progress{}).Findings, func(f doctor.Finding) bool { return f.Check != doctor.CheckTiming })
		if len(found) != want || want > 0 && !strings.Contains(found[0].Seen, host) {
			t.Errorf("%s: %+v", host, found)
		}
	}
}

// kubeconfig names files: of its CA, and of the client's certificate and key.
func kubeconfig(ca, client string) string {
	return fmt.Sprintf(
		"apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://api:6443', certificate-authority: %q}}]\n"+
			"users: [{name: u, user: {client-certificate: %[2]q, client-key: %[2]q}}]\n"+
			"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
		ca, client,
	)
}

// TestDiagnose_ManyHosts holds that in a cluster of hundreds of hosts nothing goes unchecked, but
// that an answer of a host that was not asked is reported as unknown.
func TestDiagnose_ManyHosts(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	for _, tt := range []struct {
		name   string
		first  doctor.Name
		unseen string // what one begins with; empty for nothing
		change func(h *diagnose.Host)
	}{
		{"all is well", "", "", func(*diagnose.Host) {}},
		{"a peer list", doctor.CheckPeers, "", func(h *diagnose.Host) {
			addNode(h, kube.Node{ControlPlane: true, Candidate: fakehost.Node("m14", "192.0.2.14")})
		}},
		{"the answers", "", "the answer for 192.0.2.6: 52:54:00:00:00:99 ", func(h *diagnose.Host) {
			h.Network.Neighbours = func(string) ([]link.Entry, error) { return nil, nil }
			was := h.Network.WhoHas
			h.Network.WhoHas = func(on string, a netip.Addr) ([]string, error) {
				if a == p.VIPs.Ingress[0] {
					return []string{"52:54:00:00:00:99"}, nil
				}
				return was(on, a)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.Doctor(t, p)
			for n := range 500 {
				addNode(
					host,
					kube.Node{
						Candidate: fakehost.Node(
							fmt.Sprint("w", n), fmt.Sprintf("192.0.%d.%d", 3+n/250, 1+n%250)),
					},
				)
			}
			tt.change(host)
			r := host.Diagnose(t.Context(), diagnose.Progress{})
			if tt.first == "" && len(r.Findings) > 0 ||
				tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) ||
				tt.unseen == "" && len(r.Unseen) > 0 ||
				tt.unseen != "" &&
					(len(r.Unseen) != 1 || !strings.HasPrefix(r.Unseen[0], tt.unseen)) {
				t.Errorf("%s", describe(r))
			}
		})
	}
}

// addNode has the API name one more node.
func addNode(h *diagnose.Host, n kube.Node) {
	was := h.Network.Nodes
	h.Network.Nodes = func(ctx context.Context) ([]kube.Node, error) {
		all, err := was(ctx)
		return append(all, n), err
	}
}

// describe has a report's findings and what was not seen.
func describe(r diagnose.Report) string {
	return fmt.Sprintf("found %+v, unseen %q", r.Findings, r.Unseen)
}

// TestDiagnose_PlainHost holds what is found on a plain host, which is none of a cluster yet.
func TestDiagnose_PlainHost(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	for _, tt := range []struct {
		name   string
		first  doctor.Name
		change func(h *diagnose.Host)
	}{
		{"all is well", "", func(*diagnose.Host) {}},
		{"a port", doctor.CheckPorts, func(h *diagnose.Host) {
			h.System.Listen = func(number uint16, network string) error {
				if number == 53 && network == "udp" {
					return errors.New("address already in use")
				}
				return nil
			}
		}},
		{"a VIP", doctor.CheckTaken, func(h *diagnose.Host) {
			h.Network.WhoHas = func(string, netip.Addr) ([]string, error) { return []string{"52:54:00:00:00:99"}, nil }
		}},
		{"VRRP", doctor.CheckVRRPPasses, func(h *diagnose.Host) {
			h.Network.VRRP = func(netip.Addr, netip.Addr) (bool, error) { return false, nil }
		}},
		{"an image", doctor.CheckImages, func(h *diagnose.Host) {
			h.System.Image = func(context.Context, string) error { return errors.New("404") }
		}},
		{"a program", doctor.CheckPrograms, func(h *diagnose.Host) {
			h.System.Version = func(context.Context, string) (string, error) { return "", nil }
		}},
		{"a time server", doctor.CheckInStep, func(h *diagnose.Host) {
			h.System.Time = func(context.Context, netip.Addr) (time.Duration, error) { return 0, errors.New("late") }
			h.System.Unsynced = func() string { return "no" }
		}},
		{"a range", doctor.CheckDHCP, func(h *diagnose.Host) {
			if err := os.WriteFile(h.Files.Path("/etc/dnsmasq.conf"), []byte("dhcp-range=192.0.2.2,192.0.2.99,12h\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"this host as name server", doctor.CheckUpstreamSelf, func(h *diagnose.Host) {
			if err := os.WriteFile(h.Files.Path("/etc/resolv.conf"), []byte("nameserver 192.0.2.11\nnameserver 192.0.2.1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.Plain(t, p)
			tt.change(host)
			r := host.Diagnose(t.Context(), diagnose.Progress{})
			if tt.first == "" && len(r.Findings) > 0 ||
				tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) {
				t.Fatalf("%s", describe(r))
			}
		})
	}
}

// TestDiagnose_Unprivileged holds that an inspection without privileges is listed as unseen, and
// that it makes no finding.
func TestDiagnose_Unprivileged(t *testing.T) {
	p, no := fakehost.PlanWithImages(t), errors.New("operation not permitted")
	host := fakehost.Doctor(t, p)
	host.Network.WhoHas = func(string, netip.Addr) ([]string, error) { return nil, no }
	host.Network.Echo = func(netip.Addr, netip.Addr, int) (bool, error) { return false, no }
	host.Network.Adverts = func(context.Context, string, func(capture.Received)) error { return no }
	host.Network.Nodes = func(context.Context) ([]kube.Node, error) { return nil, no }
	host.Daemons.Redirected = func() (bool, error) { return false, no }
	host.System.Time = func(context.Context, netip.Addr) (time.Duration, error) { return 0, no }
	host.Daemons.Structure = func(context.Context) (string, error) { return "", no }
	host.Daemons.Text = func(context.Context, string) ([]string, error) { return nil, no }
	r := host.Diagnose(t.Context(), diagnose.Progress{})
	if len(r.Findings) > 0 {
		t.Errorf("%s", describe(r))
	}
	for _, what := range []string{"the answers for the VIPs", "adverts", "the control plane's nodes", "the redirect", "the clock of", "what HAProxy runs on", "what CoreDNS runs on"} {
		if !slices.ContainsFunc(
			r.Unseen,
			func(u string) bool { return strings.HasPrefix(u, what) && strings.HasSuffix(u, no.Error()) },
		) {
			t.Errorf("does not list that %s is not seen: %q", what, r.Unseen)
		}
	}
}

// TestDiagnose_EarlierRelease holds that daemons that do not report their files are unseen, and no
// finding: CoreDNS of an earlier release has no such name, or another server answers it.
func TestDiagnose_EarlierRelease(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	for _, texts := range [][]string{nil, {"a", "b"}} {
		host := fakehost.Doctor(t, p)
		host.Daemons.Structure = func(context.Context) (string, error) { return "", nil }
		host.Daemons.Text = func(context.Context, string) ([]string, error) { return texts, nil }
		r := host.Diagnose(t.Context(), diagnose.Progress{})
		if len(r.Findings) > 0 ||
			!slices.Equal(
				r.Unseen,
				[]string{
					"what CoreDNS runs on: it does not report it",
					"what HAProxy runs on: it does not report it",
				},
			) {
			t.Errorf("%s", describe(r))
		}
	}
}

// TestDiagnose_Both holds that nothing is wrong with a node which announces VIPs from its loopback interface beside
// VRRP: with that which it holds on its link, and with that which another node holds.
func TestDiagnose_Both(t *testing.T) {
	c := fakehost.Cluster(vrrp.ProfileLan)
	c.Routing = fakehost.Routed().Routing
	c.Routing.Management, c.Images = routing.Both, fakehost.PlanWithImages(t).Images
	c.Images[spec.FRRImage] = "registry.example.com/frr:1"
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	host := fakehost.Doctor(t, p)
	fakehost.Write(t, host.Files, fakehost.Announcer(p, nil))
	links, err := host.Links()
	if err != nil {
		t.Fatal(err)
	}
	announced := addr.Link{Index: 1, Name: "lo", Up: true}
	for _, vip := range p.VIPs.All() {
		announced.Addresses = append(announced.Addresses, addr.Address{Prefix: netip.PrefixFrom(vip, vip.BitLen())})
	}
	links.Links = append([]addr.Link{announced}, links.Links...)
	host.Links = func() (addr.Snapshot, error) { return links, nil }
	if r := host.Diagnose(t.Context(), diagnose.Progress{}); len(r.Findings) > 0 || len(r.Unseen) > 0 {
		t.Errorf("%s", describe(r))
	}
}

// TestDiagnose_Announcer holds that what is inspected of a host's way to its routers reaches the
// checks, on a node that announces VIPs and on a plain host.
func TestDiagnose_Announcer(t *testing.T) {
	p := fakehost.RoutedPlan(t)
	p.Images = fakehost.PlanWithImages(t).Images
	for _, tt := range []struct {
		name   string
		live   bool
		first  doctor.Name // that is found; empty for nothing
		change func(h *diagnose.Host)
	}{
		{"a node", true, "", func(*diagnose.Host) {}},
		{"a plain host", false, "", func(*diagnose.Host) {}},
		{"a router refuses the number", false, doctor.CheckNotification, func(h *diagnose.Host) {
			h.Routed.Ask = func(context.Context, bgpprobe.Question) message.Answer {
				return message.Answer{Outcome: message.Notified, Notification: &message.Notification{Code: 2, Subcode: 2}}
			}
		}},
		{"a router that is silent", false, doctor.CheckBGPSilent, func(h *diagnose.Host) {
			h.Routed.Ask = func(context.Context, bgpprobe.Question) message.Answer {
				return message.Answer{Outcome: message.Silent}
			}
		}},
		{"a speaker that is silent", true, doctor.CheckSpeaker, func(h *diagnose.Host) {
			now := h.Now()
			h.Inspector.Now = func() time.Time { return now.Add(9 * time.Second) }
		}},
		{"the monitor", true, doctor.CheckMonitors, func(h *diagnose.Host) {
			h.Daemons.Alive = func(_ context.Context, number uint16, _ string) error {
				if number == p.Ports[port.MonitorVIP] {
					return errors.New("refused")
				}
				return nil
			}
		}},
		{"BFD's port", true, doctor.CheckBGPPorts, func(h *diagnose.Host) {
			h.Routed.Sockets = func() ([]facts.Socket, error) { return []facts.Socket{{Network: "udp", Port: 3784}}, nil }
		}},
		{"routers that do not lead to a node from which VIPs are kept away", true, "", func(h *diagnose.Host) {
			for _, n := range []string{"11", "12", "13"} {
				addNode(h, kube.Node{ControlPlane: true, Apart: n == "11", Candidate: fakehost.Node("m"+n, "192.0.2."+n)})
			}
			h.Routed.Spread = func(_ context.Context, q spread.Question) facts.Spread {
				return facts.Spread{VIP: q.VIP, Asked: q.Most, Hosts: []facts.Answerer{{Names: []string{"m12"}, Times: q.Most / 2}, {Names: []string{"m13"}, Times: q.Most / 2}}}
			}
		}},
		{"routers that lead to one node", true, doctor.CheckWidth, func(h *diagnose.Host) {
			for _, n := range []string{"11", "12", "13"} {
				addNode(h, kube.Node{ControlPlane: true, Candidate: fakehost.Node("m"+n, "192.0.2."+n)})
			}
			h.Routed.Spread = func(_ context.Context, q spread.Question) facts.Spread {
				return facts.Spread{VIP: q.VIP, Asked: q.Most, Hosts: []facts.Answerer{{Names: []string{"m12"}, Times: q.Most}}}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.Plain(t, p)
			if tt.live {
				host.Live = true
				fakehost.Write(t, host.Files, fakehost.Announcer(p, nil))
				host.Network.Nodes = func(context.Context) ([]kube.Node, error) { return nil, nil }
				host.Drift = func(role.Role) (drift.Report, error) { return drift.Report{}, nil }
			}
			tt.change(host)
			r := host.Diagnose(t.Context(), diagnose.Progress{})
			if tt.first == "" && len(r.Findings) > 0 || tt.first != "" && (len(r.Findings) == 0 || r.Findings[0].Check != tt.first) {
				t.Fatalf("%s", describe(r))
			}
		})
	}
}

// TestDiagnose_Warning holds that racks which differ are a warning, for which nothing is inspected twice.
func TestDiagnose_Warning(t *testing.T) {
	p := fakehost.RoutedPlan(t)
	p.Images = fakehost.PlanWithImages(t).Images
	second := p.BGP.Racks[0]
	second.Network = netip.MustParsePrefix("198.18.0.0/24")
	p.BGP.Racks = append(p.BGP.Racks, second)
	host := fakehost.Plain(t, p)
	host.Live = true
	fakehost.Write(t, host.Files, fakehost.Announcer(p, nil))
	host.Network.Nodes = func(context.Context) ([]kube.Node, error) { return nil, nil }
	host.Drift = func(role.Role) (drift.Report, error) { return drift.Report{}, nil }
	for name, address := range map[string]string{"m11": "192.0.2.11", "m12": "192.0.2.12", "m13": "198.18.0.13"} {
		addNode(host, kube.Node{ControlPlane: true, Candidate: fakehost.Node(name, address)})
	}
	inspections := 0
	host.Routed.Sources = func() ([]facts.Source, error) { inspections++; return nil, nil }
	r := host.Diagnose(t.Context(), diagnose.Progress{})
	if len(r.Findings) != 1 || r.Findings[0].Check != doctor.CheckRacks || inspections != 1 {
		t.Errorf("%d inspections: %s", inspections, describe(r))
	}
	if text := r.Text(100); !strings.Contains(text, "nothing is wrong") || !strings.Contains(text, "[bgp-racks] warning: the nodes") {
		t.Errorf("%s", text)
	}
	host.Routed.Sockets = func() ([]facts.Socket, error) { return []facts.Socket{{Network: "udp", Port: 3784}}, nil }
	inspections = 0
	r = host.Diagnose(t.Context(), diagnose.Progress{})
	if text := r.Text(100); inspections != 2 || len(r.Findings) != 2 || !strings.Contains(text, "one thing is wrong") {
		t.Errorf("%d inspections: %s", inspections, text)
	}
}
