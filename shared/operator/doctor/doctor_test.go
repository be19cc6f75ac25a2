package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

func ips(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, ip(text))
	}
	return out
}

const (
	mac11, mac12, mac13 = "52:54:00:00:00:11", "52:54:00:00:00:12", "52:54:00:00:00:13"
	macAlien            = "52:54:00:00:00:99"
)

func ptr[T any](v T) *T { return &v }

// ranked gives the control plane's nodes ranks, and has m3 be dead.
func ranked(ranks ...string) func(*facts.Facts) {
	return func(f *facts.Facts) {
		for i := len(f.Network.Members); i < len(ranks); i++ {
			f.Network.Members = append(f.Network.Members,
				facts.Member{Name: fmt.Sprint("m", i+1), ControlPlane: true, Named: true})
		}
		for i := range f.Network.Members {
			f.Network.Members[i].Rank = ranks[i]
		}
		f.Network.Members[2].Down = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
}

// boots gives the node a card on a provisioning network.
func boots(f *facts.Facts, enabled bool) {
	f.Plan.Provisioning = &provision.Plan{CIDR: netip.MustParsePrefix("172.22.0.0/24")}
	f.Host.Boots = addr.Ethernet{Name: "eno2", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 0x12}, Enabled: enabled, Carrier: enabled}
}

// healthy are the facts of 192.0.2.12, one of three control plane nodes: 192.0.2.11 holds the API's
// VIP, and this one holds that of ingress.
func healthy(t *testing.T) facts.Facts {
	t.Helper()
	p, err := plan.Compile(
		spec.Cluster{
			Name:                 "ostest",
			BaseDomain:           "example.com",
			Platform:             spec.BareMetal,
			ControlPlaneReplicas: 3,
			Timing:               vrrp.ProfileLan,
			MachineNetworks: []netip.Prefix{
				netip.MustParsePrefix("192.0.2.0/24"),
			},
			APIVIPs:     ips("192.0.2.5"),
			IngressVIPs: ips("192.0.2.6"),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	node := func(name, address, mac string) facts.Member {
		return facts.Member{
			Name:         name,
			Addresses:    ips(address),
			MACs:         []string{mac},
			ControlPlane: true,
			Self:         address == "192.0.2.12",
			Named:        true,
		}
	}
	ready := func(address string) facts.Server {
		return facts.Server{Address: netip.AddrPortFrom(ip(address), 6443), Ready: true}
	}
	return facts.Facts{
		Plan: p, Live: true,
		Host: facts.Host{
			Master: true,
			Agreed: ips("192.0.2.12"),
			Links: addr.Snapshot{
				Links: []addr.Link{
					{
						Index: 2,
						Name:  "ens3",
						Up:    true,
						Addresses: []addr.Address{
							{Prefix: netip.MustParsePrefix("192.0.2.12/24")},
							{Prefix: netip.MustParsePrefix("192.0.2.6/32")},
						},
					},
					{
						Index: 3,
						Name:  "ens4",
						Up:    true,
						Addresses: []addr.Address{
							{Prefix: netip.MustParsePrefix("198.51.100.12/24")},
						},
					},
				},
			},
		},
		Machine: facts.Machine{
			Kernel:   "6.1.0-18-amd64",
			Unsynced: "the kernel reports so",
			Clocks: []facts.Clock{
				{Host: "192.0.2.1", Server: true, Ahead: 20 * time.Millisecond},
				{Host: "192.0.2.11", Ahead: -700 * time.Millisecond},
			},
			Programs: []facts.Program{
				{Name: "podman", Version: "4.3.1", Needs: "4.0", Why: "it starts containers"},
			},
			Ranges: []facts.Range{
				{First: ip("192.0.2.100"), Last: ip("192.0.2.200"), Source: "/etc/dnsmasq.conf"},
			},
			Ports: []facts.Port{{Name: "dns", Number: 53, Owner: "CoreDNS"}},
			Images: []facts.Image{
				{Key: "keepalivedImage", Reference: "registry.example.com/keepalived:1"},
			},
		},
		Network: facts.Network{
			Members: []facts.Member{
				node("m1", "192.0.2.11", mac11),
				node("m2", "192.0.2.12", mac12),
				node("m3", "192.0.2.13", mac13),
			},
			VIPs: []facts.VIP{
				{
					Address:  ip("192.0.2.5"),
					For:      vrrp.API,
					Instance: "ostest_API_0",
					ID:       30,
					Link:     "ens3",
					Near:     true,
					State:    supervised.Backup,
					Asked:    true,
					Answers:  []string{mac11},
					Cached:   mac11,
					Peers:    ips("192.0.2.11", "192.0.2.13"),
				},
				{
					Address:  ip("192.0.2.6"),
					For:      vrrp.Ingress,
					Instance: "ostest_INGRESS_0",
					ID:       31,
					Link:     "ens3",
					Near:     true,
					Here:     true,
					State:    supervised.Master,
					Asked:    true,
					Peers:    ips("192.0.2.11"),
					Echoes: []facts.Echo{
						{Neighbour: ip("192.0.2.1"), Plain: true, FromVIP: true},
						{Neighbour: ip("192.0.2.77")},
					},
				},
			},
			Reached: []facts.Reached{
				{
					Host:  ip("192.0.2.11"),
					Link:  "ens3",
					Echo:  true,
					Full:  1500,
					Whole: true,
					VRRP:  facts.VRRPArrives,
				},
			},
		},
		Daemons: facts.Daemons{
			Keepalived: &facts.Keepalived{
				Wanted:    true,
				Started:   true,
				Running:   true,
				Applied:   "one",
				Heartbeat: true,
			},
			Running: []facts.Running{
				{
					Daemon: "keepalived",
					Path:   "/etc/keepalived/keepalived.conf",
					Loaded: "one",
					Disk:   "one",
				},
				{
					Daemon: "HAProxy",
					Path:   "/etc/haproxy/haproxy.cfg",
					Loaded: "two",
					Disk:   "two",
					Header: "two",
				},
				{
					Daemon: "CoreDNS",
					Path:   "/etc/coredns/Corefile",
					Loaded: "three",
					Disk:   "three",
					Header: "three",
				},
			},
			Monitors: []facts.Monitor{{Name: "vip"}, {Name: "lb"}, {Name: "dns"}},
			Servers: []facts.Server{
				ready("192.0.2.11"),
				ready("192.0.2.12"),
				ready("192.0.2.13"),
			},
			Balancer:   &facts.Balancer{Up: []string{"m0", "m1", "m2"}},
			Redirected: ptr(true),
			Checks: []facts.Check{
				{Name: vrrp.CheckLB, Tracked: true, Passes: true},
				{Name: vrrp.CheckMCS},
			},
		},
		Names: facts.Names{
			Resolver: &facts.Resolver{Path: "/run/NetworkManager/resolv.conf", Alive: 1},
			Own: []facts.Answer{
				{
					Server: "127.0.0.1",
					Name:   "api.ostest.example.com",
					Want:   ips("192.0.2.5"),
					Got:    ips("192.0.2.5"),
				},
			},
			Outside: []facts.Answer{
				{Server: "192.0.2.1", Name: "api.ostest.example.com", Want: ips("192.0.2.5")},
			},
		},
	}
}

// plain makes a host of it on which nothing is installed.
func plain(f *facts.Facts) {
	f.Host.Master = false
	f.Live, f.Host.Agreed, f.Network.Members, f.Names.Own = false, nil, nil, nil
	f.Daemons = facts.Daemons{}
	f.Machine.Unsynced = ""
	f.Host.Links.Links[0].Addresses = f.Host.Links.Links[0].Addresses[:1]
	for i := range f.Network.VIPs {
		v := &f.Network.VIPs[i]
		v.Here, v.State, v.Answers, v.Cached, v.Peers, v.Echoes = false, "", nil, "", nil, nil
	}
	f.Names.Outside[0].Got = ips("192.0.2.5")
}

func received(kind clash.Kind) func(*facts.Facts) {
	return func(f *facts.Facts) {
		f.Network.Clashes = []clash.Finding{
			{
				Kind:     kind,
				Instance: "ostest_API_0",
				Link:     "ens3",
				ID:       30,
				VIP:      ip("192.0.2.5"),
				Sender:   clash.Host{Address: ip("192.0.2.13"), MAC: mac13},
				Better: clash.Host{
					Address: ip("192.0.2.11"),
				},
				Version:    vrrp.V2,
				IntervalMs: 1000,
				Priority:   150,
				VIPs:       ips("192.0.2.77"),
			},
		}
	}
}

// both does two things to facts.
func both(a, b func(*facts.Facts)) func(*facts.Facts) { return func(f *facts.Facts) { a(f); b(f) } }

type testCase struct {
	check  Name
	what   string
	change func(*facts.Facts)
	seen   string // of the first finding; empty: nothing is found at all
}

// cases have for each check some in which it fires, with its text, and some in which it does
// not though it is near.
var cases = []testCase{
	{
		CheckClock,
		"five minutes off by the time server",
		func(f *facts.Facts) { f.Machine.Clocks[0].Ahead = 5 * time.Minute },
		"it is 5m0s behind by that of 192.0.2.1",
	},
	{CheckClock, "a time server knows better than nodes", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{
			{Host: "a"},
			{Host: "b"},
			{Host: "192.0.2.1", Server: true, Ahead: 5 * time.Minute},
		}
	}, "it is 5m0s behind by that of 192.0.2.1"},
	{CheckClock, "one of two time servers is ahead", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{
			{Host: "192.0.2.1", Server: true},
			{Host: "192.0.2.2", Server: true, Ahead: time.Hour},
		}
	}, "it is 1h0m0s ahead by that of this host, and others agree"},
	{CheckClock, "one of two time servers is behind", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{
			{Host: "192.0.2.1", Server: true},
			{Host: "192.0.2.2", Server: true, Ahead: -time.Hour},
		}
	}, "it is 1h0m0s behind by that of this host, and others agree"},
	{CheckClock, "five minutes off by two time servers", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{
			{Host: "192.0.2.1", Server: true, Ahead: 5 * time.Minute},
			{Host: "192.0.2.2", Server: true, Ahead: 6 * time.Minute},
		}
	}, "it is 5m0s behind by that of 192.0.2.1"},
	{CheckClock, "five minutes off by two of three nodes", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{
			{Host: "a", Ahead: -5 * time.Minute},
			{Host: "b", Ahead: -5 * time.Minute},
			{Host: "c"},
		}
	}, "it is 5m0s ahead by that of"},
	{CheckClock, "one node of three is off", func(f *facts.Facts) {
		f.Machine.Clocks = []facts.Clock{{Host: "a"}, {Host: "b", Ahead: time.Minute}, {Host: "c"}}
	}, "it is 1m0s ahead by that of this host, and others agree"},
	{
		CheckClock,
		"four seconds off",
		func(f *facts.Facts) { f.Machine.Clocks[0].Ahead = 4 * time.Second },
		"",
	},
	{CheckClock, "no other clock is seen", func(f *facts.Facts) { f.Machine.Clocks = nil }, ""},
	{CheckInStep, "a plain host without a time server", both(plain, func(f *facts.Facts) {
		f.Machine.Clocks, f.Machine.Unsynced = nil, "adjtimex reports that it is not synchronised"
	}), "nothing does: adjtimex"},
	{
		CheckInStep,
		"a time server answers",
		both(plain, func(f *facts.Facts) { f.Machine.Unsynced = "not yet" }),
		"",
	},
	{
		CheckKernel,
		"too old",
		func(f *facts.Facts) { f.Machine.Kernel = "4.18.0-553.el8" },
		"it is 4.18",
	},
	{CheckTiming, "it fell back", func(f *facts.Facts) { f.Machine.Timing.FellBack = "fast" }, "all nodes changed to lan/unicast"},
	{CheckTiming, "it did not", func(f *facts.Facts) { f.Machine.Timing = facts.Timing{} }, ""},
	{
		CheckTiming,
		"asked, not agreed",
		func(f *facts.Facts) { f.Machine.Timing.Waits = []string{"master-1 not yet"} },
		"nodes ask for timing lan, and wait: master-1 not yet",
	},
	{
		CheckTiming,
		"a host that was not measured",
		func(f *facts.Facts) { f.Machine.Timing.Unproven = "worker-0" },
		"there is no proof of this host, worker-0",
	},
	{CheckKernel, "just old enough", func(f *facts.Facts) { f.Machine.Kernel = "5.3.0" }, ""},
	{CheckKernel, "no number", func(f *facts.Facts) { f.Machine.Kernel = "linux" }, ""},
	{
		CheckPrograms,
		"absent",
		both(plain, func(f *facts.Facts) { f.Machine.Programs[0].Version = "" }),
		"it is not installed",
	},
	{
		CheckPrograms,
		"too old",
		both(
			plain,
			func(f *facts.Facts) { f.Machine.Programs[0].Version, f.Machine.Programs[0].TooOld = "3.4.4", true },
		),
		"it is version 3.4.4",
	},
	{CheckPrograms, "new enough", plain, ""},
	{CheckNetwork, "no link is in it", both(plain, func(f *facts.Facts) {
		f.Network.VIPs[0].Near, f.Network.VIPs[0].Link, f.Network.VIPs[0].Address = false, "", ip(
			"203.0.113.5")
		f.Plan.MachineNetworks = nil
	}), "no link of this host is in it, which has 192.0.2.0/24 on ens3"},
	{
		CheckNetwork,
		"the node's address is of another link",
		func(f *facts.Facts) { f.Network.VIPs[0].Near = false },
		"",
	},
	{
		CheckNetwork,
		"a remote worker",
		func(f *facts.Facts) { f.Network.VIPs[0].Near, f.Host.Remote = false, true },
		"",
	},
	{CheckNetwork, "the plan has it behind a router", func(f *facts.Facts) {
		f.Network.VIPs[0].Near, f.Network.VIPs[0].Address = false, ip("203.0.113.5")
	}, ""},
	{CheckBootCard, "down", func(f *facts.Facts) { boots(f, false) },
		"the card eno2 (52:54:00:00:00:12) of the provisioning network is down: this node cannot have"},
	{CheckBootCard, "none", func(f *facts.Facts) { boots(f, true); f.Host.NoBoots = "this node has no card" }, "this node has no card"},
	{CheckBootCard, "ready", func(f *facts.Facts) { boots(f, true) }, ""},
	{
		CheckNodeAddress,
		"of another link",
		func(f *facts.Facts) { f.Host.Agreed = ips("198.51.100.12") },
		"the node is known by 198.51.100.12 of ens4, and the VIP is in the network of ens3",
	},
	{CheckNodeAddress, "two links in one network", func(f *facts.Facts) {
		f.Host.Links.Links[1].Addresses[0].Prefix = netip.MustParsePrefix("192.0.2.14/24")
	}, ""},
	{CheckNodeAddress, "none chosen yet", func(f *facts.Facts) { f.Host.Agreed = nil }, ""},
	{
		CheckNodeAddress,
		"none of its family",
		func(f *facts.Facts) { f.Host.Agreed = ips("2001:db8::12") },
		"",
	},
	{
		CheckDHCP,
		"in the range",
		both(plain, func(f *facts.Facts) { f.Machine.Ranges[0].First = ip("192.0.2.6") }),
		"192.0.2.6 to 192.0.2.200 holds it",
	},
	{
		CheckDHCP,
		"just below it",
		both(plain, func(f *facts.Facts) { f.Machine.Ranges[0].First = ip("192.0.2.7") }),
		"",
	},
	{CheckDHCP, "of the other family", both(plain, func(f *facts.Facts) {
		f.Machine.Ranges[0] = facts.Range{First: ip("::"), Last: ip("ffff::"), Source: "x"}
	}), ""},
	{CheckFiles, "one differs", func(f *facts.Facts) {
		f.Machine.Files = []facts.File{{Path: plan.Path, How: "timing is vm, and lan in the plan"}}
	}, "timing is vm"},
	{CheckFiles, "none does", func(f *facts.Facts) { f.Machine.Files = []facts.File{} }, ""},
	{CheckStatic, "the operator's own", func(f *facts.Facts) {
		f.Plan.Timing.Profile = vrrp.ProfileLan
		f.Machine.Statics = []facts.Static{
			{
				Daemon: "keepalived",
				Unit:   "onprem-keepalived.service",
				Path:   "/etc/kubernetes/manifests/keepalived.yaml",
			},
		}
	}, "which is not of onprem-infra: onprem-keepalived.service has left"},
	{
		CheckStatic,
		"ours",
		func(f *facts.Facts) { f.Machine.Statics = []facts.Static{{Daemon: "CoreDNS", Ours: true}} },
		"",
	},
	{
		CheckTaken,
		"a host answers",
		both(plain, func(f *facts.Facts) { f.Network.VIPs[0].Answers = []string{macAlien} }),
		macAlien + " answers for it on ens3",
	},
	{
		CheckTaken,
		"this host has it",
		both(plain, func(f *facts.Facts) { f.Network.VIPs[0].Here = true }),
		"this host has it already",
	},
	{
		CheckTaken,
		"the cluster lives, and this host joins it",
		both(plain,
			func(f *facts.Facts) { f.Network.VIPs[0].Answers, f.Joins = []string{macAlien}, true }),
		"",
	},
	{CheckTaken, "no host answers", plain, ""},
	{CheckForeign, "in place of the holder", func(f *facts.Facts) {
		f.Network.VIPs[0].Answers, f.Network.VIPs[0].Cached = []string{macAlien}, macAlien
	}, macAlien + " answers for it on ens3, and is no host of this cluster"},
	{
		CheckForeign,
		"beside this host",
		func(f *facts.Facts) { f.Network.VIPs[1].Answers = []string{macAlien} },
		macAlien + " answers",
	},
	{CheckForeign, "there are more hosts than were asked", func(f *facts.Facts) {
		f.Network.VIPs[0].Answers, f.Network.VIPs[0].Cached, f.Network.Partial = []string{
			macAlien,
		}, macAlien, true
	}, ""},
	{CheckForeign, "this host knows no other", func(f *facts.Facts) {
		f.Network.VIPs[0].Answers, f.Network.VIPs[0].Cached, f.Network.Members = []string{
			macAlien,
		}, macAlien, nil
	}, ""},
	{
		CheckVRID,
		"a foreign router",
		received(clash.Foreign),
		"192.0.2.13 (52:54:00:00:00:13) on ens3 has it too, for 192.0.2.77 (VRRPv2, priority 150, every 1s)",
	},
	{CheckVRID, "the cluster's own", func(f *facts.Facts) { f.Network.Clashes = nil }, ""},
	{
		CheckUnknownRouter,
		"announces the VIP",
		received(clash.UnknownRouter),
		"announces it (VRRPv2, priority 150, every 1s), and is no host of this cluster",
	},
	{
		CheckUnknownRouter,
		"the holder announces it",
		func(f *facts.Facts) { f.Network.Clashes = []clash.Finding{} },
		"",
	},
	{CheckVersion, "another one", received(clash.Version), "by VRRPv2, which this host"},
	{
		CheckVersion,
		"no advert is received",
		func(f *facts.Facts) { f.Network.Clashes = []clash.Finding{} },
		"",
	},
	{
		CheckInterval,
		"another one",
		received(clash.Interval),
		"every 1s, and by this host's file it is every 100ms",
	},
	{
		CheckInterval,
		"no advert is received",
		func(f *facts.Facts) { f.Network.Clashes = []clash.Finding{} },
		"",
	},
	{
		CheckLimits,
		"no bytes are left",
		func(f *facts.Facts) { f.Machine.Limits = &facts.Limits{Dir: "/run/x", Bytes: 4096, Files: 1000} },
		"it is full: 4 KiB and 1000 files are left",
	},
	{
		CheckLimits,
		"no files are left",
		func(f *facts.Facts) { f.Machine.Limits = &facts.Limits{Dir: "/run/x", Bytes: 1 << 30, Files: 3} },
		"it is full: 1048576 KiB and 3 files are left",
	},
	{CheckLimits, "nothing can be watched", func(f *facts.Facts) {
		f.Machine.Limits = &facts.Limits{
			Dir:         "/run/x",
			Bytes:       1 << 30,
			Files:       1000,
			Unwatchable: "too many open files",
		}
	}, "they cannot: too many open files"},
	{CheckLimits, "there is just enough", func(f *facts.Facts) {
		f.Machine.Limits = &facts.Limits{Dir: "/run/x", Bytes: minBytes, Files: minFiles}
	}, ""},
	{CheckCredentials, "the runtime has made a directory", func(f *facts.Facts) {
		f.Machine.Credentials = &facts.Credentials{
			Kubeconfig: "/etc/kubernetes/kubelet.conf",
			Directory:  true,
		}
	}, "it is a directory, so neither kubelet nor our monitors have credentials"},
	{CheckCredentials, "its CA is elsewhere", func(f *facts.Facts) {
		f.Machine.Credentials = &facts.Credentials{
			Kubeconfig: "/a/b/c",
			Mounted:    []string{"/var/lib/kubelet/pki"},
			Outside:    []string{"/etc/kubernetes/pki/ca.crt"},
		}
	}, "our monitors do not see it: of certificates they have /var/lib/kubelet/pki"},
	{
		CheckCredentials,
		"it is a file",
		func(f *facts.Facts) { f.Machine.Credentials = &facts.Credentials{Kubeconfig: "/a/b/c"} },
		"",
	},
	{
		CheckMonitors,
		"one does not answer",
		func(f *facts.Facts) { f.Daemons.Monitors[0].Fault = "connection refused" },
		"it is dead, or stands still: connection refused",
	},
	{
		CheckMonitors,
		"its heartbeat stands still",
		func(f *facts.Facts) { f.Daemons.Keepalived.Heartbeat = false },
		"it stands still",
	},
	{CheckMonitors, "reported once", func(f *facts.Facts) {
		f.Daemons.Keepalived.Wanted, f.Daemons.Keepalived.Heartbeat, f.Network.VIPs[1].Here = false, false, false
	}, ""},
	{
		CheckSupervisor,
		"has never started",
		func(f *facts.Facts) { f.Daemons.Keepalived = &facts.Keepalived{Wanted: true} },
		"it has never started",
	},
	{
		CheckSupervisor,
		"does not answer",
		func(f *facts.Facts) { f.Daemons.Keepalived.Fault = "no answer in 1s" },
		"it is dead, or stands still: no answer",
	},
	{CheckSupervisor, "cannot do all", func(f *facts.Facts) {
		f.Daemons.Keepalived.Troubles = []string{
			"write the status: no space left",
			"watch files: too many",
		}
	},
		"it cannot write the status: no space left; it cannot watch files: too many"},
	{
		CheckSupervisor,
		"a host that has none",
		func(f *facts.Facts) { f.Daemons.Keepalived, f.Network.VIPs[1].Here = &facts.Keepalived{}, false },
		"",
	},
	{
		CheckRefused,
		"a new configuration",
		func(f *facts.Facts) { f.Daemons.Keepalived.Refusal = "Unknown keyword\n'x'" },
		"keepalived refuses it: Unknown keyword 'x'",
	},
	{CheckRefused, "by a supervisor that does not answer now", func(f *facts.Facts) {
		f.Daemons.Keepalived, f.Network.VIPs[1].Here = &facts.Keepalived{Refusal: "x"}, false
	}, ""},
	{CheckRights, "one is missing", func(f *facts.Facts) {
		f.Daemons.Rights = []facts.Right{
			{What: "watch nodes", Without: "it knows no other node", Do: "apply the objects"},
		}
	}, "the API does not give it: it knows no other node"},
	{
		CheckRights,
		"none is missing",
		func(f *facts.Facts) { f.Daemons.Rights = []facts.Right{} },
		"",
	},
	{
		CheckOlder,
		"the disk has another",
		func(f *facts.Facts) { f.Daemons.Running[0].Disk = "four" },
		"another configuration (one) than the disk's",
	},
	{
		CheckOlder,
		"HAProxy was not reloaded",
		func(f *facts.Facts) { f.Daemons.Running[1].Disk, f.Daemons.Running[1].Header = "four", "four" },
		"another configuration (two) than the disk's",
	},
	{
		CheckOlder,
		"CoreDNS refuses its file",
		func(f *facts.Facts) { f.Daemons.Running[2].Disk, f.Daemons.Running[2].Header = "four", "four" },
		"another configuration (three) than the disk's",
	},
	{
		CheckOlder,
		"the file was edited",
		func(f *facts.Facts) { f.Daemons.Running[2].Disk = "four" },
		"the file has been changed by hand, and CoreDNS reports that it runs on the one that was written for it (three)",
	},
	{
		CheckOlder,
		"the disk has none yet",
		func(f *facts.Facts) { f.Daemons.Running[0].Disk = "" },
		"",
	},
	{CheckOlder, "its running configuration is not known", func(f *facts.Facts) {
		f.Daemons.Running[1].Loaded, f.Daemons.Running[2].Loaded, f.Daemons.Running[2].Header = "", "", ""
	}, ""},
	{CheckOlder, "nothing is in force yet", func(f *facts.Facts) {
		f.Daemons.Keepalived.Applied, f.Daemons.Keepalived.Running, f.Daemons.Running[0].Loaded = "", false, ""
	}, ""},
	{
		CheckPeers,
		"lack a node",
		func(f *facts.Facts) { f.Network.VIPs[0].Peers = ips("192.0.2.11") },
		"they lack m3 (192.0.2.13)",
	},
	{
		CheckPeers,
		"of others lack this host",
		func(f *facts.Facts) { f.Network.Members = slices.Delete(f.Network.Members, 1, 2) },
		"the API has no Node with an address of this host",
	},
	{
		CheckPeers,
		"a worker is not of the control plane",
		func(f *facts.Facts) { f.Network.Members, f.Host.Master = slices.Delete(f.Network.Members, 1, 2), false },
		"",
	},
	{
		CheckPeers,
		"multicast has none",
		func(f *facts.Facts) { f.Network.VIPs[0].Peers, f.Plan.VRRP.Mode = ips("192.0.2.11"), spec.Multicast },
		"",
	},
	{CheckPeers, "the API has not answered", func(f *facts.Facts) {
		f.Network.VIPs[0].Peers = ips("192.0.2.11")
		for i := range f.Network.Members {
			f.Network.Members[i].Named = false
		}
	}, ""},
	{
		CheckPeers,
		"a worker is none of the API's VIP",
		func(f *facts.Facts) { f.Network.Members[2].ControlPlane = false },
		"",
	},
	{
		CheckPeers,
		"this host does not stand",
		func(f *facts.Facts) { f.Network.VIPs[0].Peers = nil },
		"",
	},
	{CheckRanks, "a dead node has one that another needs", ranked("0", "", "1", "2", "3", "4"),
		"none of 5 is free, and Node m3, which has not been Ready since 2026-01-02T03:04:05Z, has rank 1"},
	{CheckRanks, "one is free", ranked("0", "", "1", "2", "3"), ""},
	{CheckRanks, "every node has one", ranked("0", "1", "2", "3", "4"), ""},
	{CheckRanks, "the dead one has none", ranked("0", "1", "", "2", "3", "4"), ""},
	{
		CheckRanks,
		"no node is dead",
		both(ranked("0", "", "1", "2", "3", "4"),
			func(f *facts.Facts) { f.Network.Members[2].Down = time.Time{} }),
		"",
	},
	{
		CheckRanks,
		"nodes of today have none",
		both(ranked("0", "", "1", "2", "3", "4"),
			func(f *facts.Facts) { f.Plan.VRRP.ControlPlane.Ranks = nil }),
		"",
	},
	{
		CheckOneWay,
		"one does not receive adverts",
		received(clash.OneWay),
		"192.0.2.13 (52:54:00:00:00:13) holds it beside 192.0.2.11, which outranks it",
	},
	{CheckOneWay, "one holder", func(f *facts.Facts) { f.Network.Clashes = []clash.Finding{} }, ""},
	{CheckHolders, "by their adverts", received(clash.Holders), "holds it beside 192.0.2.11"},
	{
		CheckHolders,
		"by their answers",
		func(f *facts.Facts) { f.Network.VIPs[0].Answers = []string{mac11, mac13} },
		"m1 (52:54:00:00:00:11) and m3 (52:54:00:00:00:13) have it",
	},
	{
		CheckHolders,
		"another one beside this host",
		func(f *facts.Facts) { f.Network.VIPs[1].Answers = []string{mac13} },
		"m3 (52:54:00:00:00:13) and this host have it",
	},
	{
		CheckHolders,
		"one",
		func(f *facts.Facts) { f.Network.VIPs[0].Answers, f.Network.VIPs[0].Cached = []string{mac13}, mac13 },
		"",
	},
	{
		CheckKeepalived,
		"does not run",
		func(f *facts.Facts) { f.Daemons.Keepalived.Running = false },
		"it does not run",
	},
	{CheckKeepalived, "is not to run", func(f *facts.Facts) {
		f.Daemons.Keepalived.Wanted, f.Daemons.Keepalived.Running, f.Network.VIPs[1].Here = false, false, false
	}, ""},
	{
		CheckStale,
		"here",
		func(f *facts.Facts) { f.Network.VIPs[0].Here, f.Network.VIPs[0].Answers = true, nil },
		"its kernel has it on ens3, and its keepalived is BACKUP",
	},
	{
		CheckStale,
		"beside the holder's",
		func(f *facts.Facts) { f.Network.VIPs[0].Here = true },
		"its kernel has it on ens3, and its keepalived is BACKUP",
	},
	{CheckStale, "its keepalived is dead, and another host has taken over", func(f *facts.Facts) {
		f.Daemons.Keepalived.Fault, f.Network.VIPs[1].Answers = "no answer", []string{mac13}
	}, "its keepalived is dead, or stands still, and another host has it"},
	{
		CheckStale,
		"a host without keepalived",
		func(f *facts.Facts) { f.Daemons.Keepalived.Wanted = false },
		"this host has no keepalived",
	},
	{
		CheckStale,
		"it is not known whether the host has keepalived",
		func(f *facts.Facts) { f.Daemons.Keepalived = nil },
		"",
	},
	{CheckStale, "the holder's", func(f *facts.Facts) {
		f.Network.VIPs[0].Here, f.Network.VIPs[0].Answers, f.Network.VIPs[0].State = true, nil, supervised.Master
	}, ""},
	{CheckAPIServers, "all are down", func(f *facts.Facts) {
		f.Daemons.Balancer.Up, f.Daemons.Redirected = nil, ptr(false)
		for i := range f.Daemons.Servers {
			f.Daemons.Servers[i].Ready, f.Daemons.Servers[i].Why = false, "connection refused"
		}
	}, "none is ready: 192.0.2.11:6443 connection refused; 192.0.2.12"},
	{
		CheckAPIServers,
		"one is down",
		func(f *facts.Facts) { f.Daemons.Servers[1].Ready, f.Daemons.Servers[1].Why = false, "status 500" },
		"it is not ready: status 500",
	},
	{CheckAPIServers, "none was asked", func(f *facts.Facts) { f.Daemons.Servers = nil }, ""},
	{CheckHAProxy, "does not answer", func(f *facts.Facts) {
		f.Daemons.Balancer = &facts.Balancer{Fault: "connection refused"}
		f.Daemons.Redirected = ptr(false)
	}, "it does not answer: connection refused"},
	{
		CheckHAProxy,
		"a worker has none",
		func(f *facts.Facts) { f.Daemons.Balancer, f.Daemons.Redirected = nil, nil },
		"",
	},
	{
		CheckBalancer,
		"reports no healthy backend",
		func(f *facts.Facts) { f.Daemons.Balancer.Up = nil },
		"it reports no healthy backend, and 192.0.2.11:6443 is ready",
	},
	{
		CheckBalancer,
		"reports a healthy backend",
		func(f *facts.Facts) { f.Daemons.Balancer.Up = []string{"m0"} },
		"",
	},
	{
		CheckRedirect,
		"is not there",
		func(f *facts.Facts) { f.Daemons.Redirected = ptr(false) },
		"it is not there, though HAProxy serves",
	},
	{CheckRedirect, "cannot be seen", func(f *facts.Facts) { f.Daemons.Redirected = nil }, ""},
	{CheckIronic, "its pod is not reached", func(f *facts.Facts) {
		f.Daemons.Balancer.Ironic = []facts.IronicPod{
			{Of: "ironic", Address: netip.MustParseAddrPort("192.0.2.11:6388"), Up: true, Check: "L4OK"},
			{Of: "virtual-media", Address: netip.MustParseAddrPort("192.0.2.11:6183"), Check: "L4TOUT"},
		}
	}, "the API reports it as ready, and no connection to 192.0.2.11:6183 succeeds: L4TOUT"},
	{CheckIronic, "its pod is reached", func(f *facts.Facts) {
		f.Daemons.Balancer.Ironic = []facts.IronicPod{{Of: "ironic", Address: netip.MustParseAddrPort("192.0.2.11:6388"), Up: true, Check: "L4OK"}}
	}, ""},
	{CheckTracked, "a check stands that fails", func(f *facts.Facts) {
		f.Daemons.Checks[0].Passes, f.Daemons.Checks[0].Why = false, "connection refused"
	}, "keepalived has that it passes, and it does not pass: connection refused"},
	{
		CheckTracked,
		"a check stands that passes",
		func(f *facts.Facts) { f.Daemons.Checks[1].Passes = true },
		"keepalived has that it does not pass, and it passes",
	},
	{
		CheckTracked,
		"both agree",
		func(f *facts.Facts) { f.Daemons.Checks[0] = facts.Check{Name: vrrp.CheckLB} },
		"",
	},
	{
		CheckNeighbours,
		"this host's kernel",
		func(f *facts.Facts) { f.Network.VIPs[0].Cached = mac13 },
		"to " + mac13 + ", and " + mac11 + " answers for it",
	},
	{
		CheckNeighbours,
		"another one's",
		func(f *facts.Facts) { f.Network.VIPs[1].Echoes[0].FromVIP = false },
		"elsewhere than here",
	},
	{
		CheckNeighbours,
		"one that never answers",
		func(f *facts.Facts) { f.Network.VIPs[1].Echoes[0] = facts.Echo{Neighbour: ip("192.0.2.1")} },
		"",
	},
	{
		CheckNeighbours,
		"nothing is known of it",
		func(f *facts.Facts) { f.Network.VIPs[0].Cached = "" },
		"",
	},
	{
		CheckNoHolder,
		"of the API's VIP",
		func(f *facts.Facts) { f.Network.VIPs[0].Answers, f.Network.VIPs[0].Cached = nil, "" },
		"no host answers for it on ens3",
	},
	{
		CheckNoHolder,
		"of ingress, where no router may run",
		func(f *facts.Facts) { f.Network.VIPs[1].Here, f.Network.VIPs[1].State = false, supervised.Fault },
		"",
	},
	{
		CheckNoHolder,
		"the link was not asked",
		func(f *facts.Facts) { f.Network.VIPs[0].Answers, f.Network.VIPs[0].Asked = nil, false },
		"",
	},
	{
		CheckPorts,
		"is another's",
		both(plain, func(f *facts.Facts) { f.Machine.Ports[0].Taken = "address already in use" }),
		"CoreDNS must listen there, and cannot",
	},
	{CheckPorts, "is free", plain, ""},
	{
		CheckReach,
		"no packet comes back",
		func(f *facts.Facts) { f.Network.Reached[0] = facts.Reached{Host: ip("192.0.2.11")} },
		"it answers no packet",
	},
	{
		CheckReach,
		"a port is shut",
		func(f *facts.Facts) { f.Network.Reached[0].Shut = []string{"api 6443"} },
		"nothing comes back",
	},
	{CheckReach, "it was not tried", func(f *facts.Facts) { f.Network.Reached = nil }, ""},
	{
		CheckMTU,
		"large packets are lost",
		func(f *facts.Facts) { f.Network.Reached[0].Whole = false },
		"they are lost, and small ones arrive: the MTU of ens3",
	},
	{
		CheckMTU,
		"it was not tried",
		func(f *facts.Facts) { f.Network.Reached[0].Full, f.Network.Reached[0].Whole = 0, false },
		"",
	},
	{
		CheckVRRPPasses,
		"nothing comes back",
		both(plain, func(f *facts.Facts) { f.Network.Reached[0].VRRP = facts.VRRPUnanswered }),
		"nothing comes back",
	},
	{
		CheckVRRPPasses,
		"that host runs keepalived",
		func(f *facts.Facts) { f.Network.Reached[0].VRRP = facts.VRRPUnanswered },
		"",
	},
	{
		CheckUpstreamSelf,
		"one of two is this host",
		func(f *facts.Facts) { f.Names.Resolver.Self = ips("192.0.2.12") },
		"192.0.2.12 is this host, or a VIP",
	},
	{
		CheckUpstreamSelf,
		"one is another control plane node",
		func(f *facts.Facts) { f.Names.Resolver.Rest = ips("192.0.2.1", "192.0.2.11") },
		"192.0.2.11 is the control plane node m1, by its Node: a query would loop",
	},
	{
		CheckUpstreamSelf,
		"one is among the addresses that a worker claims",
		func(f *facts.Facts) {
			f.Names.Resolver.Rest = ips("192.0.2.1")
			f.Network.Members = append(f.Network.Members,
				facts.Member{Name: "w21", Addresses: ips("192.0.2.21", "192.0.2.1")})
		},
		"192.0.2.1 is the node w21, by its Node: a query for the name of a node may loop",
	},
	{CheckUpstreamSelf, "none is", func(f *facts.Facts) { f.Names.Resolver.Self = nil }, ""},
	{CheckUpstreamNone, "none answers", func(f *facts.Facts) {
		f.Names.Resolver.Alive, f.Names.Resolver.Dead = 0, []string{"192.0.2.1: timeout"}
	}, "none answers: 192.0.2.1: timeout"},
	{
		CheckUpstreamNone,
		"none is named",
		func(f *facts.Facts) { f.Names.Resolver.Alive = 0 },
		"none is named",
	},
	{
		CheckUpstreamNone,
		"a cluster without names",
		func(f *facts.Facts) { f.Names.Resolver.Alive, f.Names.Resolver.Unasked = 0, true },
		"",
	},
	{
		CheckUpstreamNone,
		"one of two answers",
		func(f *facts.Facts) { f.Names.Resolver.Dead = []string{"192.0.2.2: timeout"} },
		"not all answer: 192.0.2.2: timeout",
	},
	{
		CheckUpstreamNone,
		"all answer",
		func(f *facts.Facts) { f.Names.Resolver.Alive, f.Names.Resolver.Dead = 2, nil },
		"",
	},
	{
		CheckCoreDNS,
		"does not answer",
		func(f *facts.Facts) { f.Names.Fault, f.Names.Own = "connection refused", nil },
		"it does not answer: connection refused",
	},
	{CheckCoreDNS, "a plain host has none", plain, ""},
	{
		CheckNames,
		"another address",
		func(f *facts.Facts) { f.Names.Own[0].Got = ips("198.51.100.1") },
		"it is 198.51.100.1, and should be 192.0.2.5",
	},
	{CheckNames, "in another order", func(f *facts.Facts) {
		f.Names.Own[0].Want, f.Names.Own[0].Got = ips("192.0.2.5", "2001:db8::5"), ips(
			"2001:db8::5", "192.0.2.5")
	}, ""},
	{
		CheckOutsideRecord,
		"another address",
		func(f *facts.Facts) { f.Names.Outside[0].Got = ips("198.51.100.1") },
		"it is 198.51.100.1, and should be 192.0.2.5",
	},
	{
		CheckOutsideRecord,
		"none before the cluster is there",
		both(plain, func(f *facts.Facts) { f.Names.Outside[0].Got = nil }),
		"it is unknown, and should be 192.0.2.5",
	},
	{
		CheckOutsideRecord,
		"none of a live cluster",
		func(f *facts.Facts) { f.Names.Outside[0].Got = nil },
		"",
	},
	{
		CheckImages,
		"is not there",
		both(plain, func(f *facts.Facts) { f.Machine.Images[0].Fault = "404 Not Found" }),
		"404 Not Found",
	},
	{CheckImages, "is there", plain, ""},
}

// TestChecks holds that each check fires when it should, before all that follows from it, that it
// finds nothing otherwise, and that each finding has all three parts.
func TestChecks(t *testing.T) {
	for _, tt := range cases {
		t.Run(string(tt.check)+"/"+tt.what, func(t *testing.T) {
			f := healthy(t)
			tt.change(&f)
			found := Examine(f)
			if tt.seen == "" {
				if len(found) > 0 {
					t.Fatalf("found %+v", found)
				}
				return
			}
			if len(found) == 0 || found[0].Check != tt.check ||
				!strings.Contains(found[0].Seen, tt.seen) {
				t.Fatalf("found %+v", found)
			}
			for _, one := range found {
				if one.Subject == "" || one.Seen == "" || one.Do == "" {
					t.Errorf("%+v lacks a part", one)
				}
			}
		})
	}
}

// TestEachBoth is the law that each check has a case in which it fires, and one in which it finds
// nothing.
func TestEachBoth(t *testing.T) {
	if found := Examine(healthy(t)); len(found) > 0 {
		t.Errorf("a healthy host: %+v", found)
	}
	f := healthy(t)
	if plain(&f); len(Examine(f)) > 0 {
		t.Errorf("a plain host: %+v", Examine(f))
	}
	if found := Examine(facts.Facts{}); len(found) > 0 {
		t.Errorf("nothing was seen: %+v", found)
	}
	fires, passes := map[Name]int{}, map[Name]int{}
	for _, tt := range cases {
		if tt.seen == "" {
			passes[tt.check]++
		} else {
			fires[tt.check]++
		}
	}
	seen := map[Name]bool{}
	for _, name := range All() {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		if seen[name] = true; fires[name] == 0 || passes[name] == 0 {
			t.Errorf("%s fires in %d cases, and not in %d", name, fires[name], passes[name])
		}
	}
	for name := range fires {
		if !seen[name] {
			t.Errorf("there is no check %s", name)
		}
	}
}

// TestLasting holds that a fault of the first inspection alone is no finding, and one of the second
// alone is none yet.
func TestLasting(t *testing.T) {
	finding := func(check Name, subject, seen string) Finding {
		return Finding{check, Error, facts.Fault{Subject: subject, Seen: seen}}
	}
	a, b := finding(CheckStale, "x", "3 s"), finding(CheckStale, "y", "")
	later := a
	later.Seen = "5 s"
	if immediate := []Finding{{Check: CheckVersion}}; !slices.Equal(
		Lasting(nil, immediate), immediate) {
		t.Error("a finding of three adverts needs no second inspection")
	}
	if got := Lasting([]Finding{a, b}, []Finding{later, finding(CheckStale, "z", ""), finding(CheckOlder, "x", "")}); !slices.Equal(
		got, []Finding{later},
	) {
		t.Errorf("%+v", got)
	}
}

// TestBeingReplaced holds that a daemon whose file changes between the inspections is no finding,
// and that one whose file stays is.
func TestBeingReplaced(t *testing.T) {
	f := healthy(t)
	inspect := func(loaded, disk string) []Finding {
		f.Daemons.Running[1].Loaded, f.Daemons.Running[1].Disk, f.Daemons.Running[1].Header = loaded, disk, disk
		return Examine(f)
	}
	if got := Lasting(inspect("one", "two"), inspect("two", "three")); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := Lasting(inspect("one", "two"), inspect("one", "two")); len(got) != 1 ||
		got[0].Check != CheckOlder {
		t.Errorf("%+v", got)
	}
}

// TestOrder holds that a cause stands before what follows from it, where both are seen.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		what   string
		cause  Name
		change func(*facts.Facts)
	}{
		{"a wrong clock has API servers refuse", CheckClock, func(f *facts.Facts) {
			f.Machine.Clocks[0].Ahead = 5 * time.Minute
			for i := range f.Daemons.Servers {
				f.Daemons.Servers[i].Ready, f.Daemons.Servers[i].Why = false, "certificate has expired or is not yet valid"
			}
		}},
		{"dead API servers have checks fail", CheckAPIServers, func(f *facts.Facts) {
			for i := range f.Daemons.Servers {
				f.Daemons.Servers[i].Ready = false
			}
			f.Daemons.Balancer.Fault, f.Daemons.Checks[0].Passes, f.Network.VIPs[0].Answers = "503", false, nil
		}},
		{"a dead monitor leaves peers out", CheckMonitors, func(f *facts.Facts) {
			f.Daemons.Monitors[0].Fault, f.Network.VIPs[0].Peers = "refused", ips("192.0.2.11")
		}},
		{"a dead monitor leaves an edited file", CheckMonitors, func(f *facts.Facts) {
			f.Daemons.Monitors[1].Fault, f.Daemons.Running[1].Disk = "refused", "four"
		}},
		{"CoreDNS answers by an older file", CheckOlder, func(f *facts.Facts) {
			f.Daemons.Running[2].Disk, f.Names.Own[0].Got = "four", ips("198.51.100.1")
		}},
		{"a node that a peer list lacks takes the VIP", CheckPeers, func(f *facts.Facts) {
			received(clash.OneWay)(f)
			f.Network.VIPs[0].Peers, f.Network.VIPs[0].Answers = ips("192.0.2.11"), []string{mac11, mac13}
		}},
		{"of two versions both hold it", CheckVersion, func(f *facts.Facts) {
			received(clash.Holders)(f)
			f.Network.Clashes = append(f.Network.Clashes, f.Network.Clashes[0])
			f.Network.Clashes[0].Kind = clash.Version
		}},
		{"a foreign host has neighbours go astray", CheckForeign, func(f *facts.Facts) {
			f.Network.VIPs[1].Answers, f.Network.VIPs[1].Echoes[0].FromVIP = []string{macAlien}, false
		}},
		{"this host as name server behind itself leaves none", CheckUpstreamSelf, func(f *facts.Facts) {
			f.Names.Resolver = &facts.Resolver{Path: "x", Self: ips("192.0.2.12")}
		}},
	} {
		f := healthy(t)
		tt.change(&f)
		if found := Examine(f); len(found) < 2 || found[0].Check != tt.cause {
			t.Errorf("%s: %+v", tt.what, found)
		}
	}
}

// TestStaleAlone holds that an address of the kernel that keepalived does not hold is one finding:
// this host is no second holder.
func TestStaleAlone(t *testing.T) {
	f := healthy(t)
	f.Network.VIPs[0].Here = true
	if found := Examine(f); len(found) != 1 || found[0].Check != CheckStale {
		t.Errorf("%+v", found)
	}
	// The speaker of a host has it on the loopback interface besides, where it belongs.
	stale := addr.Address{Prefix: netip.MustParsePrefix("192.0.2.5/32")}
	f.Host.Links.Links = append([]addr.Link{{Index: 1, Name: "lo", Addresses: []addr.Address{stale}}}, f.Host.Links.Links...)
	for i, want := range []string{"ip address del 192.0.2.5/32 dev lo", "ip address del 192.0.2.5/32 dev ens3"} {
		if found := Examine(f); len(found) != 1 || found[0].Do != "remove it: "+want {
			t.Errorf("%d: %+v", i, found)
		}
		f.Host.Links.Links[1].Addresses = append(f.Host.Links.Links[1].Addresses, stale)
	}
}

// TestStale_OperatorsKeepalived holds that the address of a bootstrap machine on which the operator's
// keepalived runs is its own: whoever removed it would take the API from the installation.
func TestStale_OperatorsKeepalived(t *testing.T) {
	f := healthy(t)
	f.Daemons.Keepalived.Wanted, f.Network.VIPs[1].State = false, ""
	for _, tt := range []struct {
		static facts.Static
		want   Name
	}{
		{facts.Static{Daemon: "keepalived"}, CheckStatic},
		{facts.Static{Daemon: "keepalived", Ours: true}, CheckStale},
	} {
		f.Machine.Statics = []facts.Static{tt.static}
		if found := Examine(f); len(found) != 1 || found[0].Check != tt.want {
			t.Errorf("ours %v: %+v", tt.static.Ours, found)
		}
	}
}

// TestFreeID holds that doctor names a free ID for each VIP whose ID another router has.
func TestFreeID(t *testing.T) {
	for _, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS} {
		f := healthy(t)
		received(clash.Foreign)(&f)
		f.Network.VIPs[0].For, f.Network.VIPs[0].Instance, f.Network.Clashes[0].Instance = kind, "one", "one"
		f.Network.FreeIDs = map[vrrp.Kind]vrrp.ID{kind: 77}
		if found := Examine(f); len(found) == 0 || found[0].Check != CheckVRID ||
			!strings.Contains(found[0].Do, fmt.Sprintf("--vrid %s=77", kind)) {
			t.Errorf("%s: %+v", kind, found)
		}
	}
}
