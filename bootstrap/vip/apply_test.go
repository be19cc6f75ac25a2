package vip

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// turn is one round of the loop.
func reconcile(t *testing.T, r *Room) error {
	t.Helper()
	s, err := r.Observe(t.Context())
	if err != nil {
		return err
	}
	d, _ := r.Decide(s)
	return r.Apply(t.Context(), d)
}

func elect(state supervised.State) supervised.Status {
	return supervised.Status{Instances: map[string]supervised.Instance{"ostest_API_0": {State: state, Priority: 70}}}
}

func TestApply(t *testing.T) {
	r, h, d, n := room(t, nil)
	for range 3 {
		if err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.proposed) != 1 {
		t.Errorf("K-30: %d configurations proposed for one that did not change", len(h.proposed))
	}
	if n.ready != 0 {
		t.Error("READY before the instance has left INIT")
	}
	h.status = elect(supervised.Backup)
	for range 3 {
		if err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if n.ready != 1 {
		t.Errorf("READY %d times, want once", n.ready)
	}
	h.status = elect(supervised.Master)
	h.nodes = []addr.Candidate{master("m0", "192.0.2.11")}
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if len(h.proposed) != 2 || !strings.Contains(string(h.proposed[1]), "192.0.2.11") {
		t.Errorf("the first node gives %d configurations", len(h.proposed))
	}
	if len(h.kept) != 1 || len(h.kept[0]) != 1 || h.kept[0][0].Name != "m0" {
		t.Errorf("nodes kept: %v, want m0 once", h.kept)
	}
	want := []string{
		"192.0.2.5 INIT on enp1s0 (priority 70, multicast)",
		"192.0.2.5 BACKUP on enp1s0 (priority 70, multicast)",
		"192.0.2.5 MASTER on enp1s0 (priority 70, unicast, 1 peer)",
	}
	if !slices.Equal(n.status, want) {
		t.Errorf("status %q, want %q", n.status, want)
	}
	if d.stops != 0 {
		t.Errorf("%d stops", d.stops)
	}
}

func TestApplyRelease(t *testing.T) {
	r, h, d, n := room(t, nil)
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	h.verdict = &release.Verdict{Why: "the local API is gone"}
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if d.stops != 1 || n.ready != 1 || n.status[len(n.status)-1] != "the API VIP is not held here" {
		t.Errorf("stops %d, ready %d, status %q", d.stops, n.ready, n.status)
	}
	// K-35: it comes back. K-36: from a master that has it, by its priority, which nothing keeps
	// from counting.
	h.verdict, h.nodes = &hold, []addr.Candidate{master("m0", "192.0.2.11")}
	before := len(d.ensured)
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if len(d.ensured) != before+1 {
		t.Error("the VIP is not taken back")
	}
	config := string(h.proposed[len(h.proposed)-1])
	if !strings.Contains(config, "priority 70\n") || strings.Contains(config, "nopreempt") || strings.Contains(config, "preempt_delay") {
		t.Errorf("the VIP is taken back by\n%s", config)
	}
}

// TestApplyWithoutAnAddress: slow DHCP at boot is not readiness.
func TestApplyWithoutAnAddress(t *testing.T) {
	r, h, d, n := room(t, nil)
	h.links = links()
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if n.ready != 0 || len(d.ensured) != 0 || !slices.Equal(n.status, []string{"waits for an address beside the API VIP"}) {
		t.Errorf("ready %d, started %d, status %q", n.ready, len(d.ensured), n.status)
	}
}

// TestApplyTaken: another host holds the one VIP, and gives it up. Then it holds one of two.
func TestApplyTaken(t *testing.T) {
	const finding = "192.0.2.5 is held by another host, 02:00:5e:00:53:0b on enp1s0: take it off that host or choose another API VIP; " +
		"if that host only answers for others, add --assume-free 192.0.2.5 by systemctl edit onprem-keepalived"
	r, h, d, n := room(t, nil)
	h.conflicts = map[netip.Addr]conflict.Finding{ip("192.0.2.5"): foreign}
	h.status = elect(supervised.Backup)
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if n.ready != 0 || len(d.ensured) != 0 || d.stops != 1 || !slices.Equal(n.status, []string{finding}) {
		t.Errorf("ready %d, started %d, stops %d, status %q", n.ready, len(d.ensured), d.stops, n.status)
	}
	h.conflicts = map[netip.Addr]conflict.Finding{ip("192.0.2.5"): {Pending: true}}
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if n.ready != 0 || len(d.ensured) != 1 {
		t.Errorf("another holder may still answer: ready %d, started %d, status %q", n.ready, len(d.ensured), n.status)
	}
	h.conflicts = nil
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if n.ready != 1 {
		t.Errorf("free: ready %d, started %d, status %q", n.ready, len(d.ensured), n.status)
	}

	r, h, d, n = room(t, dual)
	h.conflicts = map[netip.Addr]conflict.Finding{ip("192.0.2.5"): foreign}
	h.status = supervised.Status{Instances: map[string]supervised.Instance{"ostest_API_1": {State: supervised.Master, Priority: 70}}}
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if want := "2001:db8::5 MASTER on enp1s0 (priority 70, multicast); " + finding; n.ready != 0 || len(d.ensured) != 1 || !slices.Equal(n.status, []string{want}) {
		t.Errorf("one of two: ready %d, started %d, status %q", n.ready, len(d.ensured), n.status)
	}
}

func TestApplyFaults(t *testing.T) {
	tests := []struct {
		name  string
		fault func(*Room, *fakeHost, *fakeDaemon)
		err   string
	}{
		{name: "no verdict yet", fault: func(_ *Room, h *fakeHost, _ *fakeDaemon) { h.verdict = nil }, err: "probe the local API: context canceled"},
		{name: "no room for the candidate", fault: func(_ *Room, h *fakeHost, _ *fakeDaemon) { h.full = true }, err: "hand keepalived.conf to the supervisor: no space left"},
		{name: "no image", fault: func(_ *Room, _ *fakeHost, d *fakeDaemon) { d.err = errors.New("pull: refused") }, err: "pull: refused"},
		{name: "refused by keepalived", fault: func(r *Room, h *fakeHost, _ *fakeDaemon) {
			if err := reconcile(t, r); err != nil {
				t.Fatal(err)
			}
			h.status.Refused = &supervised.Refusal{Candidate: supervised.Digest(h.proposed[0]), Output: "Unknown keyword"}
		}, err: "keepalived's configuration is refused, the former one stays in force: Unknown keyword"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, h, d, n := room(t, nil)
			tt.fault(r, h, d)
			if err := reconcile(t, r); err == nil || err.Error() != tt.err {
				t.Errorf("error %v, want %s", err, tt.err)
			}
			if n.ready != 0 {
				t.Error("READY after a fault")
			}
		})
	}
}

// TestContainer holds the least privilege that keepalived works with.
func TestContainer(t *testing.T) {
	c := Container(compile(t, dual))
	if want := []string{"CAP_NET_ADMIN", "CAP_NET_RAW"}; !slices.Equal(c.Capabilities, want) {
		t.Errorf("capabilities %v, want %v", c.Capabilities, want)
	}
	fast := Container(compile(t, func(c *spec.Cluster) { c.Timing = vrrp.ProfileLan }))
	if want := []string{"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_NICE"}; !slices.Equal(fast.Capabilities, want) {
		t.Errorf("capabilities with adverts every 100 ms %v, want %v", fast.Capabilities, want)
	}
	if got := strings.Join(c.Command, " "); !strings.Contains(got, "--vip 192.0.2.5 --vip 2001:db8::5 -- ") {
		t.Errorf("command %s", got)
	}
	for _, m := range c.Mounts {
		if m.Source == supervisor && !m.ReadOnly {
			t.Error("the supervisor's binary can be written from inside")
		}
	}
}

// TestApplyKeepsTrying: nodes that cannot be kept become peers all the same, keepalived runs, and
// they are kept as soon as that works.
func TestApplyKeepsTrying(t *testing.T) {
	r, h, d, n := room(t, nil)
	h.forgets, h.status, h.nodes = true, elect(supervised.Backup), []addr.Candidate{master("m0", "192.0.2.11")}
	for range 2 {
		if err := reconcile(t, r); err == nil || err.Error() != "keep the control plane nodes: no space left" {
			t.Errorf("error %v", err)
		}
	}
	if len(h.proposed) != 1 || !strings.Contains(string(h.proposed[0]), "192.0.2.11") || len(d.ensured) != 2 || n.ready != 1 {
		t.Errorf("proposed %s, ensured %d times, READY %d times", h.proposed, len(d.ensured), n.ready)
	}
	h.forgets = false
	for range 2 {
		if err := reconcile(t, r); err != nil {
			t.Error(err)
		}
	}
	if len(h.kept) != 1 {
		t.Errorf("kept %d times, want once", len(h.kept))
	}
}
