package bgp_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

func TestParseASN(t *testing.T) {
	for text, want := range map[string]bgp.ASN{"64512": 64512, "1.10": 65546, "0": 0, "4294967295": 4294967295, "65535.65535": 4294967295} {
		if got, err := bgp.ParseASN(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "AS64512", "4294967296", "-1", "1.65536", "1.", ".1", "1.2.3", "64512 ", "1e3"} {
		if got, err := bgp.ParseASN(text); err == nil || !strings.Contains(err.Error(), "autonomous system") {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// TestASN holds which numbers are for what, at the edges of each range.
func TestASN(t *testing.T) {
	for n, want := range map[bgp.ASN]string{0: "reserved", 1: "", 23455: "", 23456: "reserved", 64495: "", 64496: "documented", 64511: "documented",
		64512: "private", 65534: "private", 65535: "reserved", 65536: "documented", 65551: "documented", 65552: "unassigned", 131071: "unassigned", 131072: "",
		4199999999: "", 4200000000: "private", 4294967294: "private", 4294967295: "reserved"} {
		got := ""
		for kind, is := range map[string]bool{"reserved": n.Reserved() != "", "private": n.Private(), "documented": n.Documented(), "unassigned": n.Unassigned()} {
			if is {
				got += kind
			}
		}
		if got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestCommunities holds which are reserved, and the order and the spelling that FRR has.
func TestCommunities(t *testing.T) {
	for text, reserved := range map[string]bool{"0:0": true, "0:1": false, "0:65535": false, "1:0": false, "64512:100": false, "65534:65535": false, "65535:0": true, "65535:65281": true} {
		if c, ok := bgp.ParseCommunity(text); !ok || c.Reserved() != reserved || c.String() != text {
			t.Errorf("%s is %s, reserved %v, %v", text, c, c.Reserved(), ok)
		}
	}
	for _, text := range []string{"", "64512", "64512:", ":1", "65536:1", "1:65536", "1:2:3", "+1:1", "no-export"} {
		if c, ok := bgp.ParseCommunity(text); ok {
			t.Errorf("%q is %s", text, c)
		}
	}
	got := bgp.Communities([]string{"64512:200", "64512:0100", "100:9", "64512:200"})
	if want := []string{"100:9", "64512:100", "64512:200"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := bgp.Communities(nil); got != nil {
		t.Errorf("%q of none", got)
	}
}

// TestProfiles holds that no profile contradicts itself, and within which time each notices a loss.
func TestProfiles(t *testing.T) {
	want := map[string]time.Duration{bgp.ProfileLan: 300 * time.Millisecond, bgp.ProfileVM: 900 * time.Millisecond, bgp.ProfileHold: 3 * time.Second}
	for _, p := range bgp.Profiles() {
		if wrong := p.Wrong(); len(wrong) > 0 || p.Detection() != want[p.Profile] {
			t.Errorf("%s: %q, detects within %v", p.Profile, wrong, p.Detection())
		}
		if got, ok := bgp.TimingOf(p.Profile); !ok || got != p {
			t.Errorf("%s: %+v, %v", p.Profile, got, ok)
		}
		if got, least := p.PowerLoss(1), want[p.Profile]+180*time.Millisecond; got != least {
			t.Errorf("%s: a power loss costs %v, computed %v", p.Profile, got, least)
		}
		delete(want, p.Profile)
	}
	if _, ok := bgp.TimingOf("compat"); ok || len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestTiming_Wrong(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, tt := range map[string]struct {
		timing bgp.Timing
		want   []string // a part of each finding
	}{
		"holds":                 {bgp.Timing{Keepalive: 3 * s, Hold: 9 * s, BFD: bgp.BFD{Interval: 50 * ms, Multiplier: 2}}, nil},
		"no hold time":          {bgp.Timing{Keepalive: s}, []string{"below 3s"}},
		"short hold time":       {bgp.Timing{Keepalive: s, Hold: 2 * s}, []string{"below 3s"}},
		"keepalive too seldom":  {bgp.Timing{Keepalive: 4 * s, Hold: 9 * s}, []string{"write 3s"}},
		"keepalive too short":   {bgp.Timing{Keepalive: 500 * ms, Hold: 9 * s}, []string{"every 500ms are below 1s"}},
		"no whole seconds":      {bgp.Timing{Keepalive: 1500 * ms, Hold: 4500 * ms}, []string{"4.5s are not", "1.5s are not"}},
		"BFD too fast":          {bgp.Timing{Keepalive: s, Hold: 3 * s, BFD: bgp.BFD{Interval: 49 * ms, Multiplier: 3}}, []string{"every 50ms or more"}},
		"BFD of one packet":     {bgp.Timing{Keepalive: s, Hold: 3 * s, BFD: bgp.BFD{Interval: 100 * ms, Multiplier: 1}}, []string{"2 packets or more"}},
		"long hold time":        {bgp.Timing{Keepalive: s, Hold: 65536 * s}, []string{"above 18h12m15s"}},
		"longest hold time":     {bgp.Timing{Keepalive: s, Hold: 65535 * s}, nil},
		"endless keepalive":     {bgp.Timing{Keepalive: 972222 * time.Hour, Hold: 9 * s}, []string{"write 3s"}},
		"BFD of many packets":   {bgp.Timing{Keepalive: s, Hold: 90 * s, BFD: bgp.BFD{Interval: 100 * ms, Multiplier: 256}}, []string{"write 255 packets at most"}},
		"BFD beyond all time":   {bgp.Timing{Keepalive: s, Hold: 90 * s, BFD: bgp.BFD{Interval: 100 * ms, Multiplier: 1 << 37}}, []string{"write 255 packets at most"}},
		"BFD that is too slow":  {bgp.Timing{Keepalive: s, Hold: 900 * s, BFD: bgp.BFD{Interval: 61 * s, Multiplier: 2}}, []string{"every 1m0s at most"}},
		"BFD that never counts": {bgp.Timing{Keepalive: s, Hold: 3 * s, BFD: bgp.BFD{Interval: s, Multiplier: 3}}, []string{"not before the hold time"}},
	} {
		got := tt.timing.Wrong()
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], tt.want[i]) {
				t.Errorf("%s: %q, want %q", name, got[i], tt.want[i])
			}
		}
	}
	if got := (bgp.Timing{Hold: s, BFD: bgp.BFD{Interval: s, Multiplier: 3}}).Detection(); got != s {
		t.Errorf("the hold time ends first: %v", got)
	}
}

// TestOfNode holds the grades of a fabric with leaves and spines, which other machines' paths are
// compared with.
func TestOfNode(t *testing.T) {
	both, own := bgp.Health{Balancer: true, API: true}, bgp.Health{API: true}
	for _, tt := range []struct {
		policy  bgp.Policy
		rank    int
		health  bgp.Health
		leaving bool
		want    bgp.Grade
	}{
		{bgp.Policy{Depth: 1}, 0, both, false, 0},
		{bgp.Policy{Depth: 1}, 2, own, false, 1},
		{bgp.Policy{Depth: 1}, 0, both, true, 4},
		{bgp.Policy{Depth: 1, Bootstrap: true}, 0, both, false, 4},
		{bgp.Policy{Depth: 1, Bootstrap: true}, 0, own, true, 8},
		{bgp.Policy{Depth: 2, Bootstrap: true}, 0, both, false, 6},
		{bgp.Policy{Depth: 1, Ranks: 3}, 0, both, false, 0},
		{bgp.Policy{Depth: 1, Ranks: 3}, 2, both, false, 8},
		{bgp.Policy{Depth: 1, Ranks: 3}, 7, both, false, 8},  // beyond the last rank
		{bgp.Policy{Depth: 1, Ranks: 3}, -1, both, false, 0}, // none
	} {
		if got, ok := tt.policy.OfNode(tt.rank, tt.health, tt.leaving); !ok || got != tt.want {
			t.Errorf("%+v: %d, %v", tt, got, ok)
		}
	}
	if _, ok := (bgp.Policy{}).OfNode(0, bgp.Health{}, false); ok {
		t.Error("a node without a service announces")
	}
}

// TestDemotions holds that a host leaves by one number after the other, so that no two routers whose ways
// differ move at once, that the last grade is behind all others, and how many there are at most.
func TestDemotions(t *testing.T) {
	for depth := range 4 {
		for _, ranks := range []int{0, 3, 5} {
			p := bgp.Policy{Depth: depth, Ranks: ranks, Bootstrap: true}
			best, _ := p.OfNode(0, bgp.Health{Balancer: true}, false)
			for _, from := range []bgp.Grade{0, best, p.Leaving() - 1, p.Leaving(), p.Leaving() + 3} {
				steps := p.Demotions(from)
				if n := len(steps); n > bgp.MostDemotions || n == 0 || steps[n-1] != max(p.Leaving(), from) {
					t.Fatalf("%+v from %d: %v", p, from, steps)
				}
				before := from
				for _, g := range steps {
					if g < before || g == before && from < p.Leaving() || g > before+1 && p.Leaving()-from <= bgp.MostDemotions {
						t.Errorf("%+v from %d: %v", p, from, steps)
					}
					before = g
				}
			}
		}
	}
}
