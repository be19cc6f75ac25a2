package e2e

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// TestLongDualStack holds a VIP of each family and answers for both.
func TestLongDualStack(t *testing.T) {
	needLong(t)
	c := installed(t, "dual")
	if err := c.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	active(t, c, chain.Unit, dnsUnit)
	for _, vip := range []netip.Addr{chain.APIVIP, chain.APIVIP6} {
		wait(t, observe(t, vip, c.Bootstrap), time.Minute, "bootstrap")
		eventually(t, 10*time.Second, func() error {
			_, err := c.Get(t.Context(), netip.AddrPortFrom(vip, 6443).String(), "/readyz")
			return err
		})
	}
	for _, tt := range []struct {
		name  string
		qtype uint16
		want  netip.Addr
	}{
		{name: "api." + chain.Zone, qtype: dns.TypeA, want: chain.APIVIP},
		{name: "api." + chain.Zone, qtype: dns.TypeAAAA, want: chain.APIVIP6},
		{name: "console.apps." + chain.Zone, qtype: dns.TypeA, want: chain.IngressVIP},
		{name: "console.apps." + chain.Zone, qtype: dns.TypeAAAA, want: chain.IngressVIP6},
	} {
		if got, err := c.Lookup(t.Context(), tt.name, tt.qtype); err != nil || !slices.Equal(got, []netip.Addr{tt.want}) {
			t.Errorf("%s %s: %v, want %s (%v)", tt.name, dns.TypeToString[tt.qtype], got, tt.want, err)
		}
	}
}
