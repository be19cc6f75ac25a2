package routing

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
)

// good is a description of two racks, with a line for each thing, which tests change.
const good = `vipManagement: bgp
bgp:
  asn: 64512
  mode: ecmp
  timing: vm
  fabricDepth: 1
  communities: ["64512:100"]
  racks:
  - network: 10.1.0.0/24
    peers:
    - {address: 10.1.0.1, asn: 65101, source: 10.9.1.0/24, ttlSecurity: true}
    - {address: 10.1.0.2, asn: "64086.59904"}
  - name: second
    network: 10.2.0.0/24
    peers:
    - {interface: enp1s0, asn: external}
    - {address: 10.9.0.1, asn: 65102, hops: 2}
`

// around is a cluster with the networks of both racks, and a virtual IP beside them.
func around(t *testing.T, machines, vips string) Around {
	t.Helper()
	r := document.NewReader("around.yaml", "a map")
	root, ok := r.Read([]byte(fmt.Sprintf("{machines: [%s], vips: [%s]}", machines, vips)))
	if !ok {
		t.Fatal(r.Findings)
	}
	o := r.Map(root)
	a := Around{ControlPlane: 3, Addresses: network.Addresses{Machines: network.ReadNetworks(r, o.Get("machines")), API: network.ReadVIPs(r, o.Get("vips"))}}
	if len(r.Findings) > 0 {
		t.Fatal(r.Findings)
	}
	return a
}

// TestCheckFormer holds which ways a live cluster can go.
func TestCheckFormer(t *testing.T) {
	both := strings.NewReplacer("vipManagement: bgp", "vipManagement: both", "  mode: ecmp\n", "").Replace(good)
	back := strings.Replace(good, "vipManagement: bgp", "vipManagement: vrrp", 1)
	for name, tt := range map[string]struct{ text, former, want string }{
		"to both":           {both, "vrrp", ""},
		"and back":          {back, "both", ""},
		"to bgp":            {strings.Replace(good, "x", "x", 1), "both", "does not lead to bgp in place"},
		"from bgp":          {both, "bgp", `"bgp" is not known: write one of vrrp, both`},
		"nowhere":           {both, "both", "is the vipManagement that is wanted too"},
		"without a word":    {strings.Replace(good, "vipManagement: bgp\n", "", 1), "both", "has no successor: write vipManagement"},
		"back without bgp":  {"vipManagement: vrrp\n", "both", "keep bgp as it is there"},
		"without migration": {back, "", "has no effect without vipManagement"},
	} {
		vip := "10.1.0.5"
		if name == "to bgp" {
			vip = "198.51.100.5"
		}
		a := around(t, "10.1.0.0/24, 10.2.0.0/24", vip)
		if tt.former != "" {
			a.Former = document.Given(tt.former, document.Field("migrateFrom.vipManagement"))
		}
		if _, got := check(t, tt.text, a); (len(got) == 0) != (tt.want == "") || !strings.Contains(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func check(t *testing.T, text string, a Around) (Settings, []string) {
	t.Helper()
	r := document.NewReader("cluster.yaml", "a map")
	root, ok := r.Read([]byte(text))
	if !ok {
		t.Fatal(r.Findings)
	}
	d := Read(r, r.Map(root))
	d.Check(&r.Report, a)
	var all []string
	for _, f := range r.Findings.First() {
		all = append(all, f.String())
	}
	return d.Values(), all
}

func TestRead(t *testing.T) {
	a := netip.MustParseAddr
	got, findings := check(t, good, around(t, "10.1.0.0/24, 10.2.0.0/24", "198.51.100.5"))
	want := Settings{Management: BGP, BGP: BGPSettings{ASN: 64512, Mode: ECMP, Timers: Timers{Timing: "vm"}, FabricDepth: 1, Communities: []string{"64512:100"}, Racks: []Rack{
		{Network: netip.MustParsePrefix("10.1.0.0/24"), Peers: []Peer{{Address: a("10.1.0.1"), ASN: 65101, Source: Source{Prefix: netip.MustParsePrefix("10.9.1.0/24")}, TTLSecurity: true}, {Address: a("10.1.0.2"), ASN: 4200000000}}},
		{Name: "second", Network: netip.MustParsePrefix("10.2.0.0/24"), Peers: []Peer{{Interface: "enp1s0"}, {Address: a("10.9.0.1"), ASN: 65102, Hops: 2}}},
	}}}
	if len(findings) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%q\n%+v\nwant\n%+v", findings, got, want)
	}
	none, findings := check(t, "{}", around(t, "10.1.0.0/24", "10.1.0.5"))
	if len(findings) > 0 || !reflect.DeepEqual(none, Settings{}) {
		t.Errorf("without a word of it: %q, %+v", findings, none)
	}
}

// many are so many routers of the first rack.
func many(n int) (lines string) {
	for i := range n {
		lines += fmt.Sprintf("    - {address: 10.1.0.%d, asn: 65101}\n", 20+i)
	}
	return lines
}

func manyRacks(n int) (lines string) {
	for i := range n {
		lines += fmt.Sprintf("  - {name: r%d}\n", i)
	}
	return lines
}

// TestCheck holds that each contradiction is found at its line, and nothing else with it.
func TestCheck(t *testing.T) {
	const networks, vip = "10.1.0.0/24, 10.2.0.0/24", "198.51.100.5"
	for name, tt := range map[string]struct {
		from, to       string
		networks, vips string
		want           []string
	}{
		"a word that is none":      {"vipManagement: bgp", "vipManagement: ospf", networks, vip, []string{`1:16: error: vipManagement: "ospf" is not known: write one of vrrp, bgp, both`}},
		"without the section":      {good, "vipManagement: bgp", networks, vip, []string{"1:16: error: vipManagement: bgp needs the hosts' own number"}},
		"without the word":         {"vipManagement: bgp", "x: 1", networks, vip, []string{"has no effect without vipManagement"}},
		"no number":                {"  asn: 64512\n", "", networks, vip, []string{"has no asn"}},
		"a reserved number":        {"asn: 64512", "asn: 23456", networks, vip, []string{"3:8: error: bgp.asn: \"23456\" is not for routers: 23456 stands for"}},
		"a public number":          {"asn: 64512", "asn: 3320", networks, vip, []string{"3:8: warning: bgp.asn: 3320 is a public number"}},
		"a number of documents":    {"asn: 64512", "asn: 64500", networks, vip, []string{"3:8: warning: bgp.asn: 64500 is for examples in documents (RFC 5398)"}},
		"a number of nobody":       {"asn: 64512", `asn: "1.16"`, networks, vip, []string{"3:8: warning: bgp.asn: 65552 is one that IANA keeps back"}},
		"a router's of documents":  {`asn: "64086.59904"`, "asn: 65536", networks, vip, []string{"12:32: warning: bgp.racks[0].peers[1].asn: 65536 is for examples"}},
		"a router's of nobody":     {`asn: "64086.59904"`, "asn: 131071", networks, vip, []string{"12:32: warning: bgp.racks[0].peers[1].asn: 131071 is one that IANA"}},
		"a router's public number": {`asn: "64086.59904"`, "asn: 3320", networks, vip, nil},
		"no number at all":         {"asn: 64512", "asn: AS64512", networks, vip, []string{`"AS64512" is no number of an autonomous system`}},
		"a mode that is none":      {"mode: ecmp", "mode: active", networks, vip, []string{"write one of ecmp, preferred"}},
		"a profile that is none":   {"timing: vm", "timing: compat", networks, vip, []string{"write one of lan, vm, hold"}},
		"a depth that is none":     {"fabricDepth: 1", "fabricDepth: 4", networks, vip, []string{"4 is no number of levels"}},
		"a community that is none": {`"64512:100"`, `"64512:65536"`, networks, vip, []string{"is no community"}},
		"a reserved community":     {`"64512:100"`, `"65535:0"`, networks, vip, []string{`"65535:0" is reserved (RFC 1997)`}},
		"a community of number 0":  {`"64512:100"`, `"0:0"`, networks, vip, []string{`"0:0" is reserved`}},
		"a route server's":         {`"64512:100"`, `"0:100"`, networks, vip, nil},
		"a misspelt field":         {"fabricDepth", "fabricdepth", networks, vip, []string{"spell it fabricDepth"}},
		"no racks":                 {good[strings.Index(good, "  racks:"):], "", networks, vip, []string{"has no racks"}},
		"racks that overlap":       {"network: 10.2.0.0/24", "network: 10.1.0.128/25", networks, vip, []string{"10.1.0.128/25 overlaps 10.1.0.0/24, at line 9"}},
		"a rack without a place":   {"  - name: second\n    network: 10.2.0.0/24\n", "  -\n", networks, vip, []string{"has neither a network nor a name"}},
		"a name that is none":      {"name: second", "name: Rack_2", networks, vip, []string{"is no name of a rack"}},
		"a network of no host":     {"network: 10.2.0.0/24", "network: 10.3.0.0/24", "10.1.0.0/24", vip, []string{"10.3.0.0/24 is in no machine network"}},
		"hosts without a rack":     {"  - name: second\n    network", "  - network", networks + ", 10.7.0.0/24", vip, []string{"10.7.0.0/24 has no rack in bgp"}},
		"a router outside":         {"address: 10.1.0.2", "address: 10.7.0.1", networks, vip, []string{"10.7.0.1 is not in the network of its rack, 10.1.0.0/24"}},
		"a router twice":           {"address: 10.1.0.2", "address: 10.1.0.1", networks, vip, []string{"is the same router as the one at line 11"}},
		"of another number":        {"address: 10.9.0.1, asn: 65102, hops: 2", "address: 10.1.0.1, asn: 65102, hops: 2", networks, vip, []string{"17:32: warning: bgp.racks[1].peers[1].asn: 65102 is another number than 65101, which the same address has at line 11"}},
		"of any number":            {"address: 10.9.0.1, asn: 65102, hops: 2", "address: 10.1.0.1, asn: external, hops: 2", networks, vip, nil},
		"the rack's own address":   {"address: 10.1.0.2", "address: 10.1.0.0", networks, vip, []string{"12:17: warning: bgp.racks[0].peers[1].address: 10.1.0.0 is the network 10.1.0.0/24 itself"}},
		"the broadcast address":    {"address: 10.1.0.2", "address: 10.1.0.255", networks, vip, []string{"12:17: warning: bgp.racks[0].peers[1].address: 10.1.0.255 is the broadcast address of 10.1.0.0/24"}},
		"a router that is a VIP":   {"address: 10.9.0.1", "address: 198.51.100.5", networks, vip, []string{"17:17: error: bgp.racks[1].peers[1].address: 198.51.100.5 is a virtual IP"}},
		"a source that is a VIP":   {"source: 10.9.1.0/24", "source: 198.51.100.5", networks, vip, []string{"11:47: error: bgp.racks[0].peers[0].source: 198.51.100.5 is a virtual IP"}},
		"the router as the source": {"source: 10.9.1.0/24", "source: 10.1.0.1", networks, vip, []string{"11:47: error: bgp.racks[0].peers[0].source: is the router's own address"}},
		"a router of no kind":      {"interface: enp1s0, ", "", networks, vip, []string{"is known by its address or by the host's interface"}},
		"a router of both kinds":   {"interface: enp1s0", "interface: enp1s0, address: 10.2.0.1", networks, vip, []string{"is known by its address or by the host's interface"}},
		"no interface":             {"interface: enp1s0", "interface: a/b", networks, vip, []string{"is no name of a network interface"}},
		"a router without number":  {", asn: external", "", networks, vip, []string{"has no asn"}},
		"the hosts' own number":    {"asn: 65101", "asn: 64512", networks, vip, []string{"is the hosts' own number"}},
		"a distance that is none":  {"hops: 2", "hops: 0", networks, vip, []string{"0 is no distance", "10.9.0.1 is not in the network of its rack"}},
		"hops over an interface":   {"asn: external", "asn: external, hops: 3", networks, vip, []string{"a router at the other end of an interface is 1 away"}},
		"a source of the other":    {"source: 10.9.1.0/24", "source: '2001:db8::1'", networks, vip, []string{"2001:db8::1 is of another family"}},
		"a source of one host":     {"source: 10.9.1.0/24", "source: 10.1.0.11", networks, vip, []string{"11:47: warning: bgp.racks[0].peers[0].source: 10.1.0.11 is the address of one host"}},
		"the only host's source":   {"    network: 10.2.0.0/24\n    peers:\n    - {interface: enp1s0, asn: external}\n    - {address: 10.9.0.1, asn: 65102, hops: 2}\n", "    network: 10.2.0.0/31\n    peers:\n    - {address: 10.2.0.0, asn: 65102, source: 10.2.0.1}\n", networks, vip, nil},
		"of a rack of one host":    {"    network: 10.2.0.0/24\n    peers:\n", "    peers:\n    - {address: 10.9.0.3, asn: 65101, source: 10.1.0.11, hops: 2}\n", networks, vip, nil},
		"a source of host bits":    {"source: 10.9.1.0/24", "source: 10.9.1.1/24", networks, vip, []string{"has host bits set: write 10.9.1.0/24"}},
		"a source of an interface": {"interface: enp1s0", "interface: enp1s0, source: 10.2.0.11", networks, vip, []string{"16:35: error: bgp.racks[1].peers[0].source: has no effect with an interface"}},
		"security of a link":       {"asn: external", "asn: external, ttlSecurity: true", networks, vip, []string{"16:55: error: bgp.racks[1].peers[0].ttlSecurity: has no effect with an interface"}},
		"too many racks":           {"  - name: second\n", manyRacks(255) + "  - name: second\n", networks, vip, []string{"is one rack too many: list 256 at most"}},
		"a hold time of a week":    {"timing: vm", "holdTime: 168h", networks, vip, []string{"a hold time of 168h0m0s is above 18h12m15s"}},
		"a VIP inside":             {"x", "x", networks, "10.2.0.5", []string{"10.2.0.5 is in the network 10.2.0.0/24"}},
		"both, and a VIP outside":  {"vipManagement: bgp\nbgp:\n  asn: 64512\n  mode: ecmp", "vipManagement: both\nbgp:\n  asn: 64512", networks, vip, []string{"198.51.100.5 is in no machine network"}},
		"both, and a VIP inside":   {"vipManagement: bgp\nbgp:\n  asn: 64512\n  mode: ecmp", "vipManagement: both\nbgp:\n  asn: 64512", networks, "10.1.0.5", nil},
		"both, and a mode":         {"vipManagement: bgp", "vipManagement: both", networks, "10.1.0.5", []string{"4:9: error: bgp.mode: has no effect with vipManagement: both"}},
		"a VIP on hosts' IPv6":     {`{address: 10.1.0.2, asn: "64086.59904"}`, "{interface: enp2s0, asn: external}", networks + ", 2001:db8:1::/64", vip + ", '2001:db8:1::50'", []string{"2001:db8:1::50 is in the network 2001:db8:1::/64, at line 1, whose hosts ask for it"}},
		"a family without router":  {"x", "x", networks + ", 2001:db8::/64", vip + ", '2001:db8:9::5'", []string{"no router of it has an address of the family of the virtual IP 2001:db8:9::5"}},
		"gateways":                 {"    peers:\n    - {address: 10.1.0.1, asn: 65101, source: 10.9.1.0/24, ttlSecurity: true}\n    - {address: 10.1.0.2, asn: \"64086.59904\"}\n", "", networks, vip, nil},
		"nine routers":             {`    - {address: 10.1.0.2, asn: "64086.59904"}`, many(8), networks, vip, []string{"is one router too many"}},
		"timers of a rack":         {"  - name: second\n", "  - name: second\n    timing: hold\n    bfdInterval: none\n    holdTime: 30s\n    keepaliveTime: 5s\n", networks, vip, nil},
		"a hold time below three":  {"timing: vm", "holdTime: 2s", networks, vip, []string{"a hold time of 2s is below 3s"}},
		"BFD that is slower":       {"timing: vm", "holdTime: 3s\n  bfdInterval: 1s", networks, vip, []string{"BFD detects a loss after 3s, not before the hold time of 3s ends"}},
		"BFD that is too fast":     {"  - name: second\n", "  - name: second\n    bfdInterval: 20ms\n", networks, vip, []string{"14:18: error: bgp.racks[1].bfdInterval: BFD of 3 packets every 20ms"}},
		"packets of no BFD":        {"timing: vm", "timing: hold\n  bfdMultiplier: 5", networks, vip, []string{"6:18: error: bgp.bfdMultiplier: has no effect without BFD: remove it, or write bfdInterval"}},
		"packets, and none":        {"timing: vm", "bfdInterval: none\n  bfdMultiplier: 5", networks, vip, []string{"6:18: error: bgp.bfdMultiplier: has no effect without BFD"}},
		"packets of a rack alone":  {"  - name: second\n", "  - name: second\n    timing: hold\n    bfdMultiplier: 5\n", networks, vip, []string{"15:20: error: bgp.racks[1].bfdMultiplier: has no effect without BFD"}},
		"packets of BFD":           {"  - name: second\n", "  - name: second\n    timing: hold\n    bfdInterval: 200ms\n    bfdMultiplier: 5\n", networks, vip, nil},
		"a time that is none":      {"timing: vm", "holdTime: 9", networks, vip, []string{"holdTime: want a string"}},
		"ranks in a deep fabric":   {"mode: ecmp\n  timing: vm\n  fabricDepth: 1", "mode: preferred\n  timing: vm\n  fabricDepth: 3", networks, vip, nil},
	} {
		a := around(t, tt.networks, tt.vips)
		_, got := check(t, strings.Replace(good, tt.from, tt.to, 1), a)
		matched := len(got) >= len(tt.want) && (len(tt.want) > 0 || len(got) == 0)
		for i := range tt.want {
			matched = matched && strings.Contains(strings.Join(got, "\n"), tt.want[i])
		}
		if !matched || len(got) > len(tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestCheck_Platform holds timers to those that hosts of the platform have by default: virtual machines have
// packets of BFD less often.
func TestCheck_Platform(t *testing.T) {
	text := strings.Replace(good, "timing: vm", "holdTime: 3s\n  bfdMultiplier: 10", 1)
	for p, want := range map[platform.Platform]string{platform.BareMetal: "", platform.VSphere: "BFD detects a loss after 3s, not before the hold time of 3s ends"} {
		a := around(t, "10.1.0.0/24, 10.2.0.0/24", "198.51.100.5")
		a.Addresses.Platform = p
		if _, got := check(t, text, a); want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: %q", p, got)
		}
	}
}

// TestGivenSettings_Bounds holds that what no document has is held to the bounds of one: every host reads it as one.
func TestGivenSettings_Bounds(t *testing.T) {
	a := around(t, "10.1.0.0/24, 10.2.0.0/24", "198.51.100.5")
	s, _ := check(t, good, a)
	for i := range 9 {
		s.BGP.Racks[0].Peers = append(s.BGP.Racks[0].Peers, Peer{Address: netip.AddrFrom4([4]byte{10, 1, 0, byte(20 + i)}), ASN: 65101})
	}
	r := &document.Report{}
	if GivenSettings(r, s).Check(r, a); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].String(), "bgp.racks[0].peers[8]: is one router too many") {
		t.Errorf("%v", r.Findings)
	}
}

// TestCheck_Paths holds that a description is refused of which no proof can be made.
func TestCheck_Paths(t *testing.T) {
	a := around(t, "10.1.0.0/24, 10.2.0.0/24", "198.51.100.5")
	a.ControlPlane = 5
	text := strings.NewReplacer("mode: ecmp", "mode: preferred", "fabricDepth: 1", "fabricDepth: 3").Replace(good)
	if _, got := check(t, text, a); len(got) != 1 || !strings.Contains(got[0], "4:9: error: bgp.mode: the hosts' paths become too long") {
		t.Errorf("%q", got)
	}
}
