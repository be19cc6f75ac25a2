package provision

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// TestRun is an installation in which nothing fails.
func TestRun(t *testing.T) {
	r := newRig(1)
	if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
		t.Fatalf("it does not end: %+v\n%s", r.shown, r.file)
	}
	if b := r.broken(); len(b) > 0 {
		t.Errorf("%q", b)
	}
	for _, m := range r.world.Machines {
		if m.Writes != 1 || m.Joined.IsZero() {
			t.Errorf("%s: %d writes, joined %v", m.Name, m.Writes, m.Joined)
		}
	}
	joined := map[string][]netip.Addr{}
	for _, e := range r.entries() {
		if e.Kind == ledger.Joined {
			joined[e.Host] = e.Addresses
		}
	}
	for i, m := range r.world.Machines {
		if !slices.Equal(joined[m.Name], []netip.Addr{nodeIP(i)}) {
			t.Errorf("%s joined with %v", m.Name, joined[m.Name])
		}
	}
	var phases []progress.Phase
	var on []string // which parts are, from one order to the next
	var local []int // how many hosts boot from their disks
	for _, e := range r.entries() {
		if e.Kind == ledger.Orders {
			on, local = append(on, fmt.Sprint(e.Orders.On)), append(local, len(e.Orders.Local))
		}
		if e.Kind == ledger.Phase {
			phases = append(phases, e.Phase)
			if e.Cause == "" || e.Time.IsZero() || e.Evidence == "" {
				t.Errorf("an entry without cause, time or evidence: %+v", e)
			}
		}
	}
	if want := progress.Phases()[1:]; !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
	want := []string{"[address]", "[address http ironic]", "[address http ironic dhcp]", "[address http ironic]", "[address]", "[]"}
	if got := slices.Compact(slices.Clone(on)); !slices.Equal(got, want) {
		t.Errorf("on are %q, want %q", got, want)
	}
	if !slices.IsSorted(local[:len(local)-3]) || local[len(local)-4] != len(r.world.Machines) || !slices.Equal(local[len(local)-3:], []int{0, 0, 0}) {
		t.Errorf("%v hosts boot from their disks, want one more with each that joins, and none without DHCP", local)
	}
	if took := r.world.Now.Sub(begin); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(string(r.file), "good") {
		t.Error("a password is in the journal")
	}
}

// Each mode of the network has its parts.
func TestRoom_Parts(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*provision.Plan)
		want   []orders.Part
	}{
		"managed":                  {func(*provision.Plan) {}, orders.Parts()},
		"unmanaged":                {func(p *provision.Plan) { p.DHCP = nil }, orders.Parts()},
		"disabled":                 {func(p *provision.Plan) { p.DHCP, p.CIDR, p.BootstrapIP = nil, netip.Prefix{}, netip.Addr{} }, []orders.Part{orders.HTTP, orders.Ironic}},
		"disabled, with addresses": {func(p *provision.Plan) { p.DHCP, p.CIDR = nil, netip.Prefix{} }, []orders.Part{orders.Address, orders.HTTP, orders.Ironic}},
	} {
		p := testPlan()
		tt.change(p)
		r := New(Options{Settings: Settings{Plan: p}})
		if got := r.parts(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		if got := r.served(); !slices.Equal(got, testPlan().DHCP.Bootstrap) {
			t.Errorf("%s: %v are served", name, got)
		}
	}
}

// Where the user has a DHCP server, dnsmasq still gives boot programs, and is not shown as one.
func TestRun_Unmanaged(t *testing.T) {
	r := newRig(1)
	r.room.Plan.DHCP = nil
	if !r.until(t.Context(), time.Minute, func() bool { return r.orders.Wants(orders.DHCP) }) || len(r.orders.Hosts) != 3 {
		t.Fatalf("orders %+v: no host gets a boot program", r.orders)
	}
	if r.shown.DHCP || len(r.shown.Served) > 0 {
		t.Errorf("DHCP is shown as on, for %v", r.shown.Served)
	}
}

// B-01: DHCP answers the hosts that this machine deploys, and no worker.
func TestRun_DHCPSet(t *testing.T) {
	r := newRig(1)
	r.until(t.Context(), time.Minute, func() bool { return r.orders.Wants(orders.DHCP) })
	if !slices.Equal(r.orders.Hosts, testPlan().DHCP.Bootstrap) || len(r.orders.Hosts) != 3 {
		t.Errorf("DHCP answers %v", r.orders.Hosts)
	}
	if len(r.shown.Hosts) != 3 {
		t.Errorf("hosts %+v", r.shown.Hosts)
	}
}

// Until the preflight has passed no host is answered.
func TestRun_Preflight(t *testing.T) {
	r := newRig(1)
	r.blocking = []string{"another DHCP server answers"}
	if r.until(t.Context(), 2*time.Minute, func() bool { return r.orders.Wants(orders.DHCP) }) {
		t.Error("DHCP is on")
	}
	if !slices.Equal(r.shown.Blockers, r.blocking) || !strings.Contains(r.shown.Waits, "another DHCP server") {
		t.Errorf("shown %+v", r.shown)
	}
	r.blocking = nil
	if !r.until(t.Context(), 2*time.Minute, func() bool { return r.orders.Wants(orders.DHCP) }) {
		t.Error("DHCP is off")
	}
}

// A person accepts each check that blocks by its name, for this preflight alone. That outlives a power
// cut, and is shown for as long as hosts are deployed.
func TestRun_Accepted(t *testing.T) {
	r := newRig(1)
	router, tls := "ra-foreign: router advertisements: fe80::1: stop them", "bmc-tls:master-0: it has expired: renew it"
	other := "bmc-tls:master-1: it has expired: renew it"
	r.blocking = []string{router, tls, other}
	r.at(t, progress.Preflight)
	accept := func(check string, of time.Time) {
		r.accepted = append(r.accepted, orders.Acceptance{Check: check, Of: of, At: r.world.Now, Why: "it is known"})
	}
	of := r.memory().Since
	accept("bmc-tls:master-0", of.Add(-time.Hour))
	accept("bmc-tls", of)
	r.still(t, time.Minute)
	if !slices.Equal(r.shown.Blockers, r.blocking) {
		t.Errorf("an acceptance of another preflight, or of no check that blocks: %q block", r.shown.Blockers)
	}
	accept("ra-foreign", of)
	accept("bmc-tls:master-0", of)
	r.still(t, time.Minute)
	r.cut()
	r.boot()
	r.still(t, time.Minute)
	if want := []string{"accepted by a person: " + router, "accepted by a person: " + tls}; !slices.Equal(r.shown.Blockers, []string{other}) || !slices.Equal(r.shown.Warnings, want) {
		t.Errorf("%q block, warnings %q", r.shown.Blockers, r.shown.Warnings)
	}
	accept("bmc-tls:master-1", of)
	r.at(t, progress.Deploy)
	r.until(t.Context(), 3*time.Second, func() bool { return false })
	if len(r.shown.Warnings) != 3 || strings.Count(string(r.file), `"kind":"accepted","cause":"it is known"`) != 3 {
		t.Errorf("warnings %q, the journal %s", r.shown.Warnings, r.file)
	}
	r.blocking = nil
	r.at(t, progress.Announce)
	r.blocking = []string{router}
	r.reverse(true)
	r.at(t, progress.Preflight)
	r.still(t, time.Minute)
	if !slices.Equal(r.shown.Blockers, r.blocking) {
		t.Errorf("taken back: %q block", r.shown.Blockers)
	}
}

// What the preflight warned of is shown, also by a program that has restarted, until all hosts have
// joined; and the journal has it.
func TestRun_Warnings(t *testing.T) {
	r := newRig(1)
	r.warnings = []string{"bmc-tls:master-0: the certificate is not verified", "power:master-1: the machine is on"}
	r.at(t, progress.Deploy)
	for range 2 {
		r.until(t.Context(), 3*time.Second, func() bool { return false })
		if !slices.Equal(r.shown.Warnings, r.warnings) {
			t.Errorf("shown %q", r.shown.Warnings)
		}
		r.restart()
	}
	r.at(t, progress.Announce)
	if len(r.shown.Warnings) > 0 || !slices.Equal(r.memory().Warnings, r.warnings) {
		t.Errorf("at the end: shown %q, the journal has %q", r.shown.Warnings, r.memory().Warnings)
	}
}

// Ironic answers before it has loaded its drivers, and refuses what is asked of one.
func TestRun_NoDriverYet(t *testing.T) {
	r := newRig(1)
	r.drivers = []string{"ipmi"}
	past := func() bool { return r.shown.Phase != progress.Address && r.shown.Phase != progress.Services }
	if r.until(t.Context(), 2*time.Minute, past) || !strings.Contains(r.shown.Waits, "Ironic to load its driver redfish, which master-0 needs") {
		t.Errorf("shown %+v", r.shown)
	}
	r.drivers = []string{"ipmi", "redfish"}
	if !r.until(t.Context(), time.Minute, past) {
		t.Errorf("not after the driver: %+v", r.shown)
	}
}

// After a boot nothing is on before the journal was read, and what has ended stays off.
func TestRun_EndedStaysOff(t *testing.T) {
	r := newRig(1)
	r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended })
	r.cut()
	r.world.Tick()
	r.boot()
	if r.until(t.Context(), 5*time.Minute, func() bool { return len(r.orders.On) > 0 }) {
		t.Errorf("on again: %v", r.orders.On)
	}
	if r.shown.Phase != progress.Ended || r.orders.Generation == 0 {
		t.Errorf("shown %+v, orders %+v", r.shown, r.orders)
	}
}

func TestPermitted(t *testing.T) {
	for phase, parts := range map[progress.Phase][]orders.Part{progress.DHCPOff: {orders.DHCP}, progress.IronicOff: {orders.Ironic},
		progress.AddrOff: {orders.Address}, progress.Ended: {orders.HTTP}, progress.Preflight: {orders.DHCP}} {
		if permitted(ledger.Memory{Phase: phase}, orders.Orders{On: parts}) == nil {
			t.Errorf("%s: %v is permitted", phase, parts)
		}
	}
	if err := permitted(ledger.Memory{Phase: progress.Deploy}, orders.Orders{On: orders.Parts()}); err != nil {
		t.Error(err)
	}
}

// A host that cannot be deployed is a named blocker; the others go on.
func TestRun_Blockers(t *testing.T) {
	tests := []struct {
		name   string
		change func(*rig)
		want   string
	}{
		{"a wrong password", func(r *rig) { r.passwords["master-1"] = "bad" }, "the BMC refuses the account"},
		{"no disk meets the hints", func(r *rig) { r.hints = rootdisk.Hints{SerialNumber: "S-master-0"} }, "no disk meets the hints serialNumber: S-master-0"},
		{"two disks meet the hints", func(r *rig) { r.world.Machines[1].Disks = append(r.world.Machines[1].Disks, bigDisk("S2")) }, "more than one disk"},
		{"it never boots", func(r *rig) { r.world.Machines[1].Unbooted = true }, "nothing of it has arrived"},
		{"its disk cannot be written", func(r *rig) { r.world.Machines[1].Broken = 99 }, "failed to write the image"},
		{"a dead BMC", func(r *rig) { r.world.Machines[1].Dead = true }, "the BMC refuses the account"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(1)
			tt.change(r)
			if !r.until(t.Context(), 3*time.Hour, r.done) {
				t.Fatalf("no end: %+v", r.shown)
			}
			h := r.shown.Hosts[1]
			if !strings.Contains(h.Blocker, tt.want) || h.Next.What != "" {
				t.Errorf("blocker %q, want %q", h.Blocker, tt.want)
			}
			if r.world.Machines[0].Joined.IsZero() || r.shown.Phase != progress.Deploy || !r.orders.Wants(orders.DHCP) {
				t.Errorf("another host did not go on: %+v", r.shown)
			}
			if !strings.Contains(r.shown.Waits, "a person to fix what blocks ") || !strings.Contains(r.shown.Waits, "master-1") {
				t.Errorf("it waits for %s", r.shown.Waits)
			}
			if b := r.broken(); len(b) > 0 {
				t.Errorf("%q", b)
			}
			// The file with the accounts and hints is corrected, and the host goes on.
			for _, m := range r.world.Machines {
				m.Unbooted, m.Dead, m.Broken, m.Disks = false, false, 0, m.Disks[:1]
			}
			r.passwords["master-1"], r.hints, r.revision = "good", rootdisk.Hints{}, "2"
			if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
				t.Errorf("not after the correction: %+v", r.shown)
			}
		})
	}
}

// A host whose first boot from the network is lost boots again, before Ironic's own time is over.
func TestRun_LostBoot(t *testing.T) {
	r := newRig(1)
	r.world.Machines[2].Lost = 1
	if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
		t.Fatalf("no end: %+v", r.shown)
	}
	if took := r.world.Now.Sub(begin); took < 10*time.Minute || took > 16*time.Minute {
		t.Errorf("it took %v", took)
	}
	if !slices.ContainsFunc(r.entries(), func(e ledger.Entry) bool {
		return e.Verb == node.BootNet && strings.Contains(e.Cause, "nothing of it has arrived")
	}) {
		t.Errorf("no boot was repeated:\n%s", r.file)
	}
}

// A host that has joined and that Ironic does not know is adopted.
func TestRun_LostDatabase(t *testing.T) {
	r := newRig(1)
	r.until(t.Context(), time.Hour, func() bool { return !r.world.Machines[0].Joined.IsZero() })
	r.world.Lose()
	r.passwords["master-2"] = "good"
	if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
		t.Fatalf("no end: %+v\n%s", r.shown, r.file)
	}
	if b := r.broken(); len(b) > 0 {
		t.Errorf("%q", b)
	}
	for _, n := range r.world.Nodes {
		if n.State != node.Active {
			t.Errorf("%s is %s", n.Name, n.State)
		}
	}
}

// A part that no longer runs holds the phase up, and is named.
func TestRun_PartGone(t *testing.T) {
	r := newRig(1)
	r.until(t.Context(), time.Minute, func() bool { return r.shown.Phase == progress.Services })
	r.reports[orders.HTTP] = orders.Report{Part: orders.HTTP, Generation: r.orders.Generation, On: true, Ready: true, At: r.world.Now.Add(-orders.Stale)}
	s, err := r.room.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := r.room.Decide(s)
	if !strings.Contains(d.Progress.Waits, "the part http, whose last report") {
		t.Errorf("waits for %q", d.Progress.Waits)
	}
}

// slow is a FAKE preflight that takes as long as a test wants.
type slow struct{ begins, ends chan struct{} }

func (s slow) Run(context.Context, []string) (blocking, warnings []string) {
	s.begins <- struct{}{}
	<-s.ends
	return nil, nil
}

// TestCheck_Once holds that a preflight that is asked for in each round while it runs is made once: BMCs
// have room for few logins.
func TestCheck_Once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, checks := newRig(1), slow{make(chan struct{}), make(chan struct{})}
		r.at(t, progress.Services)
		r.room.Preflight = checks
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = r.room.Check(ctx) }()
		round := func() {
			r.world.Tick()
			r.parts()
			s, err := r.room.Observe(ctx)
			d, _ := r.room.Decide(s)
			if err := errors.Join(err, r.room.Publish(ctx, d), r.room.Apply(ctx, d)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		begun := 0
		for range 60 {
			select {
			case <-checks.begins:
				begun++
			default:
			}
			round()
		}
		if begun != 1 || r.memory().Phase != progress.Preflight {
			t.Fatalf("%d checks have begun, in the phase %s", begun, r.memory().Phase)
		}
		checks.ends <- struct{}{}
		synctest.Wait()
		for range 10 {
			round()
		}
		select {
		case <-checks.begins:
			t.Error("another check has begun")
		default:
		}
		if !r.orders.Wants(orders.DHCP) {
			t.Errorf("shown %+v", r.shown)
		}
	})
}

// TestRun_Unshown holds that hosts are deployed, and provisioning is handed over, though what status reads
// cannot be written.
func TestRun_Unshown(t *testing.T) {
	r := newRig(1)
	r.unread = "progress"
	if err := r.second(t.Context()); err == nil || !strings.Contains(err.Error(), "read progress: input/output error") {
		t.Errorf("the round reports %v", err)
	}
	r.at(t, progress.Ended)
	r.sound(t)
}

// TestRun_NoInventory holds that a host whose inventory Ironic does not give keeps no other host from
// being deployed, and what a person reads of it.
func TestRun_NoInventory(t *testing.T) {
	r := newRig(1)
	r.lost = "master-0"
	joined := func() bool { return !r.world.Machines[1].Joined.IsZero() && !r.world.Machines[2].Joined.IsZero() }
	if !r.until(t.Context(), 50*time.Minute, joined) {
		t.Fatalf("the other hosts do not join: %+v", r.shown)
	}
	if got := r.shown.Hosts[0]; got.Waits != "Ironic to report what its inspection found: 404: there is no inventory" {
		t.Errorf("it waits for %q", got.Waits)
	}
	if !r.until(t.Context(), time.Hour, r.done) || !strings.HasSuffix(r.shown.Hosts[0].Blocker, "what its inspection found cannot be read: 404: there is no inventory") {
		t.Errorf("shown %+v", r.shown.Hosts[0])
	}
	r.sound(t)
}

// TestOwner holds of which host a Node is.
func TestOwner(t *testing.T) {
	for _, tt := range []struct{ node, hosts, want string }{
		{"master-0", "master-0 master-1", "master-0"},
		{"Master-0.example.com", "master-0 master-1", "master-0"},
		{"master-0", "master-0.example.com master-1.example.com", "master-0.example.com"},
		{"master-0.other.example", "master-0.example.com master-1.example.com", "master-0.example.com"},
		{"master-00", "master-0", ""},
		{"m.rack-1", "m.rack-1 m.rack-2", "m.rack-1"},
		{"m.rack-2.example.com", "m.rack-1 m.rack-2", "m.rack-2"},
		{"m.rack-2", "m m.rack-2", "m.rack-2"},
		{"m.rack-2", "m.rack-2 m", "m.rack-2"},
		{"m.rack-3", "m m.rack-2", "m"},
		{"m", "m.rack-1 m.rack-2", ""},
		{"m.example.com", "m.rack-1 m.rack-2", ""},
		{"", "m", ""},
	} {
		var hosts []provision.Host
		for name := range strings.FieldsSeq(tt.hosts) {
			hosts = append(hosts, provision.Host{Name: name})
		}
		if got := owner(tt.node, hosts); got != tt.want {
			t.Errorf("the Node %q is of %q, want %q of %s", tt.node, got, tt.want, tt.hosts)
		}
	}
}

// slowBMC is a FAKE Ironic that asks a BMC for a minute before it answers.
type slowBMC struct{ Ironic }

func (s slowBMC) Do(ctx context.Context, q node.Request) error {
	select {
	case <-time.After(time.Minute):
		return s.Ironic.Do(ctx, q)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shows is the rig with what was shown at which time.
type shows struct {
	*rig
	times []time.Time
}

func (s *shows) Show(p progress.Progress) error {
	s.times = append(s.times, p.At)
	return s.rig.Show(p)
}

// TestRun_SlowBMC holds that the program is not taken for one that has stopped while a BMC is slow.
func TestRun_SlowBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(1)
		r.at(t, progress.Deploy)
		shown, began := &shows{rig: r}, time.Now()
		r.room.Host, r.room.Ironic = shown, slowBMC{r.room.Ironic}
		r.room.Now = func() time.Time { return r.world.Now.Add(time.Since(began)) }
		slow := false
		for range 5 {
			began, shown.times = time.Now(), nil
			_ = r.second(t.Context()) // some requests take too long
			took, last := time.Since(began), r.world.Now
			for _, at := range append(shown.times, last.Add(took)) {
				if at.Sub(last) >= progress.Late/2 {
					t.Errorf("it is shown at %s, and then at %s", last, at)
				}
				last = at
			}
			slow = slow || took >= time.Minute
		}
		if !slow {
			t.Error("no BMC was slow")
		}
	})
}
