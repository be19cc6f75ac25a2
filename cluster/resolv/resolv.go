// Package resolv puts a node first in its own resolv.conf, so that what runs there finds the
// cluster's names, and lets kubelet start when that is done.
package resolv

import (
	"context"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// The files that the room reads and writes.
const (
	NetworkManager = "/run/NetworkManager/resolv.conf" // NetworkManager's own view, which never has our address in it
	Environment    = "/run/resolv-prepender/env"       // what NetworkManager's hook noted
	FQDN           = "/run/resolv-prepender/fqdn"      // the name that DHCPv6 gave, noted by the hook as well
	Config         = "/etc/resolv.conf"
	DropIns        = "/etc/systemd/resolved.conf.d" // where systemd-resolved is in charge
	Hostname       = "/etc/hostname"
)

// The services of the machine's own that decide where name servers are learnt.
const (
	Manager  = "NetworkManager.service"
	Resolver = "systemd-resolved.service"
)

// settle is how long the room waits after its work before it looks once more: systemd does not see
// what changes just when a watch is being armed again.
const settle = time.Second

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	// Read is what a file holds, nil when there is none.
	Read(path string) ([]byte, error)
	// NodeIP is the address that this node is known by. The error says that it is not known yet.
	NodeIP() (netip.Addr, error)
	// Enabled says whether a service of the machine's own is started at its boot.
	Enabled(service string) (bool, error)
	// Write replaces a file as a whole unless it holds the text already, and says whether it did.
	// Everybody may read it, and it has the security label of the former one.
	Write(path string, text []byte) (changed bool, err error)
	// RestartResolved has systemd-resolved read its drop-ins.
	RestartResolved(ctx context.Context) error
	// ReloadNetworkManager has NetworkManager think again about this machine's host name, which it
	// may have looked up in vain.
	ReloadNetworkManager(ctx context.Context) error
	// SetHostname names this machine, for now and for later.
	SetHostname(ctx context.Context, name string) error
	// Now is a clock that never goes back, Later has the room turn again after so long, and End has
	// it turn no more.
	Now() time.Time
	Later(time.Duration)
	End()
}

// Room is a node's resolver configuration. Its methods are the steps of a loop and for one
// goroutine.
type Room struct {
	plan   plan.Plan
	header string
	host   Host
	names  distribution.Flavour // of the files that differ between clusters

	done      time.Time // when all was as it should be, and nothing was written since; zero before
	changed   bool      // resolv.conf, and NetworkManager has not been told
	owed      bool      // a restart of systemd-resolved
	restarted bool      // systemd-resolved, by this run
}

// New makes a room for the cluster of p; header is the line of provenance for rendered files.
func New(p plan.Plan, header string, host Host) *Room {
	return &Room{plan: p, header: header, host: host, names: p.Flavour()}
}
