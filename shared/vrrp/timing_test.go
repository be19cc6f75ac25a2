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
		{"v3 at 1 s is as v2", V3, 68, time.Second, 734375 * time.Microsecond, 3734375 * time.Microsecond},
		{"v2 skews by the second whatever the interval", V2, 68, 3 * time.Second, 734375 * time.Microsecond, 9734375 * time.Microsecond},
		{"v3 skews by the interval", V3, 68, 100 * time.Millisecond, 73437500 * time.Nanosecond, 373437500 * time.Nanosecond},
		{"the best priority", V2, 254, time.Second, 7812500 * time.Nanosecond, 3007812500 * time.Nanosecond},
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

func TestCompatTiming(t *testing.T) {
	if got := CompatTiming(); got != (Timing{Profile: "compat", Advert: time.Second}) {
		t.Errorf("CompatTiming = %+v", got)
	}
	for address, want := range map[string]Version{"192.0.2.5": V2, "2001:db8::5": V3} {
		if got := VersionFor(netip.MustParseAddr(address)); got != want {
			t.Errorf("VersionFor(%s) = %d, want %d", address, got, want)
		}
	}
}
