package routing

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
)

// section is a baremetal section, with a line for each thing, which tests change.
const section = `bgpVIPConfig:
  localASN: 64512
  communities: ["64512:100"]
  peers:
  - {peerAddress: 10.1.0.1, peerASN: 65101, password: s3cret, holdTime: 90s, bfdEnabled: "true"}
  - {peerAddress: 10.2.0.1, peerASN: 65102, holdTime: 9, keepaliveTime: 3, bfdEnabled: "true"}
hosts:
- {name: m0, bgpPeers: [{peerAddress: 10.9.0.1, peerASN: 65103, ebgpMultiHop: true, bfdEnabled: "false"}]}
- {name: m1}
`

func readInstallConfig(t *testing.T, text, vips string) (Settings, []string) {
	t.Helper()
	r := document.NewReader("install-config.yaml", "a map")
	root, ok := r.Read([]byte(text + fmt.Sprintf("machines: [10.1.0.0/24, 10.2.0.0/24]\nvips: [%s]\n", vips)))
	if !ok {
		t.Fatal(r.Findings)
	}
	o := r.Map(root)
	a := Around{ControlPlane: 3, Addresses: network.Addresses{Machines: network.ReadNetworks(r, o.Get("machines")), API: network.ReadVIPs(r, o.Get("vips"))}}
	d := ReadInstallConfig(r, o, a.Addresses)
	d.Check(&r.Report, a)
	var all []string
	for _, f := range r.Findings.First() {
		all = append(all, f.String())
	}
	return d.Values(), all
}

// TestReadInstallConfig holds what OpenShift's spelling means here: a rack for each machine network with the routers
// that are in it, one for each host that has routers of its own, and passwords that no plan has.
func TestReadInstallConfig(t *testing.T) {
	a := netip.MustParseAddr
	timers := Timers{Hold: 9 * time.Second, Keepalive: 3 * time.Second}
	want := Settings{Management: BGP, BGP: BGPSettings{ASN: 64512, Communities: []string{"64512:100"}, Racks: []Rack{
		{Network: netip.MustParsePrefix("10.1.0.0/24"), Timers: timers, Peers: []Peer{{Address: a("10.1.0.1"), ASN: 65101}}},
		{Network: netip.MustParsePrefix("10.2.0.0/24"), Timers: timers, Peers: []Peer{{Address: a("10.2.0.1"), ASN: 65102}}},
		{Name: "m0", Timers: Timers{Interval: Off}, Peers: []Peer{{Address: a("10.9.0.1"), ASN: 65103, Hops: 254}}},
	}}}
	newest := strings.NewReplacer(`bfdEnabled: "true"`, "failureDetection: BFD", `bfdEnabled: "false"`, "failureDetection: HoldTimer", "ebgpMultiHop: true", "peerReachability: MultiHop",
		"holdTime: 90s", "holdTimeSeconds: 90", "holdTime: 9", "holdTimeSeconds: 9", "keepaliveTime: 3", "keepaliveTimeSeconds: 3").Replace(section)
	for name, text := range map[string]string{"the former spelling": section, "the newest spelling": newest} {
		got, findings := readInstallConfig(t, text, "198.51.100.5")
		passwords := got.Passwords
		got.Passwords = nil
		if len(findings) > 0 || !reflect.DeepEqual(got, want) || len(passwords) != 1 || passwords[a("10.1.0.1")].Reveal() != "s3cret" {
			t.Errorf("%s: %q, %+v, %d passwords\nwant\n%+v", name, findings, got, len(passwords), want)
		}
	}
	if none, findings := readInstallConfig(t, "x: 1\n", "10.1.0.5"); len(findings) > 0 || !reflect.DeepEqual(none, Settings{}) {
		t.Errorf("without a word of it: %q, %+v", findings, none)
	}
}

// read reads routers by their addresses alone, in machine networks.
func read(machines, vips, routers string) (Settings, network.List[network.Network], string) {
	var b strings.Builder
	b.WriteString("bgpVIPConfig:\n  localASN: 64512\n  peers:\n")
	for a := range strings.FieldsSeq(routers) {
		fmt.Fprintf(&b, "  - {peerAddress: '%s', peerASN: 65101, failureDetection: BFD}\n", a)
	}
	r := document.NewReader("install-config.yaml", "a map")
	root, _ := r.Read(fmt.Appendf(nil, "%smachines: ['%s']\nvips: ['%s']\n", &b, strings.ReplaceAll(machines, " ", "', '"), strings.ReplaceAll(vips, " ", "', '")))
	o := r.Map(root)
	a := Around{ControlPlane: 3, Addresses: network.Addresses{Machines: network.ReadNetworks(r, o.Get("machines")), API: network.ReadVIPs(r, o.Get("vips"))}}
	d := ReadInstallConfig(r, o, a.Addresses)
	d.Check(&r.Report, a)
	var findings strings.Builder
	for _, f := range r.Findings.First() {
		findings.WriteString(f.String() + "\n")
	}
	return d.Values(), d.OfHosts(a.Addresses.Machines), findings.String()
}

// racks are networks with the routers of each.
func racks(s Settings) string {
	var all []string
	for _, one := range s.BGP.Racks {
		text := one.Network.String()
		for _, p := range one.Peers {
			text += " " + p.Address.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestReadInstallConfig_Families holds that hosts of both families have the routers of both, each rack its own.
func TestReadInstallConfig_Families(t *testing.T) {
	for name, tt := range map[string]struct{ machines, routers, want, finding string }{
		"one rack":           {"10.1.0.0/24 fd00:1::/64", "10.1.0.1 fd00:1::1", "10.1.0.0/24 10.1.0.1 fd00:1::1", ""},
		"two":                {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64 fd00:2::/64", "10.1.0.1 10.2.0.1 fd00:1::1 fd00:2::1", "10.1.0.0/24 10.1.0.1 fd00:1::1; 10.2.0.0/24 10.2.0.1 fd00:2::1", ""},
		"in turn":            {"fd00:1::/64 10.1.0.0/24 fd00:2::/64 10.2.0.0/24", "10.2.0.1 fd00:1::1 10.1.0.1 fd00:2::1", "fd00:1::/64 fd00:1::1 10.1.0.1; fd00:2::/64 10.2.0.1 fd00:2::1", ""},
		"one beyond":         {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64 fd00:2::/64", "10.1.0.1 10.2.0.1 fd00:9::1", "10.1.0.0/24 10.1.0.1 fd00:9::1; 10.2.0.0/24 10.2.0.1 fd00:9::1", ""},
		"two, and one":       {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64", "10.1.0.1 10.2.0.1 fd00:1::1", "10.1.0.0/24 10.1.0.1 fd00:1::1; 10.2.0.0/24 10.2.0.1 fd00:1::1", "warning: machines[2]: fd00:1::/64"},
		"no router of it":    {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64", "10.1.0.1 10.2.0.1", "10.1.0.0/24 10.1.0.1; 10.2.0.0/24 10.2.0.1", ""},
		"one for VIPs alone": {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64 198.51.100.0/24 fd00:2::/64", "10.1.0.1 10.2.0.1 fd00:1::1 fd00:2::1", "10.1.0.0/24 10.1.0.1 fd00:1::1; 10.2.0.0/24 10.2.0.1 fd00:2::1", ""},
	} {
		got, _, findings := read(tt.machines, "198.51.100.5", tt.routers)
		if racks(got) != tt.want || (findings == "") != (tt.finding == "") || !strings.Contains(findings, tt.finding) {
			t.Errorf("%s: %s, %s\nwant\n%s, %s", name, racks(got), findings, tt.want, tt.finding)
		}
	}
}

// TestReadInstallConfig_VIPs holds that a machine network for virtual IPs alone is no rack and has no hosts, and that
// an address in any other one is refused with what an install-config has.
func TestReadInstallConfig_VIPs(t *testing.T) {
	for name, tt := range map[string]struct{ machines, vips, routers, hosts, finding string }{
		"a network of its own": {"10.1.0.0/24 198.51.100.0/24", "198.51.100.5", "10.1.0.1", "[10.1.0.0/24]", ""},
		"the first one":        {"198.51.100.0/24 10.1.0.0/24", "198.51.100.5", "10.1.0.1", "[10.1.0.0/24]", ""},
		"one of each family": {"10.1.0.0/24 198.51.100.0/24 fd00:1::/64 2001:db8::/64", "198.51.100.5 2001:db8::5", "10.1.0.1 fd00:1::1",
			"[10.1.0.0/24 fd00:1::/64]", ""},
		"that of a router":   {"10.1.0.0/24 10.2.0.0/24", "10.2.0.5", "10.1.0.1 10.2.0.1", "[10.1.0.0/24 10.2.0.0/24]", "error: vips[0]: 10.2.0.5 is in the network 10.2.0.0/24"},
		"that of all hosts":  {"10.1.0.0/24", "10.1.0.5", "10.1.0.1", "[10.1.0.0/24]", "which has no router of peers, while others have"},
		"that of their IPv6": {"10.1.0.0/24 fd00:1::/64", "198.51.100.5 fd00:1::5", "10.1.0.1 fd00:1::1", "[10.1.0.0/24 fd00:1::/64]", "error: vips[1]: fd00:1::5 is in the network fd00:1::/64"},
		"without a VIP":      {"10.1.0.0/24 10.2.0.0/24", "198.51.100.5", "10.1.0.1", "[10.1.0.0/24 10.2.0.0/24]", "write peerReachability: MultiHop"},
	} {
		got, hosts, findings := read(tt.machines, tt.vips, tt.routers)
		if of := fmt.Sprint(network.Prefixes(hosts)); of != tt.hosts || (findings == "") != (tt.finding == "") || !strings.Contains(findings, tt.finding) || strings.Contains(findings, "hops:") {
			t.Errorf("%s: networks of hosts %s, want %s; racks %s; %s, want %q", name, of, tt.hosts, racks(got), findings, tt.finding)
		}
	}
}

// TestInstallConfig_Check holds each contradiction of that spelling at its place, and that no finding repeats a password.
func TestInstallConfig_Check(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, vips, want string }{
		"another port":            {"holdTime: 90s", "holdTime: 90s, port: 1790", "198.51.100.5", "bgpVIPConfig.peers[0].port: 1790 is not the port of BGP"},
		"a word that is none":     {`bfdEnabled: "true"}`, `bfdEnabled: "yes"}`, "198.51.100.5", `bfdEnabled: "yes" is not known`},
		"a truth value":           {`bfdEnabled: "true"}`, `bfdEnabled: true}`, "198.51.100.5", "bfdEnabled: want a string"},
		"no word of BFD":          {`, bfdEnabled: "true"}`, "}", "198.51.100.5", "warning: bgpVIPConfig.peers: a router without failureDetection, formerly bfdEnabled, has BFD here"},
		"BFD of one of two":       {`bfdEnabled: "true"}`, `bfdEnabled: "false"}`, "198.51.100.5", "with all of its routers or with none"},
		"a hold time of none":     {"holdTime: 90s", "holdTime: soon", "198.51.100.5", "holdTime: \"soon\" is no time"},
		"a hold time too short":   {"holdTime: 9,", "holdTime: 2,", "198.51.100.5", "a hold time of 2s is below 3s"},
		"two passwords":           {"peerAddress: 10.9.0.1, peerASN: 65103,", "peerAddress: 10.1.0.1, peerASN: 65101, password: another,", "198.51.100.5", "differs from that of the same router, at line 5"},
		"a blank in a password":   {"password: s3cret", "password: s3 cret", "198.51.100.5", "peers[0].password: has a blank or a control character"},
		"a password too long":     {"password: s3cret", "password: " + strings.Repeat("s3cret", 14), "198.51.100.5", "has 84 bytes"},
		"nine routers of a host":  {"{name: m1}", "{name: m1, bgpPeers: [" + strings.Repeat("{peerAddress: 10.9.0.1, peerASN: 65103}, ", 9) + "]}", "198.51.100.5", "error: hosts[1].bgpPeers[8]: is one router too many: list 8 at most for a rack"},
		"routers of a host alone": {section[:strings.Index(section, "hosts:")], "", "198.51.100.5", "error: hosts[0].bgpPeers: has no effect without bgpVIPConfig"},
		"a VIP inside":            {"x", "x", "10.1.0.5", "error: vips[0]: 10.1.0.5 is in the network"},
		"a router of no network":  {"peerAddress: 10.2.0.1", "peerAddress: 10.7.0.1", "198.51.100.5", "10.7.0.1 is not in the network of its rack"},
	} {
		_, got := readInstallConfig(t, strings.Replace(section, tt.from, tt.to, 1), tt.vips)
		text := strings.Join(got, "\n")
		if !strings.Contains(text, tt.want) || strings.Contains(text, "s3cret") || strings.Contains(text, "another") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
