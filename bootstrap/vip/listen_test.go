package vip

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestRefuse holds that beside a router with its ID the API VIP is not held for the first time
// where that is asked for, that the machine listens first and says why it waits, and that what has
// been started once starts again whatever is heard.
func TestRefuse(t *testing.T) {
	r, h, d, n := room(t, func(c *spec.Cluster) { c.OnClash = clash.Refuse })
	at := time.Unix(1000, 0)
	h.status = elect(supervised.Backup)
	foreign := clash.Received{Link: "enp1s0", MAC: "52:54:00:00:00:63", At: at, Advert: advert.Advert{From: ip("192.0.2.99"), ID: r.options.Plan.VRRP.API.ID, Version: vrrp.V2, Priority: 200,
		Interval: time.Second, VIPs: []netip.Addr{ip("192.0.2.77")}}}
	for _, tt := range []struct {
		name       string
		received   clash.Snapshot
		starts     bool
		statusText string
	}{
		{"nobody listens", clash.Snapshot{At: at}, false, "no instance for 192.0.2.5: this host does not listen on enp1s0 yet"},
		{"it listens", clash.Snapshot{At: at, Since: map[string]time.Time{"enp1s0": at}}, false, "it listens on enp1s0 first"},
		{"a clash", clash.Snapshot{At: at.Add(time.Hour), Since: map[string]time.Time{"enp1s0": at}, Adverts: []clash.Received{foreign}}, false, "192.0.2.99 (52:54:00:00:00:63) on enp1s0 has the virtual router ID"},
		{"it has gone", clash.Snapshot{At: at.Add(time.Hour), Since: map[string]time.Time{"enp1s0": at}}, true, "192.0.2.5 BACKUP"},
		{"it is back", clash.Snapshot{At: at.Add(time.Hour), Since: map[string]time.Time{"enp1s0": at}, Adverts: []clash.Received{foreign}}, true, "192.0.2.5 BACKUP"},
	} {
		h.others = tt.received
		if err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
		if statusText := n.status[len(n.status)-1]; len(d.ensured) > 0 != tt.starts || (n.ready > 0) != tt.starts || !strings.Contains(statusText, tt.statusText) {
			t.Errorf("%s: started %d, ready %d, says %q", tt.name, len(d.ensured), n.ready, statusText)
		}
	}
	want := []clash.Instance{{Name: "ostest_API_0", Kind: vrrp.API, Link: "enp1s0", ID: r.options.Plan.VRRP.API.ID, Version: vrrp.V2, Interval: time.Second, VIP: ip("192.0.2.5"), Unicast: true, Near: true, Own: ip("192.0.2.10")}}
	if !reflect.DeepEqual(h.listened, want) || !slices.Equal(h.started, []vrrp.InstanceName{"ostest_API_0"}) {
		t.Errorf("hears %+v, started %v", h.listened, h.started)
	}
	h.links = addr.Snapshot{}
	r.options.Now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := reconcile(t, r); err != nil || len(h.listened) > 0 {
		t.Errorf("without a link it hears %+v, %v", h.listened, err)
	}
}

// TestReport holds that where nothing else is asked for nobody waits, and a clash keeps nobody out.
func TestReport(t *testing.T) {
	r, h, d, _ := room(t, nil)
	h.status = elect(supervised.Backup)
	if err := reconcile(t, r); err != nil || len(d.ensured) != 1 {
		t.Errorf("started %d, %v", len(d.ensured), err)
	}
}

// TestForgetful holds that a machine which cannot write down that it starts holds the VIP all the
// same, and says so.
func TestForgetful(t *testing.T) {
	r, h, d, _ := room(t, nil)
	h.status, h.forgetful = elect(supervised.Backup), true
	if err := reconcile(t, r); err == nil || !strings.Contains(err.Error(), "keep which instances are started: no space left") || len(d.ensured) != 1 {
		t.Errorf("started %d, %v", len(d.ensured), err)
	}
}
