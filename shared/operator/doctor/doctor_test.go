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
	"github.com/onprem-infra/onprem-infra/shared/plan"
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
func ranked(ranks ...string) func(*Facts) {
	return func(f *Facts) {
		for i := len(f.Members); i < len(ranks); i++ {
			f.Members = append(f.Members, Member{Name: fmt.Sprint("m", i+1), ControlPlane: true, Named: true})
		}
		for i := range f.Members {
			f.Members[i].Rank = ranks[i]
		}
		f.Members[2].Down = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
}

// healthy are the facts of 192.0.2.12, one of three control plane nodes: 192.0.2.11 holds the API's
// VIP, and this one holds that of ingress.
func healthy(t *testing.T) Facts {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: ips("192.0.2.5"), IngressVIPs: ips("192.0.2.6")})
	if err != nil {
		t.Fatal(err)
	}
	node := func(name, address, mac string) Member {
		return Member{Name: name, Addresses: ips(address), MACs: []string{mac}, ControlPlane: true, Self: address == "192.0.2.12", Named: true}
	}
	ready := func(address string) Server {
		return Server{Address: netip.AddrPortFrom(ip(address), 6443), Ready: true}
	}
	return Facts{
		Plan: p, Live: true, Master: true, Agreed: ips("192.0.2.12"), Kernel: "6.1.0-18-amd64", Unstepped: "the kernel says so",
		Links: addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.12/24")}, {Prefix: netip.MustParsePrefix("192.0.2.6/32")}}},
			{Index: 3, Name: "ens4", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("198.51.100.12/24")}}}}},
		Clocks:   []Clock{{Who: "192.0.2.1", Server: true, Ahead: 20 * time.Millisecond}, {Who: "192.0.2.11", Ahead: -700 * time.Millisecond}},
		Programs: []Program{{Name: "podman", Version: "4.3.1", Needs: "4.0", Why: "it starts containers"}},
		Ranges:   []Range{{First: ip("192.0.2.100"), Last: ip("192.0.2.200"), Source: "/etc/dnsmasq.conf"}},
		Members:  []Member{node("m1", "192.0.2.11", mac11), node("m2", "192.0.2.12", mac12), node("m3", "192.0.2.13", mac13)},
		VIPs: []VIP{
			{Address: ip("192.0.2.5"), For: vrrp.API, Instance: "ostest_API_0", ID: 30, Link: "ens3", Near: true, State: supervised.Backup, Asked: true, Answers: []string{mac11}, Cached: mac11,
				Peers: ips("192.0.2.11", "192.0.2.13")},
			{Address: ip("192.0.2.6"), For: vrrp.Ingress, Instance: "ostest_INGRESS_0", ID: 31, Link: "ens3", Near: true, Here: true, State: supervised.Master, Asked: true,
				Peers: ips("192.0.2.11"), Echoes: []Echo{{ip("192.0.2.1"), true, true}, {ip("192.0.2.77"), false, false}}},
		},
		Keepalived: &Daemon{Wanted: true, Started: true, Running: true, Applied: "one", HeartBeat: true},
		Runs: []Run{{Daemon: "keepalived", Path: "/etc/keepalived/keepalived.conf", Force: "one", Disk: "one"}, {Daemon: "HAProxy", Path: "/etc/haproxy/haproxy.cfg", Force: "two", Disk: "two", Said: "two"},
			{Daemon: "CoreDNS", Path: "/etc/coredns/Corefile", Force: "three", Disk: "three", Said: "three"}},
		Monitors: []Monitor{{Name: "vip"}, {Name: "lb"}, {Name: "dns"}},
		Servers:  []Server{ready("192.0.2.11"), ready("192.0.2.12"), ready("192.0.2.13")},
		Balancer: &Balancer{Up: []string{"m0", "m1", "m2"}}, Redirected: ptr(true),
		Tracks:   []Track{{Check: vrrp.CheckLB, Says: true, Passes: true}, {Check: vrrp.CheckMCS}},
		Ports:    []Port{{Name: "dns", Number: 53, Owner: "CoreDNS"}},
		Reached:  []Reached{{Host: ip("192.0.2.11"), Link: "ens3", Echo: true, Full: 1500, Whole: true, VRRP: VRRPArrives}},
		Resolver: &Resolver{Path: "/run/NetworkManager/resolv.conf", Alive: 1},
		Names:    []Answer{{Server: "127.0.0.1", Name: "api.ostest.example.com", Want: ips("192.0.2.5"), Got: ips("192.0.2.5")}},
		Outside:  []Answer{{Server: "192.0.2.1", Name: "api.ostest.example.com", Want: ips("192.0.2.5")}},
		Images:   []Image{{Key: "keepalivedImage", Reference: "registry.example.com/keepalived:1"}},
	}
}

// plain makes a host of it on which nothing is installed.
func plain(f *Facts) {
	f.Master = false
	f.Live, f.Agreed, f.Members, f.Keepalived, f.Monitors, f.Servers, f.Balancer, f.Redirected, f.Tracks, f.Names, f.Runs = false, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
	f.Unstepped = ""
	f.Links.Links[0].Addresses = f.Links.Links[0].Addresses[:1]
	for i := range f.VIPs {
		v := &f.VIPs[i]
		v.Here, v.State, v.Answers, v.Cached, v.Peers, v.Echoes = false, "", nil, "", nil, nil
	}
	f.Outside[0].Got = ips("192.0.2.5")
}

func heard(kind clash.Kind) func(*Facts) {
	return func(f *Facts) {
		f.Heard = []clash.Finding{{Kind: kind, Instance: "ostest_API_0", Link: "ens3", ID: 30, VIP: ip("192.0.2.5"), Who: clash.Host{Address: ip("192.0.2.13"), MAC: mac13},
			Better: clash.Host{Address: ip("192.0.2.11")}, Version: vrrp.V2, IntervalMs: 1000, Priority: 150, VIPs: ips("192.0.2.77")}}
	}
}

// both does two things to facts.
func both(a, b func(*Facts)) func(*Facts) { return func(f *Facts) { a(f); b(f) } }

// cases have for each check some in which it fires, with what it says, and some in which it does
// not though it is near.
var cases = []struct {
	check  Name
	what   string
	change func(*Facts)
	says   string // of the first finding; empty: nothing is found at all
}{
	{CheckClock, "five minutes off by the time server", func(f *Facts) { f.Clocks[0].Ahead = 5 * time.Minute }, "it is 5m0s behind by that of 192.0.2.1"},
	{CheckClock, "a time server knows better than nodes", func(f *Facts) {
		f.Clocks = []Clock{{Who: "a"}, {Who: "b"}, {Who: "192.0.2.1", Server: true, Ahead: 5 * time.Minute}}
	}, "it is 5m0s behind by that of 192.0.2.1"},
	{CheckClock, "five minutes off by two of three nodes", func(f *Facts) {
		f.Clocks = []Clock{{Who: "a", Ahead: -5 * time.Minute}, {Who: "b", Ahead: -5 * time.Minute}, {Who: "c"}}
	}, "it is 5m0s ahead by that of"},
	{CheckClock, "one node of three is off", func(f *Facts) { f.Clocks = []Clock{{Who: "a"}, {Who: "b", Ahead: time.Minute}, {Who: "c"}} }, "it is 1m0s ahead by that of this host, and others agree"},
	{CheckClock, "four seconds off", func(f *Facts) { f.Clocks[0].Ahead = 4 * time.Second }, ""},
	{CheckClock, "no other clock is seen", func(f *Facts) { f.Clocks = nil }, ""},
	{CheckInStep, "a plain host without a time server", both(plain, func(f *Facts) { f.Clocks, f.Unstepped = nil, "adjtimex says that it is not synchronised" }), "nothing does: adjtimex"},
	{CheckInStep, "a time server answers", both(plain, func(f *Facts) { f.Unstepped = "not yet" }), ""},
	{CheckKernel, "too old", func(f *Facts) { f.Kernel = "4.18.0-553.el8" }, "it is 4.18"},
	{CheckKernel, "just old enough", func(f *Facts) { f.Kernel = "5.3.0" }, ""},
	{CheckKernel, "no number", func(f *Facts) { f.Kernel = "linux" }, ""},
	{CheckPrograms, "absent", both(plain, func(f *Facts) { f.Programs[0].Version = "" }), "it is not installed"},
	{CheckPrograms, "too old", both(plain, func(f *Facts) { f.Programs[0].Version, f.Programs[0].TooOld = "3.4.4", true }), "it is version 3.4.4"},
	{CheckPrograms, "new enough", plain, ""},
	{CheckNetwork, "no link is in it", both(plain, func(f *Facts) {
		f.VIPs[0].Near, f.VIPs[0].Link, f.VIPs[0].Address = false, "", ip("203.0.113.5")
		f.Plan.MachineNetworks = nil
	}), "no link of this host is in it, which has 192.0.2.0/24 on ens3"},
	{CheckNetwork, "the node's address is of another link", func(f *Facts) { f.VIPs[0].Near = false }, ""},
	{CheckNetwork, "a remote worker", func(f *Facts) { f.VIPs[0].Near, f.Remote = false, true }, ""},
	{CheckNetwork, "the plan has it behind a router", func(f *Facts) {
		f.VIPs[0].Near, f.VIPs[0].Address = false, ip("203.0.113.5")
	}, ""},
	{CheckNodeAddress, "of another link", func(f *Facts) { f.Agreed = ips("198.51.100.12") }, "the node is known by 198.51.100.12 of ens4, and the VIP is in the network of ens3"},
	{CheckNodeAddress, "two links in one network", func(f *Facts) { f.Links.Links[1].Addresses[0].Prefix = netip.MustParsePrefix("192.0.2.14/24") }, ""},
	{CheckNodeAddress, "none chosen yet", func(f *Facts) { f.Agreed = nil }, ""},
	{CheckNodeAddress, "none of its family", func(f *Facts) { f.Agreed = ips("2001:db8::12") }, ""},
	{CheckDHCP, "in the range", both(plain, func(f *Facts) { f.Ranges[0].First = ip("192.0.2.6") }), "192.0.2.6 to 192.0.2.200 holds it"},
	{CheckDHCP, "just below it", both(plain, func(f *Facts) { f.Ranges[0].First = ip("192.0.2.7") }), ""},
	{CheckDHCP, "of the other family", both(plain, func(f *Facts) { f.Ranges[0] = Range{ip("::"), ip("ffff::"), "x"} }), ""},
	{CheckFiles, "one differs", func(f *Facts) { f.Files = []File{{plan.Path, "timing is vm, and lan in the plan"}} }, "timing is vm"},
	{CheckFiles, "none does", func(f *Facts) { f.Files = []File{} }, ""},
	{CheckStatic, "the operator's own", func(f *Facts) {
		f.Plan.Timing.Profile = vrrp.ProfileLan
		f.Statics = []Static{{Daemon: "keepalived", Unit: "onprem-keepalived.service", Path: "/etc/kubernetes/manifests/keepalived.yaml"}}
	}, "which is not of onprem-infra: onprem-keepalived.service has left"},
	{CheckStatic, "ours", func(f *Facts) { f.Statics = []Static{{Daemon: "CoreDNS", Ours: true}} }, ""},
	{CheckTaken, "a host answers", both(plain, func(f *Facts) { f.VIPs[0].Answers = []string{macAlien} }), macAlien + " answers for it on ens3"},
	{CheckTaken, "this host has it", both(plain, func(f *Facts) { f.VIPs[0].Here = true }), "this host has it already"},
	{CheckTaken, "the cluster lives, and this host joins it", both(plain, func(f *Facts) { f.VIPs[0].Answers, f.Joins = []string{macAlien}, true }), ""},
	{CheckTaken, "nobody answers", plain, ""},
	{CheckForeign, "in place of the holder", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Cached = []string{macAlien}, macAlien }, macAlien + " answers for it on ens3, and is no host of this cluster"},
	{CheckForeign, "beside this host", func(f *Facts) { f.VIPs[1].Answers = []string{macAlien} }, macAlien + " answers"},
	{CheckForeign, "there are more hosts than were asked", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Cached, f.Unasked = []string{macAlien}, macAlien, true }, ""},
	{CheckForeign, "this host knows no other", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Cached, f.Members = []string{macAlien}, macAlien, nil }, ""},
	{CheckVRID, "a foreign router", heard(clash.Foreign), "192.0.2.13 (52:54:00:00:00:13) on ens3 has it too, for 192.0.2.77 (VRRPv2, priority 150, every 1s)"},
	{CheckVRID, "the cluster's own", func(f *Facts) { f.Heard = nil }, ""},
	{CheckStranger, "announces the VIP", heard(clash.Stranger), "does (VRRPv2, priority 150, every 1s), and is no host of this cluster"},
	{CheckStranger, "the holder announces it", func(f *Facts) { f.Heard = []clash.Finding{} }, ""},
	{CheckVersion, "another one", heard(clash.Version), "by VRRPv2, which this host"},
	{CheckVersion, "nothing is heard", func(f *Facts) { f.Heard = []clash.Finding{} }, ""},
	{CheckInterval, "another one", heard(clash.Interval), "every 1s, and by this host's file it is every 100ms"},
	{CheckInterval, "nothing is heard", func(f *Facts) { f.Heard = []clash.Finding{} }, ""},
	{CheckLimits, "no bytes are left", func(f *Facts) { f.Limits = &Limits{Dir: "/run/x", Bytes: 4096, Files: 1000} }, "it is full: 4 KiB and 1000 files are left"},
	{CheckLimits, "no files are left", func(f *Facts) { f.Limits = &Limits{Dir: "/run/x", Bytes: 1 << 30, Files: 3} }, "it is full: 1048576 KiB and 3 files are left"},
	{CheckLimits, "nothing can be watched", func(f *Facts) {
		f.Limits = &Limits{Dir: "/run/x", Bytes: 1 << 30, Files: 1000, Unwatchable: "too many open files"}
	}, "they cannot: too many open files"},
	{CheckLimits, "there is just enough", func(f *Facts) { f.Limits = &Limits{Dir: "/run/x", Bytes: leastBytes, Files: leastFiles} }, ""},
	{CheckCredentials, "the runtime has made a directory", func(f *Facts) {
		f.Credentials = &Credentials{Kubeconfig: "/etc/kubernetes/kubelet.conf", Directory: true}
	}, "it is a directory, so neither kubelet nor our monitors have credentials"},
	{CheckCredentials, "its CA is elsewhere", func(f *Facts) {
		f.Credentials = &Credentials{Kubeconfig: "/a/b/c", Mounted: []string{"/var/lib/kubelet/pki"}, Outside: []string{"/etc/kubernetes/pki/ca.crt"}}
	}, "our monitors do not see it: of certificates they have /var/lib/kubelet/pki"},
	{CheckCredentials, "it is a file", func(f *Facts) { f.Credentials = &Credentials{Kubeconfig: "/a/b/c"} }, ""},
	{CheckMonitors, "one does not answer", func(f *Facts) { f.Monitors[0].Fault = "connection refused" }, "it is dead, or stands still: connection refused"},
	{CheckMonitors, "its heart stands still", func(f *Facts) { f.Keepalived.HeartBeat = false }, "it stands still"},
	{CheckMonitors, "said once", func(f *Facts) { f.Keepalived.Wanted, f.Keepalived.HeartBeat, f.VIPs[1].Here = false, false, false }, ""},
	{CheckSupervisor, "has never spoken", func(f *Facts) { f.Keepalived = &Daemon{Wanted: true} }, "it has never spoken"},
	{CheckSupervisor, "is silent", func(f *Facts) { f.Keepalived.Silent = "no answer in 1s" }, "it is dead, or stands still: no answer"},
	{CheckSupervisor, "cannot do all", func(f *Facts) {
		f.Keepalived.Troubles = []string{"write the status: no space left", "watch files: too many"}
	},
		"it cannot write the status: no space left; it cannot watch files: too many"},
	{CheckSupervisor, "a host that has none", func(f *Facts) { f.Keepalived, f.VIPs[1].Here = &Daemon{}, false }, ""},
	{CheckRefused, "a new configuration", func(f *Facts) { f.Keepalived.Refusal = "Unknown keyword\n'x'" }, "keepalived refuses it: Unknown keyword 'x'"},
	{CheckRefused, "by a parent that does not speak now", func(f *Facts) { f.Keepalived, f.VIPs[1].Here = &Daemon{Refusal: "x"}, false }, ""},
	{CheckRights, "one is missing", func(f *Facts) { f.Rights = []Right{{"watch nodes", "it knows no other node", "apply the objects"}} }, "the API does not give it: it knows no other node"},
	{CheckRights, "none is missing", func(f *Facts) { f.Rights = []Right{} }, ""},
	{CheckOlder, "the disk has another", func(f *Facts) { f.Runs[0].Disk = "four" }, "another configuration (one) than the disk's"},
	{CheckOlder, "HAProxy was not told", func(f *Facts) { f.Runs[1].Disk, f.Runs[1].Said = "four", "four" }, "another configuration (two) than the disk's"},
	{CheckOlder, "CoreDNS refuses its file", func(f *Facts) { f.Runs[2].Disk, f.Runs[2].Said = "four", "four" }, "another configuration (three) than the disk's"},
	{CheckOlder, "somebody has changed the file", func(f *Facts) { f.Runs[2].Disk = "four" }, "the file has been changed by hand, and CoreDNS says that it runs on the one that was written for it (three)"},
	{CheckOlder, "the disk has none yet", func(f *Facts) { f.Runs[0].Disk = "" }, ""},
	{CheckOlder, "nobody knows what it runs on", func(f *Facts) { f.Runs[1].Force, f.Runs[2].Force, f.Runs[2].Said = "", "", "" }, ""},
	{CheckOlder, "nothing is in force yet", func(f *Facts) { f.Keepalived.Applied, f.Keepalived.Running, f.Runs[0].Force = "", false, "" }, ""},
	{CheckPeers, "lack a node", func(f *Facts) { f.VIPs[0].Peers = ips("192.0.2.11") }, "they lack m3 (192.0.2.13)"},
	{CheckPeers, "of others lack this host", func(f *Facts) { f.Members = slices.Delete(f.Members, 1, 2) }, "the API has no Node with an address of this host"},
	{CheckPeers, "a worker is none of the control plane", func(f *Facts) { f.Members, f.Master = slices.Delete(f.Members, 1, 2), false }, ""},
	{CheckPeers, "multicast has none", func(f *Facts) { f.VIPs[0].Peers, f.Plan.VRRP.Mode = ips("192.0.2.11"), spec.Multicast }, ""},
	{CheckPeers, "the API has not spoken", func(f *Facts) {
		f.VIPs[0].Peers = ips("192.0.2.11")
		for i := range f.Members {
			f.Members[i].Named = false
		}
	}, ""},
	{CheckPeers, "a worker is none of the API's VIP", func(f *Facts) { f.Members[2].ControlPlane = false }, ""},
	{CheckPeers, "this host does not stand", func(f *Facts) { f.VIPs[0].Peers = nil }, ""},
	{CheckRanks, "a dead node has one that another needs", ranked("0", "", "1", "2", "3", "4"),
		"none of 5 is free, and Node m3, which has not been Ready since 2026-01-02T03:04:05Z, has rank 1"},
	{CheckRanks, "one is free", ranked("0", "", "1", "2", "3"), ""},
	{CheckRanks, "nobody needs one", ranked("0", "1", "2", "3", "4"), ""},
	{CheckRanks, "the dead one has none", ranked("0", "1", "", "2", "3", "4"), ""},
	{CheckRanks, "nobody is dead", both(ranked("0", "", "1", "2", "3", "4"), func(f *Facts) { f.Members[2].Down = time.Time{} }), ""},
	{CheckRanks, "nodes of today have none", both(ranked("0", "", "1", "2", "3", "4"), func(f *Facts) { f.Plan.VRRP.ControlPlane.Ranks = nil }), ""},
	{CheckOneWay, "one does not hear", heard(clash.OneWay), "192.0.2.13 (52:54:00:00:00:13) holds it beside 192.0.2.11, which outranks it"},
	{CheckOneWay, "one holder", func(f *Facts) { f.Heard = []clash.Finding{} }, ""},
	{CheckHolders, "by their adverts", heard(clash.Holders), "does beside 192.0.2.11"},
	{CheckHolders, "by their answers", func(f *Facts) { f.VIPs[0].Answers = []string{mac11, mac13} }, "m1 (52:54:00:00:00:11) and m3 (52:54:00:00:00:13) have it"},
	{CheckHolders, "another one beside this host", func(f *Facts) { f.VIPs[1].Answers = []string{mac13} }, "m3 (52:54:00:00:00:13) and this host have it"},
	{CheckHolders, "one", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Cached = []string{mac13}, mac13 }, ""},
	{CheckKeepalived, "does not run", func(f *Facts) { f.Keepalived.Running = false }, "it does not run"},
	{CheckKeepalived, "is not to run", func(f *Facts) { f.Keepalived.Wanted, f.Keepalived.Running, f.VIPs[1].Here = false, false, false }, ""},
	{CheckStale, "here", func(f *Facts) { f.VIPs[0].Here, f.VIPs[0].Answers = true, nil }, "its kernel has it on ens3, and its keepalived is BACKUP"},
	{CheckStale, "beside the holder's", func(f *Facts) { f.VIPs[0].Here = true }, "its kernel has it on ens3, and its keepalived is BACKUP"},
	{CheckStale, "its keepalived is dead, and another host has taken over", func(f *Facts) { f.Keepalived.Silent, f.VIPs[1].Answers = "no answer", []string{mac13} }, "its keepalived is dead, or stands still, and another host has it"},
	{CheckStale, "a host without keepalived", func(f *Facts) { f.Keepalived.Wanted = false }, "this host has no keepalived"},
	{CheckStale, "the holder's", func(f *Facts) { f.VIPs[0].Here, f.VIPs[0].Answers, f.VIPs[0].State = true, nil, supervised.Master }, ""},
	{CheckAPIServers, "all are down", func(f *Facts) {
		f.Balancer.Up, f.Redirected = nil, ptr(false)
		for i := range f.Servers {
			f.Servers[i].Ready, f.Servers[i].Why = false, "connection refused"
		}
	}, "none is ready: 192.0.2.11:6443 connection refused; 192.0.2.12"},
	{CheckAPIServers, "one is down", func(f *Facts) { f.Servers[1].Ready, f.Servers[1].Why = false, "status 500" }, "it is not ready: status 500"},
	{CheckAPIServers, "none was asked", func(f *Facts) { f.Servers = nil }, ""},
	{CheckHAProxy, "does not answer", func(f *Facts) { f.Balancer = &Balancer{Fault: "connection refused"}; f.Redirected = ptr(false) }, "it does not answer: connection refused"},
	{CheckHAProxy, "a worker has none", func(f *Facts) { f.Balancer, f.Redirected = nil, nil }, ""},
	{CheckBalancer, "takes none for well", func(f *Facts) { f.Balancer.Up = nil }, "it takes none for well, and 192.0.2.11:6443 is ready"},
	{CheckBalancer, "takes one for well", func(f *Facts) { f.Balancer.Up = []string{"m0"} }, ""},
	{CheckRedirect, "is not there", func(f *Facts) { f.Redirected = ptr(false) }, "it is not there, though HAProxy serves"},
	{CheckRedirect, "cannot be seen", func(f *Facts) { f.Redirected = nil }, ""},
	{CheckTracked, "a check stands that fails", func(f *Facts) { f.Tracks[0].Passes, f.Tracks[0].Why = false, "connection refused" }, "keepalived is told that it passes, and it does not pass: connection refused"},
	{CheckTracked, "a check stands that passes", func(f *Facts) { f.Tracks[1].Passes = true }, "keepalived is told that it does not pass, and it passes"},
	{CheckTracked, "both say the same", func(f *Facts) { f.Tracks[0] = Track{Check: vrrp.CheckLB} }, ""},
	{CheckNeighbours, "this host's kernel", func(f *Facts) { f.VIPs[0].Cached = mac13 }, "to " + mac13 + ", and " + mac11 + " answers for it"},
	{CheckNeighbours, "another one's", func(f *Facts) { f.VIPs[1].Echoes[0].FromVIP = false }, "elsewhere than here"},
	{CheckNeighbours, "one that never answers", func(f *Facts) { f.VIPs[1].Echoes[0] = Echo{Neighbour: ip("192.0.2.1")} }, ""},
	{CheckNeighbours, "nothing is known of it", func(f *Facts) { f.VIPs[0].Cached = "" }, ""},
	{CheckNoHolder, "of the API's VIP", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Cached = nil, "" }, "nobody answers for it on ens3"},
	{CheckNoHolder, "of ingress, where no router may run", func(f *Facts) { f.VIPs[1].Here, f.VIPs[1].State = false, supervised.Fault }, ""},
	{CheckNoHolder, "nobody was asked", func(f *Facts) { f.VIPs[0].Answers, f.VIPs[0].Asked = nil, false }, ""},
	{CheckPorts, "is another's", both(plain, func(f *Facts) { f.Ports[0].Taken = "address already in use" }), "it cannot be listened at, and CoreDNS must"},
	{CheckPorts, "is free", plain, ""},
	{CheckReach, "no packet comes back", func(f *Facts) { f.Reached[0] = Reached{Host: ip("192.0.2.11")} }, "it answers no packet"},
	{CheckReach, "a port is shut", func(f *Facts) { f.Reached[0].Shut = []string{"api 6443"} }, "nothing comes back"},
	{CheckReach, "it was not looked", func(f *Facts) { f.Reached = nil }, ""},
	{CheckMTU, "large packets are lost", func(f *Facts) { f.Reached[0].Whole = false }, "they are lost, and small ones arrive: the MTU of ens3"},
	{CheckMTU, "it was not tried", func(f *Facts) { f.Reached[0].Full, f.Reached[0].Whole = 0, false }, ""},
	{CheckVRRPPasses, "nothing comes back", both(plain, func(f *Facts) { f.Reached[0].VRRP = VRRPSilent }), "nothing comes back"},
	{CheckVRRPPasses, "that host runs keepalived", func(f *Facts) { f.Reached[0].VRRP = VRRPSilent }, ""},
	{CheckUpstreamSelf, "one of two is this host", func(f *Facts) { f.Resolver.Self = ips("192.0.2.12") }, "192.0.2.12 is this host, or a VIP"},
	{CheckUpstreamSelf, "none is", func(f *Facts) { f.Resolver.Self = nil }, ""},
	{CheckUpstreamNone, "none answers", func(f *Facts) { f.Resolver.Alive, f.Resolver.Dead = 0, []string{"192.0.2.1: timeout"} }, "none answers: 192.0.2.1: timeout"},
	{CheckUpstreamNone, "none is named", func(f *Facts) { f.Resolver.Alive = 0 }, "none is named"},
	{CheckUpstreamNone, "one of two answers", func(f *Facts) { f.Resolver.Dead = []string{"192.0.2.2: timeout"} }, "not all answer: 192.0.2.2: timeout"},
	{CheckUpstreamNone, "all answer", func(f *Facts) { f.Resolver.Alive, f.Resolver.Dead = 2, nil }, ""},
	{CheckCoreDNS, "does not answer", func(f *Facts) { f.NameError, f.Names = "connection refused", nil }, "it does not answer: connection refused"},
	{CheckCoreDNS, "a plain host has none", plain, ""},
	{CheckNames, "another address", func(f *Facts) { f.Names[0].Got = ips("198.51.100.1") }, "it is 198.51.100.1, and should be 192.0.2.5"},
	{CheckNames, "in another order", func(f *Facts) {
		f.Names[0].Want, f.Names[0].Got = ips("192.0.2.5", "2001:db8::5"), ips("2001:db8::5", "192.0.2.5")
	}, ""},
	{CheckOutsideRecord, "another address", func(f *Facts) { f.Outside[0].Got = ips("198.51.100.1") }, "it is 198.51.100.1, and should be 192.0.2.5"},
	{CheckOutsideRecord, "none before the cluster is there", both(plain, func(f *Facts) { f.Outside[0].Got = nil }), "it is unknown, and should be 192.0.2.5"},
	{CheckOutsideRecord, "none of a live cluster", func(f *Facts) { f.Outside[0].Got = nil }, ""},
	{CheckImages, "is not there", both(plain, func(f *Facts) { f.Images[0].Fault = "404 Not Found" }), "404 Not Found"},
	{CheckImages, "is there", plain, ""},
}

// TestChecks holds that each check fires when it should, before all that follows from it, and is
// silent when it should be, and that what it says has all three parts.
func TestChecks(t *testing.T) {
	for _, tt := range cases {
		t.Run(string(tt.check)+"/"+tt.what, func(t *testing.T) {
			f := healthy(t)
			tt.change(&f)
			found := Examine(f)
			if tt.says == "" {
				if len(found) > 0 {
					t.Fatalf("found %+v", found)
				}
				return
			}
			if len(found) == 0 || found[0].Check != tt.check || !strings.Contains(found[0].Seen, tt.says) {
				t.Fatalf("found %+v", found)
			}
			for _, one := range found {
				if one.Looked == "" || one.Seen == "" || one.Do == "" {
					t.Errorf("%+v lacks a part", one)
				}
			}
		})
	}
}

// TestEachBoth is the law that each check has a case in which it fires, and one in which it is
// silent.
func TestEachBoth(t *testing.T) {
	if found := Examine(healthy(t)); len(found) > 0 {
		t.Errorf("a healthy host: %+v", found)
	}
	f := healthy(t)
	if plain(&f); len(Examine(f)) > 0 {
		t.Errorf("a plain host: %+v", Examine(f))
	}
	if found := Examine(Facts{}); len(found) > 0 {
		t.Errorf("nothing was seen: %+v", found)
	}
	fires, silent := map[Name]int{}, map[Name]int{}
	for _, tt := range cases {
		if tt.says == "" {
			silent[tt.check]++
		} else {
			fires[tt.check]++
		}
	}
	seen := map[Name]bool{}
	for _, name := range All() {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		if seen[name] = true; fires[name] == 0 || silent[name] == 0 {
			t.Errorf("%s fires in %d cases, and is silent in %d", name, fires[name], silent[name])
		}
	}
	for name := range fires {
		if !seen[name] {
			t.Errorf("there is no check %s", name)
		}
	}
}

// TestLasting holds that what is over at the second look is no finding, and what has come since is
// none yet.
func TestLasting(t *testing.T) {
	a, b := Finding{Check: CheckStale, Looked: "x", Seen: "3 s"}, Finding{Check: CheckStale, Looked: "y"}
	later := a
	later.Seen = "5 s"
	if heard := []Finding{{Check: CheckVersion}}; !slices.Equal(Lasting(nil, heard), heard) {
		t.Error("what three adverts have said must be said again")
	}
	if got := Lasting([]Finding{a, b}, []Finding{later, {Check: CheckStale, Looked: "z"}, {Check: CheckOlder, Looked: "x"}}); !slices.Equal(got, []Finding{later}) {
		t.Errorf("%+v", got)
	}
}

// TestBeingReplaced holds that a daemon is not blamed which has another file before it at each
// look: it is being told. One that has the same is.
func TestBeingReplaced(t *testing.T) {
	f := healthy(t)
	look := func(force, disk string) []Finding {
		f.Runs[1].Force, f.Runs[1].Disk, f.Runs[1].Said = force, disk, disk
		return Examine(f)
	}
	if got := Lasting(look("one", "two"), look("two", "three")); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := Lasting(look("one", "two"), look("one", "two")); len(got) != 1 || got[0].Check != CheckOlder {
		t.Errorf("%+v", got)
	}
}

// TestOrder holds that a cause stands before what follows from it, where both are seen.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		what   string
		cause  Name
		change func(*Facts)
	}{
		{"a wrong clock has API servers refuse", CheckClock, func(f *Facts) {
			f.Clocks[0].Ahead = 5 * time.Minute
			for i := range f.Servers {
				f.Servers[i].Ready, f.Servers[i].Why = false, "certificate has expired or is not yet valid"
			}
		}},
		{"dead API servers have checks fail", CheckAPIServers, func(f *Facts) {
			for i := range f.Servers {
				f.Servers[i].Ready = false
			}
			f.Balancer.Fault, f.Tracks[0].Passes, f.VIPs[0].Answers = "503", false, nil
		}},
		{"a dead monitor leaves peers out", CheckMonitors, func(f *Facts) { f.Monitors[0].Fault, f.VIPs[0].Peers = "refused", ips("192.0.2.11") }},
		{"a dead monitor leaves the file as somebody has changed it", CheckMonitors, func(f *Facts) { f.Monitors[1].Fault, f.Runs[1].Disk = "refused", "four" }},
		{"CoreDNS answers by an older file", CheckOlder, func(f *Facts) { f.Runs[2].Disk, f.Names[0].Got = "four", ips("198.51.100.1") }},
		{"who is not in a peer list takes the VIP", CheckPeers, func(f *Facts) {
			heard(clash.OneWay)(f)
			f.VIPs[0].Peers, f.VIPs[0].Answers = ips("192.0.2.11"), []string{mac11, mac13}
		}},
		{"of two versions both hold it", CheckVersion, func(f *Facts) {
			heard(clash.Holders)(f)
			f.Heard = append(f.Heard, f.Heard[0])
			f.Heard[0].Kind = clash.Version
		}},
		{"a foreign host has neighbours go astray", CheckForeign, func(f *Facts) { f.VIPs[1].Answers, f.VIPs[1].Echoes[0].FromVIP = []string{macAlien}, false }},
		{"this host as name server behind itself leaves none", CheckUpstreamSelf, func(f *Facts) { f.Resolver = &Resolver{Path: "x", Self: ips("192.0.2.12")} }},
	} {
		f := healthy(t)
		tt.change(&f)
		if found := Examine(f); len(found) < 2 || found[0].Check != tt.cause {
			t.Errorf("%s: %+v", tt.what, found)
		}
	}
}

// TestStaleAlone holds that a host whose keepalived does not answer for the address that its kernel
// has is told of that alone: it is no second holder.
func TestStaleAlone(t *testing.T) {
	f := healthy(t)
	f.VIPs[0].Here = true
	if found := Examine(f); len(found) != 1 || found[0].Check != CheckStale {
		t.Errorf("%+v", found)
	}
}

// TestFreeID holds that doctor names an ID that is free for whichever VIP's another router has.
func TestFreeID(t *testing.T) {
	for _, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS} {
		f := healthy(t)
		heard(clash.Foreign)(&f)
		f.VIPs[0].For, f.VIPs[0].Instance, f.Heard[0].Instance = kind, "one", "one"
		f.Proposed = map[vrrp.Kind]vrrp.ID{kind: 77}
		if found := vrid(f); len(found) != 1 || !strings.Contains(found[0].Do, fmt.Sprintf("--vrid %s=77", kind)) {
			t.Errorf("%s: %+v", kind, found)
		}
	}
}
