package drift

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// announces has a cluster of two racks, whose VIPs are in no network of hosts.
func announces(changes ...func(*routing.BGPSettings)) func(*spec.Cluster) {
	return func(c *spec.Cluster) {
		peer := func(text string) routing.Peer { return routing.Peer{Address: netip.MustParseAddr(text), ASN: 65101} }
		c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("10.1.2.0/24")}
		c.ControlPlaneReplicas = 3
		c.APIVIPs[0], c.IngressVIPs[0] = netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("198.51.100.6")
		c.Routing = spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{
			{Network: c.MachineNetworks[0], Peers: []routing.Peer{peer("10.1.1.1"), peer("10.1.1.2")}}, {Network: c.MachineNetworks[1], Name: "b"}}}}
		for _, change := range changes {
			change(&c.Routing.BGP)
		}
	}
}

// by has a cluster whose VIPs are in its only rack.
func by(is, was spec.Management) func(*spec.Cluster) {
	return func(c *spec.Cluster) {
		c.ControlPlaneReplicas = 3
		if is != spec.ByVRRP || was == spec.ByBoth {
			c.Routing = spec.Routing{Management: is, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: c.MachineNetworks[0], Peers: []routing.Peer{{Address: netip.MustParseAddr("192.0.2.1")}}}}}}
		}
		if c.MigrateFrom.Management = was; is == was {
			c.MigrateFrom.Management = ""
		}
	}
}

// TestMeanings_Routed holds what each change of how hosts announce VIPs does to a host: which sessions
// and connections last.
func TestMeanings_Routed(t *testing.T) {
	type bgp = *routing.BGPSettings
	for _, tt := range []struct {
		name        string
		there, next func(*spec.Cluster)
		want        Level // empty for no effect beside that of the file
		text        string
	}{
		{"nothing", announces(), announces(), "", ""},
		{"a router more", announces(), announces(func(b bgp) {
			b.Racks[0].Peers = append(b.Racks[0].Peers, routing.Peer{Address: netip.MustParseAddr("10.1.1.3")})
		}), Reload, "end (none), begin (10.1.1.3) and begin anew (none): those with 10.1.1.1, 10.1.1.2 last"},
		{"a router less", announces(), announces(func(b bgp) { b.Racks[0].Peers = b.Racks[0].Peers[:1] }), Reload, "end (10.1.1.2), begin (none)"},
		{"a router of another number", announces(), announces(func(b bgp) { b.Racks[0].Peers[1].ASN = 65109 }), Reload, "begin anew (10.1.1.2): those with 10.1.1.1 last"},
		{"all routers", announces(), announces(func(b bgp) { b.Racks[0].Peers = []routing.Peer{{Address: netip.MustParseAddr("10.1.1.3")}} }), Moves, "none lasts"},
		{"TTL security of all", announces(), announces(func(b bgp) { b.Racks[0].Peers[0].TTLSecurity, b.Racks[0].Peers[1].TTLSecurity = true, true }), Moves, "begin anew (10.1.1.1, 10.1.1.2): none lasts"},
		{"routers in the place of gateways", announces(), announces(func(b bgp) { b.Racks[1].Peers = []routing.Peer{{Address: netip.MustParseAddr("10.1.2.1")}} }), Moves, "in the rack b (10.1.2.0/24)"},
		{"timers", announces(), announces(func(b bgp) { b.Timing = "vm" }), Reload, "BFD has its new intervals at once, while sessions last"},
		{"no BFD any more", announces(), announces(func(b bgp) { b.Timing = "hold" }), MayMove, "BFD comes or goes"},
		{"the number", announces(), announces(func(b bgp) { b.ASN = 64513 }), Moves, "64512, becomes 64513: all sessions"},
		{"communities", announces(), announces(func(b bgp) { b.Communities = []string{"64512:7"} }), Reload, "the communities 64512:7: sessions last"},
		{"the mode", announces(), announces(func(b bgp) { b.Mode = routing.Preferred }), Moves, "paths have another length (ecmp, [4], and preferred"},
		{"the depth of the fabric", announces(), announces(func(b bgp) { b.FabricDepth = 3 }), Moves, "paths have another length"},
		{"the name of a rack", announces(), announces(func(b bgp) { b.Racks[1].Name = "c" }), MayMove, "a rack goes, or has another name"},
		{"VRRP to both, at one instant", by(spec.ByVRRP, spec.ByVRRP), by(spec.ByBoth, spec.ByVRRP), Reload, "all from one instant on"},
		{"VRRP to both, one by one", by(spec.ByVRRP, spec.ByVRRP), by(spec.ByBoth, spec.ByBoth), Reload, "refuse it without --migrate"},
		{"both to VRRP, at one instant", by(spec.ByBoth, spec.ByBoth), by(spec.ByVRRP, spec.ByBoth), MayMove, "all at one instant"},
		{"both to VRRP, one by one", by(spec.ByBoth, spec.ByBoth), by(spec.ByVRRP, spec.ByVRRP), MayMove, "cut off with the last of those"},
		{"VRRP to BGP", nil, announces(), Moves, ""},
		{"BGP to VRRP", announces(), nil, Moves, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			there := planned(t, tt.there)
			all := Wanted{Role: role.Master, Plan: planned(t, tt.next), Goods: wanted(t).Goods, There: &there}.effects(Change{Path: plan.Path, Kind: Differs}, false)
			effects := slices.DeleteFunc(all, func(e Effect) bool { return strings.HasPrefix(e.Text, "the monitors begin anew") })
			if tt.want == "" && len(effects) > 0 || tt.want != "" && (len(effects) == 0 || effects[0].Level != tt.want || !strings.Contains(effects[0].Text, tt.text)) {
				t.Errorf("%v, want %s with %q", effects, tt.want, tt.text)
			}
			if tt.text != "" && len(effects) != 1 || slices.ContainsFunc(effects, func(e Effect) bool { return e.Level == TwoHolders }) {
				t.Errorf("%v, want one effect alone, and never two holders", effects)
			}
		})
	}
}

// TestRouted_Files holds the effects of the speaker's own files, and that no password is in a report.
func TestRouted_Files(t *testing.T) {
	b := asset.Builder{By: "test"}
	b.File(spoken.PasswordsFile, 0o600, []byte("10.1.1.1 Z7kQnew\n"))
	b.File(pods+"speaker.yaml", 0o644, []byte("kind: Pod\n"))
	b.File("/etc/sysctl.d/90-onprem-infra.conf", 0o644, []byte("x=1\n"))
	set, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, announces())
	w := Wanted{Role: role.Master, Plan: p, There: &p, Goods: set}
	for name, tt := range map[string]struct {
		path, text string
		missing    bool
		want       Level
	}{
		"another password": {spoken.PasswordsFile, "a session whose password differs ends", false, Reload}, "no passwords yet": {spoken.PasswordsFile, "gets a password", true, Reload},
		"another pod": {pods + "speaker.yaml", "withdraws the VIPs", false, Moves}, "no pod yet": {pods + "speaker.yaml", "kubelet starts the pod", true, Restart},
		"the kernel's settings": {"/etc/sysctl.d/90-onprem-infra.conf", "sysctl --system", false, Later},
	} {
		h := host(w)
		if h[inside(tt.path)] = (&fstest.MapFile{Data: []byte("10.1.1.1 Z7kQold\n"), Mode: h[inside(tt.path)].Mode}); tt.missing {
			delete(h, inside(tt.path))
		}
		r := Compare(h, w)
		if len(r.Changes) != 1 || r.Worst != tt.want || !strings.Contains(r.Changes[0].Effects[0].Text, tt.text) {
			t.Errorf("%s: %+v", name, r)
		}
		if tt.path == spoken.PasswordsFile && (strings.Contains(r.Changes[0].Diff, "Z7kQ") || strings.Contains(r.Changes[0].Note, "Z7kQ")) {
			t.Errorf("%s: a password is in the report: %+v", name, r.Changes[0])
		}
	}
	next := planned(t, announces(func(b *routing.BGPSettings) { b.ASN = 64513 }))
	w.Plan = next
	if got := w.readers(); !slices.Equal(got, []string{"speaker"}) {
		t.Errorf("%v read their configuration again", got)
	}
}
