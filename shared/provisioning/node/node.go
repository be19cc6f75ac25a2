package node

import (
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// Node is a node as Ironic describes it, without what it was given to reach the BMC.
type Node struct {
	UUID    string
	Name    string
	MACs    []mac.MAC // of its ports
	State   State
	Changed time.Time // of State, in whole seconds; zero if never
	// Error is why its last work failed, empty if it did not.
	Error       string
	Maintenance Maintenance
	Locked      bool // Ironic works on it at this instant, and refuses requests
	Power       Power
	Step        Step
	Called      time.Time // when its ramdisk last reported; zero if it never did
	Inspected   time.Time // when its last inspection ended, zero if none has
	Disk        string    // that its image goes to: properties.root_device as a text
	Image       string    // instance_info.image_source
}

// Maintenance is why Ironic leaves a node alone.
type Maintenance struct {
	On     bool
	Fault  string // Ironic's own reason, such as FaultPower; empty if a person set it
	Reason string
}

// HoldReason is the reason of the maintenance that Hold sets.
const HoldReason = "onprem-infra: its disk counts as written, and its ramdisk must not write it"

// Held reports whether Hold has set it.
func (m Maintenance) Held() bool { return m.On && m.Fault == "" && m.Reason == HoldReason }

// The faults by which Ironic itself sets maintenance.
const (
	FaultPower = "power failure"
	FaultClean = "clean failure"
)

// Power is a power state: what Ironic reads of the BMC, empty if it could not.
type Power string

// The power states.
const (
	On  Power = "power on"
	Off Power = "power off"
)

// Step is which of its deploy steps a node is at.
type Step struct {
	Index int    // from 0; -1 if it deploys nothing
	Name  string // of that step, empty if unknown
	Names []string
}

// WriteStep is Ironic's step of the direct deploy interface in which the ramdisk writes the image,
// and then the config drive, to the disk.
const WriteStep = "write_image"

// Written reports whether the step in which the disk is written has ended. Ironic keeps the index
// over a failure and over its own restarts.
func (s Step) Written() bool {
	at := slices.Index(s.Names, WriteStep)
	return at >= 0 && s.Index > at
}

// Has reports whether one of the node's ports has an address.
func (n Node) Has(m mac.MAC) bool { return slices.Contains(n.MACs, m) }

// Is reports whether the node is that of a host.
func (n Node) Is(name string, card mac.MAC) bool {
	return strings.EqualFold(n.Name, name) || n.Has(card)
}

// Of is the node of a host: that with its name or, if none has it, that with its card. Nodes do not
// lose their names, but one that was made by other means may have another.
func Of(all []Node, name string, card mac.MAC) (Node, bool) {
	i := slices.IndexFunc(all, func(n Node) bool { return strings.EqualFold(n.Name, name) })
	if i < 0 {
		i = slices.IndexFunc(all, func(n Node) bool { return n.Has(card) })
	}
	if i < 0 {
		return Node{}, false
	}
	return all[i], true
}

// Disks is what an inspection has found.
type Disks []rootdisk.Disk

// Before reports whether the disk is not written yet: that step is still to come.
func (s Step) Before() bool { return s.Index >= 0 && s.Index < slices.Index(s.Names, WriteStep) }

// After reports whether a time of Ironic is at or after one of ours. Ironic's have no fractions of
// a second.
func After(ironic, ours time.Time) bool {
	return !ironic.IsZero() && !ironic.Before(ours.Truncate(time.Second))
}
