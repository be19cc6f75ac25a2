package status_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/migration"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// migrating is the plan of a live cluster that changes between VRRP alone and both.
func migrating(t *testing.T, from, to spec.Management) plan.Plan {
	t.Helper()
	c := fakehost.Cluster("lan")
	c.Routing = fakehost.Routed().Routing
	c.Routing.Management, c.MigrateFrom.Management = to, from
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestInspect_Migration holds that a change to routers and back is reported with its instant before it
// happens, that sessions are reported then too, and that without VIPs on them nothing is down.
func TestInspect_Migration(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to spec.Management
		at       time.Time
		sessions bool
		level    judge.Level
		text     string
	}{
		{"not agreed", spec.ByVRRP, routing.Both, time.Time{}, true, judge.OK, "migration: all nodes change from lan/unicast, in force here, to lan/unicast/both at one instant, on which they have not agreed"},
		{"agreed", spec.ByVRRP, routing.Both, fakehost.Begin.Add(2 * time.Hour), true, judge.OK, "lan/unicast/both at 2026-01-02 05:04:05Z"},
		{"no session yet", spec.ByVRRP, routing.Both, time.Time{}, false, judge.Degraded, "no session with any router"},
		{"back", routing.Both, spec.ByVRRP, time.Time{}, true, judge.OK, "change from lan/unicast/both, in force here, to lan/unicast at one"},
		{"back without a session", routing.Both, spec.ByVRRP, time.Time{}, false, judge.Down, "no session with any router"},
	} {
		p := migrating(t, tt.from, tt.to)
		by := p
		if p.BGP == nil {
			by = *p.Former
		}
		files := fakehost.Announcer(by, func(_ *spoken.Config, w *spoken.Wish, s *spoken.Status) {
			if w.Routes = nil; !tt.sessions {
				s.Sessions = nil
			}
		})
		for path, text := range fakehost.Holder(by) {
			files[path] = text
		}
		host := fakehost.New(t, *p.Former, files)
		host.Migration = migration.Coming(p, tt.at)
		host.Adverts = func(context.Context, string, func(capture.Received)) error { return nil }
		host.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
			return addr.Neighbour{MAC: "52:54:00:00:00:0c"}, nil
		}
		host.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
			if strings.HasSuffix(name, "apps.ostest.example.com") {
				return p.VIPs.Ingress, nil
			}
			return p.VIPs.API, nil
		}
		r := status.Inspect(t.Context(), host)
		text := strings.Join(strings.Fields(r.Text(100)), " ")
		if r.Verdict.Level != tt.level || !strings.Contains(text, tt.text) || r.BGP == nil || r.BGP.Rack != "192.0.2.0/24" || r.Migration == nil || !r.Migration.At.Equal(tt.at) {
			t.Errorf("%s: %+v, %+v\n%s", tt.name, r.Verdict, r.Migration, r.Text(100))
		}
		if host.Migration = nil; tt.from == spec.ByVRRP {
			if r := status.Inspect(t.Context(), host); r.BGP != nil || r.Migration != nil {
				t.Errorf("%s: without a migration: %+v", tt.name, r)
			}
		}
	}
}
