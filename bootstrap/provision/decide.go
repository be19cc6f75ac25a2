package provision

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Desired is what a round does, in this order.
type Desired struct {
	Unread   error // why nothing but Guards follows
	Entries  []ledger.Entry
	Orders   orders.Orders
	Examine  bool // a preflight is due
	Requests map[string][]node.Request
	Guards   []node.Request // in a phase without Requests, or if those cannot be made
	Guarded  bool           // it is such a phase
	Accounts string         // which file of accounts Requests are made with
	Progress progress.Progress
	Watched  map[string]machine.Watched
	Events   []events.Event // what happened to hosts
	Noted    map[string]noted
	Handover Handing
}

// Decide computes the next phase, the orders of the parts, and the next step of each host.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := &decision{Room: r, Snapshot: s, memory: r.memory}
	d.Requests, d.Watched = map[string][]node.Request{}, map[string]machine.Watched{}
	if s.Unread != nil {
		d.guardHosts()
		return Desired{Unread: s.Unread, Guards: d.Guards}, loop.Reasons{"nothing is decided"}
	}
	d.Noted = map[string]noted{}
	d.Progress.Hosts = []progress.Host{}
	if !r.started {
		d.record(ledger.Entry{Kind: ledger.Started, Cause: "the program started"})
	}
	d.noteForeign()
	d.decideHosts()
	if !d.reverse() {
		d.advance()
	}
	d.order()
	d.silence = d.silent()
	d.report()
	d.publish()
	why := loop.Reasons{fmt.Sprintf("phase %s: %s", d.memory.Phase, d.Progress.Waits)}
	for _, e := range d.Entries {
		if e.Kind == ledger.Blocked {
			why = append(why, e.Host+" is blocked: "+e.Cause)
		}
	}
	if d.silence != "" {
		why = append(why, d.silence)
	}
	r.counted.set(d.memory)
	return d.Desired, why
}

// decision is the decision of one round while it is made.
type decision struct {
	*Room
	Snapshot
	Desired
	memory ledger.Memory // with the entries of this round
	wait   string        // why the phase does not end

	refused []string // why a person's request about the handover is not followed
	silence string   // a warning that hosts have had no DHCP server for too long; empty for none
}

func (d *decision) record(e ledger.Entry) {
	if e.Time.IsZero() {
		e.Time = d.Now
	}
	d.Entries = append(d.Entries, e)
	d.memory = d.memory.With(e)
}

func (d *decision) deploys() bool {
	return d.memory.Phase == progress.Deploy || d.memory.Phase == progress.Settle
}

// deadline is when the time to install these hosts ends; zero before the phase deploy. That time
// begins again with each start of the program, and with what a person did for one of the hosts.
func (d *decision) deadline(hosts ...string) time.Time {
	begin := d.memory.Deploy
	if begin.IsZero() {
		return time.Time{}
	}
	if d.memory.Started.After(begin) {
		begin = d.memory.Started
	}
	for _, name := range hosts {
		if since := d.memory.Hosts[name].Since(); since.After(begin) {
			begin = since
		}
	}
	return begin.Add(d.limit("install"))
}

// decideHosts decides each host's next step.
func (d *decision) decideHosts() {
	if !d.deploys() {
		d.guardHosts()
		d.showHosts()
		return
	}
	if d.Revision != d.memory.Secrets {
		d.record(ledger.Entry{Kind: ledger.Secrets, Evidence: d.Revision,
			Cause: "the file of the hosts' accounts is another one"})
	}
	d.Desired.Accounts = d.Revision
	for _, h := range d.Plan.Deployed() {
		v := d.view(h)
		step := machine.Decide(v)
		for _, e := range step.Entries {
			d.record(e)
		}
		d.note(v, step.Entries)
		if len(step.Requests) > 0 {
			d.Requests[h.Name] = step.Requests
		}
		if step.Guard != nil {
			d.Guards = append(d.Guards, *step.Guard)
		}
		begun := !d.memory.Hosts[h.Name].Write.Begun.IsZero()
		d.Watched[h.Name] = v.Watched.Next(v.Node, begun, d.Now)
		d.Progress.Hosts = append(d.Progress.Hosts, step.Show)
	}
}

// guardHosts keeps Ironic from writing disks in the phases in which it runs but deploys no host:
// after a power cut its database may still have deployments that are over.
func (d *decision) guardHosts() {
	d.Guarded = true
	for _, h := range d.Plan.Deployed() {
		if len(d.Ironic.Nodes) == 0 {
			return
		}
		if guard := machine.Decide(d.view(h)).Guard; guard != nil {
			d.Guards = append(d.Guards, *guard)
		}
	}
}

// showHosts shows hosts in a phase in which nothing is asked of Ironic.
func (d *decision) showHosts() {
	for _, h := range d.Plan.Deployed() {
		show := progress.Host{Name: h.Name, MAC: h.MAC, Step: progress.Unknown,
			Retries: d.memory.Hosts[h.Name].Retries}
		if d.memory.Deploy.IsZero() {
			show.Waits = fmt.Sprintf("the phase %s", progress.Deploy)
		}
		if known := d.memory.Hosts[h.Name]; !known.Joined.IsZero() {
			show.Step, show.Since = progress.Joined, known.Joined
		}
		d.Progress.Hosts = append(d.Progress.Hosts, show)
	}
}

// view is what is known of one host.
func (d *decision) view(h provision.Host) machine.View {
	given, _ := d.Snapshot.Accounts.Of(h.Name)
	as, isJoined := d.joined(h)
	v := machine.View{
		Host: machine.Host{Plan: h, Hints: given.RootDisk, Username: given.Username,
			Password: given.Password, Ignition: given.Ignition, CA: d.CA, Image: d.Image,
			Kernel: d.Kernel, Ramdisk: d.Ramdisk, Accounts: d.Revision},
		Silent: d.Ironic.Err != nil, Disks: d.Ironic.Disks[h.Name],
		NoDisks: d.Ironic.NoDisks[h.Name],
		Joined:  isJoined, Addresses: as.InternalIPs, Listed: d.Listed,
		Rewrite: d.Rewrites[h.Name], Known: d.memory.Hosts[h.Name],
		Trace: d.Traces[h.Name], Watched: d.watched[h.Name], Now: d.Now,
		Limits: machine.Limits{BootRetry: d.limit("boot-retry"), CallBack: d.limit("call-back"),
			Install: d.limit("install"), Started: d.memory.Started,
			Deadline: d.deadline(h.Name)},
	}
	if n, ok := node.Of(d.Ironic.Nodes, h.Name, h.MAC); ok && !v.Silent {
		v.Node = &n
	}
	return v
}

// advance begins the next phase if the present one has ended.
func (d *decision) advance() {
	evidence, wait := d.ends()
	if wait != "" || d.memory.Phase == progress.Ended {
		d.wait = wait
		return
	}
	all := progress.Phases()
	next := all[slices.Index(all, d.memory.Phase)+1]
	d.record(ledger.Entry{Kind: ledger.Phase, Phase: next, Evidence: evidence,
		Cause: fmt.Sprintf("the phase %q has ended", d.memory.Phase)})
	d.wait = "the parts to follow"
}

// ends is the evidence that the present phase has ended, or what it waits for.
func (d *decision) ends() (evidence, wait string) {
	switch d.memory.Phase {
	case progress.Address:
		return d.follow(orders.Address)
	case progress.Services:
		if evidence, wait = d.follow(orders.HTTP, orders.Ironic); wait == "" {
			return d.drivers()
		}
	case progress.Preflight:
		return d.checked()
	case progress.Deploy:
		return d.allJoined()
	case progress.Settle:
		return d.settled()
	case progress.DHCPOff:
		return d.follow(orders.DHCP)
	case progress.IronicOff:
		return d.follow(orders.Ironic, orders.HTTP)
	case progress.AddrOff:
		return d.follow(orders.Address)
	default:
		return d.handsOver()
	}
	return evidence, wait
}

// follow is the evidence that parts do what the present orders ask, or what is waited for.
func (d *decision) follow(parts ...orders.Part) (evidence, wait string) {
	evidence = "none of the parts is needed"
	for _, p := range parts {
		if !slices.Contains(d.parts(), p) {
			continue
		}
		r := d.Reports[p]
		switch {
		case d.Snapshot.Orders.Generation != d.memory.Orders.Generation:
			return "", "the orders to be written"
		case r.Follows(d.memory.Orders, d.Now):
			evidence = fmt.Sprintf("the part %s reports: %s", p, r.Why)
		case r.Part == "":
			return "", fmt.Sprintf("the first report of the part %s", p)
		case d.Now.Sub(r.At) >= orders.Stale:
			return "", fmt.Sprintf("the part %s, whose last report is of %s", p,
				r.At.Format(time.TimeOnly))
		default:
			return "", fmt.Sprintf("the part %s: %s", p, r.Why)
		}
	}
	return evidence, ""
}

// drivers is whether Ironic has loaded all drivers that the hosts need. Its API answers earlier.
func (d *decision) drivers() (evidence, wait string) {
	if d.Ironic.Err != nil {
		return "", fmt.Sprintf("Ironic to answer: %v", d.Ironic.Err)
	}
	for _, h := range d.Plan.Deployed() {
		if want := machine.Driver(h); !slices.Contains(d.Ironic.Drivers, want) {
			return "", fmt.Sprintf("Ironic to load its driver %s, which %s needs", want, h.Name)
		}
	}
	return fmt.Sprintf("Ironic has the drivers %s", loop.List(d.Ironic.Drivers)), ""
}

// checked is whether the preflight has passed.
func (d *decision) checked() (evidence, wait string) {
	if d.Result.At.IsZero() || !d.Result.Of.Equal(d.memory.Since) {
		d.Examine = true
		return "", "the check of the hosts and their network"
	}
	d.accept()
	blocking, warnings := []string{}, slices.Clone(d.Result.Warnings)
	for _, b := range d.Result.Blocking {
		if slices.Contains(d.memory.Accepted, progress.Check(b)) {
			warnings = append(warnings, "accepted by a person: "+b)
		} else {
			blocking = append(blocking, b)
		}
	}
	d.Progress.Blockers, d.Progress.Warnings = blocking, warnings
	if len(blocking) > 0 {
		d.Examine = d.Now.Sub(d.Result.At) >= recheck
		return "", "what the check found to be fixed: " + loop.List(blocking)
	}
	for _, w := range warnings {
		d.record(ledger.Entry{Kind: ledger.Warned, Cause: w})
	}
	return fmt.Sprintf("the check found nothing that blocks, and warns %d times",
		len(warnings)), ""
}

// accept records which of the checks that block a person accepts.
func (d *decision) accept() {
	for _, a := range d.Result.Accepted {
		i := slices.IndexFunc(d.Result.Blocking,
			func(b string) bool { return progress.Check(b) == a.Check })
		if i >= 0 && a.Of.Equal(d.memory.Since) && !slices.Contains(d.memory.Accepted, a.Check) {
			d.record(ledger.Entry{Kind: ledger.Accepted, Cause: a.Why,
				Evidence: d.Result.Blocking[i]})
		}
	}
}

func (d *decision) allJoined() (evidence, wait string) {
	var missing, blocked []string
	for _, h := range d.Plan.Deployed() {
		switch known := d.memory.Hosts[h.Name]; {
		case !known.Joined.IsZero():
		case known.Blocker != "":
			blocked = append(blocked, h.Name)
		default:
			missing = append(missing, h.Name)
		}
	}
	switch {
	case len(missing) > 0:
		return "", fmt.Sprintf("%d hosts to join: %s", len(missing), loop.List(missing))
	case len(blocked) > 0:
		return "", "a person to fix what blocks " + loop.List(blocked)
	case !d.memory.Held.IsZero():
		return "", fmt.Sprintf("a person to run '%s'", handover.AgainCommand)
	}
	return "all hosts have joined the cluster", ""
}

// settled is whether Ironic works on no node: the next phases would cut its work off.
func (d *decision) settled() (evidence, wait string) {
	if d.Ironic.Err != nil {
		return "", fmt.Sprintf("Ironic to answer: %v", d.Ironic.Err)
	}
	for _, n := range d.Ironic.Nodes {
		if (n.State.InMotion() || n.Locked) && !d.waitsInVain(n) {
			return "", fmt.Sprintf("Ironic, which works on %s (%s)", n.Name, n.State)
		}
	}
	if len(d.Requests) > 0 {
		return "", "the requests of Ironic to be made"
	}
	for _, h := range d.Progress.Hosts {
		if h.Waits != "" && d.memory.Hosts[h.Name].Ended {
			return "", fmt.Sprintf("%s, which joined as Ironic was to end its deployment, and "+
				"awaits %s", h.Name, h.Waits)
		}
	}
	return fmt.Sprintf("none of %d nodes is in motion", len(d.Ironic.Nodes)), ""
}

// waitsInVain reports whether a node waits for the ramdisk of a host that has joined, as after a
// power cut which took the last changes of Ironic's database: the host runs its own system.
func (d *decision) waitsInVain(n node.Node) bool {
	if n.Locked || n.State != node.DeployWait && n.State != node.InspectWait {
		return false
	}
	return slices.ContainsFunc(d.Plan.Deployed(), func(h provision.Host) bool {
		return n.Is(h.Name, h.MAC) && !d.memory.Hosts[h.Name].Joined.IsZero()
	})
}
