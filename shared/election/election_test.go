package election

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

func ips(text string) (out []netip.Addr) {
	for _, w := range strings.Fields(text) {
		out = append(out, ip(w))
	}
	return out
}

// compile makes a plan for a dual-stack cluster.
func compile(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, Distribution: spec.OpenShift,
		Topology: spec.HighlyAvailable, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
		APIVIPs:         ips("192.0.2.5 2001:db8::5"), IngressVIPs: ips("192.0.2.6 2001:db8::6"),
	}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func dns(c *spec.Cluster) { c.DNSVIP = ip("192.0.2.7") }

func links(name, prefixes string) addr.Snapshot {
	l := addr.Link{Index: 2, Name: name, Up: true}
	for _, w := range strings.Fields(prefixes) {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(w)})
	}
	return addr.Snapshot{Links: []addr.Link{l}}
}

// TestFor_EachRole holds in which elections each kind of host takes part, and in which order.
func TestFor_EachRole(t *testing.T) {
	for _, tt := range []struct {
		role   role.Role
		change func(*spec.Cluster)
		want   []vrrp.Kind
	}{
		{role.Bootstrap, nil, []vrrp.Kind{vrrp.API}},
		{role.Bootstrap, dns, []vrrp.Kind{vrrp.API, vrrp.DNS}},
		{role.Master, nil, []vrrp.Kind{vrrp.API, vrrp.Ingress}},
		{role.Master, dns, []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS}},
		{role.Worker, dns, []vrrp.Kind{vrrp.Ingress}},
	} {
		p := compile(t, tt.change)
		var got []vrrp.Kind
		var vips []netip.Addr
		for _, e := range For(p, tt.role) {
			got = append(got, e.Kind)
			for _, v := range e.VIPs {
				vips = append(vips, v.Address)
			}
			if e.ID == 0 || e.ID != IDs(p)[e.Kind] || e.Scheme.Base == 0 || len(e.Scheme.Checks) == 0 {
				t.Errorf("%s: the election of %s has no ID or no priority scheme: %+v", tt.role, e.Kind, e)
			}
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(Addresses(p, tt.role), vips) {
			t.Errorf("%s: %v with %v, want %v", tt.role, got, Addresses(p, tt.role), tt.want)
		}
	}
}

// TestAll_Families holds that each VIP is a virtual router of its own: its name counts within its
// kind, and only VRRPv2, which there is for IPv4 alone, has a password.
func TestAll_Families(t *testing.T) {
	p := compile(t, func(c *spec.Cluster) { dns(c); c.Timing = vrrp.ProfileCompat })
	var got []string
	for e, v := range All(p) {
		got = append(got, fmt.Sprint(e.Kind, " ", v.Instance, " ", v.Address, " ", v.Version, " ", v.Password))
	}
	want := []string{
		"api ostest_API_0 192.0.2.5 2 ostest_a", "api ostest_API_1 2001:db8::5 3 ",
		"ingress ostest_INGRESS_0 192.0.2.6 2 ostest_i", "ingress ostest_INGRESS_1 2001:db8::6 3 ",
		"dns ostest_DNS_0 192.0.2.7 2 ostest_d",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	names := []vrrp.InstanceName{"ostest_INGRESS_0", "ostest_INGRESS_1", "ostest_DNS_0"}
	if got := Names(p, vrrp.Ingress, vrrp.DNS); !slices.Equal(got, names) {
		t.Errorf("%v, want %v", got, names)
	}
	if e := Find(compile(t, nil), vrrp.DNS); len(e.VIPs) > 0 || e.Kind != "" {
		t.Errorf("an election that the cluster has not: %+v", e)
	}
	for range All(p) {
		break // a reader may end early
	}
}

// TestChooser_KeepsForAddressGap holds that a choice survives a gap without an address, each VIP
// its own one, and that the gap counts from the last time that there was one.
func TestChooser_KeepsForAddressGap(t *testing.T) {
	e := Find(compile(t, nil), vrrp.API)
	at, c := time.Now(), Chooser{}
	for _, step := range []struct {
		after    time.Duration
		prefixes string
		want     string
	}{
		{0, "", " "},
		{0, "192.0.2.10/24 2001:db8::10/64", "192.0.2.10 2001:db8::10"},
		{3 * time.Second, "192.0.2.10/24", "192.0.2.10 2001:db8::10"},
		{AddressGap - 1, "", "192.0.2.10 2001:db8::10"},
		{AddressGap, "", "192.0.2.10 "},
		{3*time.Second + AddressGap, "", " "},
	} {
		var got []string
		for _, v := range e.VIPs {
			on, err := c.Choose(e, v, Observation{At: at.Add(step.after), Links: links("ens3", step.prefixes)})
			if (err == nil) != on.Address.IsValid() {
				t.Errorf("after %v: %v with the error %v", step.after, on, err)
			}
			got = append(got, strings.TrimPrefix(on.Address.String(), "invalid IP"))
		}
		if text := strings.Join(got, " "); text != step.want {
			t.Errorf("after %v with %q: %q, want %q", step.after, step.prefixes, text, step.want)
		}
	}
}

// TestAddressRank_FirstVIP holds that one address gives the rank of all VIPs of an election: that
// of the first VIP for which there is one.
func TestAddressRank_FirstVIP(t *testing.T) {
	e := Find(compile(t, func(c *spec.Cluster) { c.Timing = vrrp.ProfileLan }), vrrp.Ingress)
	for _, tt := range []struct{ prefixes, want string }{
		{"192.0.2.10/24 2001:db8::10/64", "192.0.2.10"}, {"2001:db8::10/64", "2001:db8::10"}, {"", ""},
	} {
		choose := func(v VIP) (addr.Choice, error) { return e.Choose(v, Observation{Links: links("ens3", tt.prefixes)}) }
		rank, ok := e.AddressRank(choose)
		if ok != (tt.want != "") || ok && rank != e.Scheme.Candidates().Spread(ip(tt.want)) {
			t.Errorf("%q: rank %d, %t", tt.prefixes, rank, ok)
		}
	}
}

// TestMembers_Sources holds which addresses may hold a VIP: those of its family, of nodes and
// candidates, also former ones, no VIP among them, and of the local host the one that it has.
func TestMembers_Sources(t *testing.T) {
	now := time.Now()
	past, before := peer.History{}, []addr.Candidate{{Name: "b", InternalIPs: ips("192.0.2.13")}}
	nodes := []addr.Candidate{{Name: "a", InternalIPs: ips("192.0.2.11 2001:db8::11")}, {Name: "b", InternalIPs: ips("192.0.2.12 192.0.2.6")}}
	past.Note(append(before, nodes[0]), nodes, now)
	list := []notice.Candidate{{Name: "c", Addresses: ips("192.0.2.9 192.0.2.5 2001:db8::9")}}
	for _, tt := range []struct {
		name   string
		change func(*Election)
		own    string
		want   string
	}{
		{"nodes", func(e *Election) { e.Past = Past{} }, "192.0.2.11", "192.0.2.11 192.0.2.12"},
		{"a former address", func(*Election) {}, "192.0.2.11", "192.0.2.11 192.0.2.12 192.0.2.13"},
		{"the local host's former address", func(*Election) {}, "192.0.2.13", "192.0.2.11 192.0.2.13"},
		{"no node itself", func(*Election) {}, "", "192.0.2.11 192.0.2.12 192.0.2.13"},
		{"candidates", func(e *Election) { e.Past, e.Candidates = Past{}, list }, "192.0.2.11", "192.0.2.9 192.0.2.11 192.0.2.12"},
		{"the only node", func(e *Election) { e.Alone = true }, "192.0.2.11", "192.0.2.11"},
	} {
		e := Find(compile(t, nil), vrrp.Ingress)
		e.Nodes, e.Past.Nodes = nodes, &past
		tt.change(&e)
		own := netip.Addr{}
		if tt.own != "" {
			own = ip(tt.own)
		}
		if got := e.Members(e.VIPs[0], own); !slices.Equal(got, ips(tt.want)) {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestMembers_Listed holds which former addresses of candidates count: none that another one has now
// if that is the local host, and no more of one candidate than have a bound.
func TestMembers_Listed(t *testing.T) {
	now, former := time.Now(), func(name, addresses string) []addr.Candidate {
		return []addr.Candidate{{Name: name, InternalIPs: ips(addresses)}}
	}
	for name, tt := range map[string]struct {
		states []string // of candidate c, the last one present
		more   []notice.Candidate
		want   string
	}{
		"one former":    {[]string{"192.0.2.8", "192.0.2.9"}, nil, "192.0.2.8 192.0.2.9"},
		"moved to here": {[]string{"192.0.2.11", "192.0.2.9"}, []notice.Candidate{{Name: "me", Addresses: ips("192.0.2.11")}}, "192.0.2.9 192.0.2.11"},
		"its own":       {[]string{"192.0.2.11", "192.0.2.9"}, nil, "192.0.2.11"},
		"very many": {[]string{"192.0.2.20 192.0.2.21 192.0.2.22 192.0.2.23", "192.0.2.24 192.0.2.25 192.0.2.26 192.0.2.27", "192.0.2.9"}, nil,
			"192.0.2.9 192.0.2.20 192.0.2.21 192.0.2.22 192.0.2.23 192.0.2.24 192.0.2.25 192.0.2.26"},
	} {
		e, past := Find(compile(t, nil), vrrp.Ingress), peer.History{}
		for i := range tt.states[1:] {
			past.Note(former("c", tt.states[i]), former("c", tt.states[i+1]), now)
		}
		e.Candidates = append([]notice.Candidate{{Name: "c", Addresses: ips(tt.states[len(tt.states)-1])}}, tt.more...)
		e.Past.Candidates = &past
		if got := e.Members(e.VIPs[0], ip("192.0.2.11")); !slices.Equal(got, ips(tt.want)) {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// TestInstance_Modes holds the values that follow from the election and the chosen interface, and
// that a name which keepalived would not take as one word gives no instance.
func TestInstance_Modes(t *testing.T) {
	on := addr.Choice{Link: "ens3", Address: ip("192.0.2.10"), OnLink: true}
	for _, mode := range []spec.Mode{spec.Unicast, spec.Multicast} {
		p := compile(t, func(c *spec.Cluster) { c.VRRP, c.Timing = mode, vrrp.ProfileLan })
		e := Find(p, vrrp.API)
		got, err := e.Instance(e.VIPs[0], on, 42)
		if err != nil {
			t.Fatal(err)
		}
		model := p.Timing.Model
		if got.Name != "ostest_API_0" || got.Interface != "ens3" || got.ID != e.ID || got.Version != vrrp.V3 || got.Priority != 42 ||
			got.Advert != model.Advert || got.Refresh != model.Refresh || got.VIP != ip("192.0.2.5") || got.Source.IsValid() != (mode == spec.Unicast) {
			t.Errorf("%s: %+v", mode, got)
		}
		c := e.ClashInstance(e.VIPs[0], on, ips("192.0.2.10"))
		if c.Kind != vrrp.API || c.Name != got.Name || c.Link != "ens3" || c.ID != e.ID || c.Version != vrrp.V3 || c.Interval != model.Advert ||
			c.VIP != got.VIP || c.Unicast != (mode == spec.Unicast) || !c.Near || c.Own != on.Address || len(c.Members) != 1 {
			t.Errorf("%s: %+v", mode, c)
		}
		if _, err := e.Instance(e.VIPs[0], addr.Choice{Link: `e"th`}, 42); err == nil {
			t.Errorf("%s: an instance on an interface with a quote in its name", mode)
		}
	}
}

// TestSetPeers_Closed holds that a closed election drops adverts of others once there are peers,
// those from behind a router only where every router sends with 255 hops, and that without a peer
// any host can be reached.
func TestSetPeers_Closed(t *testing.T) {
	for _, tt := range []struct {
		profile, vip string
		peers        []netip.Addr
		closed       bool
		want         string
	}{
		{vrrp.ProfileLan, "192.0.2.5", ips("192.0.2.12 192.0.2.10 192.0.2.11 192.0.2.12"), true, "[192.0.2.11 192.0.2.12] true true"},
		{vrrp.ProfileLan, "192.0.2.5", ips("192.0.2.12"), false, "[192.0.2.12] false false"},
		{vrrp.ProfileLan, "192.0.2.5", ips("192.0.2.10"), true, "[224.0.0.18] false false"},
		{vrrp.ProfileLan, "2001:db8::5", ips("2001:db8::12"), true, "[2001:db8::12] true true"},
		{vrrp.ProfileCompat, "2001:db8::5", ips("2001:db8::12"), true, "[2001:db8::12] true false"},
		{vrrp.ProfileCompat, "192.0.2.5", ips("192.0.2.12"), true, "[192.0.2.12] true true"},
	} {
		e := Find(compile(t, func(c *spec.Cluster) { c.Timing = tt.profile }), vrrp.API)
		e.Closed = tt.closed
		inst := keepalived.Instance{Source: ip("192.0.2.10"), VIP: ip(tt.vip), Advert: e.Timing.Advert}
		e.SetPeers(&inst, tt.peers)
		if got := fmt.Sprint(inst.Peers, inst.Known, inst.Near); got != tt.want {
			t.Errorf("%s, %s, closed %t, %v: %s, want %s", tt.profile, tt.vip, tt.closed, tt.peers, got, tt.want)
		}
	}
}

// TestConfig_Paths holds the paths that keepalived, its supervisor and the monitors agree on.
func TestConfig_Paths(t *testing.T) {
	c := Config("made by a test")
	if c.Header != "made by a test" || c.NotifyFIFO != "/run/onprem-infra/keepalived/notify.fifo" || c.Leave != "/run/onprem-infra/keepalived/track/leave" {
		t.Errorf("%+v", c)
	}
	if got := TrackFile("lb", false); got != "/run/onprem-infra/keepalived/track/lb" {
		t.Error(got)
	}
	if got := TrackFile("ingress", true); got != "/run/onprem-infra/keepalived/fault/ingress" {
		t.Error(got)
	}
}
