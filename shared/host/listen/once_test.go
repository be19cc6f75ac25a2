package listen

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// foreign is an advert of another router.
func foreign(from netip.Addr, id vrrp.ID, vips ...netip.Addr) capture.Received {
	return capture.Received{
		At: time.Now(), MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, 99},
		Advert: advert.Advert{From: from, Hops: advert.Near, Version: vrrp.V2, ID: id,
			Priority: 100, Interval: time.Second, VIPs: vips, Sound: true},
	}
}

// TestForeign holds that plan names a router that has an ID of the cluster to be, with one that
// is free, and does not name the cluster itself.
func TestForeign(t *testing.T) {
	p := testPlan(t)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		found, err := Foreign(t.Context(), p, "eth0",
			func(ctx context.Context, _ string, receive func(capture.Received)) error {
				for _, vip := range []netip.Addr{netip.MustParseAddr("192.0.2.77"), p.VIPs.API[0]} {
					receive(foreign(vip.Next(), p.VRRP.API.ID, vip))
				}
				<-ctx.Done()
				return nil
			})
		if err != nil || time.Since(begin) != clash.ListenTime || len(found) != 1 {
			t.Fatalf("%v, %v after %v", found, err, time.Since(begin))
		}
		if text := found[0].String(); !strings.Contains(
			text, "192.0.2.78 (52:54:00:00:00:63) on eth0 has the virtual router ID") ||
			!strings.Contains(text, "by vrids: {api: ") {
			t.Error(text)
		}
	})
	if _, err := Foreign(t.Context(), p, "eth0",
		func(context.Context, string, func(capture.Received)) error {
			return errors.New("no such link")
		}); err == nil {
		t.Error("a link that cannot be received from counts as one without neighbours")
	}
}

// TestForeign_InOrder holds that two runs of plan report the same in the same order.
func TestForeign_InOrder(t *testing.T) {
	p := testPlan(t)
	for range 20 {
		found, err := Foreign(t.Context(), p, "eth0",
			func(_ context.Context, _ string, receive func(capture.Received)) error {
				for _, id := range []vrrp.ID{p.VRRP.Ingress.ID, p.VRRP.API.ID} {
					receive(foreign(netip.MustParseAddr("192.0.2.78"), id))
				}
				return nil
			})
		if err != nil || len(found) != 2 || found[0].For != vrrp.API ||
			found[1].For != vrrp.Ingress {
			t.Fatalf("%v, %v", found, err)
		}
	}
}
