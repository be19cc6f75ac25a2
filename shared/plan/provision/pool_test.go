package provision

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// TestPool holds that hosts which are not listed have the rest of the range in either family, that
// a further host takes its address out of it, and that the proof notices a wrong one.
func TestPool(t *testing.T) {
	for _, tt := range []struct{ cidr, want string }{
		{"172.22.0.0/28", "[{172.22.0.10 172.22.0.11} {172.22.0.13 172.22.0.14}]"},
		{"fd00:22::/120", "[{fd00:22::a fd00:22::cf} {fd00:22::e0 fd00:22::fe}]"},
	} {
		in := Input{Settings: provisioning.Settings{Network: provisioning.Managed, CIDR: netip.MustParsePrefix(tt.cidr)}, Zone: "c.example.com"}
		in.Settings.DHCP.Unknown = provisioning.Pool
		in.APIVIPs = []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")}
		at, _ := bmc.Parse("ipmi://198.51.100.1")
		in.Hosts = []machine.Host{{Name: "m0", Role: machine.Master, BootMACAddress: "52:54:00:00:00:03", BMC: machine.BMC{Address: at}}}
		p, err := Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.DHCP.Pool); got != tt.want {
			t.Errorf("%s: %s, want %s, with the host at %s", tt.cidr, got, tt.want, p.Hosts[0].Address)
		}
		p.DHCP.Pool[0].Last = p.DHCP.Pool[1].First
		if _, err := p.prove(); err == nil || !strings.Contains(err.Error(), "the pool's part") {
			t.Errorf("%s: a pool with the host's address: %v", tt.cidr, err)
		}
		in.Settings.DHCP.Unknown = ""
		if p, err := Compile(in); err != nil || p.DHCP.Pool != nil {
			t.Errorf("%s: %v, %v without a pool", tt.cidr, p.DHCP.Pool, err)
		}
	}
}
