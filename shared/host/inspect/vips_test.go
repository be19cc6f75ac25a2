package inspect_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestVIPs_RankOfBothFamilies holds that the priority of both ingress VIPs is explained by the rank
// that the node has configured: that of its address for the first of them.
func TestVIPs_RankOfBothFamilies(t *testing.T) {
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan,
		MachineNetworks: []netip.Prefix{
			netip.MustParsePrefix("192.0.2.0/24"),
			netip.MustParsePrefix("2001:db8::/64"),
		},
		APIVIPs: []netip.Addr{
			netip.MustParseAddr("192.0.2.5"),
			netip.MustParseAddr("2001:db8::5"),
		},
		IngressVIPs: []netip.Addr{
			netip.MustParseAddr("192.0.2.6"),
			netip.MustParseAddr("2001:db8::6"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, four := election.Find(p, vrrp.Ingress), netip.MustParseAddr("192.0.2.11")
	adds := func(a netip.Addr) int { return e.Scheme.Candidates().Rank(e.Scheme.Candidates().Spread(a)) }
	six := netip.MustParseAddr("2001:db8::11")
	for adds(six) == adds(four) {
		six = six.Next()
	}
	o := election.Observation{
		Links: addr.Snapshot{
			Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{
				{Prefix: netip.PrefixFrom(four, 24)}, {Prefix: netip.PrefixFrom(six, 64)},
			}}},
		},
	}
	priority := int(e.Scheme.Base) + adds(four)
	status := supervised.Status{Instances: map[string]supervised.Instance{
		"ostest_INGRESS_0": {State: supervised.Backup, Priority: priority},
		"ostest_INGRESS_1": {State: supervised.Backup, Priority: priority},
	}}
	for _, v := range fakehost.New(t, p, nil).VIPs(o, status, nil) {
		unexplained := func(p inspect.Part) bool { return p.Name == "unexplained" }
		if v.For == vrrp.Ingress &&
			(len(v.Parts) == 0 || slices.ContainsFunc(v.Parts, unexplained)) {
			t.Errorf("%s: %+v", v.Address, v.Parts)
		}
	}
}

// TestVIPs_Announced holds that a VIP which a host announces from its loopback interface is not here for the host's
// link, unless keepalived has it there, and that one which nothing announces is here wherever it is.
func TestVIPs_Announced(t *testing.T) {
	vip := netip.MustParseAddr("192.0.2.5")
	link := func(index int, name string, prefixes ...string) addr.Link {
		l := addr.Link{Index: index, Name: name, Up: true}
		for _, p := range prefixes {
			l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(p)})
		}
		return l
	}
	lo, without := link(1, "lo", "127.0.0.1/8", "192.0.2.5/32"), link(1, "lo", "127.0.0.1/8")
	standby, holder := link(2, "ens3", "192.0.2.11/24"), link(2, "ens3", "192.0.2.11/24", "192.0.2.5/32")
	for _, tt := range []struct {
		name       string
		management spec.Management
		links      []addr.Link
		here       bool
	}{
		{"announced on standby", spec.ByBoth, []addr.Link{lo, standby}, false},
		{"announced by the holder", spec.ByBoth, []addr.Link{lo, holder}, true},
		{"held, and not announced yet", spec.ByBoth, []addr.Link{without, holder}, true},
		{"on standby", spec.ByBoth, []addr.Link{without, standby}, false},
		{"left behind in a cluster by VRRP", spec.ByVRRP, []addr.Link{lo, standby}, true},
	} {
		c := fakehost.Cluster(vrrp.ProfileLan)
		if c.Routing.Management = tt.management; tt.management == spec.ByBoth {
			c.Routing.BGP = fakehost.Routed().Routing.BGP
		}
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range fakehost.New(t, p, nil).VIPs(election.Observation{Links: addr.Snapshot{Links: tt.links}}, supervised.Status{}, nil) {
			if v.Address == vip && v.Here != tt.here {
				t.Errorf("%s: %+v", tt.name, v)
			}
		}
	}
}

// TestVIPs_Provisioning holds that the provisioning address is a matter of hosts that stand for it
// alone, and that its link is the one that has it, not the one of the adverts: a bootstrap machine
// has it without keepalived, and no other host has a network in which to ask for it.
func TestVIPs_Provisioning(t *testing.T) {
	address, _ := bmc.Parse("ipmi://198.51.100.1") // it is one
	c := spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, Distribution: spec.Kubernetes, ControlPlaneReplicas: 3,
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Hosts: []spec.Host{{Name: "m0", BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"}}}}
	c.Provisioning.Network = provisioning.Managed
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	link := func(index int, name, prefix string) addr.Link {
		return addr.Link{Index: index, Name: name, Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix(prefix)}}}
	}
	machines, boots := link(2, "eth0", "192.0.2.11/24"), link(3, "eno2", "172.22.0.3/24")
	for _, tt := range []struct {
		name  string
		state supervised.State
		links []addr.Link
		want  string
	}{
		{"a bootstrap machine", "", []addr.Link{machines, boots}, "no candidate, on \"eno2\", here true, near false"},
		{"a node without Ironic", supervised.Fault, []addr.Link{machines}, "FAULT, on \"\", here false, near false"},
		{"the holder", supervised.Master, []addr.Link{machines, boots}, "MASTER, on \"eno2\", here true, near false"},
	} {
		status := supervised.Status{Instances: map[string]supervised.Instance{}}
		if tt.state != "" {
			status.Instances["ostest_PROVISIONING_0"] = supervised.Instance{State: tt.state}
		}
		got, seen := "none", election.Observation{Links: addr.Snapshot{Links: tt.links}}
		all := fakehost.New(t, p, nil).VIPs(seen, status, nil)
		for _, v := range all {
			if v.For == vrrp.Provisioning {
				got = fmt.Sprintf("%s, on %q, here %t, near %t", cmp.Or(string(v.State), "no candidate"), v.Link, v.Here, v.Router.Near)
			}
		}
		if elected := inspect.Elected(all); len(elected) != map[bool]int{true: 2, false: 3}[tt.state == ""] {
			t.Errorf("%s: %d VIPs concern the host: %+v", tt.name, len(elected), elected)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
