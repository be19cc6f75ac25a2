package served

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

func addrs(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

// planned is a plan with two addresses over IPv4, complete.
func planned(change ...func(*provision.Plan)) *provision.Plan {
	a := addrs("172.22.0.2", "172.22.0.3", "172.22.0.10", "172.22.0.254", "172.22.0.1", "172.22.0.11", "172.22.0.12", "172.22.0.13")
	p := &provision.Plan{Network: plans.Managed, CIDR: netip.MustParsePrefix("172.22.0.0/24"), Address: plans.Two, BootstrapIP: a[0], IP: a[1],
		DHCP: &provision.DHCP{Unknown: plans.Refuse, First: a[2], Last: a[3], LeaseSeconds: 3600, Gateway: a[4], DNS: addrs("192.0.2.1", "2001:db8::1")},
		NTP:  []string{"192.0.2.2", "time.example.com", "2001:db8::2", "192.0.2.2"},
		Hosts: []provision.Host{
			{Name: "master-0", Phase: provision.Bootstrap, MAC: card(1), Address: a[5], Boot: provision.PXEUEFI},
			{Name: "master-1.example.com", Phase: provision.Bootstrap, MAC: card(2), Address: a[6], Boot: provision.PXEBIOS},
			{Name: "worker-0", Phase: provision.Cluster, MAC: card(3), Address: a[7], Boot: provision.VirtualMedia},
		}}
	for _, c := range change {
		c(p)
	}
	return p
}

func six(p *provision.Plan) {
	p.CIDR, p.BootstrapIP, p.IP = netip.MustParsePrefix("fd00:22::/64"), addrs("fd00:22::2")[0], addrs("fd00:22::3")[0]
	p.DHCP.First, p.DHCP.Last, p.DHCP.Block, p.DHCP.Gateway = addrs("fd00:22::a")[0], addrs("fd00:22::ffff")[0], 124, netip.Addr{}
	for i := range p.Hosts {
		p.Hosts[i].Address = addrs("fd00:22::10", "fd00:22::20", "fd00:22::30")[i]
	}
}

func one(p *provision.Plan) { p.Address, p.BootstrapIP = plans.One, netip.Addr{} }

var place = Place{Link: "eno2", HTTPPort: 6180, Programs: Programs()}

// TestNetwork holds what follows from the plan, and that its renderer has no findings about it.
func TestNetwork(t *testing.T) {
	n, ok := Network(planned(), provision.Bootstrap, place)
	if err := n.Validate(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := provisioning.Network{Interface: "eno2", Server: addrs("172.22.0.2")[0], Prefix: netip.MustParsePrefix("172.22.0.0/24"), Mode: provisioning.Managed,
		Reservations: []provisioning.Reservation{{MAC: card(1), Address: addrs("172.22.0.11")[0], Name: "master-0"}, {MAC: card(2), Address: addrs("172.22.0.12")[0], Name: "master-1"}},
		Lease:        time.Hour, Gateway: addrs("172.22.0.1")[0], DNS: addrs("192.0.2.1"), NTP: addrs("192.0.2.2"), HTTPPort: 6180, Programs: Programs(), Paths: n.Paths}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("got  %+v\nwant %+v", n, want)
	}
	for name, path := range map[string]string{"hosts": n.Paths.Hosts, "log": n.Paths.Log} {
		if !strings.HasPrefix(path, "/run/") {
			t.Errorf("%s is %s, which outlives a boot", name, path)
		}
	}
}

func TestNetwork_IPv6(t *testing.T) {
	n, ok := Network(planned(six), provision.Bootstrap, place)
	if err := n.Validate(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if n.Reservations[0].Bits != 124 || n.Reservations[1].Address != addrs("fd00:22::20")[0] || !slices.Equal(n.DNS, addrs("2001:db8::1")) || !slices.Equal(n.NTP, addrs("2001:db8::2")) || n.Server != addrs("fd00:22::2")[0] {
		t.Errorf("got %+v", n)
	}
}

// TestNetwork_Phases holds that both phases give one host the same, that none is in both where both
// may answer at once, and that a host of the bootstrap machine boots from its disk in the other one.
func TestNetwork_Phases(t *testing.T) {
	for _, change := range []func(*provision.Plan){func(*provision.Plan) {}, six, one} {
		p := planned(change)
		a, _ := Network(p, provision.Bootstrap, place)
		b, _ := Network(p, provision.Cluster, place)
		own := slices.DeleteFunc(slices.Clone(b.Reservations), func(r provisioning.Reservation) bool { return r.Local })
		if len(a.Reservations)+len(own) != len(p.Hosts) || len(own) != 1 || own[0].MAC != card(3) {
			t.Errorf("%v and %v of %d hosts", a.Reservations, b.Reservations, len(p.Hosts))
		}
		var kept []provisioning.Reservation
		if p.Address == plans.One {
			for _, r := range a.Reservations {
				r.Local = true
				kept = append(kept, r)
			}
		}
		if !slices.Equal(b.Reservations, append(kept, own...)) {
			t.Errorf("address %s: the cluster answers %v", p.Address, b.Reservations)
		}
		if shared := p.Address == plans.One; a.Authoritative != shared || b.Authoritative != shared || (a.Server == b.Server) != shared || Other(p, provision.Bootstrap).IsValid() == shared {
			t.Errorf("address %s: %v and %v, authoritative %t", p.Address, a.Server, b.Server, a.Authoritative)
		}
		a.Reservations, b.Reservations, b.Server = nil, nil, a.Server
		if !reflect.DeepEqual(a, b) {
			t.Errorf("the phases differ:\n%+v\n%+v", a, b)
		}
	}
	if p := planned(); Other(p, provision.Bootstrap) != p.IP || Other(p, provision.Cluster) != p.BootstrapIP {
		t.Error("another server than the other phase's")
	}
}

func TestNetwork_Modes(t *testing.T) {
	parts := []subnet.Span{{First: netip.MustParseAddr("172.22.0.100"), Last: netip.MustParseAddr("172.22.0.110")}, {First: netip.MustParseAddr("172.22.0.120"), Last: netip.MustParseAddr("172.22.0.120")}}
	pool := planned(func(p *provision.Plan) { p.DHCP.Unknown, p.DHCP.Pool = plans.Pool, parts })
	if n, _ := Network(pool, provision.Bootstrap, place); n.Pool != nil {
		t.Error("the bootstrap machine has a pool for other hosts")
	}
	if n, _ := Network(pool, provision.Cluster, place); len(n.Pool) != 2 || n.Pool[1].Last != parts[1].Last || n.Validate() != nil {
		t.Errorf("the pool is %v, %v", n.Pool, n.Validate())
	}
	n, ok := Network(planned(func(p *provision.Plan) { p.Network, p.DHCP = plans.Unmanaged, nil }), provision.Bootstrap, place)
	if err := n.Validate(); !ok || err != nil || n.Mode != provisioning.Unmanaged || len(n.Reservations) != 2 {
		t.Errorf("unmanaged: %+v, %v", n, err)
	}
	for _, p := range []*provision.Plan{nil, {}, planned(func(p *provision.Plan) { p.Network, p.DHCP = plans.Disabled, nil })} {
		if n, ok := Network(p, provision.Bootstrap, place); ok {
			t.Errorf("served is %+v", n)
		}
	}
}

// TestNetwork_Names holds that a host whose name dnsmasq cannot have is known by its card.
func TestNetwork_Names(t *testing.T) {
	p := planned(func(p *provision.Plan) {
		p.Hosts = nil
		for i, name := range []string{"a.x", "A.y", "b", "10d", "", "ignore", "x_y"} {
			p.Hosts = append(p.Hosts, provision.Host{Name: name, Phase: provision.Bootstrap, MAC: card(byte(i)), Address: netip.AddrFrom4([4]byte{172, 22, 0, byte(20 + i)})})
		}
	})
	n, _ := Network(p, provision.Bootstrap, place)
	var got []string
	for _, r := range n.Reservations {
		got = append(got, r.Name)
	}
	if want := []string{"", "", "b", "", "", "", ""}; !slices.Equal(got, want) || n.Validate() != nil {
		t.Errorf("names %q, want %q, %v", got, want, n.Validate())
	}
}

func TestPresent(t *testing.T) {
	for _, tt := range []struct{ have, phase, want, missing string }{
		{"undionly.kpxe snponly.efi arm64-efi/snponly.efi", "bootstrap", "undionly.kpxe snponly.efi arm64-efi/snponly.efi", ""},
		{"undionly.kpxe snponly.efi", "bootstrap", "undionly.kpxe snponly.efi ", ""},
		{"undionly.kpxe arm64-efi/snponly.efi", "bootstrap", "undionly.kpxe  arm64-efi/snponly.efi", ""},
		{"snponly.efi", "bootstrap", " snponly.efi ", "undionly.kpxe"},
		{"undionly.kpxe", "bootstrap", "undionly.kpxe  ", "snponly.efi"},
		{"", "bootstrap", "undionly.kpxe snponly.efi arm64-efi/snponly.efi", "undionly.kpxe snponly.efi"},
		{"", "cluster", "undionly.kpxe snponly.efi arm64-efi/snponly.efi", ""},
	} {
		programs, missing := Present(planned(), provision.Phase(tt.phase), func(path string) bool { return slices.Contains(strings.Fields(tt.have), path) })
		if got := programs.BIOS + " " + programs.X64 + " " + programs.ARM64; got != tt.want || strings.Join(missing, " ") != tt.missing {
			t.Errorf("%q: %q without %q, want %q without %q", tt.have, got, missing, tt.want, tt.missing)
		}
	}
}

// TestNetwork_LabelsOfPhases holds that a host which is installed keeps its name beside one that has the same
// label, and boots from its disk.
func TestNetwork_LabelsOfPhases(t *testing.T) {
	p := planned(one, func(p *provision.Plan) { p.Hosts[0].Name, p.Hosts[2].Name = "node1.cp.example", "node1.wk.example" })
	var names []string
	n, _ := Network(p, provision.Cluster, place)
	for _, r := range n.Reservations {
		names = append(names, r.Name)
	}
	if want := []string{"", "master-1", "node1"}; !slices.Equal(names, want) || n.Validate() != nil {
		t.Errorf("names %q, want %q: %v", names, want, n.Validate())
	}
}
