// Package events is what the programs that provision hosts saw of them: lines of JSON, in one file
// for each source.
package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Source is what saw an event.
type Source string

// The sources.
const (
	DHCP      Source = "dhcp"
	TFTP      Source = "tftp"
	HTTP      Source = "http"
	Ironic    Source = "ironic"
	Node      Source = "node"
	Provision Source = "provision" // the phase machine
)

// Ignition is what a host's Ignition asked of the machine config server, by that server's log. No
// program of ours writes a file of it.
const Ignition Source = "ignition"

// Sources lists all of them.
func Sources() []Source { return []Source{DHCP, TFTP, HTTP, Ironic, Node, Provision} }

// The kinds of what the phase machine sees, beside the states of Ironic's nodes. Each event of
// Provision is a boot.
const (
	CallBack    = "call-back" // of Ironic: the ramdisk has reported
	BootInspect = "boot to be inspected"
	BootDeploy  = "boot to be deployed"
	Joined      = "joined" // of Node
)

// Event is one thing that happened to a host. Its texts come from the network: print them quoted.
type Event struct {
	Time time.Time `json:"time"`
	// Host is its name in the plan, and MAC the address of its card; what is not known is empty.
	Host   string  `json:"host,omitempty"`
	MAC    mac.MAC `json:"mac,omitzero"`
	Source Source  `json:"source"`
	Kind   string  `json:"kind"` // of DHCP and TFTP it is one of shared/provisioning/bootlog
	Detail string  `json:"detail,omitempty"`
}

// Unnamed reports whether it is not known which host, or card, it is about.
func (e Event) Unnamed() bool { return e.Host == "" && e.MAC == (mac.MAC{}) }

// The bounds of what is kept, in bytes. A file that has reached MaxFile becomes the former one of
// its source, and a new one begins: a source never has more than twice as much.
const (
	MaxLine = 4096
	MaxFile = 1 << 20
	// maxText leaves room for the others in a line: JSON writes up to six bytes for one.
	maxText = 400
	maxName = 63 // of a host, and of a kind
)

// Path is the file of a source, and Former the one that was full before it.
func Path(s Source) string   { return layout.Run + "/events-" + string(s) + ".jsonl" }
func Former(s Source) string { return layout.Run + "/events-" + string(s) + ".1.jsonl" }

// Encode is the line of an event, with its end. Long texts are cut.
func Encode(e Event) []byte {
	e.Time = e.Time.UTC()
	e.Host, e.Kind, e.Detail = cut(e.Host, maxName), cut(e.Kind, maxName), cut(e.Detail, maxText)
	line, err := json.Marshal(e)
	if err != nil { // a year of five digits
		e.Time = time.Time{}
		line, _ = json.Marshal(e)
	}
	return append(line, '\n')
}

// cut is the beginning of a text, of whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// Decode reads the lines of a file, in its order. It leaves out lines that are none of ours, as
// one that was cut off by a full disk, and counts them.
func Decode(file []byte) (all []Event, broken int) {
	for line := range bytes.Lines(file) {
		e, err := decode(line)
		if err != nil {
			broken++
			continue
		}
		all = append(all, e)
	}
	return all, broken
}

func decode(line []byte) (e Event, err error) {
	if len(line) > MaxLine {
		return e, fmt.Errorf("an event has %d bytes, %d at most", len(line), MaxLine)
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("read an event: %w", err)
	}
	if !slices.Contains(Sources(), e.Source) || e.Kind == "" {
		return Event{}, fmt.Errorf("an event %q of the source %q is none of ours", e.Kind, e.Source)
	}
	return e, nil
}

// Sort orders events of several files by time. Events of one time keep their order.
func Sort(all []Event) {
	slices.SortStableFunc(all, func(a, b Event) int { return a.Time.Compare(b.Time) })
}

// Of are the events of a host: those with its name, and those with one of its cards.
func Of(all []Event, name string, cards ...mac.MAC) (of []Event) {
	for _, e := range all {
		if e.Host != "" && strings.EqualFold(e.Host, name) || slices.Contains(cards, e.MAC) &&
			e.MAC != (mac.MAC{}) {
			of = append(of, e)
		}
	}
	return of
}
