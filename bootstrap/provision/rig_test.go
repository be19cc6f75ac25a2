package provision

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/test/fakeironic"
)

var begin = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func testPlan() *provision.Plan {
	p := &provision.Plan{CIDR: netip.MustParsePrefix("172.22.0.0/24"), BootstrapIP: netip.MustParseAddr("172.22.0.2"),
		DHCP: &provision.DHCP{},
		Deadlines: []provision.Deadline{{Step: "boot-retry", Seconds: 600}, {Step: "call-back", Seconds: 1800},
			{Step: "install", Seconds: 3600}, {Step: "handover", Seconds: 600}, {Step: "lease", Seconds: 3600}}}
	for i := range 3 {
		m := mac.MAC{2, 0, 0, 0, 0, byte(i)}
		p.Hosts = append(p.Hosts, provision.Host{Name: fmt.Sprintf("master-%d", i), Role: "master", Phase: provision.Bootstrap, MAC: m,
			BMC: "redfish://192.0.2.1/redfish/v1/Systems/" + fmt.Sprint(i), Driver: "redfish", Verify: "ca", BootMode: "UEFI", Boot: provision.PXEUEFI})
		p.DHCP.Bootstrap = append(p.DHCP.Bootstrap, m)
	}
	p.Hosts = append(p.Hosts, provision.Host{Name: "worker-0", Phase: provision.Cluster, MAC: mac.MAC{2, 0, 0, 0, 0, 9}, BMC: "redfish://192.0.2.2"})
	return p
}

func bigDisk(serial string) rootdisk.Disk {
	return rootdisk.Disk{Device: "/dev/sda", Serial: serial, Bytes: 100 << 30}
}

// rig is a FAKE bootstrap machine with its parts, in virtual time.
type rig struct {
	mu        sync.Mutex
	world     *fakeironic.World
	room      *Room
	file      []byte // the journal
	orders    orders.Orders
	reports   map[orders.Part]orders.Report
	follows   map[orders.Part]time.Time // since when a part could follow its orders
	ordered   int64                     // the generation of those
	booted    time.Time
	off       bool // the bootstrap machine has no power
	passwords map[string]string
	revision  string
	hints     rootdisk.Hints
	blocking  []string
	warnings  []string
	running   []string // hosts that are to run, for the last preflight
	drivers   []string // that Ironic has loaded
	pulled    bool     // the cable of the provisioning network
	full      bool     // the machine's disk
	started   time.Time
	complete  map[string]time.Time // when a disk first was
	begun     map[string]int       // how often the image of a disk was begun
	unlisted  bool                 // the cluster's API does not answer
	rewrites  map[string]orders.Rewrite
	reversal  orders.Reversal
	accepted  []orders.Acceptance
	foreign   foreign.List
	cluster   fakeCluster
	shown     progress.Progress
	happened  []events.Event // since the machine booted
	wrong     []string
	journal   ledger.Memory // of file, as it was when it had so many bytes
	folded    int

	seed   uint64
	kills  bool // the program may be killed at any effect
	calls  int
	starts int    // requests to start a host that has joined
	unread string // the file that cannot be read, or written
	lost   string // the host whose inventory Ironic does not have
	// unnamed are the hosts that have addresses of a DHCP server which is not ours.
	unnamed map[string]bool
	away    time.Time // until when Ironic does not start
	// refuses are the answers to a request instead of its effect.
	refuses func(node.Request) error
}

func newRig(seed uint64) *rig {
	var machines []*fakeironic.Machine
	r := &rig{seed: seed, revision: "1", passwords: map[string]string{}, complete: map[string]time.Time{}, begun: map[string]int{}, drivers: []string{"ipmi", "redfish"}}
	for _, h := range testPlan().Hosts[:3] {
		r.passwords[h.Name] = "good"
		machines = append(machines, &fakeironic.Machine{Name: h.Name, Password: "good", Disks: []rootdisk.Disk{bigDisk("S-" + h.Name)}})
	}
	r.world = fakeironic.New(begin, machines...)
	r.cluster = newCluster()
	r.boot()
	return r
}

// boot starts the machine: what is in /run is gone.
func (r *rig) boot() {
	r.rewrites, r.reversal, r.accepted = map[string]orders.Rewrite{}, orders.Reversal{}, nil
	r.orders, r.reports, r.follows = orders.Orders{}, map[orders.Part]orders.Report{}, map[orders.Part]time.Time{}
	r.booted, r.off, r.happened = r.world.Now, false, nil
	r.restart()
}

// cut takes the power away.
func (r *rig) cut() { r.off, r.room, r.world.Served = true, nil, false; r.world.Stop() }

// restart starts the program anew.
func (r *rig) restart() {
	r.started = r.world.Now
	r.room = New(Options{Settings: Settings{Plan: testPlan(), Kernel: "http://k", Ramdisk: "http://r", Name: "boot", Own: ownCluster()}, Host: r, Cluster: clusterOf{r}, Ironic: ironicOf{r}, Journal: journalOf{r},
		Preflight: r, Joined: r.joined, Now: func() time.Time { return r.world.Now }, Wake: make(chan struct{}, 1), Notifier: silent{}})
}

type silent struct{}

func (silent) Ready() error        { return nil }
func (silent) Status(string) error { return nil }

var errKilled = errors.New("killed")

// random is a number below n that follows from the seed and the place, whatever the order of
// goroutines.
func (r *rig) random(place string, n uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, r.seed, r.world.Now.Unix(), place)
	return h.Sum64() / 7 % n
}

// effect does something that outlasts the program, which may be killed before or after it.
func (r *rig) effect(place string, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	kill := uint64(0)
	if r.kills {
		kill = r.random(place, 20)
	}
	if kill == 1 {
		return errKilled
	}
	err := do()
	if kill == 2 {
		return errKilled
	}
	return err
}

// reads is an error for the file that cannot be read.
func (r *rig) reads(file string) error {
	if r.unread == file {
		return fmt.Errorf("read %s: %w", file, syscall.EIO)
	}
	return nil
}

func (r *rig) Orders() (orders.Orders, error) { return r.orders, r.reads("orders") }

func (r *rig) WriteOrders(o orders.Orders) error {
	return r.effect("orders", func() error {
		r.orders = o
		m := r.memory()
		ended := m.Phase.Past(progress.DHCPOff)
		if ended && o.Wants(orders.DHCP) || m.Phase == progress.Ended && len(o.On) > 0 {
			r.wrong = append(r.wrong, fmt.Sprintf("orders %v in the phase %s", o.On, m.Phase))
		}
		return nil
	})
}

func (r *rig) Report(p orders.Part) (orders.Report, error) { return r.reports[p], r.reads("report") }

func (r *rig) Secrets() (hostfile.File, string, error) {
	var f hostfile.File
	for name, password := range r.passwords {
		f.Hosts = append(f.Hosts, hostfile.Host{Name: name, Username: secret.New("admin"), Password: secret.New(password),
			Ignition: secret.New(`{"ignition":{"version":"3.4.0"}}`), RootDisk: r.hints})
	}
	return f, r.revision, r.reads("secrets")
}

func (r *rig) Image() (node.Image, error) {
	return node.Image{URL: "http://172.22.0.2:6180/images/os.raw", SHA256: "ab", Format: "raw"}, r.reads("image")
}

func (r *rig) Traces() (map[string]machine.Trace, error) {
	all := map[string]machine.Trace{}
	var unnamed time.Time
	for _, m := range r.world.Machines {
		if r.unnamed[m.Name] && m.Fetched.After(r.booted) && m.Fetched.After(unnamed) {
			unnamed = m.Fetched
		}
	}
	for _, m := range r.world.Machines {
		t := machine.Trace{Since: r.booted, Unnamed: unnamed, Cause: cause.Of(events.Of(r.happened, m.Name), r.world.Now)}
		if m.Fetched.After(r.booted) && !r.unnamed[m.Name] {
			t.Fetched = m.Fetched
		}
		all[m.Name] = t
	}
	return all, r.reads("traces")
}

func (r *rig) Note(all ...events.Event) error {
	r.happened = append(r.happened, all...)
	return nil
}

func (r *rig) Rewrite(host string) (orders.Rewrite, error) {
	return r.rewrites[host], r.reads("rewrite")
}

// allow is a person who allows the disk of a host to be written anew, as the command does.
func (r *rig) allow(m *fakeironic.Machine) {
	barred := r.memory().Hosts[m.Name].Barred()
	r.rewrites[m.Name] = orders.Rewrite{Host: m.Name, Barred: barred, At: r.world.Now, Why: "a person asked for it"}
	m.GiveUp()
}

func (r *rig) Show(p progress.Progress) error { r.shown = p; return r.reads("progress") }

func (r *rig) Acceptances() ([]orders.Acceptance, error) { return r.accepted, r.reads("accepted") }

func (r *rig) Foreign() (foreign.List, error) { return r.foreign, r.reads("foreign") }

func (r *rig) Run(_ context.Context, joined []string) (blocking, warnings []string) {
	r.running = slices.Sorted(slices.Values(joined))
	return r.blocking, r.warnings
}

// nodeIP is the address of a machine's Node.
func nodeIP(machine int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(20 + machine)}) }

func (r *rig) joined() (all []addr.Candidate, listed bool) {
	if r.unlisted {
		return nil, false
	}
	for i, m := range r.world.Machines {
		if !m.Joined.IsZero() {
			all = append(all, addr.Candidate{Name: m.Name + ".example.com", InternalIPs: []netip.Addr{nodeIP(i)}})
		}
	}
	return all, true
}

type journalOf struct{ r *rig }

func (j journalOf) Read() ([]ledger.Entry, error) { return ledger.Decode(j.r.file) }

func (j journalOf) Append(all ...ledger.Entry) error {
	return j.r.effect("journal", func() error {
		if j.r.full {
			return syscall.ENOSPC
		}
		for _, e := range all {
			j.r.prove(e)
			j.r.file = append(j.r.file, ledger.Encode(e)...)
		}
		return nil
	})
}

// prove holds that a deployment which has failed is not asked for again by a false proof: the ramdisk had
// the whole image, and might have written it.
func (r *rig) prove(e ledger.Entry) {
	if e.Kind != ledger.Failed || e.Verb != node.Deploy || !strings.Contains(e.Evidence, "has not sent") {
		return
	}
	for _, m := range r.world.Machines {
		if m.Name == e.Host && m.Fetched.After(r.memory().Hosts[e.Host].Write.Intent) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: the journal has that %s, and it fetched that at %s", e.Time.Format(time.TimeOnly), e.Host, e.Evidence, m.Fetched.Format(time.TimeOnly)))
		}
	}
}

func (r *rig) entries() []ledger.Entry {
	all, err := ledger.Decode(r.file)
	if err != nil {
		panic(err)
	}
	return all
}

type ironicOf struct{ r *rig }

func (i ironicOf) Drivers(context.Context) ([]string, error) {
	if !i.r.world.Running() {
		return nil, fakeironic.ErrDown
	}
	return i.r.drivers, nil
}
func (i ironicOf) Nodes(ctx context.Context) ([]node.Node, error) { return i.r.world.All(ctx) }
func (i ironicOf) Disks(ctx context.Context, id string) (node.Disks, error) {
	if i.r.lost != "" && i.r.machine(id).Name == i.r.lost {
		return nil, fakeironic.Refusal{Text: "404: there is no inventory"}
	}
	return i.r.world.Inventory(ctx, id)
}
func (i ironicOf) Do(ctx context.Context, q node.Request) error {
	return i.r.effect(string(q.Verb)+q.UUID+q.Spec.Name, func() error {
		if i.r.refuses != nil {
			if err := i.r.refuses(q); err != nil {
				return err
			}
		}
		return i.r.world.Do(ctx, q)
	})
}

// starts are how the first request to start a host that has joined comes to nothing: the program is
// killed before it, its node is locked, its BMC does not answer, or Ironic refuses it for good.
var starts = []error{errKilled, fakeironic.ErrLocked, errors.New("the BMC does not answer"), fakeironic.Refusal{Text: "400"}}

// startsLate is a world in which the first request to start a host that has joined fails.
func (r *rig) startsLate(why error) {
	r.refuses = func(q node.Request) error {
		if q.Verb != node.BootDisk || r.machine(q.UUID).Joined.IsZero() {
			return nil
		}
		if r.starts++; r.starts > 1 {
			return nil
		}
		return why
	}
}

// machine is that of a node.
func (r *rig) machine(uuid string) *fakeironic.Machine {
	n := r.world.Nodes[slices.IndexFunc(r.world.Nodes, func(n *fakeironic.Node) bool { return n.UUID == uuid })]
	return r.world.Machines[slices.IndexFunc(r.world.Machines, func(m *fakeironic.Machine) bool { return m.Name == n.Name })]
}

// node is that of a machine; nil for none.
func (r *rig) node(m *fakeironic.Machine) *fakeironic.Node {
	i := slices.IndexFunc(r.world.Nodes, func(n *fakeironic.Node) bool { return n.Name == m.Name })
	if i < 0 {
		return nil
	}
	return r.world.Nodes[i]
}

// parts follow their orders two seconds late.
func (r *rig) parts() {
	changed := r.ordered != r.orders.Generation
	r.ordered = r.orders.Generation
	for _, p := range orders.Parts() {
		report := r.reports[p]
		if report.Generation != r.orders.Generation && (changed || r.follows[p].IsZero()) {
			r.follows[p] = r.world.Now
		}
		if !r.follows[p].IsZero() && r.world.Now.Sub(r.follows[p]) >= 2*time.Second {
			report.Generation, report.On, report.Ready = r.orders.Generation, r.orders.Wants(p), true
			delete(r.follows, p)
		}
		report.Part, report.At, report.Why = p, r.world.Now, "fake"
		r.reports[p] = report
	}
	on := func(p orders.Part) bool { return r.reports[p].On }
	r.world.Served = on(orders.Address) && on(orders.HTTP) && on(orders.DHCP) && !r.pulled
	if on(orders.Ironic) && !r.world.Now.Before(r.away) {
		r.world.Start()
	} else {
		r.world.Stop()
	}
	if r.reports[orders.DHCP].On && r.orders.Generation > 0 && !r.orders.Wants(orders.DHCP) && r.follows[orders.DHCP].IsZero() {
		r.wrong = append(r.wrong, "DHCP is on without orders")
	}
}

// memory is what the journal has.
func (r *rig) memory() ledger.Memory {
	if r.folded == 0 {
		r.journal = ledger.Fold(nil)
	}
	if r.folded != len(r.file) {
		all, err := ledger.Decode(r.file[r.folded:])
		if err != nil {
			panic(err)
		}
		for _, e := range all {
			r.journal = r.journal.With(e)
		}
		r.folded = len(r.file)
	}
	return r.journal
}

// judge holds what must be true in each second: DHCP is off once the journal has its end, and a run
// whose time is over has a blocker for each host that has not joined.
func (r *rig) judge() {
	m := r.memory()
	r.judgeCluster(m)
	if m.Phase.Past(progress.IronicOff) && (r.reports[orders.DHCP].On || r.world.Served) {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: DHCP is on in the phase %s", r.world.Now.Format(time.TimeOnly), m.Phase))
	}
	if r.full {
		r.started = r.world.Now // it has not begun before that is in the journal
	}
	began := m.Deploy
	if r.started.After(began) {
		began = r.started
	}
	if m.Phase != progress.Deploy || !m.Held.IsZero() {
		return
	}
	for _, h := range testPlan().Hosts[:3] {
		known, began := m.Hosts[h.Name], began
		if since := known.Since(); since.After(began) {
			began = since
		}
		if r.world.Now.After(began.Add(time.Hour+overtime)) && known.Joined.IsZero() && known.Blocker == "" {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: the time is over, and %s has neither joined nor a blocker", r.world.Now.Format(time.TimeOnly), h.Name))
		}
	}
}

// overtime is what a program needs to see that its time is over, however often it is killed then.
const overtime = time.Minute

// second lets a second pass, with one round of the program if it runs.
func (r *rig) second(ctx context.Context) error {
	r.world.Tick()
	r.cluster.tick(r.world.Now)
	for _, m := range r.world.Machines {
		if m.Writes > 0 && r.complete[m.Name].IsZero() {
			r.complete[m.Name] = r.world.Now
		}
		if m.Begun > r.begun[m.Name] && r.memory().Hosts[m.Name].Never() {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: its disk is written, and the journal has it as written", r.world.Now.Format(time.TimeOnly), m.Name))
		}
		r.begun[m.Name] = m.Begun
	}
	if r.off {
		return nil
	}
	r.parts()
	r.judge()
	err := r.round(ctx)
	if errors.Is(err, errKilled) {
		r.restart()
		return nil
	}
	return err
}

func (r *rig) round(ctx context.Context) error {
	s, err := r.room.Observe(ctx)
	if err != nil {
		return err
	}
	d, _ := r.room.Decide(s)
	if err := r.room.Publish(ctx, d); err != nil {
		return err
	}
	err = r.room.Apply(ctx, d)
	r.room.CheckDue(ctx)
	return err
}

// broken are the rules that were broken.
func (r *rig) broken() []string {
	all := slices.Clone(r.wrong)
	for _, m := range r.world.Machines {
		for _, w := range m.Wrong {
			all = append(all, m.Name+": "+w)
		}
	}
	return all
}

// done reports whether the run has ended: all parts are off, or each host has joined or a blocker.
func (r *rig) done() bool {
	if r.off || r.room == nil || len(r.shown.Hosts) == 0 {
		return false
	}
	if r.shown.Phase == progress.Ended {
		return true
	}
	blocked := false
	for _, h := range r.shown.Hosts {
		if h.Step != progress.Joined && h.Blocker == "" {
			return false
		}
		blocked = blocked || h.Blocker != ""
	}
	return blocked && r.shown.Phase == progress.Deploy
}

func (r *rig) until(ctx context.Context, limit time.Duration, done func() bool) bool {
	for end := r.world.Now.Add(limit); r.world.Now.Before(end); {
		_ = r.second(ctx) // the loop logs it, and goes on
		if done() {
			return true
		}
	}
	return false
}
