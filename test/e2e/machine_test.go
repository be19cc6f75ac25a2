package e2e

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLongPowerOff shuts the machine down in order: the VIP leaves before anything else stops, and a master has it soon after.
func TestLongPowerOff(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	events, stop, err := c.Bootstrap.Watch(chain.APIVIP)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	start := time.Now()
	if err := c.VM.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	off := time.Since(start)
	select {
	case e := <-events:
		t.Logf("the VIP was gone after %s, the machine was off after %s", e.At.Sub(start).Round(time.Millisecond), off.Round(time.Millisecond))
		if e.Added || e.At.Sub(start) > 200*time.Millisecond {
			t.Errorf("the VIP was gone after %s, want 200 ms", e.At.Sub(start))
		}
	default:
		t.Error("the machine is off, and nobody took the VIP from it")
	}
	eventually(t, 5*time.Second, func() error {
		if h := o.Holders(); len(h) != 1 || h[0] == "bootstrap" {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	show(t, o.Report())
}

// TestLongReboot boots the machine a second time: everything is in place, nobody is asked for images, and nothing of the first life is
// in the way.
func TestLongReboot(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	if err := c.VM.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait(t, o, time.Second)
	if err := c.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait(t, o, time.Minute, "bootstrap")
	active(t, c, "onprem-install.service", chain.Unit, "onprem-coredns.service")
	serves(t, c)
	resolves(t, c)
}

// TestLongDualStack holds a VIP of each family and answers for both.
func TestLongDualStack(t *testing.T) {
	needLong(t)
	c := installed(t, "dual")
	if err := c.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	active(t, c, chain.Unit, "onprem-coredns.service")
	for _, vip := range []netip.Addr{chain.APIVIP, chain.APIVIP6} {
		o, err := lab.Observe(vip, 10*time.Millisecond, c.Bootstrap)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Stop()
		wait(t, o, time.Minute, "bootstrap")
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
