package supervise

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestElection_Adopts(t *testing.T) {
	e := readOrder([]byte(`vrrp_instance one_API_0 {
    interface ens3
    virtual_router_id 30
    advert_int 0.1
    version 3
    unicast_src_ip 192.0.2.11
    check_unicast_src
    unicast_peer {
        192.0.2.12 min_ttl 255
    }
    virtual_ipaddress {
        192.0.2.5/32 label vip
    }
}
`)).elections["one_API_0"]
	open := e
	open.peers = nil
	from := func(text string) advert.Advert {
		return advert.Advert{From: netip.MustParseAddr(text), ID: 30, Priority: 100, Interval: time.Second}
	}
	with := func(a advert.Advert, change func(*advert.Advert)) advert.Advert { change(&a); return a }
	for _, tt := range []struct {
		name string
		e    election
		a    advert.Advert
		want bool
	}{
		{"a peer", e, from("192.0.2.12"), true},
		{"none of its peers", e, from("192.0.2.13"), false},
		{"whoever it is", open, from("192.0.2.13"), true},
		{"the other family", open, from("2001:db8::13"), false},
		{"another router", e, with(from("192.0.2.12"), func(a *advert.Advert) { a.ID = 31 }), false},
		{"a lower priority", e, with(from("192.0.2.12"), func(a *advert.Advert) { a.Priority = 89 }), false},
		{"a release", e, with(from("192.0.2.12"), func(a *advert.Advert) { a.Priority = advert.Farewell }), false},
		{"its own interval", e, with(from("192.0.2.12"), func(a *advert.Advert) { a.Interval = 100 * time.Millisecond }), false},
	} {
		if got := tt.e.adopts(tt.a, 90); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if o := readOrder([]byte("vrrp_instance a {\n    virtual_ipaddress {\n        192.0.2.5/32\n    }\n}\n")); len(o.elections) != 0 {
		t.Errorf("version 2 adopts nothing: %v", o.elections)
	}
}

// TestAdoption holds when an adopted interval is undone: one that no profile has at once, whatever
// comes after it; another profile's when its sender does not go on.
func TestAdoption(t *testing.T) {
	begin := time.Now()
	profile := advert.Advert{Interval: vrrp.CompatTiming().Advert}
	forged := advert.Advert{Interval: 40950 * time.Millisecond}
	overdue := profile.Interval + vrrp.Grace
	second := begin.Add(time.Second)
	for _, tt := range []struct {
		name string
		is   adoption
		want time.Duration
	}{
		{"another profile's", adoption{}.adopted(profile, begin), overdue},
		{"it goes on", adoption{}.adopted(profile, begin).adopted(profile, second), time.Second + overdue},
		{"no profile's", adoption{}.adopted(forged, begin), adopting},
		{"no profile's again", adoption{}.adopted(forged, begin).adopted(forged, second), adopting},
		{"no profile's, covered up", adoption{}.adopted(forged, begin).adopted(profile, begin), adopting},
		{"no profile's after another profile's", adoption{}.adopted(profile, begin).adopted(forged, begin), adopting},
	} {
		if got := tt.is.undoAt.Sub(begin); got != tt.want {
			t.Errorf("%s: undone after %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestUndoes_NoDaemon holds that nothing is due while no keepalived runs: the supervisor would wake up
// for it at once, again and again.
func TestUndoes_NoDaemon(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &supervisor{
		adoptions: map[string]adoption{},
		order:     order{elections: map[string]election{"one": {id: 30, four: true, advert: 100 * time.Millisecond}}},
	}
	forged := advert.Advert{From: netip.MustParseAddr("192.0.2.12"), ID: 30, Priority: 255, Interval: 40 * time.Second}
	s.receive(forged, now)
	if len(s.adoptions) > 0 {
		t.Errorf("it has left, and takes note of %v", s.adoptions)
	}
	s.daemon = &daemon{spoke: true}
	s.receive(forged, now)
	if s.undoes().IsZero() {
		t.Error("keepalived runs, and nothing is due")
	}
	s.daemon.spoke = false
	if due := s.undoes(); !due.IsZero() {
		t.Errorf("its VRRP process has ended, and something is due at %v", due)
	}
}
