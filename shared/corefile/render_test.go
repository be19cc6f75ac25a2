package corefile

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

const (
	header = "Rendered by onprem-infra from /etc/onprem-infra/cluster.json (sha256 0123456789ab); do not edit."
	zone   = record.Name("ostest.example.com")
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// internal is a cluster that answers for itself.
func internal(api, ingress, upstreams []netip.Addr) Config {
	return Config{Header: header, Zone: zone, Records: record.Cluster(zone, api, ingress), Upstreams: upstreams, HealthPort: 18080, Poll: true}
}

func fifteen() []netip.Addr {
	var out []netip.Addr
	for i := range 15 {
		out = append(out, netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}))
	}
	return out
}

// node is a Corefile as on a node.
func node(knowing, upstreams []netip.Addr) Config {
	c := internal(addrs("192.0.2.5"), addrs("192.0.2.6"), upstreams)
	c.Hosts, c.Knowing, c.Poll = true, knowing, false
	return c
}

// announcing is a Corefile where nodes announce themselves.
func announcing(c Config, a Announced) Config {
	c.Announced = &a
	return c
}

// restricted is a Corefile that does not answer everybody.
func restricted(c Config, clients []netip.Prefix) Config {
	c.Clients = clients
	return c
}

// goldens are one Config for every golden file.
func goldens() map[string]Config {
	v4, v6 := addrs("192.0.2.5"), addrs("2001:db8::5")
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	ostest := Announced{Cluster: "ostest", Members: 3, On: netip.MustParseAddr("192.0.2.20"), Networks: networks}
	return map[string]Config{
		"ipv4":               internal(v4, addrs("192.0.2.6"), addrs("198.51.100.1", "198.51.100.2")),
		"ipv6":               internal(v6, addrs("2001:db8::6"), addrs("2001:db8:1::1", "fe80::1%enp1s0")),
		"dual":               internal(addrs("192.0.2.5", "2001:db8::5"), addrs("192.0.2.6", "2001:db8::6"), addrs("198.51.100.1", "2001:db8:1::1")),
		"dual-ipv6-first":    internal(addrs("2001:db8::5", "192.0.2.5"), addrs("2001:db8::6", "192.0.2.6"), addrs("198.51.100.1")),
		"api-dual-apps-ipv4": internal(addrs("192.0.2.5", "2001:db8::5"), addrs("192.0.2.6"), addrs("198.51.100.1")),
		"no-upstreams":       internal(v4, addrs("192.0.2.6"), nil),
		"fifteen-upstreams":  internal(v4, addrs("192.0.2.6"), fifteen()),
		"external":           {Header: header, Zone: zone, Upstreams: addrs("198.51.100.1"), HealthPort: 18080, Poll: true},
		"nothing":            {Zone: zone, HealthPort: 18080, Poll: true},
		"node":               node(nil, addrs("198.51.100.1")),
		"node-knowing":       node(addrs("192.0.2.10", "192.0.2.11"), addrs("198.51.100.1", "2001:db8:1::1")),
		"node-many":          node(addrs("192.0.2.10"), fifteen()),
		"node-external":      {Header: header, Zone: zone, Hosts: true, Upstreams: addrs("198.51.100.1"), HealthPort: 18080},
		"node-no-upstreams":  node(nil, nil),
		"node-only-knowing":  node(addrs("192.0.2.10"), nil),
		"clients":            restricted(internal(v4, addrs("192.0.2.6"), addrs("198.51.100.1")), networks),
		"node-clients":       restricted(node(nil, addrs("198.51.100.1")), networks),
		"signalled":          {Header: header, Zone: zone, Records: record.Cluster(zone, v4, addrs("192.0.2.6")), Upstreams: addrs("198.51.100.1")},

		"announced":              announcing(Config{Header: header, Zone: zone, Records: record.Cluster(zone, v4, addrs("192.0.2.6")), Upstreams: addrs("198.51.100.1")}, ostest),
		"announced-nothing-else": announcing(Config{Zone: zone}, Announced{Cluster: "ostest", Members: -1}),
		"announced-node":         announcing(node(nil, addrs("198.51.100.1")), ostest),
		"announced-node-knowing": announcing(node(addrs("192.0.2.10", "192.0.2.11"), addrs("198.51.100.1")), ostest),
		"announced-node-alone":   announcing(node(nil, nil), ostest),
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
		data = append(data, parts(config))
	}
	golden.EachLineCounts(t, text, data...)
}

// TestDigest holds that a Corefile says which one it is, and that nobody else's change of it goes
// unseen.
func TestDigest(t *testing.T) {
	for name, config := range goldens() {
		text := Render(config)
		is, recorded := Digest(text)
		if len(is) != 12 || is != recorded || !bytes.Contains(append([]byte("\n"), text...), []byte("\n"+Running+":53 {\n")) {
			t.Errorf("%s is %q, and says %q of itself:\n%s", name, is, recorded, text)
		}
		for _, change := range []func([]byte) []byte{
			func(b []byte) []byte { return append(b, "# by hand\n"...) },
			func(b []byte) []byte { return bytes.Replace(b, []byte("cache 30"), []byte("cache 31"), 1) },
			func(b []byte) []byte { return bytes.Replace(b, []byte(Running), []byte("x"+Running), 1) },
		} {
			if other, still := Digest(change(slices.Clone(text))); other == is || still != is {
				t.Errorf("%s, changed by hand, is %q, and says %q", name, other, still)
			}
		}
		if other, still := Digest(bytes.Replace(text, []byte(is), []byte("0123456789ab"), 1)); other != is || still != "0123456789ab" {
			t.Errorf("%s with another word of itself is %q, and says %q", name, other, still)
		}
	}
	if is, recorded := Digest([]byte(".:53 {\n}\n")); len(is) != 12 || recorded != "" {
		t.Errorf("another program's is %q, and says %q", is, recorded)
	}
}

// FuzzRender holds that neither a name that the constructor lets in nor a header nor an address's
// zone changes the shape of the file.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"lab.example.com", "x\n}\n.:54 {", "a{$HOME}b", `"`, "#", "{{ .Name }}", "a.b\\", "\r\n", "\x00", "*", "import /etc/passwd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		config := goldens()["dual"]
		want := golden.Shape(Render(config))
		config.Header += s
		if s != "" {
			for i, a := range config.Upstreams {
				config.Upstreams[i] = a.WithZone(s)
			}
			for i, a := range config.Records[0].Addresses {
				config.Records[0].Addresses[i] = a.WithZone(s)
			}
		}
		if name, err := record.ParseName(s); err == nil {
			config.Zone = name
			config.Records = record.Cluster(name, config.Records[0].Addresses, config.Records[2].Addresses)
		}
		if got := golden.Shape(Render(config)); !slices.Equal(got, want) {
			t.Errorf("%q makes\n%s", s, Render(config))
		}
	})
}
