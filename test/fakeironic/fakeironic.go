// Package fakeironic is a FAKE of Ironic and of the hosts that it deploys, in virtual time: Ironic's
// provision states with the transitions of the real one (ironic/common/states.py of release 29), a
// ramdisk that works on by itself while Ironic is away, and disks that count how often they were
// written. It has no sockets: real Ironic is tested elsewhere, with the same requests.
package fakeironic

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// The times of the parts of a deployment.
const (
	Firmware = 20 * time.Second // from power to the ramdisk's call
	Fetch    = 26 * time.Second // of the image
	Drive    = 2 * time.Second  // the config drive is written behind the image
	OS       = 40 * time.Second // from power to the Node
	callBack = 30 * time.Minute
	beat     = 10 * time.Second // between two calls of a ramdisk
	recovery = 60 * time.Second // after which Ironic asks a BMC in maintenance again
)

// steps are those of the direct deploy interface.
var steps = []string{"deploy", node.WriteStep, "prepare_instance_boot", "tear_down_agent", "switch_to_tenant_network", "boot_instance"}

// Machine is one host: its power, what runs on it, and its disk.
type Machine struct {
	Name     string
	Password string // that its BMC wants
	Dead     bool   // its BMC does not answer
	Lost     int    // so many boots from the network fail
	Unbooted bool   // no boot from the network ever succeeds
	Stuck    bool   // its operating system never gets into the cluster
	Disks    []rootdisk.Disk
	Broken   int // so many writes fail half-way

	On     bool
	net    bool      // it boots from the network
	since  time.Time // of its power
	call   time.Time // of its ramdisk, while that runs
	write  time.Time // since when its ramdisk writes; zero if it does not
	failed bool      // its ramdisk could not write

	// Fetched is when its ramdisk had the image whole, Writes how often the disk was complete with an
	// image that was written anew and with the config drive, and Begun how often an image was begun.
	Fetched time.Time
	Writes  int
	Begun   int
	cached  bool // its ramdisk, which runs, has written the image
	bootsOK bool // the disk is complete
	ran     bool // a system was started from it since
	givenUp bool // a person allows it to be written once more
	Joined  time.Time
	Wrong   []string // what must never happen
}

// World has Ironic and the hosts.
type World struct {
	Now      time.Time
	Machines []*Machine
	Served   bool // DHCP and HTTP serve
	Nodes    []*Node
	running  bool
	counter  int
}

// Node is a node with what the API does not show.
type Node struct {
	node.Node
	machine  *Machine
	password string
	disks    node.Disks // that its last inspection found
	asked    bool       // its ramdisk was asked to write
	until    time.Time  // of the present work
	wrongs   int        // BMC errors in a row
	checked  time.Time
	retry    time.Time
}

// New is a world in which nothing runs yet.
func New(now time.Time, machines ...*Machine) *World {
	return &World{Now: now, Machines: machines}
}

// Start starts Ironic: work that a process of it did has failed, that of ramdisks goes on.
func (w *World) Start() {
	if w.running {
		return
	}
	w.running = true
	for _, n := range w.Nodes {
		n.Locked = false
		switch n.State {
		case node.Deploying:
			n.to(w.Now, node.DeployFailed) // it keeps the index of its step
		case node.Cleaning:
			n.to(w.Now, node.CleanFailed)
		case node.Verifying:
			n.to(w.Now, node.Enroll)
		case node.Inspecting:
			n.to(w.Now, node.InspectFailed)
		case node.Adopting:
			n.to(w.Now, node.AdoptFailed)
		case node.Deleting:
			n.to(w.Now, node.Error)
		default:
			continue
		}
		n.Error = "the state cannot be resumed"
	}
}

// Stop stops it.
func (w *World) Stop() { w.running = false }

// Running reports whether Ironic answers.
func (w *World) Running() bool { return w.running }

// Lose loses the database.
func (w *World) Lose() { w.Nodes = nil }

// Snapshot is the database as it is now, for Restore.
func (w *World) Snapshot() []Node {
	var all []Node
	for _, n := range w.Nodes {
		c := *n
		c.MACs = slices.Clone(n.MACs)
		all = append(all, c)
	}
	return all
}

// Restore brings a former database back, as after a power cut that took what was not on the disk.
func (w *World) Restore(all []Node) {
	w.Nodes = nil
	for _, n := range all {
		w.Nodes = append(w.Nodes, &n)
	}
}

func (n *Node) to(now time.Time, s node.State) {
	n.State, n.Changed, n.until, n.retry = s, now.Truncate(time.Second), time.Time{}, now
}

func (n *Node) fail(now time.Time, s node.State, form string, values ...any) {
	n.to(now, s)
	n.Error = fmt.Sprintf(form, values...)
	if s == node.DeployFailed {
		n.Step = node.Step{Index: -1}
	}
}

// Power sets a machine's power, as its BMC or a cable does.
func (m *Machine) Power(now time.Time, on, net bool) {
	m.On, m.net, m.since = on, net, now
	m.call, m.write, m.failed, m.cached = time.Time{}, time.Time{}, false, false
}

// Since is when its power was last switched.
func (m *Machine) Since() time.Time { return m.since }

// Tick lets a second pass.
func (w *World) Tick() {
	w.Now = w.Now.Add(time.Second)
	for _, m := range w.Machines {
		m.tick(w)
	}
	if !w.running {
		return
	}
	for _, n := range w.Nodes {
		n.tick(w)
	}
}

func (m *Machine) tick(w *World) {
	up := w.Now.Sub(m.since)
	m.ran = m.ran || m.On && !m.net && m.bootsOK
	switch {
	case !m.On:
	case m.net && m.call.IsZero() && up >= Firmware:
		m.boot(w)
	case !m.net && m.bootsOK && !m.Stuck && m.Joined.IsZero() && up >= OS:
		m.Joined = w.Now
	case !m.write.IsZero():
		m.writes(w)
	}
}

// boot is what comes of a boot from the network.
func (m *Machine) boot(w *World) {
	if !w.Served || m.Unbooted || m.Lost > 0 {
		m.Lost--
		m.net = false // the firmware gives up, and tries the disk
		m.since = w.Now
		return
	}
	m.call = w.Now
}

// writes is the ramdisk, which needs nothing but our HTTP server.
func (m *Machine) writes(w *World) {
	took := w.Now.Sub(m.write)
	switch {
	case !m.cached && (took < Fetch && !w.Served || took >= Fetch/2 && m.Broken > 0):
		m.Broken--
		m.failed, m.write = true, time.Time{}
	case took >= Fetch+Drive:
		m.bootsOK, m.write = true, time.Time{}
		if !m.cached {
			m.Writes, m.cached = m.Writes+1, true
		}
	case !m.cached && took >= Fetch && m.Fetched.Before(m.write):
		m.Fetched = w.Now
	}
}

// GiveUp is a person's permission to write the disk once more. It counts writes from now on, without one
// that has begun.
func (m *Machine) GiveUp() {
	m.Writes, m.givenUp = 0, true
	if !m.write.IsZero() {
		m.Writes = -1
	}
}

// begin begins a write of the disk. A ramdisk that has written the image keeps that until it ends,
// whatever it is asked, and only makes the config drive anew (ironic-python-agent, the command
// prepare_image of its extension standby). What is lost with a disk is a system that ran from it: a
// complete one that none was started from is as good written again.
func (m *Machine) begin(w *World) {
	wrong := func(what string) {
		m.Wrong = append(m.Wrong, w.Now.Format(time.TimeOnly)+": "+what)
	}
	switch {
	case !m.Joined.IsZero():
		wrong("the disk of a host that has joined is written")
	case m.ran && !m.givenUp:
		wrong("a disk that a system ran from is written again")
	}
	m.bootsOK, m.ran, m.givenUp, m.write, m.failed = false, false, false, w.Now, false
	if m.cached {
		m.write = w.Now.Add(-Fetch)
		return
	}
	m.Begun++
}

// answers reports whether the BMC takes what Ironic asks of it.
func (n *Node) answers() bool { return !n.machine.Dead && n.password == n.machine.Password }

// reset is Ironic's use of the BMC's power.
func (n *Node) reset(w *World, on, net bool) bool {
	m := n.machine
	if !n.answers() {
		return false
	}
	// What was asked of Ironic before the host had joined may follow after it, and one that is off may
	// be switched on.
	before := n.State == node.Deleting && n.Changed.Before(m.Joined)
	if !m.Joined.IsZero() && m.On && !before {
		m.Wrong = append(m.Wrong, fmt.Sprintf("%s: the power of a host that has joined is switched", w.Now.Format(time.TimeOnly)))
	}
	m.Power(w.Now, on, net)
	return true
}
