package link

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestSources holds that routes which name a source are found in every table, and the kernel's own
// ones of local addresses are not.
func TestSources(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up\nlink add ens3 type veth peer name far\nlink set far up\nlink set ens3 up\naddr add 192.0.2.11/24 dev ens3\naddr add 198.51.100.5/32 dev lo\n"+
		"addr add 2001:db8::5/128 dev lo nodad\naddr add 2001:db8:1::11/64 dev ens3 nodad\n"+
		"route add 203.0.113.0/24 via 192.0.2.1 src 198.51.100.5\nroute add default via 192.0.2.1 src 198.51.100.5 table 100\n"+
		"-6 route add 2001:db8:2::/64 via 2001:db8:1::1 src 2001:db8::5\nroute add 203.0.114.0/24 via 192.0.2.1\n")
	var got []string
	if err := ns.In(func() error {
		all, err := Sources()
		for _, s := range all {
			got = append(got, fmt.Sprintf("%s by %s", s.Route, s.Address))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{"192.0.2.0/24 by 192.0.2.11", "2001:db8:2::/64 by 2001:db8::5", "203.0.113.0/24 by 198.51.100.5", "default by 198.51.100.5"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
