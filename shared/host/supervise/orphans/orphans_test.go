package orphans

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/sessions"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

var vip, similar = netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("192.0.2.50")

func newOrphans(t *testing.T, vips ...netip.Addr) *Orphans {
	log := slog.New(slog.DiscardHandler)
	return New(vips, log, pace.NewTasks(t.Context(), log), sessions.New(log))
}

// onHost runs a test on a host with the VIP and a similar address.
func onHost(t *testing.T, test func() error) {
	t.Helper()
	ns := netns.New(t)
	ns.IP(t, "link set lo up\naddr add 192.0.2.5/32 dev lo\naddr add 192.0.2.50/32 dev lo\n")
	if err := ns.In(test); err != nil {
		t.Fatal(err)
	}
}

// has reports whether this host has an address.
func has(t *testing.T, address netip.Addr) bool {
	t.Helper()
	_, ok, err := link.Holder(address)
	if err != nil {
		t.Error(err)
	}
	return ok
}

// TestScan holds that a VIP without a MASTER is removed after the grace time, and no other address,
// and that the time begins anew when an instance has been MASTER meanwhile.
func TestScan(t *testing.T) {
	onHost(t, func() error {
		o, begin := newOrphans(t, vip), time.Now()
		for _, tt := range []struct {
			after time.Duration
			held  []netip.Addr
			want  bool
		}{
			{after: 0, want: true},
			{after: grace - 1, want: true},
			{after: grace - 1, held: []netip.Addr{vip}, want: true},
			{after: 2 * grace, want: true},
			{after: 3*grace - 1, want: true},
			{after: 3 * grace, want: false},
		} {
			now := begin.Add(tt.after)
			if err := o.Scan(now, tt.held); err != nil {
				return err
			}
			if got := has(t, vip); got != tt.want {
				return fmt.Errorf("%s after the first scan: has the VIP: %v", tt.after, got)
			}
			next := pace.Beat
			if tt.want && tt.held == nil {
				next = scanPause
			}
			if got := o.ScanAt().Sub(now); got != next {
				t.Errorf("%s after the first scan: the next one after %s, want %s", tt.after, got,
					next)
			}
		}
		if !has(t, similar) {
			t.Error("another address was removed")
		}
		return nil
	})
}

// TestScan_OutOfReach holds that a VIP that can be neither read nor removed is an error after the
// bound, unless an instance is MASTER for it. netlink cannot find an IPv4-mapped address.
func TestScan_OutOfReach(t *testing.T) {
	mapped := netip.MustParseAddr("::ffff:192.0.2.5")
	o, begin := newOrphans(t, mapped), time.Now()
	for _, tt := range []struct {
		after  time.Duration
		held   []netip.Addr
		failed bool
	}{
		{after: 0}, {after: blindBound - 1},
		{after: blindBound, held: []netip.Addr{mapped}},
		{after: blindBound}, {after: 2*blindBound - 1},
		{after: 2 * blindBound, failed: true},
	} {
		if err := o.Scan(begin.Add(tt.after), tt.held); (err != nil) != tt.failed {
			t.Errorf("%s after the first scan: %v", tt.after, err)
		}
		if failing := o.tasks.Failing(); (len(failing) == 0) != (tt.held != nil) {
			t.Errorf("%s after the first scan: failing tasks %q", tt.after, failing)
		}
	}
	if !o.Present() {
		t.Error("a VIP that cannot be read counts as absent")
	}
}

// TestRemoveLeftovers holds that the VIP and the loan of an earlier run are removed.
func TestRemoveLeftovers(t *testing.T) {
	ip := need.Command(t, "ip")
	onHost(t, func() error {
		if err := link.Lend(vip); err != nil {
			return err
		}
		o := newOrphans(t, vip)
		if !o.Present() {
			t.Error("the VIP is not found")
		}
		o.RemoveLeftovers()
		if o.Present() || !has(t, similar) {
			t.Errorf("has the VIP: %v, another address: %v", o.Present(), has(t, similar))
		}
		routes, err := exec.Command(ip, "route", "show", "table", "local").Output()
		if strings.Contains(string(routes), vip.String()+" ") {
			t.Errorf("the VIP is still lent: %s", routes)
		}
		return err
	})
}
