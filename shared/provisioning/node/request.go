package node

import (
	"encoding/json"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Verb is what is asked of Ironic.
type Verb string

// The verbs. One that is named like a verb of Ironic's API requests that verb.
const (
	Create   Verb = "create"  // a node of Spec, with its port
	Port     Verb = "port"    // the port of a node that has none
	Update   Verb = "update"  // Spec, of a node that exists
	Manage   Verb = "manage"  // ask its BMC for the power state, with the given account
	Inspect  Verb = "inspect" // boot the ramdisk, and list what the host has
	Provide  Verb = "provide"
	Pin      Verb = "pin"    // the disk that the image goes to
	Deploy   Verb = "deploy" // write Image and Drive to the disk, and boot from it
	Adopt    Verb = "adopt"  // count a host as deployed, without a change to it
	Undeploy Verb = "undeploy"
	Clear    Verb = "clear" // end its maintenance
	Hold     Verb = "hold"  // set maintenance, so that what its ramdisk reports has no effect
	BootNet  Verb = "boot from the network"
	BootDisk Verb = "boot from the disk"
)

// Request is one request for one node.
type Request struct {
	Verb  Verb
	UUID  string  // of the node; empty for Create
	MAC   mac.MAC // of its port, for Create and Port
	Spec  Spec    // for Create and Update
	Disk  Pinned  // for Pin
	Image Image   // for Deploy and Adopt
	Drive Drive   // for Deploy
	// Device is what to boot from once, in Ironic's words, for BootNet.
	Device string
	// Gently makes BootDisk leave a host alone that is powered on, whatever was read before.
	Gently bool
}

// Spec is how Ironic reaches a host and boots it.
type Spec struct {
	Name       string
	Driver     string // Ironic's hardware type
	Interfaces map[string]string
	// Info is driver_info. Values are texts, numbers, truth values, and secret.Text.
	Info       map[string]any
	Properties map[string]string // all but the root device
}

// Pinned is a disk by what does not change from boot to boot: properties.root_device.
type Pinned struct {
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"`
	ByPath string `json:"by_path,omitempty"`
}

// Image is what is written.
type Image struct {
	URL, SHA256, Format string
}

// Drive is what the host reads at its first boot, from a partition of its own.
type Drive struct {
	Name     string // of the host
	UserData secret.Text
}

// String has the disk as Node.Disk has it.
func (p Pinned) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic("node: texts cannot fail to marshal: " + err.Error())
	}
	return string(text)
}
