package nft

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestClosedToOthers holds H-18 against those who rewrite destinations too: a Service of the
// cluster may have the closed port of a VIP as its endpoint, and HAProxy sees nothing but the VIP
// then. Only what was made to the VIP's own port may come in.
func TestClosedToOthers(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up\naddr add 192.0.2.5/32 dev lo\naddr add 192.0.2.99/32 dev lo\n"+
		"addr add 2001:db8::5/128 dev lo nodad\naddr add 2001:db8::99/128 dev lo nodad\n")
	for _, vip := range []string{"192.0.2.5", "2001:db8::5"} {
		defer listen(t, ns, net.JoinHostPort(vip, "9446")).Close()
	}
	services := map[string]string{
		"192.0.2.99:80": "192.0.2.5", "192.0.2.99:22623": "192.0.2.5", "192.0.2.5:80": "192.0.2.5",
		"[2001:db8::99]:80": "2001:db8::5", "[2001:db8::99]:22623": "2001:db8::5",
		"[2001:db8::5]:80": "2001:db8::5",
	}
	if err := ns.In(func() error {
		_, err := Ensure(rules())
		return errors.Join(err, serviced(services))
	}); err != nil {
		t.Fatal(err)
	}
	for address, open := range map[string]bool{
		"192.0.2.5:22623": true, "[2001:db8::5]:22623": true,
		"192.0.2.5:9446": false, "[2001:db8::5]:9446": false,
		"192.0.2.99:80": false, "192.0.2.99:22623": false, "192.0.2.5:80": false,
		"[2001:db8::99]:80": false, "[2001:db8::99]:22623": false, "[2001:db8::5]:80": false,
	} {
		dial := func() error {
			return ns.In(func() error {
				c, err := net.DialTimeout("tcp", address, 5*time.Second)
				if err == nil {
					c.Close()
				}
				return err
			})
		}
		err := dial()
		// The kernel makes routes of IPv6 addresses later than it answers for the addresses.
		for end := time.Now().Add(5 * time.Second); errors.Is(err, syscall.ENETUNREACH) && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
			err = dial()
		}
		if open && err != nil || !open && !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v, may come in: %t", address, err, open)
		}
	}
	if err := ns.In(func() error { present(t, rules(), true); return nil }); err != nil {
		t.Error(err)
	}
}

// serviced makes rules of another program's, which send connections for an address and port to the
// closed port of an address.
func serviced(services map[string]string) error {
	c, err := nftables.New()
	if err != nil {
		return err
	}
	own := c.AddTable(&nftables.Table{Name: "services", Family: nftables.TableFamilyINet})
	out := c.AddChain(&nftables.Chain{Name: "out", Table: own, Type: nftables.ChainTypeNAT,
		Hooknum:  nftables.ChainHookOutput,
		Priority: nftables.ChainPriorityRef(-110)}) // before ours
	for from, to := range services {
		at := netip.MustParseAddrPort(from)
		d := redirect.Redirect{VIP: at.Addr(), From: at.Port()}
		end := redirect.Redirect{VIP: netip.MustParseAddr(to), To: 9446}
		c.AddRule(&nftables.Rule{Table: own, Chain: out,
			Exprs: append(append([]expr.Any{}, toVIP(d)...), rewrite(end)...)})
	}
	return c.Flush()
}
