// Package provisioning reads how the hosts of a cluster are provisioned: the network that they boot
// from, the addresses on it, and what a DHCP server answers there.
package provisioning

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Mode is which network hosts boot from. Each mode has fields that the others do not have.
type Mode string

// The modes. The zero value is a cluster whose hosts are not provisioned.
const (
	Managed   Mode = "managed"   // a network of its own, where our DHCP server answers
	Unmanaged Mode = "unmanaged" // a network of its own, with a DHCP server of the user's
	Disabled  Mode = "disabled"  // the machine network, by virtual media; OpenShift has HTTP too
)

// Sharing is how many provisioning addresses a cluster has.
type Sharing string

// One address is the same in both phases; Two means that the bootstrap machine has its own.
const (
	One Sharing = "one"
	Two Sharing = "two"
)

// Settings are how hosts are provisioned. Zero values mean "not set".
type Settings struct {
	Network     Mode
	CIDR        netip.Prefix
	Interface   string    // of hosts on the provisioning network
	MACs        []mac.MAC // of the bootstrap machine's interface there
	Address     Sharing
	IP          netip.Addr // of the cluster, and with One of the bootstrap machine too
	BootstrapIP netip.Addr
	DHCP        DHCP
	BMCCA       string // certificates in PEM that BMCs are verified by, of an install-config
	BMCCAFile   string // a file of them, of a cluster.yaml
	BMCCAAt     document.Place
	// ExpectedServers are servers of the user's that may configure hosts there, each by its address
	// or its MAC.
	ExpectedServers []string
	VolumeClaim     string // for the database of the Ironic that runs in the cluster
}

// DHCP is what the server answers.
type DHCP struct {
	Unknown     string // refuse or pool: hosts that are not listed
	First, Last netip.Addr
	Lease       time.Duration
	Gateway     netip.Addr
	DNS         []netip.Addr
	NTP         []string
}

// What a DHCP server answers to hosts that are not listed.
const (
	Refuse = "refuse"
	Pool   = "pool"
)

// PoolFactor is how many addresses a pool has for each host: boot stages may be separate clients.
const PoolFactor = 3
