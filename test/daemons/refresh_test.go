package daemons

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestRefresh holds K-60: who missed the announcements of a takeover, and sends to where the VIP
// was before, is told again within the refresh period, in both families. The period is shortened
// from a minute to two seconds; TestConduct of the renderer holds the minute.
func TestRefresh(t *testing.T) {
	const refresh = "vrrp_garp_master_refresh "
	for _, tt := range []struct{ name, vip, own, neighbour string }{
		{name: "IPv4", vip: "192.0.2.5", own: "192.0.2.10/24", neighbour: "192.0.2.1/24"},
		{name: "IPv6", vip: "2001:db8::5", own: "2001:db8::10/64", neighbour: "2001:db8::1/64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			vip, l := netip.MustParseAddr(tt.vip), lab.New(t)
			host, neighbour := add(t, l, "holder", tt.own), add(t, l, "neighbour", tt.neighbour)
			waitLinkLocal(ctx, t, host, neighbour)
			observer, err := lab.Observe(vip, 5*time.Millisecond, host)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Stop()
			k := start(t, host, fast(tt.vip, netip.MustParsePrefix(tt.own).Addr().String(), 70, keepalived.Group(vip)))
			text, err := os.ReadFile(k.conf)
			if err != nil {
				t.Fatal(err)
			}
			short := bytes.Replace(text, []byte(refresh+"60"), []byte(refresh+"2"), 1)
			if bytes.Equal(short, text) {
				t.Fatalf("the configuration has no %s60:\n%s", refresh, text)
			}
			if err := os.WriteFile(k.conf, short, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := observer.Wait(ctx, "holder"); err != nil {
				t.Fatal(err)
			}
			k.hup()
			time.Sleep(time.Second) // the burst of the takeover is over
			wrong := "02:00:00:00:00:99"
			ip := func(args ...string) string {
				t.Helper()
				out, err := neighbour.Command(ctx, "ip", args...).CombinedOutput()
				if err != nil {
					t.Fatalf("ip %v: %v\n%s", args, err, out)
				}
				return string(out)
			}
			ip("neigh", "replace", tt.vip, "lladdr", wrong, "dev", "eth0", "nud", "stale")
			begin := time.Now()
			for strings.Contains(ip("neigh", "show", tt.vip), wrong) {
				if time.Since(begin) > 10*time.Second {
					t.Fatalf("the neighbour still sends to %s", wrong)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if now := ip("neigh", "show", tt.vip); !strings.Contains(now, "lladdr "+mac(ctx, t, host)) {
				t.Errorf("the neighbour sends to %s, want the holder's %s", now, mac(ctx, t, host))
			}
			t.Logf("told again after %s", time.Since(begin).Round(100*time.Millisecond))
		})
	}
}

// mac is the hardware address of a host.
func mac(ctx context.Context, t *testing.T, host *lab.Host) string {
	t.Helper()
	out, err := host.Command(ctx, "ip", "-o", "link", "show", "eth0").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "link/ether ")
	address, _, _ := strings.Cut(rest, " ")
	return address
}
