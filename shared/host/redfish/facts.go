// Package redfish reads what a BMC reports by Redfish (DSP0266). It sends GET requests alone, opens
// no session, and bounds what it reads of a BMC that is broken or hostile.
package redfish

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// Reach is how far a reader got.
type Reach string

// The ways to reach a BMC, or not to.
const (
	Unseen  Reach = "unseen"  // nothing answers: this host may have no way there
	Refused Reach = "refused" // the host is there, and nothing listens at the port
	Busy    Reach = "busy"    // the BMC answers that it cannot serve now
	Foreign Reach = "foreign" // another service answers
	Reached Reach = "reached"
)

// Login is what became of the credentials.
type Login string

// The results of a login.
const (
	NotTried  Login = "not-tried" // the BMC was not reached, or its certificate is not trusted
	Accepted  Login = "accepted"
	Rejected  Login = "rejected"  // wrong user or password
	Forbidden Login = "forbidden" // the BMC knows the user, and refuses it
	Withdrawn Login = "withdrawn" // accepted first, then no longer
	Failed    Login = "failed"    // another answer than a Redfish service gives
)

// Facts are what a BMC reports. What could not be read is zero, and Unread has the reason.
type Facts struct {
	Reach    Reach
	Why      string // why the reader got no further
	Root     Root
	Chain    *wire.Chain // nil without TLS
	Clock    Clock
	Login    Login
	Account  Account
	Systems  []string // the paths of all systems
	System   *System  // the one that was asked for
	Manager  Manager
	Sessions int
	Tasks    int      // that are not done
	Unread   []string // documents that could not be read, each with its reason
	Sent     int      // requests
}

// Root is the service itself.
type Root struct {
	Version string // of Redfish
	Vendor  string
	Product string
	UUID    string
}

// Clock is the difference between the BMC's clock and this host's.
type Clock struct {
	Known bool
	Ahead time.Duration
}

// Account is the one that logged in.
type Account struct {
	Role   string // empty: unseen
	Locked bool
}

// System is a machine that a BMC manages.
type System struct {
	Path         string
	UUID         string
	Serial       string
	Manufacturer string
	Model        string
	Power        string
	Boot         Boot
	SecureBoot   *bool // nil: unseen
	MemoryGiB    float64
	Processors   int
	Ports        []Port
	Disks        []rootdisk.Disk
	DisksSeen    bool // whether the inventory of disks is whole
}

// Boot is what the machine starts from next.
type Boot struct {
	Mode    string // UEFI or Legacy
	Modes   []string
	Enabled string // Disabled, Once or Continuous
	Target  string
	Targets []string
}

// Port is a port of a network card.
type Port struct {
	Name string
	MAC  string
	Link string // LinkUp, LinkDown or empty
}

// Manager is the BMC itself.
type Manager struct {
	Path     string
	Model    string
	Firmware string
	Media    []Slot
}

// Slot is one of virtual media.
type Slot struct {
	Path     string
	Types    []string
	Image    string
	Inserted bool
	Insert   bool // whether media can be inserted: a licence may be missing
}

// CD is whether a slot takes the images that machines boot.
func (s Slot) CD() bool {
	for _, kind := range s.Types {
		if kind == "CD" || kind == "DVD" {
			return true
		}
	}
	return false
}
