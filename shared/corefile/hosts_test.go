package corefile

import (
	"net/netip"
	"testing"
)

// TestRenderHosts holds D-10 and D-12: a line for each address of each family, under the name that
// a node has today.
func TestRenderHosts(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		hosts        []Host
		want         string
	}{
		{name: "none", want: ""},
		{name: "none, and who says so", header: "made by\n a test", want: "# made by a test\n"},
		{name: "both families", hosts: []Host{{"master-0", addrs("192.0.2.10", "2001:db8::10")}, {"worker-0", addrs("192.0.2.20")}},
			want: "192.0.2.10 master-0 master-0.ostest.example.com\n2001:db8::10 master-0 master-0.ostest.example.com\n192.0.2.20 worker-0 worker-0.ostest.example.com\n"},
		{name: "an address of one link", hosts: []Host{{"a", []netip.Addr{netip.MustParseAddr("fe80::1%x\ny")}}}, want: "fe80::1 a a.ostest.example.com\n"},
		{name: "no address", hosts: []Host{{"a", nil}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(RenderHosts(tt.header, zone, tt.hosts)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
