package vrrp

import (
	"net/netip"
	"testing"
	"time"
)

func TestTiming(t *testing.T) {
	tests := []struct {
		name       string
		version    Version
		priority   Priority
		advert     time.Duration
		skew, down time.Duration
	}{
		{"v2 at 68", V2, 68, time.Second, 734375 * time.Microsecond, 3734375 * time.Microsecond},
		{"v2 at 40", V2, 40, time.Second, 843750 * time.Microsecond, 3843750 * time.Microsecond},
		{"v2 at 20", V2, 20, time.Second, 921875 * time.Microsecond, 3921875 * time.Microsecond},
		{"v3 at 1 s is as v2", V3, 68, time.Second, 734375 * time.Microsecond,
			3734375 * time.Microsecond},
		{"v2 skews by the second whatever the interval", V2, 68, 3 * time.Second,
			734375 * time.Microsecond, 9734375 * time.Microsecond},
		{"v3 skews by the interval", V3, 68, 100 * time.Millisecond, 73437500 * time.Nanosecond,
			373437500 * time.Nanosecond},
		{"the best priority", V2, 254, time.Second, 7812500 * time.Nanosecond,
			3007812500 * time.Nanosecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if skew := Skew(tt.version, tt.priority, tt.advert); skew != tt.skew {
				t.Errorf("Skew = %v, want %v", skew, tt.skew)
			}
			if down := MasterDown(tt.version, tt.priority, tt.advert); down != tt.down {
				t.Errorf("MasterDown = %v, want %v", down, tt.down)
			}
		})
	}
}

// TestProfiles holds the numbers that nodes of one cluster must share.
func TestProfiles(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")
	for _, tt := range []struct {
		profile   string
		advert    time.Duration
		ipv4      Version
		bootstrap Priority
	}{
		{"fast", 50 * time.Millisecond, V3, 250},
		{"lan", 100 * time.Millisecond, V3, 230},
		{"vm", 250 * time.Millisecond, V3, 230},
		{"compat", time.Second, V2, 70},
	} {
		got, ok := TimingOf(tt.profile)
		if !ok || got.Profile != tt.profile || got.Advert != tt.advert ||
			got.Version(four) != tt.ipv4 || got.Version(six) != V3 ||
			got.Policy().Bootstrap != tt.bootstrap {
			t.Errorf("%s: %t, %+v", tt.profile, ok, got)
		}
		for _, c := range []Candidates{got.Policy().ControlPlane, got.Policy().Ingress} {
			for _, w := range c.Weights {
				if got.Checks[w.Check].Interval == 0 {
					t.Errorf("%s: check %s has no interval", tt.profile, w.Check)
				}
			}
		}
	}
	if got, ok := TimingOf("quick"); ok || len(Profiles()) != 4 {
		t.Errorf("profile quick is %+v, and there are %d", got, len(Profiles()))
	}
}
