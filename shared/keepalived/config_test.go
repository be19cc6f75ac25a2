package keepalived

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

func TestParseInterface(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		wrong    bool
	}{
		{name: "ethernet", in: "enp1s0"},
		{name: "vlan", in: "bond0.4094"},
		{name: "bridge", in: "br-ex"},
		{name: "as long as the kernel allows", in: "abcdefghij12345"},
		{name: "one more", in: "abcdefghij123456", wrong: true},
		{name: "nothing", wrong: true},
		{name: "this directory", in: ".", wrong: true},
		{name: "the parent", in: "..", wrong: true},
		{name: "the kernel takes braces, keepalived does not", in: "a{b}", wrong: true},
		{name: "a comment", in: "eth0#", wrong: true},
		{name: "a second line", in: "eth0\npriority", wrong: true},
		{name: "two words", in: "eth0 x", wrong: true},
		{name: "quotes", in: `"eth0"`, wrong: true},
		{name: "letters of other scripts", in: "ethö", wrong: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseInterface(tt.in)
			if (err != nil) != tt.wrong || !tt.wrong && string(got) != tt.in || tt.wrong && got != "" {
				t.Errorf("ParseInterface(%q) = %q, %v", tt.in, got, err)
			}
		})
	}
}

func TestGroup(t *testing.T) {
	for vip, want := range map[string]string{"192.0.2.5": "224.0.0.18", "2001:db8::5": "ff02::12"} {
		if got := Group(netip.MustParseAddr(vip)); got.String() != want {
			t.Errorf("Group(%s) = %s, want %s", vip, got, want)
		}
	}
}

// FuzzRender holds that no text which a constructor lets in, and none in a header or an address's
// zone, changes the shape of the file.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"eth0", "x\n}\nglobal_defs {", "a{b", `"`, "#", "!", "$x", "~SEQ(1)", "@if", "/run/x", "\r\n", "\x00", "\u2028", "\u0085}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := golden.Shape(Render(goldens()["dual-group"]))
		config := goldens()["dual-group"]
		config.Header += s
		if name, err := ParseInterface(s); err == nil {
			config.Instances[0].Interface = name
		}
		if s != "" {
			zoned := &config.Instances[1]
			zoned.Source, zoned.VIP, zoned.Peers[0] = zoned.Source.WithZone(s), zoned.VIP.WithZone(s), zoned.Peers[0].WithZone(s)
		}
		if got := golden.Shape(Render(config)); !slices.Equal(got, want) {
			t.Errorf("%q makes\n%s", s, Render(config))
		}
	})
}

// TestPeers holds that a unicast instance has peers or is at fault, for all lists: without any,
// keepalived would fall back to multicast.
func TestPeers(t *testing.T) {
	for n := range 20 {
		var peers []netip.Addr
		for i := range n {
			peers = append(peers, netip.AddrFrom4([4]byte{192, 0, 2, byte(20 + i)}))
		}
		instance := bootstrap("ostest_API_0", "192.0.2.5")
		instance.Source, instance.Peers = netip.MustParseAddr("192.0.2.10"), peers
		got := parseConf(t, Render(Config{Instances: []Instance{instance}}))
		block := got.instance(t, "ostest_API_0")
		if !block.has("unicast_fault_no_peer") || len(block.block(t, "unicast_peer").words) != n {
			t.Errorf("%d peers make %+v", n, block)
		}
	}
	if got := parseConf(t, Render(Config{Instances: []Instance{bootstrap("x", "192.0.2.5")}})).instance(t, "x"); got.has("unicast_src_ip") || got.has("unicast_peer") {
		t.Errorf("multicast has traces of unicast: %+v", got)
	}
}

// TestNames holds that cluster names of every length and kind stay one word.
func TestNames(t *testing.T) {
	for _, name := range []string{"a", "a-b", "0", strings.Repeat("x", 63), "cnf-10"} {
		instance := bootstrap(vrrp.InstanceName(name+"_API_0"), "192.0.2.5")
		if got := parseConf(t, Render(Config{Instances: []Instance{instance}})); !got.instance(t, name+"_API_0").has("state") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
