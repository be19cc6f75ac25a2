package lateness

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestWatch holds that late adverts of the cluster's routers count, and no others.
func TestWatch(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	for _, tt := range []struct {
		name   string
		change func(*capture.Received)
		counts bool
	}{
		{"of the cluster", func(*capture.Received) {}, true},
		{"of another router", func(r *capture.Received) { r.ID = 15 }, false},
		{"a forwarded one", func(r *capture.Received) { r.Hops = 254 }, false},
		{"with a wrong checksum", func(r *capture.Received) { r.Sound = false }, false},
		{"releases", func(r *capture.Received) { r.Priority = advert.Release }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWatch(fast, []int{14, 93})
			begin := time.Now().Add(-13 * time.Second)
			for i := range 10 {
				for _, after := range []time.Duration{0, 200 * time.Millisecond} {
					r := capture.Received{At: begin.Add(time.Duration(i)*1300*time.Millisecond + after), Advert: advert.Advert{
						From: netip.MustParseAddr("192.0.2.11"), ID: 14, Hops: 255, Sound: true, Priority: 100, Version: vrrp.V3, Interval: fast.Advert}}
					tt.change(&r)
					w.Received(r)
				}
			}
			if why := w.Why(); strings.Contains(why, "192.0.2.11 by 150ms") != tt.counts {
				t.Errorf("why: %q", why)
			}
		})
	}
}
