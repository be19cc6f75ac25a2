package supervise

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// TestEar holds W-14: a heartbeat that stands still, or goes, is silence after 10 s; none at all is not, and neither is a long stop of this
// process's own clock.
func TestEar(t *testing.T) {
	type look struct {
		at   time.Duration
		text string
		want bool
	}
	for _, tt := range []struct {
		name  string
		looks []look
	}{
		{"no monitor ever", []look{{0, "", false}, {time.Hour, "", false}}},
		{"one that lives", []look{{0, "1", false}, {9 * time.Second, "2", false}, {18 * time.Second, "3", false}}},
		{"one that dies", []look{{0, "1", false}, {time.Second, "2", false}, {10 * time.Second, "2", false}, {11 * time.Second, "2", true}, {time.Hour, "2", true}}},
		{"one whose file goes", []look{{0, "1", false}, {9 * time.Second, "", false}, {10 * time.Second, "", true}}},
		{"one that comes back", []look{{0, "1", false}, {11 * time.Second, "1", true}, {12 * time.Second, "2", false}, {21 * time.Second, "2", false}}},
		{"one that died before this process began", []look{{0, "1", false}, {9 * time.Second, "1", false}, {10 * time.Second, "1", true}}},
		{"one that comes late", []look{{0, "", false}, {time.Hour, "1", false}, {time.Hour + 9*time.Second, "1", false}, {time.Hour + 10*time.Second, "1", true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e ear
			begin := time.Now()
			for _, l := range tt.looks {
				if got := e.hear(l.text, begin.Add(l.at)); got != l.want {
					t.Errorf("at %s: silent %t", l.at, got)
				}
			}
		})
	}
}

func TestReadOrder(t *testing.T) {
	const config = `global_defs {
    script_user root
}
vrrp_instance one_API_0 {
    advert_int 1
    unicast_peer {
        192.0.2.11
    }
    virtual_ipaddress {
        192.0.2.5/32 label vip
    }
}

vrrp_instance one_API_1 {
    advert_int 0.1
    virtual_ipaddress {
        2001:db8::5/128 preferred_lft 0
        2001:db8::6/128
    }
    track_file {
        leave
    }
}
`
	vip := netip.MustParseAddr
	want := order{advert: time.Second, vips: map[string][]netip.Addr{
		"one_API_0": {vip("192.0.2.5")}, "one_API_1": {vip("2001:db8::5"), vip("2001:db8::6")},
	}}
	if got := readOrder([]byte(config)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := readOrder([]byte("echo x\n}\nvirtual_ipaddress {\n192.0.2.5\n")); len(got.vips) != 0 || got.advert != defaultAdvert {
		t.Errorf("of something else: %v", got)
	}
	next := want.then(readOrder([]byte("vrrp_instance one_API_0 {\n    virtual_ipaddress {\n        192.0.2.7/32\n    }\n}\n")))
	if got := next.vips; !reflect.DeepEqual(got, map[string][]netip.Addr{"one_API_0": {vip("192.0.2.7")}, "one_API_1": {vip("2001:db8::5"), vip("2001:db8::6")}}) {
		t.Errorf("then: %v", got)
	}
}

// TestPatience holds the bound of a request to leave: longer than anybody may take who has not heard a better router, by the slowest skew.
func TestPatience(t *testing.T) {
	for advert, want := range map[time.Duration]time.Duration{
		time.Second: 4500 * time.Millisecond, 100 * time.Millisecond: 1800 * time.Millisecond, 2 * time.Second: 8500 * time.Millisecond,
	} {
		if got := patience(advert); got != want {
			t.Errorf("adverts every %s: %s, want %s", advert, got, want)
		}
	}
}
