package provision

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// kinds are the events of a host, "SOURCE KIND" in their order.
func (r *rig) kinds(host string) (all []string) {
	of := events.Of(r.happened, host)
	events.Sort(of)
	for _, e := range of {
		all = append(all, string(e.Source)+" "+e.Kind)
	}
	return all
}

// TestNote holds what the events have of a host that is installed: each boot that is asked for, each
// state once, the first report of the ramdisk, and the Node.
func TestNote(t *testing.T) {
	r := newRig(1)
	r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended })
	got := strings.Join(r.kinds("master-0"), ", ")
	want := []string{"ironic enroll", "ironic manageable, provision boot to be inspected, ironic inspecting", "ironic call-back, ironic manageable, ironic cleaning",
		"ironic available, ironic deploying, ironic call-back", "ironic active, node joined"}
	for rest, i := got, 0; i < len(want); i++ {
		found := false
		if _, rest, found = strings.Cut(rest, want[i]); !found {
			t.Errorf("no %q at its place in %s", want[i], got)
		}
	}
	if n := strings.Count(got, "call-back, "); n != 2+strings.Count(got, "wait call-back, ") {
		t.Errorf("%d call-backs in %s", n, got)
	}
	for _, e := range r.happened {
		if e.Time.IsZero() || e.Time.After(r.world.Now) || e.MAC != testPlan().Hosts[0].MAC && e.Host == "master-0" {
			t.Errorf("%+v", e)
		}
	}
}

// TestNote_Foreign holds that each foreign server is in the journal once, from when it was seen, also over
// power cuts; that one which invents others does not fill it; and that no host waits for the list.
func TestNote_Foreign(t *testing.T) {
	r := newRig(1)
	s := foreign.Server{Kind: offer.DHCP, MAC: "52:54:00:00:00:99", Address: netip.MustParseAddr("172.22.0.200"), First: begin.Add(-time.Second)}
	r.foreign.Servers = []foreign.Server{s}
	r.at(t, progress.Preflight)
	if strings.Contains(string(r.file), s.MAC) {
		t.Errorf("before DHCP is on: %s", r.file)
	}
	r.at(t, progress.Deploy)
	r.still(t, 5*time.Second)
	r.cut()
	r.boot()
	s.First, s.Last, s.Count = r.world.Now, r.world.Now, 7
	r.foreign.Servers = []foreign.Server{s}
	r.still(t, 5*time.Second)
	want := `{"time":"` + begin.Add(-time.Second).Format(time.RFC3339) + `","kind":"foreign","cause":"172.22.0.200 (52:54:00:00:00:99) by dhcp"}`
	if all := string(r.file); !strings.Contains(all, want) || strings.Count(all, s.MAC) != 1 {
		t.Errorf("no %s in\n%s", want, all)
	}
	for i := range uint16(200) {
		s.VLAN = i + 1
		r.foreign.Servers = append(r.foreign.Servers, s)
	}
	r.unread = "foreign"
	r.at(t, progress.Settle)
	if n := strings.Count(string(r.file), `"kind":"foreign"`); n != mostForeign {
		t.Errorf("%d entries", n)
	}
}

// TestNote_Restart holds that a restart invents no boot: the states have the times that they had.
func TestNote_Restart(t *testing.T) {
	r := newRig(1)
	r.world.Machines[0].Lost = 1
	r.until(t.Context(), time.Hour, func() bool { return slices.Contains(r.kinds("master-0"), "provision boot from the network") })
	before := r.kinds("master-0")
	r.restart()
	r.until(t.Context(), 5*time.Second, func() bool { return false })
	after := slices.Compact(r.kinds("master-0"))
	if !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}
