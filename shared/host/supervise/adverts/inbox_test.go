package adverts

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestInbox holds that of the adverts that wait for the loop none hides another one that keepalived
// accepts: of each kind it keeps the highest priority.
func TestInbox(t *testing.T) {
	b := newInbox()
	b.follow(map[string]election{"one": {id: 30, four: true, advert: 100 * time.Millisecond}})
	from := func(id vrrp.ID, priority uint8, interval time.Duration) capture.Delivered {
		return capture.Delivered{Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"),
			ID: id, Priority: priority, Interval: interval}}
	}
	for _, tt := range []struct {
		name string
		d    capture.Delivered
		kept bool
	}{
		{"of another router", from(31, 254, 40*time.Second), false},
		{"a low priority", from(30, 1, 40*time.Second), true},
		{"the same again, as in a flood", from(30, 1, 40*time.Second), false},
		{"another profile's interval", from(30, 90, time.Second), true},
		{"one that keepalived accepts", from(30, 254, 40*time.Second), true},
		{"a low priority after it", from(30, 2, 40*time.Second), false},
		{"a release", from(30, 0, 40*time.Second), false},
	} {
		if got := b.put(tt.d); got != tt.kept {
			t.Errorf("%s: kept %t", tt.name, got)
		}
	}
	select {
	case <-b.wake:
	default:
		t.Error("the loop is not woken")
	}
	got := b.take()
	if len(got) != 2 || got[place{"one", true}].Priority != 254 ||
		got[place{"one", false}].Priority != 90 {
		t.Errorf("it holds %v", got)
	}
	if !b.put(from(30, 1, 40*time.Second)) || len(b.take()) != 1 {
		t.Error("the next one is not kept")
	}
	b.know(map[string]supervised.Instance{"one": {Priority: 100}})
	for range 3 { // the loop is as fast as the flood
		if b.put(from(30, 99, 40*time.Second)) || len(b.take()) != 0 {
			t.Error("one that keepalived refuses is kept")
		}
	}
	if !b.put(from(30, 100, 40*time.Second)) || len(b.take()) != 1 {
		t.Error("one of the same priority is not kept")
	}
	b.know(nil)
	b.put(from(30, 1, 40*time.Second))
	if b.follow(nil); len(b.take()) != 0 {
		t.Error("what another configuration received is kept")
	}
}
