// Package progress is what the phase machine of a bootstrap machine writes of itself while it
// provisions hosts: which phase it is in, and of each host what it waits for, since when, and what
// comes next.
package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Phase is what the phase machine does.
type Phase string

// The phases, in their order. Each follows the one before it, except for TakeBack: a person leads
// the handover back into it, and the first phase, Address, follows it again.
const (
	TakeBack  Phase = "take back" // the cluster's own Ironic is off before the parts go on again
	Address   Phase = "address"   // the machine takes its address on the provisioning network
	Services  Phase = "services"  // its HTTP server and Ironic start
	Preflight Phase = "preflight" // the hosts and their network are checked
	Deploy    Phase = "deploy"    // DHCP is on, and hosts are deployed
	Settle    Phase = "settle"    // all hosts are deployed, and no node of Ironic may be in motion
	Announce  Phase = "announce"  // the cluster's API records that this machine ends
	DHCPOff   Phase = "dhcp off"
	IronicOff Phase = "ironic off" // Ironic and the HTTP server stop
	AddrOff   Phase = "address off"
	Unpause   Phase = "unpause"  // OpenShift's operator of metal3 may begin
	Takeover  Phase = "takeover" // the cluster's own Ironic starts, and takes its address
	Release   Phase = "release"  // the cluster's hosts begin, in batches
	Ended     Phase = "ended"    // nothing is ever on again
)

// Phases lists those of a run that goes on, in that order: all but TakeBack.
func Phases() []Phase {
	return []Phase{Address, Services, Preflight, Deploy, Settle, Announce, DHCPOff, IronicOff,
		AddrOff, Unpause, Takeover, Release, Ended}
}

// AllPhases lists all of them.
func AllPhases() []Phase { return append([]Phase{TakeBack}, Phases()...) }

// Past reports whether a phase is the other one, or comes after it.
func (p Phase) Past(o Phase) bool {
	return slices.Index(AllPhases(), p) >= slices.Index(AllPhases(), o)
}

// HandsOver reports whether a phase is of the handover to the cluster, which a person may lead
// back.
func (p Phase) HandsOver() bool { return p.Past(Announce) && p != Ended }

// Step is how far a host is, for people and programs alike.
type Step string

// The steps of a host, in their order. A host that is adopted has none between enrolling and
// joining.
const (
	Unknown   Step = "unknown"    // Ironic has no node of it yet
	Enrolling Step = "enrolling"  // its node is made, and its BMC asked
	Inspect   Step = "inspecting" // its ramdisk boots and lists the disks
	Choose    Step = "choosing"   // its disk is chosen, and its node made available
	Deploying Step = "deploying"  // its ramdisk boots and writes the image
	Joining   Step = "joining"    // it boots from its disk, and has not joined the cluster
	Joined    Step = "joined"
)

// Steps lists all of them, in that order.
func Steps() []Step {
	return []Step{Unknown, Enrolling, Inspect, Choose, Deploying, Joining, Joined}
}

// Progress is the state of one run at one point in time.
type Progress struct {
	Phase Phase     `json:"phase"`
	Since time.Time `json:"since"`
	At    time.Time `json:"at"` // when it was written
	// Waits is what the phase waits for.
	Waits string `json:"waits"`
	// Deadline is when the run ends, deployed or not.
	Deadline time.Time `json:"deadline,omitzero"`
	// DHCP is whether DHCP is ordered on, and Served the hosts that it answers.
	DHCP   bool      `json:"dhcp"`
	Served []mac.MAC `json:"served,omitempty"`
	// Blockers keep the whole run from going on. Those of single hosts are in Hosts. Each begins
	// with its Check.
	Blockers []string `json:"blockers,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Hosts    []Host   `json:"hosts"`
}

// Host is one host that this machine deploys.
type Host struct {
	Name string  `json:"name"`
	MAC  mac.MAC `json:"mac"`
	Step Step    `json:"step"`
	// State is Ironic's provision state, empty if Ironic has no node of the host or is not running.
	State string    `json:"state,omitempty"`
	Waits string    `json:"waits"`          // what it waits for: "the ramdisk to call back"
	Since time.Time `json:"since,omitzero"` // of this wait
	// Deadline is when the wait is too long: the host is then a blocker.
	Deadline time.Time `json:"deadline,omitzero"`
	LastSeen Event     `json:"lastSeen,omitzero"`
	Next     Event     `json:"next,omitzero"`
	// Attempts is how often its provisioning was started, and Tries how often it may be.
	Attempts int `json:"attempts"`
	Tries    int `json:"tries"`
	// Retries counts what failed and was asked for again, and boots that were repeated.
	Retries int `json:"retries"`
	// Blocker is why it will not be deployed without a person, empty if it may be.
	Blocker string `json:"blocker,omitempty"`
	// LastError is Ironic's, or that of the last call to it.
	LastError string `json:"lastError,omitempty"`
}

// Event is something that happened, or will, and when.
type Event struct {
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

// Late is how old a file may be before its writer is taken for stopped. The phase machine writes
// one at least every third of it.
const Late = 30 * time.Second

const version = 1

type file struct {
	Version  int `json:"version"`
	Progress `json:"progress"`
}

// Encode is the file layout.Progress. Equal values give equal bytes.
func Encode(p Progress) []byte {
	text, err := json.Marshal(file{version, p})
	if err != nil {
		panic("progress: texts, numbers and times cannot fail to marshal: " + err.Error())
	}
	return append(text, '\n')
}

// Most is the size of the largest file that is read, in bytes: two thousand hosts with long errors.
const Most = 4 << 20

// Decode reads such a file, all of it or nothing.
func Decode(text []byte) (Progress, error) {
	var f file
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&f)
	switch {
	case len(text) > Most:
		err = fmt.Errorf("it has %d bytes, more than %d", len(text), Most)
	case err != nil:
	case f.Version != version:
		err = fmt.Errorf("its version is %d, this release reads %d", f.Version, version)
	case !slices.Contains(AllPhases(), f.Phase):
		err = fmt.Errorf("there is no phase %q", f.Phase)
	case slices.ContainsFunc(f.Hosts, func(h Host) bool { return h.Name == "" }):
		err = errors.New("a host has no name")
	}
	if err != nil {
		return Progress{}, fmt.Errorf("read the progress of provisioning: %w", err)
	}
	return f.Progress, nil
}

// Check is the name by which a person accepts a blocker: that of a check, with ":" and the host if
// it is about one. It is empty for what nobody can accept.
func Check(blocker string) string {
	name, _, found := strings.Cut(blocker, ": ")
	if !found || strings.Contains(name, " ") {
		return ""
	}
	return name
}

// Line is a host for people: what it waits for and for how long, what was last seen, and what comes
// next.
func (h Host) Line(now time.Time) string {
	if h.Blocker != "" {
		return h.Name + ": blocked: " + h.Blocker
	}
	parts := []string{h.Name + ": " + string(h.Step)}
	if h.Waits != "" {
		wait := h.Name + ": waiting for " + h.Waits
		if !h.Since.IsZero() {
			wait += ", " + Short(now.Sub(h.Since))
			if !h.Deadline.IsZero() {
				wait += " of " + Short(h.Deadline.Sub(h.Since))
			}
		}
		parts = []string{wait}
	}
	if h.LastSeen.What != "" {
		parts = append(parts, fmt.Sprintf("last seen: %s %s ago", h.LastSeen.What,
			Short(now.Sub(h.LastSeen.At))))
	}
	if h.Next.What != "" {
		parts = append(parts, fmt.Sprintf("next: %s at %s", h.Next.What,
			h.Next.At.UTC().Format("15:04")))
	}
	return strings.Join(parts, "; ")
}

// Short is a duration with its two largest units: "3 m 50 s".
func Short(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%d h %d m", h, m)
	case m > 0 && s > 0:
		return fmt.Sprintf("%d m %d s", m, s)
	case m > 0:
		return fmt.Sprintf("%d m", m)
	}
	return fmt.Sprintf("%d s", s)
}
