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
	d := ReadInstallConfig(r, o, a.Addresses.Machines)
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

// TestReadInstallConfig_Families holds that hosts of both families have the routers of both.
func TestReadInstallConfig_Families(t *testing.T) {
	r := document.NewReader("install-config.yaml", "a map")
	root, _ := r.Read([]byte("bgpVIPConfig: {localASN: 64512, peers: [{peerAddress: 10.1.0.1, peerASN: 65101}, {peerAddress: 'fd00:1::1', peerASN: 65101}]}\nmachines: [10.1.0.0/24, 'fd00:1::/64']\n"))
	o := r.Map(root)
	got := ReadInstallConfig(r, o, network.ReadNetworks(r, o.Get("machines"))).Values().BGP.Racks
	if len(got) != 1 || len(got[0].Peers) != 2 || got[0].Network != netip.MustParsePrefix("10.1.0.0/24") {
		t.Errorf("%+v, %v", got, r.Findings)
	}
}

// TestInstallConfig_Check holds each contradiction of that spelling at its place, and that no finding repeats a password.
func TestInstallConfig_Check(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, vips, want string }{
		"another port":           {"holdTime: 90s", "holdTime: 90s, port: 1790", "198.51.100.5", "bgpVIPConfig.peers[0].port: 1790 is not the port of BGP"},
		"a word that is none":    {`bfdEnabled: "true"}`, `bfdEnabled: "yes"}`, "198.51.100.5", `bfdEnabled: "yes" is not known`},
		"a truth value":          {`bfdEnabled: "true"}`, `bfdEnabled: true}`, "198.51.100.5", "bfdEnabled: want a string"},
		"no word of BFD":         {`, bfdEnabled: "true"}`, "}", "198.51.100.5", "warning: bgpVIPConfig.peers: a router without failureDetection, formerly bfdEnabled, has BFD here"},
		"BFD of one of two":      {`bfdEnabled: "true"}`, `bfdEnabled: "false"}`, "198.51.100.5", "with all of its routers or with none"},
		"a hold time of none":    {"holdTime: 90s", "holdTime: soon", "198.51.100.5", "holdTime: \"soon\" is no time"},
		"a hold time too short":  {"holdTime: 9,", "holdTime: 2,", "198.51.100.5", "a hold time of 2s is below 3s"},
		"two passwords":          {"peerAddress: 10.9.0.1,", "peerAddress: 10.1.0.1, password: another,", "198.51.100.5", "differs from that of the same router, at line 5"},
		"a blank in a password":  {"password: s3cret", "password: s3 cret", "198.51.100.5", "peers[0].password: has a blank or a control character"},
		"a password too long":    {"password: s3cret", "password: " + strings.Repeat("s3cret", 14), "198.51.100.5", "has 84 bytes"},
		"nine routers of a host": {"{name: m1}", "{name: m1, bgpPeers: [" + strings.Repeat("{peerAddress: 10.9.0.1, peerASN: 65103}, ", 9) + "]}", "198.51.100.5", "error: hosts[1].bgpPeers[8]: is one router too many: list 8 at most for a rack"},
		"a VIP inside":           {"x", "x", "10.1.0.5", "error: vips[0]: 10.1.0.5 is in the network"},
		"a router of no network": {"peerAddress: 10.2.0.1", "peerAddress: 10.7.0.1", "198.51.100.5", "10.7.0.1 is not in the network of its rack"},
	} {
		_, got := readInstallConfig(t, strings.Replace(section, tt.from, tt.to, 1), tt.vips)
		text := strings.Join(got, "\n")
		if !strings.Contains(text, tt.want) || strings.Contains(text, "s3cret") || strings.Contains(text, "another") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
