// Package orders has what the phase machine orders of the parts of a bootstrap machine that
// provision hosts, what each part reports, and what a person allows the phase machine.
//
// The parts are programs of their own. They read and write files of a directory that is empty after
// a boot: without orders every part is off, so that a machine that lost its power answers no host
// before its phase machine has read how far it was.
package orders

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Part is one of the programs.
type Part string

// The parts, in the order in which they go on. They go off in the opposite order.
const (
	Address Part = "address" // the machine's address on the provisioning network
	HTTP    Part = "http"
	Ironic  Part = "ironic"
	DHCP    Part = "dhcp"
)

// Parts lists all of them, in that order.
func Parts() []Part { return []Part{Address, HTTP, Ironic, DHCP} }

const version = 1

// Orders are what the parts do. The zero value has every part off.
type Orders struct {
	// Generation grows with each change, over restarts of the phase machine too.
	Generation int64  `json:"generation"`
	On         []Part `json:"on"`
	// Hosts are those that DHCP answers while it is on. It answers no other host.
	Hosts []mac.MAC `json:"hosts,omitempty"`
	// Local are those of Hosts that run their own system: they keep their addresses, and get
	// nothing to boot. Where another DHCP server gives the addresses it has no effect.
	Local []mac.MAC `json:"local,omitempty"`
	Why   string    `json:"why"`
}

// Wants reports whether a part is to be on.
func (o Orders) Wants(p Part) bool { return slices.Contains(o.On, p) }

// Report is what one part does.
type Report struct {
	Part Part `json:"part"`
	// Generation is that of the orders that it acts upon.
	Generation int64 `json:"generation"`
	// On is whether it serves. A part that is neither on nor off yet counts as on.
	On bool `json:"on"`
	// Ready is whether it does all that the orders ask of it.
	Ready bool      `json:"ready"`
	Since time.Time `json:"since"` // of On
	At    time.Time `json:"at"`
	Why   string    `json:"why"`
}

// Stale is how old a report may be. A part writes one at least every third of it.
const Stale = 15 * time.Second

// Follows reports whether a part does what orders ask of it, at a time. An old report is one of a
// part that no longer runs.
func (r Report) Follows(o Orders, now time.Time) bool {
	return r.Generation == o.Generation && r.Ready && r.On == o.Wants(r.Part) &&
		now.Sub(r.At) < Stale
}

// EncodeOrders is a file of orders. Equal orders give equal bytes.
func EncodeOrders(o Orders) []byte { return encode(o) }

// DecodeOrders reads such a file, all of it or nothing.
func DecodeOrders(file []byte) (o Orders, err error) {
	if err = decode(file, &o); err != nil {
		return Orders{}, fmt.Errorf("read the orders of the phase machine: %w", err)
	}
	for _, p := range o.On {
		if !slices.Contains(Parts(), p) {
			return Orders{}, fmt.Errorf("read the orders of the phase machine: there is no part %q",
				p)
		}
	}
	return o, nil
}

// EncodeReport is a file of a report.
func EncodeReport(r Report) []byte { return encode(r) }

// DecodeReport reads such a file, all of it or nothing.
func DecodeReport(file []byte) (r Report, err error) {
	if err = decode(file, &r); err == nil && !slices.Contains(Parts(), r.Part) {
		err = fmt.Errorf("there is no part %q", r.Part)
	}
	if err != nil {
		return Report{}, fmt.Errorf("read the report of a part: %w", err)
	}
	return r, nil
}

// versioned is a file. With another version its content means something else.
type versioned struct {
	Version int             `json:"version"`
	Content json.RawMessage `json:"content"`
}

func encode(v any) []byte {
	content, err := json.Marshal(v)
	if err != nil {
		panic("orders: texts, numbers and times cannot fail to marshal: " + err.Error())
	}
	file, _ := json.Marshal(versioned{version, content})
	return append(file, '\n')
}

func decode(file []byte, v any) error {
	var f versioned
	if err := json.Unmarshal(file, &f); err != nil {
		return err
	}
	if f.Version != version {
		return fmt.Errorf("its version is %d, this release reads %d", f.Version, version)
	}
	if len(f.Content) == 0 {
		return errors.New("it has no content")
	}
	return json.Unmarshal(f.Content, v)
}
