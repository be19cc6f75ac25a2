// Package resolv puts the node's own CoreDNS first in resolv.conf, so that its processes resolve
// the cluster's names, and lets kubelet start when that is done.
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
	NetworkManager = "/run/NetworkManager/resolv.conf" // its own file, without our address
	Environment    = "/run/resolv-prepender/env"       // written by NetworkManager's hook
	FQDN           = "/run/resolv-prepender/fqdn"      // the name from DHCPv6, by the hook too
	Config         = "/etc/resolv.conf"
	DropIns        = "/etc/systemd/resolved.conf.d" // if systemd-resolved is enabled
	Hostname       = "/etc/hostname"
)

// The system services that decide which name servers the machine uses.
const (
	Manager  = "NetworkManager.service"
	Resolver = "systemd-resolved.service"
)

// settle is the delay before the last round: systemd misses a change while it arms a watch again.
const settle = time.Second

// Host is the machine as the room reads and changes it.
type Host interface {
	// Read returns a file's text, nil if it does not exist.
	Read(path string) ([]byte, error)
	// NodeIP is this node's address. It returns an error while the address is not chosen.
	NodeIP() (netip.Addr, error)
	// Enabled reports whether a system service starts at boot.
	Enabled(service string) (bool, error)
	// Write replaces a file atomically if its text differs, and reports whether it did. All users
	// may read the file, and it keeps its security label.
	Write(path string, text []byte) (changed bool, err error)
	// RestartResolved makes systemd-resolved read its drop-ins.
	RestartResolved(ctx context.Context) error
	// ReloadNetworkManager makes NetworkManager resolve the host name again, which may have failed
	// before.
	ReloadNetworkManager(ctx context.Context) error
	// SetHostname sets the host name, now and after a reboot.
	SetHostname(ctx context.Context, name string) error
	// Now is a monotonic clock. Later requests a round after a delay. End ends the loop.
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
	changed   bool      // resolv.conf, and NetworkManager has not been reloaded
	owed      bool      // a restart of systemd-resolved
	restarted bool      // systemd-resolved, by this run
}

// New makes a room for the cluster of p; header is the line of provenance for rendered files.
func New(p plan.Plan, header string, host Host) *Room {
	return &Room{plan: p, header: header, host: host, names: p.Flavour()}
}
