package supervise

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
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

track_file leave {
    file /run/onprem-infra/keepalived/track/leave
    weight -253
}

track_file holder_api_1 {
    file /run/onprem-infra/keepalived/holder/one_API_1
    weight 30
}

vrrp_instance one_API_0 {
    interface ens3
    advert_int 1
    unicast_peer {
        192.0.2.11
        192.0.2.12 min_ttl 255
    }
    virtual_ipaddress {
        192.0.2.5/32 label vip
    }
}

vrrp_instance one_API_1 {
    interface bond0.7
    advert_int 0.1
    unicast_peer {
        2001:db8::12
    }
    virtual_ipaddress {
        2001:db8::5/128 preferred_lft 0
        2001:db8::6/128
    }
    track_file {
        leave
    }
}

vrrp_instance one_INGRESS_0 {
    interface ens3
    unicast_peer {
        192.0.2.12
    }
}

vrrp_instance one_INGRESS_1 {
    interface ens3
    unicast_peer {
        ff02::12
    }
}
`
	vip := netip.MustParseAddr
	want := order{instances: 4, advert: 100 * time.Millisecond, patience: vrrp.Patience(ownPace.version, ownPace.advert), outlives: vrrp.Outlives(ownPace.version, ownPace.advert), bonus: map[string]bool{"one_API_1": true}, alone: map[string]bool{"one_INGRESS_1": true}, ids: map[string]vrrp.ID{}, vips: map[string][]netip.Addr{
		"one_API_0": {vip("192.0.2.5")}, "one_API_1": {vip("2001:db8::5"), vip("2001:db8::6")}, "one_INGRESS_0": nil, "one_INGRESS_1": nil,
	}, peers: []peer{{"ens3", vip("192.0.2.11")}, {"ens3", vip("192.0.2.12")}, {"bond0.7", vip("2001:db8::12")}},
		elections: map[string]election{}, tracking: readTracking([]byte(config))}
	if got := readOrder([]byte(config)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := readOrder([]byte("echo x\n}\nvirtual_ipaddress {\n192.0.2.5\n")); len(got.vips) != 0 {
		t.Errorf("of something else: %v", got)
	}
	next := want.then(readOrder([]byte("vrrp_instance one_API_0 {\n    virtual_ipaddress {\n        192.0.2.7/32\n    }\n}\n")))
	if got := next.vips; !reflect.DeepEqual(got, map[string][]netip.Addr{"one_API_0": {vip("192.0.2.7")}, "one_API_1": {vip("2001:db8::5"), vip("2001:db8::6")}, "one_INGRESS_0": nil, "one_INGRESS_1": nil}) {
		t.Errorf("then: %v", got)
	}
}

// TestPatience holds the bound of a request to leave: longer than anybody may take who has not heard a better router, by the slowest skew, and not
// so much longer that two who cannot hear each other hold the VIP for more than an advert and the skew.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		version vrrp.Version
		advert  time.Duration
		lines   string
	}{
		{vrrp.V2, time.Second, "    advert_int 1\n    version 2\n"},
		{vrrp.V2, time.Second, ""},
		{vrrp.V3, time.Second, "    version 3\n    advert_int 1\n"},
		{vrrp.V3, 100 * time.Millisecond, "    advert_int 0.1\n    version 3\n"},
	} {
		got := readOrder([]byte("vrrp_instance x {\n" + tt.lines + "}\n")).patience
		slowest := vrrp.MasterDown(tt.version, vrrp.MinPriority, tt.advert)
		soonest := vrrp.MasterDown(tt.version, vrrp.Compat().ControlPlane.Highest(), tt.advert) - tt.advert
		both := tt.advert + vrrp.Skew(tt.version, vrrp.Compat().ControlPlane.Highest(), tt.advert)
		if got <= slowest || tt.advert == time.Second && got-soonest > both {
			t.Errorf("version %d, adverts every %s: %s, want more than %s, and two holders for no more than %s", tt.version, tt.advert, got, slowest, both)
		}
	}
	two := readOrder([]byte("vrrp_instance a {\n    advert_int 0.1\n    version 3\n}\nvrrp_instance b {\n    advert_int 1\n}\n"))
	if one := readOrder([]byte("vrrp_instance b {\n}\n")); two.patience != one.patience || readOrder(nil).patience != one.patience {
		t.Errorf("the slower of two: %s, want %s", two.patience, one.patience)
	}
}
