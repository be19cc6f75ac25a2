package notice

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var cluster = Cluster{
	Machines: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
	VIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")},
}

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

func TestCandidatesRoundTrip(t *testing.T) {
	many := []Candidate{}
	for i := range MostCandidates {
		many = append(many, Candidate{Name: fmt.Sprintf("worker-%d.example.com", i), Addresses: addrs(fmt.Sprintf("192.0.2.%d", 10+i))})
	}
	for _, list := range [][]Candidate{{}, {{Name: "worker-0", Addresses: addrs("192.0.2.10", "2001:db8::10")}, {Name: "master-0", Addresses: addrs("192.0.2.11")}}, many} {
		data := EncodeCandidates(list)
		got, err := ReadCandidates(data, cluster)
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("%v became %v, %v", list, got, err)
		}
	}
	if got := EncodeCandidates(nil)["candidates"]; got != "[]" {
		t.Errorf("no candidates are written as %q, want []", got)
	}
}

// A garbled object is refused whole, whatever part of it is bad.
func TestReadCandidatesRefuses(t *testing.T) {
	entry := func(name string, addresses ...string) string {
		return fmt.Sprintf(`{"name":%q,"addresses":["%s"]}`, name, strings.Join(addresses, `","`))
	}
	good := entry("worker-0", "192.0.2.10")
	tooMany := []string{}
	for i := range MostCandidates + 1 {
		tooMany = append(tooMany, entry(fmt.Sprint("w", i), fmt.Sprintf("192.0.2.%d", 10+i)))
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "JSON"},
		{"half a list", "[" + good, "JSON"},
		{"null", "null", "want a list"},
		{"another shape", `{"name":"worker-0"}`, "cannot unmarshal"},
		{"a text for addresses", `[{"name":"worker-0","addresses":"192.0.2.10"}]`, "cannot unmarshal"},
		{"more than may be", "[" + strings.Join(tooMany, ",") + "]", "65 entries"},
		{"a long text", strings.Repeat(" ", longest) + "[]", "bytes"},
		{"without an address", `[{"name":"worker-0","addresses":[]}]`, "0 addresses"},
		{"with nine", "[" + entry("worker-0", "192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15", "192.0.2.16", "192.0.2.17", "192.0.2.18") + "]", "9 addresses"},
		{"without a name", "[" + entry("", "192.0.2.10") + "]", "no node's name"},
		{"a name with a line break", `[{"name":"worker-0\nvirtual_ipaddress","addresses":["192.0.2.10"]}]`, "no node's name"},
		{"a name in capitals", "[" + entry("Worker-0", "192.0.2.10") + "]", "no node's name"},
		{"a long name", "[" + entry(strings.Repeat("a", 254), "192.0.2.10") + "]", "no node's name"},
		{"a name twice", "[" + good + "," + entry("worker-0", "192.0.2.11") + "]", "twice"},
		{"an address twice", "[" + good + "," + entry("worker-1", "192.0.2.10") + "]", "twice"},
		{"a VIP", "[" + good + "," + entry("worker-1", "192.0.2.5") + "]", "is a VIP"},
		{"an IPv6 VIP", "[" + entry("worker-1", "2001:db8::5") + "]", "is a VIP"},
		{"outside", "[" + good + "," + entry("worker-1", "198.51.100.1") + "]", "in no machine network"},
		{"no address", "[" + entry("worker-1", "") + "]", "no address"},
		{"a mapped address", "[" + entry("worker-1", "::ffff:192.0.2.10") + "]", "no machine's address"},
		{"a zone", "[" + entry("worker-1", "fe80::1%eth0") + "]", "no machine's address"},
		{"multicast", "[" + entry("worker-1", "224.0.0.18") + "]", "no machine's address"},
		{"loopback", "[" + entry("worker-1", "127.0.0.1") + "]", "no machine's address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := ReadCandidates(map[string]string{"candidates": tt.text}, cluster)
			if err == nil || list != nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 300 {
				t.Errorf("ReadCandidates() = %v, %v, want %q", list, err, tt.want)
			}
		})
	}
	if _, err := ReadCandidates(map[string]string{"other": "[]"}, cluster); err == nil {
		t.Error("an object without the key is read")
	}
	if _, err := ReadCandidates(map[string]string{"candidates": "[" + entry("worker-0", "198.51.100.1") + "]"}, Cluster{VIPs: cluster.VIPs}); err != nil {
		t.Errorf("without machine networks: %v, want any address but a VIP", err)
	}
}

func TestBootstrapRoundTrip(t *testing.T) {
	want := addrs("192.0.2.20", "2001:db8::20")
	got, beat, err := ReadBootstrap(EncodeBootstrap(want, 7), cluster)
	if err != nil || beat != 7 || !slices.Equal(got, want) {
		t.Errorf("%v 7 became %v %d, %v", want, got, beat, err)
	}
	for _, data := range []map[string]string{
		nil, EncodeBootstrap(nil, 1), EncodeBootstrap(addrs("192.0.2.5"), 1), EncodeBootstrap(addrs("198.51.100.1"), 1), EncodeBootstrap(addrs("192.0.2.20", "192.0.2.20"), 1),
		{"addresses": `["192.0.2.20"]`}, {"addresses": `["192.0.2.20"]`, "beat": "-1"}, {"addresses": `["192.0.2.20"]`, "beat": strings.Repeat("x", 1000)}, {"addresses": `null`, "beat": "1"},
	} {
		if got, _, err := ReadBootstrap(data, cluster); err == nil || got != nil {
			t.Errorf("ReadBootstrap(%v) = %v, want an error", data, got)
		}
	}
}

// K-16: a machine finds itself by the address that it takes for its own.
func TestCandidateAddress(t *testing.T) {
	c := Candidate{Name: "worker-0", Addresses: addrs("192.0.2.10", "192.0.2.11", "2001:db8::10")}
	vip4, vip6 := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")
	for _, tt := range []struct {
		vip  netip.Addr
		own  string
		want string
	}{
		{vip4, "192.0.2.99", "[192.0.2.10 192.0.2.11]"},
		{vip4, "192.0.2.11", "[192.0.2.11]"},
		{vip6, "192.0.2.11", "[2001:db8::10]"},
		{vip6, "2001:db8::10", "[2001:db8::10]"},
	} {
		if got := fmt.Sprint(c.Members(tt.vip, netip.MustParseAddr(tt.own))); got != tt.want {
			t.Errorf("Members(%v, %v) = %v, want %v", tt.vip, tt.own, got, tt.want)
		}
	}
	if got := (Candidate{Name: "worker-0", Addresses: addrs("192.0.2.10")}).Members(vip6, netip.Addr{}); len(got) > 0 {
		t.Errorf("a node without an address of the family has %v", got)
	}
}

// Whatever the object holds, nothing panics, and what is accepted can be written and read
// again.
func FuzzReadCandidates(f *testing.F) {
	f.Add(`[{"name":"worker-0","addresses":["192.0.2.10","2001:db8::10"]}]`)
	f.Add(`[{"name":"a","addresses":["192.0.2.5"]}]`)
	f.Add(`[null,{}]`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadCandidates(map[string]string{"candidates": text}, cluster)
		if err != nil {
			return
		}
		again, err := ReadCandidates(EncodeCandidates(list), cluster)
		if err != nil || !slices.EqualFunc(list, again, Candidate.Equal) {
			t.Errorf("%v became %v, %v", list, again, err)
		}
	})
}
