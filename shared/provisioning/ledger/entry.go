// Package ledger is the journal of the phase machine: what it did to each host and why, a JSON
// object a line, and what follows from it after a restart.
//
// Ironic has the state of each host. The journal has what Ironic can lose: what was asked of it,
// whether a disk may have been written, which hosts have joined, and which parts are off for good.
package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Kind is what an entry records.
type Kind string

// The kinds. Those of the run have no host.
const (
	Whole   Kind = "whole"   // Memory is the sum of all lines before this one
	Started Kind = "started" // the program
	Phase   Kind = "phase"   // the next one begins
	Orders  Kind = "orders"  // the parts get new orders
	Secrets Kind = "secrets" // the file with the hosts' accounts has changed
	Warned  Kind = "warned"  // Cause is what the preflight warned of as it passed

	// Accepted is that a person, because of Cause, accepts the check that has found Evidence.
	Accepted Kind = "accepted"
	Foreign  Kind = "foreign" // Cause is a server of another program that configures hosts

	Asked   Kind = "asked"   // Verb is about to be asked of Ironic
	Done    Kind = "done"    // Ironic accepted Verb, with Evidence's accounts; BootDisk: it runs
	Failed  Kind = "failed"  // Verb failed; for Deploy also: its disk was not written
	Disk    Kind = "disk"    // the one that the image goes to
	Begun   Kind = "begun"   // Ironic deploys
	Fetched Kind = "fetched" // the host has fetched the image whole
	Written Kind = "written" // its disk has the image and the config drive
	Doubt   Kind = "doubt"   // nothing shows whether its disk was written
	Joined  Kind = "joined"  // its Node is in the cluster
	Allowed Kind = "allowed" // a person allows its disk to be written anew
	Blocked Kind = "blocked" // it needs a person

	Released Kind = "released" // Hosts of the cluster may begin
	Back     Kind = "back"     // a person takes provisioning back from the cluster
	Again    Kind = "again"    // a person has it handed over again
)

func kinds() []Kind {
	return []Kind{Whole, Started, Phase, Orders, Secrets, Warned, Accepted, Foreign, Asked, Done,
		Failed, Disk, Begun, Fetched, Written, Doubt, Joined, Allowed, Blocked, Released, Back,
		Again}
}

// Entry is one line.
type Entry struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Host string    `json:"host,omitempty"`
	Verb node.Verb `json:"verb,omitempty"`
	// Cause is why, and Evidence what shows it.
	Cause    string         `json:"cause,omitempty"`
	Evidence string         `json:"evidence,omitempty"`
	Phase    progress.Phase `json:"phase,omitempty"`
	Orders   *orders.Orders `json:"orders,omitempty"`
	Disk     *node.Pinned   `json:"disk,omitempty"`
	Memory   *Memory        `json:"memory,omitempty"`
	// Addresses are those of the Node, of Joined alone.
	Addresses []netip.Addr `json:"addresses,omitempty"`
	Hosts     []string     `json:"hosts,omitempty"` // of Released alone
}

// MaxLine is the longest line in bytes, and MaxFile the size at which a file is rewritten.
const (
	MaxLine = 512 << 10
	MaxFile = 1 << 20
	maxText = 1 << 10 // of a cause: errors of Ironic have whole pages
)

// Encode is an entry as a line with its newline. Long texts are cut to maxText bytes.
func Encode(e Entry) []byte {
	e.Time = e.Time.UTC()
	e.Cause, e.Evidence = cut(e.Cause), cut(e.Evidence)
	line, err := json.Marshal(e)
	if err != nil {
		panic("ledger: texts, numbers and times cannot fail to marshal: " + err.Error())
	}
	return append(line, '\n')
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return string(bytes.ToValidUTF8([]byte(text[:maxText]), nil)) + "..."
}

// Decode reads a journal. A last line without a newline is left out: a power cut interrupted its
// write, so nothing has followed from it yet. Any other line that cannot be read is an error: it
// may forbid something, such as to write a disk.
func Decode(file []byte) (all []Entry, err error) {
	number := 0
	for line := range bytes.Lines(file) {
		number++
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e Entry
		err := json.Unmarshal(line, &e)
		switch {
		case len(line) > MaxLine:
			err = fmt.Errorf("it has %d bytes, more than %d", len(line), MaxLine)
		case err == nil && !slices.Contains(kinds(), e.Kind):
			err = fmt.Errorf("there is no kind %q", e.Kind)
		case err == nil && e.Kind == Phase && !slices.Contains(progress.AllPhases(), e.Phase):
			err = fmt.Errorf("there is no phase %q", e.Phase)
		case err == nil && e.Kind == Orders && e.Orders == nil:
			err = fmt.Errorf("it has no orders")
		case err == nil && e.Kind == Whole && (e.Memory == nil ||
			!slices.Contains(progress.AllPhases(), e.Memory.Phase)):
			err = fmt.Errorf("it has no memory")
		case err == nil && e.Kind == Disk && e.Disk == nil:
			err = fmt.Errorf("it has no disk")
		}
		if err != nil {
			return nil, fmt.Errorf("read the journal of the phase machine: line %d: %w", number,
				err)
		}
		all = append(all, e)
	}
	return all, nil
}
