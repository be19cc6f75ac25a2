package provision

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// at goes on until a phase has begun.
func (r *rig) at(t *testing.T, p progress.Phase) {
	t.Helper()
	if !r.until(t.Context(), time.Hour, func() bool { return r.memory().Phase == p }) {
		t.Fatalf("the phase %s does not come: %+v\n%s", p, r.shown, r.file)
	}
}

// still lets time pass in which the phase must not end, and returns what it waits for.
func (r *rig) still(t *testing.T, d time.Duration) string {
	t.Helper()
	was := r.memory().Phase
	if r.until(t.Context(), d, func() bool { return r.memory().Phase != was }) {
		t.Fatalf("the phase %s ends: %+v", was, r.shown)
	}
	return r.shown.Waits
}

// has is what the cluster has of the handover.
func (r *rig) has() notice.Progress { return notice.ReadHandover(r.cluster.notice) }

func (r *rig) sound(t *testing.T) {
	t.Helper()
	if b := r.broken(); len(b) > 0 {
		t.Errorf("%q\n%s", b, r.file)
	}
}

// TestHandover holds each step of the handover: what it does to the cluster, what the cluster has of it
// meanwhile, and that hosts begin in batches.
func TestHandover(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Unpause)
	if !r.cluster.operator.Paused || !r.cluster.since.IsZero() {
		t.Error("the operator went on before the parts were off")
	}
	r.at(t, progress.Takeover)
	if r.cluster.operator.Paused {
		t.Error("the operator is still paused")
	}
	r.until(t.Context(), 15*time.Second, func() bool { return false })
	if has := r.has(); has.Phase != "takeover" || has.Machine != "boot" || !strings.HasPrefix(has.Waits, "the cluster's own Ironic to be ready") || has.Since.Sub(r.memory().Since).Abs() > time.Second {
		t.Errorf("the cluster has %+v", has)
	}
	r.at(t, progress.Release)
	if !r.cluster.ready(r.world.Now, 25*time.Second) || len(r.cluster.begun) > 0 {
		t.Errorf("Ironic since %v, %d hosts", r.cluster.since, len(r.cluster.begun))
	}
	r.until(t.Context(), 50*time.Second, func() bool { return false })
	if len(r.cluster.begun) != 50 || r.shown.Waits != "50 hosts to be inspected" {
		t.Errorf("%d hosts, waits for %s", len(r.cluster.begun), r.shown.Waits)
	}
	r.at(t, progress.Ended)
	r.until(t.Context(), 3*time.Second, func() bool { return false })
	if has := r.has(); len(r.cluster.begun) != workers || has.Phase != "ended" {
		t.Errorf("%d hosts, %+v", len(r.cluster.begun), has)
	}
	var released [][]string
	for _, e := range r.entries() {
		if e.Kind == ledger.Released {
			released = append(released, e.Hosts)
		}
	}
	if len(released) != 2 || len(released[0]) != 50 || len(released[1]) != 10 {
		t.Errorf("the journal has %q", released)
	}
	// Nothing is asked of the API any more.
	r.cluster.notice = nil
	r.until(t.Context(), time.Minute, func() bool { return false })
	if r.cluster.notice != nil {
		t.Error("it is written after the end")
	}
	r.sound(t)
}

// TestHandover_Away holds that DHCP stays on until the cluster has been told, that each later step waits
// for the API too, and what a person reads meanwhile.
func TestHandover_Away(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Settle)
	r.cluster.away = true
	r.at(t, progress.Announce)
	if waits := r.still(t, time.Hour); waits != "the cluster's API, which is to have the ConfigMap onprem-infra-provisioning-handover: connection refused" || !r.reports[orders.DHCP].On {
		t.Errorf("waits for %q, DHCP %t", waits, r.reports[orders.DHCP].On)
	}
	r.cluster.away, r.cluster.refuses = false, true
	if waits := r.still(t, time.Hour); waits != "the cluster's API to have the ConfigMap onprem-infra-provisioning-handover: connection refused" {
		t.Errorf("waits for %q", waits)
	}
	r.cluster.refuses = false
	r.at(t, progress.AddrOff)
	r.cluster.refuses = true // what is published then is for people, and keeps no phase
	r.at(t, progress.Unpause)
	if waits := r.still(t, time.Minute); !strings.HasPrefix(waits, "OpenShift's operator of metal3 to go on: connection refused") {
		t.Errorf("waits for %q", waits)
	}
	r.cluster.refuses = false
	r.at(t, progress.Release)
	r.cluster.away = true
	if waits := r.still(t, time.Hour); waits != "the cluster: connection refused, or a person to run 'onprem-infra hosts release --apply'" {
		t.Errorf("waits for %q", waits)
	}
	r.cluster.away = false
	r.at(t, progress.Ended)
	r.sound(t)
}

// TestHandover_Silent holds that a person is told when hosts have had no DHCP server for longer than the
// plan allows, once, and no more when the cluster has one.
func TestHandover_Silent(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Announce)
	r.cluster.away = true
	r.still(t, 15*time.Minute) // DHCP is on
	r.cluster.away = false
	r.at(t, progress.DHCPOff)
	since := r.world.Now
	r.at(t, progress.AddrOff)
	r.cluster.refuses = true
	r.at(t, progress.Unpause)
	r.still(t, 9*time.Minute-r.world.Now.Sub(since))
	if len(r.shown.Warnings) > 0 {
		t.Errorf("too early: %q", r.shown.Warnings)
	}
	r.still(t, 2*time.Minute)
	first := slices.Clone(r.shown.Warnings)
	want := "no DHCP server has answered since " + since.Format("15:04")
	if len(first) != 1 || !strings.HasPrefix(first[0], want) || !strings.HasSuffix(first[0], `and the plan allows 10m0s: hosts lose their addresses a lease of 1h0m0s after they last renewed: help the phase "unpause" to end`) {
		t.Errorf("%q, want %s", first, want)
	}
	if r.still(t, 5*time.Minute); !slices.Equal(r.shown.Warnings, first) {
		t.Errorf("%q, then %q", first, r.shown.Warnings)
	}
	r.cluster.refuses = false
	r.at(t, progress.Release)
	if r.until(t.Context(), 3*time.Second, func() bool { return false }); len(r.shown.Warnings) > 0 {
		t.Errorf("at the end: %q", r.shown.Warnings)
	}
}

// TestHandover_Lied holds that a lie in the object moves nothing: it is written over.
func TestHandover_Lied(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Deploy)
	r.cluster.notice = notice.EncodeHandover(notice.Progress{Phase: "ended", Machine: "boot", Since: begin, At: begin})
	r.still(t, 10*time.Second)
	r.at(t, progress.Takeover)
	r.cluster.notice = notice.EncodeHandover(notice.Progress{Phase: "release", Machine: "boot", Since: begin, At: begin})
	r.still(t, 5*time.Second)
	if has := r.has(); has.Phase != "takeover" {
		t.Errorf("%+v", has)
	}
	r.at(t, progress.Ended)
	r.sound(t)
}

// TestHandover_SetBack holds that what was published before the clock was set back is written again:
// readers would take the machine for gone until the clock is as far again.
func TestHandover_SetBack(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Takeover)
	r.still(t, 5*time.Second)
	before := r.has()
	before.At = before.At.Add(time.Hour)
	r.cluster.notice = notice.EncodeHandover(before)
	r.still(t, 5*time.Second)
	if has := r.has(); has.At.After(r.world.Now) || !has.Same(before) {
		t.Errorf("%+v at %s", has, r.world.Now)
	}
	r.at(t, progress.Ended)
	r.sound(t)
}

// TestTakeBack holds that a person may take provisioning back in each phase of the handover until the
// first host of the cluster begins, that this machine's parts are on again then, that nothing goes on by
// itself, and that the handover then is a whole one.
func TestTakeBack(t *testing.T) {
	for _, p := range progress.Phases() {
		if !p.HandsOver() {
			continue
		}
		t.Run(string(p), func(t *testing.T) {
			r := newRig(1)
			r.at(t, p)
			if p == progress.Takeover {
				r.still(t, 10*time.Second)
				r.reverse(true)
				r.still(t, 3*time.Second)
				if w := strings.Join(r.shown.Warnings, "; "); !strings.HasPrefix(w, "provisioning is not taken back: the cluster's own Ironic runs: stop it by 'kubectl annotate --overwrite") {
					t.Errorf("warns of %q", w)
				}
				r.reversal = orders.Reversal{}
			}
			if p == progress.Takeover || p == progress.Release {
				r.cluster.stop((&clusterFleet{r}).fleet(t).Stop())
				r.until(t.Context(), 2*time.Second, func() bool { return false })
			}
			if p != r.memory().Phase {
				t.Fatalf("it is in the phase %s", r.memory().Phase)
			}
			r.reverse(true)
			r.at(t, progress.Deploy)
			if waits := r.still(t, time.Hour); waits != "a person to run 'onprem-infra hosts hand-over'" || !r.reports[orders.DHCP].On || !r.cluster.operator.Handover || !r.cluster.since.IsZero() || r.has().Phase != "deploy" {
				t.Errorf("waits for %q, DHCP %t, the operator is %+v, the cluster has %+v", waits, r.reports[orders.DHCP].On, r.cluster.operator, r.has())
			}
			r.reversal.At = r.world.Now // a file that was read already asks for nothing
			r.still(t, time.Minute)
			r.reverse(false)
			r.at(t, progress.Ended)
			var phases []progress.Phase
			for _, e := range r.entries() {
				if e.Kind == ledger.Phase {
					phases = append(phases, e.Phase)
				}
			}
			if want := slices.Concat(progress.Phases()[1:slices.Index(progress.Phases(), p)+1], progress.Phases()); !slices.Equal(phases, want) {
				t.Errorf("phases %q, want %q", phases, want)
			}
			if len(r.cluster.begun) != workers {
				t.Errorf("%d hosts have begun", len(r.cluster.begun))
			}
			r.sound(t)
		})
	}
}

// clusterFleet is the fleet that the phase machine sees.
type clusterFleet struct{ *rig }

func (c *clusterFleet) fleet(t *testing.T) interface{ Stop() string } {
	t.Helper()
	f, err := clusterOf{c.rig}.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTakeBack_Released holds that nothing is taken back once a host of the cluster has begun, whichever
// program let it, and whatever a person asks later.
func TestTakeBack_Released(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Release)
	r.until(t.Context(), 5*time.Second, func() bool { return len(r.cluster.begun) > 0 })
	r.cluster.stop((&clusterFleet{r}).fleet(t).Stop())
	r.reverse(true)
	r.still(t, 10*time.Second)
	if w := strings.Join(r.shown.Warnings, "; "); !strings.HasPrefix(w, "provisioning is not taken back: this machine has let hosts of the cluster begin at ") {
		t.Errorf("warns of %q", w)
	}
	r = newRig(1)
	r.at(t, progress.Takeover)
	r.cluster.stop((&clusterFleet{r}).fleet(t).Stop())
	r.cluster.free("worker-07", r.world.Now) // by "hosts release --apply"
	r.reverse(true)
	r.still(t, 10*time.Second)
	if w := strings.Join(r.shown.Warnings, "; "); !strings.HasPrefix(w, "provisioning is not taken back: metal3 may have begun with 1 hosts (worker-07)") {
		t.Errorf("warns of %q", w)
	}
	r.sound(t)
}

// TestTakeBack_HandedOn holds that a host that begins while provisioning is being taken back keeps this
// machine's parts off, and that the handover then goes on where nothing goes on again.
func TestTakeBack_HandedOn(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Takeover)
	r.cluster.stop((&clusterFleet{r}).fleet(t).Stop())
	r.reverse(true)
	r.second(t.Context())
	r.cluster.free("worker-07", r.world.Now)
	r.at(t, progress.TakeBack)
	if waits := r.still(t, time.Minute); !strings.HasPrefix(waits, "'onprem-infra hosts hand-over': metal3 may have begun with 1 hosts (worker-07)") {
		t.Errorf("waits for %q", waits)
	}
	r.reverse(false)
	r.at(t, progress.Ended)
	for _, e := range r.entries() {
		if e.Kind == ledger.Orders && e.Time.After(r.memory().Released.Add(-time.Hour)) && len(e.Orders.On) > 0 && e.Time.After(r.memory().HandoverSince.Add(-time.Minute)) {
			t.Errorf("parts are on again: %+v", e.Orders)
		}
	}
	r.sound(t)
}

// TestTakeBack_AtOnce holds that a handover that goes on again while parts are still going off waits for
// them: the cluster's Ironic must not start beside them.
func TestTakeBack_AtOnce(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Announce)
	r.reverse(true)
	for r.memory().Phase != progress.TakeBack {
		_ = r.second(t.Context())
	}
	r.reverse(false)
	_ = r.second(t.Context())
	if w := strings.Join(r.shown.Warnings, "; "); !strings.HasPrefix(w, "provisioning is not handed over before: ") || !r.reports[orders.DHCP].On || !r.cluster.operator.Paused {
		t.Errorf("warns of %q, DHCP %t, the operator is %+v", w, r.reports[orders.DHCP].On, r.cluster.operator)
	}
	if !r.until(t.Context(), time.Minute, func() bool { return r.memory().Held.IsZero() }) || r.memory().Phase != progress.Unpause {
		t.Errorf("%+v", r.shown)
	}
	r.at(t, progress.Ended)
	r.sound(t)
}

// TestTakeBack_Void holds that what a person asks for counts for a few minutes, and for that handover.
func TestTakeBack_Void(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Announce)
	r.cluster.away = true
	r.reverse(true)
	first := r.reversal
	r.still(t, orders.ReversalLasts+time.Second)
	r.cluster.away = false
	r.at(t, progress.Ended)
	first.At = r.world.Now
	r = newRig(2)
	r.at(t, progress.Announce)
	r.reversal = orders.Reversal{Back: true, Of: first.Of.Add(time.Second), At: r.world.Now}
	r.at(t, progress.Ended)
	for _, e := range r.entries() {
		if e.Kind == ledger.Back {
			t.Errorf("%+v", e)
		}
	}
}

// TestTakeBack_Preflight holds that the hosts and their network are checked again before DHCP is on again:
// what was found the first time is of another network, as a server of the cluster may answer there now.
// Hosts that have joined are to run then.
func TestTakeBack_Preflight(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Announce)
	if len(r.running) > 0 {
		t.Errorf("%q are to run, and none has joined", r.running)
	}
	r.blocking = []string{"another DHCP server answers"}
	r.reverse(true)
	r.at(t, progress.Preflight)
	if waits := r.still(t, time.Hour); waits != "what the check found to be fixed: another DHCP server answers" || r.orders.Wants(orders.DHCP) {
		t.Errorf("waits for %q, DHCP is ordered on: %t", waits, r.orders.Wants(orders.DHCP))
	}
	if want := []string{"master-0", "master-1", "master-2"}; !slices.Equal(r.running, want) {
		t.Errorf("%q are to run, want %q", r.running, want)
	}
	r.blocking = nil
	r.at(t, progress.Deploy)
	r.sound(t)
}
