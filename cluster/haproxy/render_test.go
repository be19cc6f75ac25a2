package haproxy

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

const header = "Rendered by onprem-infra from /etc/onprem-infra/cluster.json (sha256 0123456789ab); do not edit."

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		a, _ := netip.ParseAddr(text) // empty: none
		out = append(out, a)
	}
	return out
}

// cluster is a control plane's balancer with these members.
func cluster(vips []netip.Addr, members ...string) Config {
	return Config{
		Header: header, Run: "/run/onprem-infra/haproxy", IPv6: true, VIPs: vips, Members: Place(nil, addrs(members...)), Server: health.Servers(),
		Ports: Ports{LB: 9445, Ready: 9444, Monitor: 9454, Stats: 29445, MachineConfigLB: 9446, API: 6443, MachineConfig: 22623},
	}
}

// balance has the configuration balance Ironic, whose one pod is at these sockets; empty ones are
// none.
func (c *Config) balance(api, media string) {
	c.Ports.IronicLB, c.Ports.VirtualMediaLB = 9448, 9449
	c.Ironic = Ironic{API: PlaceAt(nil, sockets(api)), VirtualMedia: PlaceAt(nil, sockets(media))}
}

// sockets are these; an empty text is none.
func sockets(texts ...string) []netip.AddrPort {
	var out []netip.AddrPort
	for _, text := range texts {
		s, _ := netip.ParseAddrPort(text)
		out = append(out, s)
	}
	return out
}

func trusting(c Config, name record.Name) Config {
	c.Trust = Trust{CAFile: "/etc/haproxy/ca-0123456789ab.crt", Name: name}
	return c
}

// goldens are one Config for every golden file.
func goldens() map[string]Config {
	v4, v6 := addrs("192.0.2.5"), addrs("2001:db8::5")
	noIPv6 := cluster(v4, "192.0.2.10")
	noIPv6.IPv6 = false
	moved := cluster(v4, "192.0.2.10")
	moved.Ports = Ports{LB: 7445, Ready: 7444, Monitor: 7454, Stats: 27445, MachineConfigLB: 7446, API: 7443, MachineConfig: 22623}
	alone := cluster(v4, "192.0.2.10", "192.0.2.11", "192.0.2.12")
	alone.Ports.MachineConfig, alone.Ports.MachineConfigLB = 0, 0
	ironic := trusting(cluster(slices.Concat(v4, v6), "192.0.2.10", "192.0.2.11", "192.0.2.12"), "api-int.ostest.example.com")
	ironic.balance("192.0.2.11:6388", "192.0.2.11:6183")
	unready := cluster(v4, "192.0.2.10")
	unready.balance("", "")
	unready.IPv6 = false
	return map[string]Config{
		"ironic":            ironic,
		"ironic-unready":    unready,
		"no-machine-config": alone,
		"three":             trusting(cluster(v4, "192.0.2.10", "192.0.2.11", "192.0.2.12"), "api-int.ostest.example.com"),
		"ipv6":              trusting(cluster(v6, "2001:db8::10", "2001:db8::11", "2001:db8::12"), ""),
		"dual":              cluster(slices.Concat(v4, v6), "192.0.2.10"),
		"no-ipv6":           noIPv6,
		"other-ports":       moved,
		"nine":              cluster(v4, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.6", "192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10"),
		"no-members":        cluster(v4),
		"no-vip-no-title":   {Run: "/run/onprem-infra/haproxy", Server: health.Servers(), Members: addrs("192.0.2.10"), Ports: moved.Ports},
	}
}

func TestRender(t *testing.T) {
	for name, config := range goldens() {
		t.Run(name, func(t *testing.T) {
			got := Render(config)
			golden.Check(t, got)
			if again := Render(config); !bytes.Equal(again, got) {
				t.Errorf("the second rendering differs:\n%s", again)
			}
		})
	}
}

// TestTemplateLines holds that the golden files' configurations use every line of the template.
func TestTemplateLines(t *testing.T) {
	var data []any
	for _, config := range goldens() {
		data = append(data, words(config))
	}
	golden.EachLineCounts(t, text, data...)
}

// TestStructure holds that the structure is everything but the addresses of the slots (H-06, H-22).
func TestStructure(t *testing.T) {
	base := func() Config {
		return trusting(cluster(addrs("192.0.2.5"), "192.0.2.10", "192.0.2.11"), "api-int.ostest.example.com")
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		same   bool
	}{
		{"another header", func(c *Config) { c.Header = "x" }, true},
		{"a member more", func(c *Config) { c.Members[2] = netip.MustParseAddr("192.0.2.12") }, true},
		{"a member less", func(c *Config) { c.Members[1] = netip.Addr{} }, true},
		{"a member of the other family", func(c *Config) { c.Members[1] = netip.MustParseAddr("2001:db8::11") }, true},
		{"no member", func(c *Config) { clear(c.Members) }, false},
		{"more slots", func(c *Config) { c.Members = append(c.Members, netip.Addr{}) }, false},
		{"another port", func(c *Config) { c.Ports.Ready++ }, false},
		{"another VIP", func(c *Config) { c.VIPs = addrs("192.0.2.6") }, false},
		{"no IPv6", func(c *Config) { c.IPv6 = false }, false},
		{"another CA", func(c *Config) { c.Trust.CAFile = "/etc/haproxy/ca-1.crt" }, false},
		{"another name", func(c *Config) { c.Trust.Name = "api-int.lab.example.com" }, false},
		{"Ironic is balanced", func(c *Config) { c.balance("192.0.2.11:6388", "192.0.2.11:6183") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := base()
			tt.change(&changed)
			if same := Structure(changed) == Structure(base()); same != tt.same {
				t.Errorf("same %t, want %t", same, tt.same)
			}
			if !bytes.Contains(Render(changed), []byte("description "+Structure(changed)+"\n")) {
				t.Error("the file's description is not its structure")
			}
		})
	}
}

// TestPlace holds H-05, H-06 and H-22: no address that is none has a place, and the order in which
// members are named decides nothing. TestDigest holds that a file and a HAProxy which runs on it
// are of one name, and that neither another file nor other servers are.
func TestDigest(t *testing.T) {
	for name, config := range goldens() {
		text := Render(config)
		actual, described := Digest(text)
		stats := slices.DeleteFunc(running(config), func(s Stat) bool { return s.Address.Port() == 0 }) // those of a backend that is not there
		if running, ok := Running(Structure(config), stats); !ok || running != actual || actual != described {
			t.Errorf("%s has digest %q, its description %q, and HAProxy runs with %q", name, actual, described, running)
		}
		if other, still := Digest(append(slices.Clone(text), "# by hand\n"...)); other == actual || still != actual {
			t.Errorf("%s, changed by hand, has digest %q, and its description %q", name, other, still)
		}
	}
	config := goldens()["three"]
	text := Render(config)
	is, _ := Digest(text)
	for _, tt := range []struct{ old, new string }{
		{"server s0 192.0.2.10:6443", "server s0 192.0.2.19:6443"}, {"server s0 192.0.2.10:6443", "server s0 192.0.2.10:6443 disabled"}, {"server s0 192.0.2.10:6443", "server s0 192.0.2.10:6443 backup"},
		{"server s7 127.0.0.1:1 disabled", "server s7 192.0.2.17:6443"}, {"server s7 127.0.0.1:1 disabled", "server s7 127.0.0.1:1 disabled backup"}, {"timeout client 1m", "timeout client 2m"}, {"server s0 192.0.2.10:6443", "server api.example.com:6443"},
	} {
		if other, _ := Digest(bytes.Replace(text, []byte(tt.old), []byte(tt.new), 1)); other == is || other == "" {
			t.Errorf("with %q it is %q still", tt.new, other)
		}
	}
	if other, _ := Digest(bytes.TrimPrefix(text, []byte("# "+header+"\n"))); other != is {
		t.Errorf("without its provenance it is %q, and %q with it", other, is)
	}
	moved := running(config)
	for i := range moved {
		if moved[i].Backend == MastersOpen && moved[i].Server == "s1" {
			moved[i].Status = "MAINT"
		}
	}
	if other, _ := Running(Structure(config), moved); other == is {
		t.Error("a server that is taken out is not seen")
	}
	if _, ok := Running(Structure(config), []Stat{{Backend: Masters, Server: "s0", Status: "UP"}}); ok {
		t.Error("a server is compared that has no address")
	}
	if _, described := Digest([]byte("global\n    daemon\n")); described != "" {
		t.Errorf("another program's file has the description %q", described)
	}
	if is, _ := Running("", nil); is != "" {
		t.Errorf("one that has no description is %q", is)
	}
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ name, before, wanted, want string }{
		{"first", "", "192.0.2.11 192.0.2.10", "192.0.2.10 192.0.2.11 - - - - - -"},
		{"another order", "192.0.2.10 192.0.2.11 - - - - - -", "192.0.2.11 192.0.2.10", "192.0.2.10 192.0.2.11 - - - - - -"},
		{"one more, a smaller one", "192.0.2.10 192.0.2.11 - - - - - -", "192.0.2.9 192.0.2.10 192.0.2.11", "192.0.2.10 192.0.2.11 192.0.2.9 - - - - -"},
		{"one less", "192.0.2.10 192.0.2.11 192.0.2.12 - - - - -", "192.0.2.10 192.0.2.12", "192.0.2.10 - 192.0.2.12 - - - - -"},
		{"one replaced", "192.0.2.10 192.0.2.11 - - - - - -", "192.0.2.10 192.0.2.12", "192.0.2.10 192.0.2.12 - - - - - -"},
		{"no address", "", "- 192.0.2.10 0.0.0.0 :: 224.0.0.1 127.0.0.1 ::1 fe80::1%eth0", "192.0.2.10 - - - - - - -"},
		{"the broadcast address", "", "255.255.255.255 192.0.2.10", "192.0.2.10 - - - - - - -"},
		{"twice", "", "192.0.2.10 ::ffff:192.0.2.10", "192.0.2.10 - - - - - - -"},
		{"twice before", "192.0.2.10 192.0.2.10 - - - - - -", "192.0.2.10", "192.0.2.10 - - - - - - -"},
		{"no member", "192.0.2.10 - - - - - - -", "", "- - - - - - - -"},
		{"no slot", "", "", "- - - - - - - -"},
		{"nine", "192.0.2.1 - - - - - - -", "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6 192.0.2.7 192.0.2.8 192.0.2.9",
			"192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6 192.0.2.7 192.0.2.8 192.0.2.9 - - - - - - -"},
		{"slots stay", "192.0.2.1 - - - - - - - - - - - - - - -", "192.0.2.1", "192.0.2.1 - - - - - - - - - - - - - - -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range Place(addrs(strings.Fields(tt.before)...), addrs(strings.Fields(tt.wanted)...)) {
				if got = append(got, "-"); a.IsValid() {
					got[len(got)-1] = a.String()
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %s\nwant %s", strings.Join(got, " "), tt.want)
			}
		})
	}
}

// FuzzRender holds that neither a name nor a header nor an address changes the shape of the file.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"lab.example.com", "x\n    server evil 203.0.113.1:1", `"`, "#", "$HOME", "a\\", "\r\n", "\x00", "fe80::1%x y"} {
		f.Add(s, []byte{192, 0, 2, 99})
	}
	f.Add("", []byte{0, 0, 0, 0})
	f.Add("", []byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, s string, b []byte) {
		config := goldens()["three"]
		want := golden.Shape(Render(config))
		config.Header += s
		config.VIPs[0] = config.VIPs[0].WithZone(s)
		if a, ok := netip.AddrFromSlice(b); ok {
			if a = a.WithZone(s); len(Place(nil, []netip.Addr{a})) == step && usable(a.Unmap().WithZone("")) {
				config.Members[0] = a
			}
		}
		if name, err := record.ParseName(s); err == nil {
			config.Trust.Name = name
		}
		if got := golden.Shape(Render(config)); !slices.Equal(got, want) {
			t.Errorf("%q makes\n%s", s, Render(config))
		}
	})
}

// TestServerErrors holds that the balancer is configured as health describes it: the simulator goes
// by it.
func TestServerErrors(t *testing.T) {
	rendered := string(Render(goldens()["three"]))
	for _, want := range []string{
		fmt.Sprintf("timeout connect %dms\n", health.Connect.Milliseconds()),
		fmt.Sprintf("retries %d\n", health.Retries),
		fmt.Sprintf("observe layer4 error-limit %d on-error mark-down\n", health.ErrorLimit),
	} {
		if !strings.Contains(rendered, want) {
			t.Errorf("haproxy.cfg has no %q", want)
		}
	}
}
