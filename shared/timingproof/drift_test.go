package timingproof

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestStream holds how late an advert is, and which ones have no time of their own.
func TestStream(t *testing.T) {
	var s Stream
	at := time.Unix(1000, 0)
	for i, step := range []struct {
		after, interval time.Duration
		releases        bool
		want            time.Duration
		ok              bool
	}{
		{ms(0), ms(50), false, 0, false},
		{ms(50), ms(50), false, 0, true},
		{ms(45), ms(50), false, 0, true},
		{ms(80), ms(50), false, ms(30), true},
		{ms(80), ms(100), false, 0, true},
		{ms(300), ms(50), true, 0, false},
		{ms(10), ms(50), false, 0, false},
		{ms(51), ms(50), false, ms(1), true},
	} {
		at = at.Add(step.after)
		if late, ok := s.Late(step.interval, step.releases, at); late != step.want || ok != step.ok {
			t.Errorf("step %d: late by %v, %t", i, late, ok)
		}
	}
}

// TestDrift holds how many late adverts, and in what time, mean that the hosts are not as they were
// when they were measured.
func TestDrift(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	most, a, b := Allowed(fast), netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12")
	for _, tt := range []struct {
		name  string
		times int
		by    time.Duration // how late each of them is
		apart time.Duration // in time, from one late one to the next
		want  string
	}{
		{"as late as is allowed", 20, most, time.Second, ""},
		{"four late ones", 4, most + ms(1), time.Second, ""},
		{"five late ones", 5, ms(80), time.Second, "5 times within 10m0s adverts were more than 26ms late, one of 192.0.2.11 by 80ms"},
		{"five late ones over ten minutes", 5, ms(80), 150 * time.Second, "late"},
		{"five late ones over more", 5, ms(80), 151 * time.Second, ""},
		{"a router that starts again", 20, time.Second, 2 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, at := NewDrift(fast), time.Unix(1000, 0)
			d.Add(a, 14, fast.Advert, false, at)
			for i := range tt.times {
				if i > 0 { // adverts in time until the next late one
					for end := at.Add(tt.apart - fast.Advert - tt.by); at.Before(end); {
						at = at.Add(min(fast.Advert, end.Sub(at)))
						d.Add(a, 14, fast.Advert, false, at)
						d.Add(b, 14, fast.Advert, false, at)
					}
				}
				at = at.Add(fast.Advert + tt.by)
				late := d.Add(a, 14, fast.Advert, false, at)
				if want := tt.by > most && tt.by < silence; late != want {
					t.Errorf("an advert that is %v late: late %t", tt.by, late)
				}
				d.Add(b, 14, fast.Advert, true, at) // that one has released its VIP
			}
			got := d.Why(at)
			if got != tt.want && (tt.want == "" || !strings.Contains(got, tt.want)) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if later := d.Why(at.Add(within + time.Second)); later != "" {
				t.Errorf("much later: %q", later)
			}
		})
	}
}

// TestDrift_Stall holds that a host which stands still once is late once, however many routers it has.
func TestDrift_Stall(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	d, a, at := NewDrift(fast), netip.MustParseAddr("192.0.2.11"), time.Unix(1000, 0)
	for range often - 1 {
		for _, after := range []time.Duration{fast.Advert, ms(130), fast.Advert, 2 * time.Second} {
			at = at.Add(after)
			for router := range 6 {
				d.Add(a, router, fast.Advert, false, at)
			}
		}
	}
	if why := d.Why(at); why != "" {
		t.Errorf("after %d stalls: %s", often-1, why)
	}
}

// TestDrift_Worst holds that the host is named that was latest, also if another one was late within
// the same second.
func TestDrift_Worst(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	a, b, at := netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12"), time.Unix(1000, 0)
	d := NewDrift(fast)
	late := func(from netip.Addr, by time.Duration) {
		d.Add(from, 14, fast.Advert, false, at)
		at = at.Add(fast.Advert + by)
		d.Add(from, 14, fast.Advert, false, at)
		d.Add(from, 14, fast.Advert, true, at)
	}
	for range often {
		late(a, ms(60))
		late(b, ms(200))
		late(a, ms(70))
		at = at.Add(2 * time.Second)
	}
	if why := d.Why(at); !strings.Contains(why, "one of 192.0.2.12 by 200ms") {
		t.Error(why)
	}
}

// TestDrift_Flood holds that a flood of forged senders takes bounded memory, and keeps no router out
// for ever.
func TestDrift_Flood(t *testing.T) {
	d := NewDrift(vrrp.Timing{Profile: vrrp.ProfileFast, IPv4: vrrp.V3, Advert: ms(50)})
	for i := range 10 * streams {
		d.Add(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 14, ms(50), false, time.Unix(1000, 0))
	}
	if len(d.streams) != streams {
		t.Errorf("%d streams", len(d.streams))
	}
	k := key{netip.MustParseAddr("192.0.2.11"), 14}
	if d.Add(k.from, k.router, ms(50), false, time.Unix(1010, 0)); d.streams[k] == nil {
		t.Error("a router is not followed after the flood")
	}
}
