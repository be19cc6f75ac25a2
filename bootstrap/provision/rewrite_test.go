package provision

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/test/fakeironic"
)

// allowAll is a person who allows all disks that bar their hosts to be written anew, in a run that
// has ended with blockers. It returns how many hosts were written and then joined, and what went wrong.
// A corrected file gives a host its time again, so that the person may have to allow its disk once more.
func (r *rig) allowAll(ctx context.Context) (joined int, wrong []string) {
	var hosts []string
	allow := func() {
		known := r.memory().Hosts
		for _, m := range r.world.Machines {
			h := known[m.Name]
			if h.Blocker == "" || !h.Never() || r.world.Now.Sub(r.rewrites[m.Name].At) < time.Hour {
				continue
			}
			r.passwords[m.Name] = m.Password
			r.revision += "x"
			r.allow(m)
			hosts = append(hosts, m.Name)
		}
	}
	allow()
	taken := func() bool { // or it joined before; one may have been allowed earlier too
		known := r.memory().Hosts
		return !slices.ContainsFunc(hosts, func(name string) bool {
			return known[name].Allowed.Before(r.rewrites[name].At) && known[name].Joined.IsZero()
		})
	}
	r.until(ctx, 5*time.Hour, func() bool {
		if len(hosts) == 0 || taken() && r.done() {
			return true
		}
		allow()
		return false
	})
	for _, m := range r.world.Machines {
		switch {
		case !slices.Contains(hosts, m.Name):
		case m.Joined.IsZero() || m.Writes > 1:
			wrong = append(wrong, fmt.Sprintf("%s was allowed to be written anew: %d writes, joined %v", m.Name, m.Writes, m.Joined))
		case m.Writes == 1: // else it joined before it was switched off
			joined++
		}
	}
	return joined, wrong
}

// doubtful is a run in which all hosts are blocked, as nothing shows whether their disks were written:
// the database is lost while their ramdisks write, with the power. The others than master-1 then join.
func doubtful(t *testing.T) *rig {
	t.Helper()
	r := newRig(1)
	m := r.world.Machines[1]
	m.Stuck = true
	r.until(t.Context(), time.Hour, func() bool { return !ledger.Fold(r.entries()).Hosts[m.Name].Write.Begun.IsZero() })
	r.cut()
	r.world.Lose()
	r.world.Tick()
	r.boot()
	if !r.until(t.Context(), 3*time.Hour, r.done) {
		t.Fatalf("no end: %+v", r.shown)
	}
	h := r.shown.Hosts[1]
	if known := ledger.Fold(r.entries()).Hosts[m.Name]; known.Write.Doubt.IsZero() || !strings.Contains(h.Blocker, machine.Rewrite(m.Name)) {
		t.Fatalf("it is not in doubt, or its blocker does not name the command: %+v %+v", known, h)
	}
	for _, other := range []int{0, 2} {
		r.world.Machines[other].Joined = r.world.Now
	}
	return r
}

// A disk that is in doubt, or that has an operating system which does not come up, is written anew
// when a person allows it, and then never again.
func TestRun_Rewrite(t *testing.T) {
	stuck := func(t *testing.T) *rig {
		r := newRig(1)
		r.world.Machines[1].Stuck = true
		if !r.until(t.Context(), 3*time.Hour, r.done) || !strings.Contains(r.shown.Hosts[1].Blocker, machine.Rewrite("master-1")) {
			t.Fatalf("no end, or no command: %+v", r.shown)
		}
		return r
	}
	for name, blocked := range map[string]func(*testing.T) *rig{"in doubt": doubtful, "written": stuck} {
		t.Run(name, func(t *testing.T) {
			r := blocked(t)
			// The disk that the hints mean is another one by now.
			m := r.world.Machines[1]
			m.Disks = append(m.Disks[:0], bigDisk("S-new"))
			if r.until(t.Context(), time.Hour, func() bool { return m.Writes > 1 || !m.Joined.IsZero() }) {
				t.Fatal("its disk is written without a person")
			}
			r.allow(m)
			at := r.world.Now
			if !r.until(t.Context(), time.Hour, func() bool { m.Stuck = m.Writes == 0; return r.shown.Phase == progress.Ended }) {
				t.Fatalf("it does not end: %+v\n%s", r.shown, r.file)
			}
			if b := r.broken(); len(b) > 0 || m.Writes != 1 {
				t.Errorf("%q, %d writes", b, m.Writes)
			}
			if took := r.world.Now.Sub(at); took > 10*time.Minute {
				t.Errorf("it took %v", took)
			}
			i := slices.IndexFunc(r.entries(), func(e ledger.Entry) bool { return e.Kind == ledger.Allowed })
			if e := r.entries()[max(i, 0)]; e.Host != m.Name || e.Cause != "a person asked for it" || e.Evidence == "" || e.Time.IsZero() {
				t.Errorf("journal %+v", e)
			}
			if n := r.world.Nodes[slices.IndexFunc(r.world.Nodes, func(n *fakeironic.Node) bool { return n.Name == m.Name })]; n.Disk != (node.Pinned{Serial: "S-new"}).String() {
				t.Errorf("its disk is %s", n.Disk)
			}
		})
	}
}

// What a person allows is for the disk as it was then.
func TestRun_RewriteOnce(t *testing.T) {
	r := doubtful(t)
	m := r.world.Machines[1]
	r.allow(m)
	allowed := r.rewrites[m.Name]
	r.until(t.Context(), time.Hour, func() bool { return m.Writes == 1 })
	r.until(t.Context(), 3*time.Hour, r.done)
	r.rewrites[m.Name] = allowed
	if r.until(t.Context(), 2*time.Hour, func() bool { return m.Writes != 1 || r.shown.Hosts[1].Blocker == "" }) {
		t.Errorf("%d writes, %+v", m.Writes, r.shown.Hosts[1])
	}
	if b := r.broken(); len(b) > 0 {
		t.Errorf("%q", b)
	}
}

// What a person allows is void after the time of an installation: meanwhile the cluster's API had not
// listed its nodes.
func TestRun_RewriteVoid(t *testing.T) {
	r := doubtful(t)
	m := r.world.Machines[1]
	r.unlisted = true
	r.allow(m)
	r.until(t.Context(), time.Hour+time.Minute, func() bool { return false })
	if h := r.shown.Hosts[1]; h.Blocker == "" || strings.Contains(h.Blocker, "a person allows it") {
		t.Errorf("it still is allowed: %+v", h)
	}
	r.unlisted = false
	if r.until(t.Context(), 2*time.Hour, func() bool { return m.Writes != 0 || r.shown.Hosts[1].Blocker == "" }) {
		t.Errorf("%d writes, %+v", m.Writes, r.shown.Hosts[1])
	}
}

// A host that has joined is not written, whatever a person allows, and until the cluster's API has
// listed its nodes none is.
func TestRun_RewriteJoined(t *testing.T) {
	r := doubtful(t)
	m := r.world.Machines[1]
	r.allow(m)
	r.unlisted = true
	if r.until(t.Context(), time.Minute, func() bool { return r.shown.Hosts[1].Blocker == "" }) {
		t.Errorf("the API has not listed its nodes: %+v", r.shown.Hosts[1])
	}
	if h := r.shown.Hosts[1]; !strings.Contains(h.Blocker, "a person allows it") {
		t.Errorf("nothing tells why it waits: %+v", h)
	}
	r.unlisted = false
	m.Joined = r.world.Now
	if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
		t.Fatalf("no end: %+v", r.shown)
	}
	if b := r.broken(); len(b) > 0 || m.Writes != 0 {
		t.Errorf("%q, %d writes", b, m.Writes)
	}
}

// A person who excludes a disk that could not be written, with other hints, has it written no more.
// That holds whenever the hints come: before the last attempt has failed, or after it.
func TestRun_OtherHints(t *testing.T) {
	for name, when := range map[string]func(ledger.Host) bool{
		"after the last attempt": func(h ledger.Host) bool { return h.Blocker != "" },
		"between attempts":       func(h ledger.Host) bool { return h.Failures[node.Deploy] == 1 && h.Write == (ledger.Write{}) },
		"within an attempt":      func(h ledger.Host) bool { return h.Failures[node.Deploy] == 1 && !h.Write.Begun.IsZero() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(1)
			m := r.world.Machines[1]
			m.Broken, m.Disks = 99, append(m.Disks, bigDisk("S-good"))
			r.hints = rootdisk.Hints{SerialNumber: "S-master-1"}
			for _, i := range []int{0, 2} {
				r.world.Machines[i].Joined = r.world.Now
			}
			if !r.until(t.Context(), time.Hour, func() bool { return when(r.memory().Hosts[m.Name]) }) {
				t.Fatalf("it does not happen: %+v", r.shown)
			}
			r.correct(func() { r.hints = rootdisk.Hints{SerialNumber: "S-good"} })
			asked := r.memory().Hosts[m.Name].Write.Intent
			r.until(t.Context(), time.Hour, func() bool { // a further attempt
				w := r.memory().Hosts[m.Name].Write.Intent
				return !w.IsZero() && !w.Equal(asked)
			})
			m.Broken = 0
			n := r.world.Nodes[slices.IndexFunc(r.world.Nodes, func(n *fakeironic.Node) bool { return n.Name == m.Name })]
			if n.Disk != (node.Pinned{Serial: "S-good"}).String() {
				t.Errorf("the disk that is written is %s", n.Disk)
			}
			if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
				t.Errorf("no end: %+v", r.shown)
			}
			if b := r.broken(); len(b) > 0 {
				t.Errorf("%q", b)
			}
		})
	}
}

// A power cut of all takes the last changes of Ironic's database, and hosts boot from the network.
// Ironic's node of one that has joined waits for a ramdisk again, as before the disk was written. It
// must not have the disk written, and the host's power is not switched. The same holds while the journal
// cannot be written, or a file cannot be read that this does not follow from.
func TestRun_Revived(t *testing.T) {
	tests := map[string]func(*rig){"": func(*rig) {}, "the disk is full": func(r *rig) { r.full = true }}
	for _, file := range []string{"orders", "report", "secrets", "image", "traces", "rewrite"} {
		tests["no "+file] = func(r *rig) { r.unread = file }
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) { testRevived(t, fault) })
	}
}

func testRevived(t *testing.T, fault func(*rig)) {
	r := newRig(1)
	late := r.world.Machines[1]
	late.Lost = 1
	var database []fakeironic.Node
	joined := func(m *fakeironic.Machine) bool { return !r.memory().Hosts[m.Name].Joined.IsZero() }
	if !r.until(t.Context(), time.Hour, func() bool {
		waits := 0
		for _, n := range r.world.Nodes {
			if n.State == node.DeployWait && n.Step.Before() {
				waits++
			}
		}
		if database == nil && waits == 2 {
			database = r.world.Snapshot()
		}
		return joined(r.world.Machines[0]) && joined(r.world.Machines[2])
	}) || database == nil || joined(late) {
		t.Fatalf("it does not come to that: %+v", r.shown)
	}
	r.cut()
	r.world.Restore(database)
	r.world.Tick()
	on := r.world.Now
	for _, m := range r.world.Machines {
		m.Power(on, true, true)
	}
	r.boot()
	r.until(t.Context(), time.Second, func() bool { return false })
	fault(r)
	r.until(t.Context(), 2*time.Minute, func() bool { return false })
	r.full, r.unread = false, ""
	for _, n := range r.world.Nodes {
		if n.Name != late.Name && (n.State != node.DeployWait || !n.Maintenance.Held()) {
			t.Errorf("%s is %q, in maintenance %+v", n.Name, n.State, n.Maintenance)
		}
	}
	for _, m := range r.world.Machines {
		if since := m.Since(); m != late && !since.Equal(on) {
			t.Errorf("%s: its power was switched at %v", m.Name, since)
		}
	}
	if !r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended }) {
		t.Errorf("no end: %+v", r.shown)
	}
	if b := r.broken(); len(b) > 0 {
		t.Errorf("%q", b)
	}
}

// The same, while the API keeps the last phase from ending in which hosts are answered, and Ironic is on.
func TestRun_RevivedAfterDeploy(t *testing.T) {
	r := newRig(1)
	r.cluster.away = true
	var database []fakeironic.Node
	if !r.until(t.Context(), time.Hour, func() bool {
		waits := 0
		for _, n := range r.world.Nodes {
			if n.State == node.DeployWait && n.Step.Before() {
				waits++
			}
		}
		if database == nil && waits == len(r.world.Machines) {
			database = r.world.Snapshot()
		}
		return r.memory().Phase == progress.Announce
	}) || database == nil {
		t.Fatalf("it does not come to that: %+v", r.shown)
	}
	r.cut()
	r.world.Restore(database)
	r.world.Tick()
	for _, m := range r.world.Machines {
		m.Power(r.world.Now, true, true)
	}
	r.boot()
	r.until(t.Context(), 2*time.Minute, func() bool { return false })
	for _, n := range r.world.Nodes {
		if n.State != node.DeployWait || !n.Maintenance.Held() || r.memory().Phase != progress.Announce {
			t.Errorf("%s is %q in the phase %s, in maintenance %+v", n.Name, n.State, r.memory().Phase, n.Maintenance)
		}
	}
	r.cluster.away = false
	r.at(t, progress.Ended)
	r.sound(t)
}

// A guard that Ironic refuses is asked for in each round, as a disk is at stake, and leaves no entry.
func TestRun_GuardRefused(t *testing.T) {
	r := newRig(1)
	r.cluster.away = true
	r.at(t, progress.Announce)
	for _, n := range r.world.Nodes {
		n.State, n.Step = node.DeployWait, node.Step{Index: -1}
	}
	asked := 0
	r.refuses = func(q node.Request) error {
		asked++
		return fakeironic.Refusal{Text: "400"}
	}
	r.until(t.Context(), 3*time.Second, func() bool { return false })
	size := len(r.file)
	r.until(t.Context(), 10*time.Second, func() bool { return false })
	if asked < 10*len(r.world.Nodes) || len(r.file) != size {
		t.Errorf("%d guards, %d bytes more in the journal:\n%s", asked, len(r.file)-size, r.file[size:])
	}
	r.refuses = nil
	r.until(t.Context(), 2*time.Second, func() bool { return false })
	for _, n := range r.world.Nodes {
		if !n.Maintenance.Held() {
			t.Errorf("%s is not held", n.Name)
		}
	}
}

// Guards are asked for where the parts cannot get their orders.
func TestApply_GuardWithoutOrders(t *testing.T) {
	r := newRig(1)
	r.at(t, progress.Deploy)
	r.until(t.Context(), 20*time.Second, func() bool { return false })
	n := r.world.Nodes[0]
	guards := []node.Request{{Verb: node.Hold, UUID: n.UUID}}
	again := orders.Orders{Generation: r.orders.Generation + 1, On: []orders.Part{"no such part"}}
	if err := r.room.Apply(t.Context(), Desired{Orders: again, Guards: guards}); err == nil || !n.Maintenance.Held() {
		t.Errorf("%v, in maintenance %+v", err, n.Maintenance)
	}
}
