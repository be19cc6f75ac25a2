package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Memory is what follows from a journal.
type Memory struct {
	Phase progress.Phase // the last that began
	Since time.Time      // when Phase began; for the first one, the program's first start
	// Took is how long each phase took that has ended.
	Took map[progress.Phase]time.Duration
	// Deploy is when DHCP was first allowed, or first after provisioning was taken back; zero if
	// it has not been yet.
	Deploy  time.Time
	Started time.Time // of the program, the last time
	Orders  orders.Orders
	Secrets string // which file of accounts; empty for none yet
	Hosts   map[string]Host
	// Warnings are what the last preflight warned of, at most maxWarnings of them.
	Warnings []string
	Accepted []string // the checks of the last preflight that a person accepts
	Foreign  []string // the servers of other programs that were seen
	Handover
}

// maxWarnings bounds Warnings, for which a Whole entry has to have room.
const maxWarnings = 50

// Host is what follows for one host.
type Host struct {
	Asked    node.Verb // what Ironic was asked last, empty once that has failed
	AskedAt  time.Time
	Boots    int // boots from the network beyond the first, for what was asked last
	BootedAt time.Time
	Failures map[node.Verb]int
	FailedAt time.Time
	Cause    string // of the last failure
	Accounts string // which file of accounts Ironic has its account from
	Disk     node.Pinned
	Write    Write
	Joined   time.Time
	Blocker  string // empty for none
	Retries  int    // requests that failed, and boots that were repeated, over the whole run
	Start
	Person
}

// Start is whether a host runs the system of its disk, by what was asked of Ironic.
type Start struct {
	DiskBoot time.Time // when it was last started from its disk by a request
	Adopted  bool      // what it runs was not started by Ironic since its disk was written
	// Ended is whether Ironic was asked to end its deployment, for which Ironic switches it off,
	// and it has not been seen running since.
	Ended bool
}

// Person is what a person did last for a host.
type Person struct {
	// Renewed is when another file with its account and hints came while its disk could be written;
	// zero for never.
	Renewed time.Time
	Allowed time.Time // when its disk was allowed to be written anew; zero for never
	// Anew is whether that deployment is still to be requested: Ironic knows the former one.
	Anew bool
}

// Since is when a person last did something for the host, Renewed or Allowed; zero for never. Its
// time limit counts from then, and its disk is chosen from a later inspection.
func (p Person) Since() time.Time {
	if p.Renewed.After(p.Allowed) {
		return p.Renewed
	}
	return p.Allowed
}

// Write is what is known of the writing of a host's disk.
//
// A write begins with the entry Asked of a deployment, which is in the journal before Ironic is
// asked. It is complete when the disk has the whole image and the whole config drive, as then the
// host may boot from it and become a part of the cluster. Until then nothing has ever run from
// that disk. So a deployment that failed before, and is asked for again, is the same write
// continued, not a second one. A disk counts as written unless it can be shown that it was not:
// its host is adopted and boots from it, and is never deployed again, unless a person allows it.
type Write struct {
	Intent  time.Time // zero for none
	Begun   time.Time
	Fetched time.Time
	Written time.Time
	Doubt   time.Time
}

// Never reports whether the disk may not be written any more.
func (h Host) Never() bool { return !h.Barred().IsZero() || !h.Joined.IsZero() }

// Barred is since when the disk counts as written; zero if it does not. It identifies that write:
// the permission of a person to repeat it ends with the next write.
func (h Host) Barred() time.Time {
	if !h.Write.Doubt.IsZero() {
		return h.Write.Doubt
	}
	return h.Write.Written
}

// MayBeGivenUp reports whether a person may allow the disk to be written anew. If its write is
// known to be complete, only once the host is blocked: before, it may join at any instant.
func (h Host) MayBeGivenUp() bool {
	return h.Joined.IsZero() && (!h.Write.Doubt.IsZero() || !h.Write.Written.IsZero() &&
		h.Blocker != "")
}

// Fold is the memory of a journal.
func Fold(all []Entry) Memory {
	m := Memory{Phase: progress.Address, Hosts: map[string]Host{}}
	for _, e := range all {
		m = m.With(e)
	}
	return m
}

// With is the memory after one more entry. It shares nothing with m that either changes.
func (m Memory) With(e Entry) Memory {
	switch e.Kind {
	case Whole:
		m = *e.Memory
		if m.Hosts == nil {
			m.Hosts = map[string]Host{}
		}
		return m
	case Started:
		m.Started = e.Time
		if m.Since.IsZero() {
			m.Since = e.Time
		}
		return m
	case Phase:
		return m.next(e)
	case Released, Back, Again:
		return m.handed(e)
	case Warned:
		if len(m.Warnings) < maxWarnings {
			m.Warnings = append(slices.Clone(m.Warnings), cut(e.Cause))
		}
		return m
	case Foreign:
		m.Foreign = append(slices.Clone(m.Foreign), e.Cause)
		return m
	case Accepted:
		m.Accepted = append(slices.Clone(m.Accepted), progress.Check(e.Evidence))
		return m
	case Orders:
		m.Orders = *e.Orders
		return m
	case Secrets:
		m.Secrets = e.Evidence
		hosts := map[string]Host{}
		for name, h := range m.Hosts {
			h.Blocker, h.Failures, h.Cause, h.FailedAt = "", nil, "", time.Time{}
			if !h.Never() {
				h.Renewed = e.Time
			}
			if h.Write == (Write{}) {
				h.Disk = node.Pinned{} // the file has the hints too
			}
			hosts[name] = h
		}
		m.Hosts = hosts
		return m
	}
	m.Hosts = maps.Clone(m.Hosts)
	m.Hosts[e.Host] = m.Hosts[e.Host].With(e)
	return m
}

// With is what is known of a host after one more entry about it.
func (h Host) With(e Entry) Host {
	switch e.Kind {
	case Asked:
		h = h.asked(e)
	case Done:
		if e.Verb == node.Create || e.Verb == node.Update {
			h.Accounts = e.Evidence
		}
		if e.Verb == node.BootDisk {
			h.Ended = false
		}
		if h.Asked == e.Verb && Ends(e.Verb) {
			h.Asked = ""
		}
	case Failed:
		h.Failures = maps.Clone(h.Failures)
		if h.Failures == nil {
			h.Failures = map[node.Verb]int{}
		}
		h.Failures[e.Verb]++
		h.Retries++
		h.FailedAt, h.Cause = e.Time, e.Cause
		if h.Asked == e.Verb {
			h.Asked = ""
		}
		if e.Verb == node.Deploy && h.Write.Written.IsZero() && h.Write.Doubt.IsZero() {
			if h.Renewed.After(h.Write.Intent) {
				h.Disk = node.Pinned{} // that of the former hints
			}
			h.Write = Write{}
		}
	case Disk:
		h.Disk = *e.Disk
	case Begun:
		h.Write.Begun = e.Time
	case Fetched:
		h.Write.Fetched = e.Time
	case Written:
		h.Write.Written = e.Time
	case Doubt:
		h.Write.Doubt = e.Time
	case Joined:
		h.Joined, h.Blocker = e.Time, ""
	case Allowed:
		h.Write, h.Disk, h.DiskBoot = Write{}, node.Pinned{}, time.Time{}
		h.Asked, h.Failures, h.Cause, h.FailedAt, h.Blocker = "", nil, "", time.Time{}, ""
		h.Allowed, h.Anew = e.Time, true
	case Blocked:
		h.Blocker = e.Cause
	}
	return h
}

// Ends reports whether a verb is complete once Ironic has answered. All others only begin then.
func Ends(v node.Verb) bool {
	switch v {
	case node.Create, node.Update, node.Port, node.Pin, node.Hold:
		return true
	}
	return false
}

func (h Host) asked(e Entry) Host {
	switch e.Verb {
	case node.BootNet:
		h.Boots, h.BootedAt, h.Retries = h.Boots+1, e.Time, h.Retries+1
		return h
	case node.BootDisk:
		h.DiskBoot = e.Time // that it runs is not known yet
		return h
	case node.Undeploy:
		h.Ended, h.Adopted = true, false
	case node.Adopt:
		h.Adopted = true
	case node.Deploy:
		h.Anew, h.Adopted, h.Ended = false, false, false
		if h.Write.Written.IsZero() && h.Write.Doubt.IsZero() {
			h.Write = Write{Intent: e.Time}
		}
	}
	h.Asked, h.AskedAt, h.Boots, h.BootedAt = e.Verb, e.Time, 0, time.Time{}
	return h
}
