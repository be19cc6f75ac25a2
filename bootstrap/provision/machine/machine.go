// Package machine decides what is asked of Ironic next for one host, from its enrolment until its
// node has joined the cluster.
//
// The state of a host is in Ironic, and what Ironic can lose is in the journal: each round starts
// from what both have, so that a phase machine that was killed goes on where it was.
package machine

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Host is one host as it is described.
type Host struct {
	Plan     provision.Host
	Hints    rootdisk.Hints
	Username secret.Text
	Password secret.Text
	Ignition secret.Text
	CA       string // path of the BMCs' authorities in Ironic's container; may be empty
	Image    node.Image
	Kernel   string // URL of the ramdisk's kernel
	Ramdisk  string // URL of the ramdisk
	Accounts string // which file of accounts Username and Password are from
}

// View is what is known of one host at an instant.
type View struct {
	Host Host
	Node *node.Node // nil if Ironic has none
	// Silent is whether Ironic does not answer: then nothing is known of its node.
	Silent bool
	Disks  node.Disks // what the inspection found; nil if that was not read
	// NoDisks is why that could not be read; nil if it was, or need not be.
	NoDisks error
	// Joined reports whether its Node is in the cluster, with these addresses. Listed reports
	// whether the cluster's API has listed its nodes.
	Joined, Listed bool
	Addresses      []netip.Addr
	// Rewrite is what a person allows; the zero value for nothing.
	Rewrite orders.Rewrite
	Known   ledger.Host // what the journal has of it
	Trace   Trace
	Watched Watched
	Now     time.Time
	Limits  Limits
}

// Trace is what servers saw of the host.
type Trace struct {
	Cause   cause.Cause // how far its last boot got, and why no further
	Fetched time.Time   // when it had fetched the image or a range of it; zero if it has not
	// Unnamed is when a client of an unknown address last did so. It may be any of the hosts: the
	// addresses that a DHCP server of another program gives are not known here.
	Unnamed time.Time
	// Since is from when on the events are complete: a boot of the machine loses older ones.
	Since time.Time
}

// Watched is what this program has seen of a deployment by itself. A restart clears it.
type Watched struct {
	// Deploys reports whether it saw in its last round that Ironic deploys the host, and has not
	// come past the step that writes the disk.
	Deploys bool
	// Before is when it saw last that this step was still to come; zero for never.
	Before time.Time
	// fresh is whether it saw the deployment from its beginning, and no step of it yet: Ironic has
	// none while it prepares the host.
	fresh bool
}

// Next is what was seen after one more round.
func (w Watched) Next(n *node.Node, begun bool, now time.Time) Watched {
	w.Deploys = n != nil && begun && n.State.InMotion() && !n.Step.Written()
	w.fresh = n != nil && (!n.State.InMotion() || w.fresh && n.Step.Index < 0)
	if w.Deploys && (n.Step.Before() || w.fresh) {
		w.Before = now
	}
	return w
}

// Limits are the times of a run.
type Limits struct {
	BootRetry time.Duration // a host whose ramdisk has not called back boots again
	CallBack  time.Duration
	Install   time.Duration // of a whole installation
	Started   time.Time     // of the program
	Deadline  time.Time     // of the whole run; zero before it is known
}

// Times and counts that no plan has.
const (
	tries    = 5 // of a verb, until a person is needed
	patience = 5 * time.Minute
	// answer is how long a BMC may take for the first questions of Ironic: five attempts of a
	// minute each, as its driver makes.
	answer = 5 * time.Minute
	// margin is what Ironic gets beyond its own deadlines, to report that one has passed.
	margin = 2 * time.Minute
	// relapse is the time within which Ironic sets a maintenance again if its cause remains.
	relapse = time.Minute
)

// pause is the delay before a verb is requested again, after so many failures.
func pause(failures int) time.Duration {
	p := 5 * time.Second
	for range failures - 1 {
		p *= 3
	}
	return min(p, 2*time.Minute)
}

// Step is what is to happen: the entries come into the journal before the requests are made.
type Step struct {
	Entries  []ledger.Entry
	Requests []node.Request
	// Guard is the request to make instead of Requests if the journal cannot be written: it keeps
	// the ramdisk from a disk that counts as written. Nil if no ramdisk could write it.
	Guard *node.Request
	Show  progress.Host
}

// Decide makes the next step. It is pure: equal views give equal steps.
func Decide(v View) Step {
	d := &decision{View: v, known: v.Known}
	d.show = progress.Host{Name: v.Host.Plan.Name, MAC: v.Host.Plan.MAC, Tries: tries,
		LastSeen: progress.Event{What: v.Trace.Cause.Seen, At: v.Trace.Cause.At},
		Step:     progress.Unknown, Since: v.Known.AskedAt}
	if v.Node != nil {
		d.show.State, d.show.LastError = string(v.Node.State), v.Node.Error
	}
	d.learn()
	switch {
	case d.allowed() && d.Listed:
		d.allow()
	case d.Silent:
		d.show.Step = d.step()
		if d.known.Blocker == "" && !d.joined() && !d.late() {
			d.wait("Ironic to answer", d.known.AskedAt, 0)
		}
	default:
		d.act()
	}
	if d.known.Blocker != "" {
		d.show.Blocker, d.show.Next = d.known.Blocker, progress.Event{}
		if d.allowed() && !d.Listed {
			d.show.Blocker += "; a person allows it, and the cluster's API has not listed its " +
				"nodes yet, of which the host may be one"
		}
	}
	d.show.Attempts, d.show.Retries = d.known.Failures[d.known.Asked]+1, d.known.Retries
	return Step{d.entries, d.requests, d.guard(), d.show}
}

// decision is one step in the making.
type decision struct {
	View
	known    ledger.Host // with the entries of this step
	entries  []ledger.Entry
	requests []node.Request
	show     progress.Host
}

// record adds an entry, from which the rest of the step already follows.
func (d *decision) record(e ledger.Entry) {
	e.Time, e.Host = d.Now, d.Host.Plan.Name
	d.entries = append(d.entries, e)
	d.known = d.known.With(e)
}

func (d *decision) joined() bool { return !d.known.Joined.IsZero() }

func (d *decision) card() mac.MAC { return d.Host.Plan.MAC }
