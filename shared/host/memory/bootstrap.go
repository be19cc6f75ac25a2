package memory

import (
	"errors"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Bootstrap is what the bootstrap machine's VIP program keeps. systemd creates both directories.
type Bootstrap struct {
	State string // outlives a reboot
	Run   string // does not
}

// apiSeen is a file that exists if the API of this machine has ever been ready.
func (b Bootstrap) apiSeen() string { return filepath.Join(b.State, "api-was-ready") }

// nodes is the file of the control plane nodes that the API last reported.
func (b Bootstrap) nodes() string { return filepath.Join(b.State, "control-plane-nodes.json") }

// settled is the file of the API VIPs that this machine has held.
func (b Bootstrap) settled() string { return filepath.Join(b.State, "settled-vips.json") }

// holding is a file that exists until the VIP is released.
func (b Bootstrap) holding() string { return filepath.Join(b.Run, "holding") }

// Resume is the state from which the release logic resumes.
func (b Bootstrap) Resume() (release.State, error) {
	seen, err := file.Exists(b.apiSeen())
	if err != nil || !seen {
		return release.State{}, err
	}
	held, err := file.Exists(b.holding())
	return release.Resume(held), err
}

// Remember writes the files that Resume reads.
func (b Bootstrap) Remember(r release.Memory) error {
	return errors.Join(mark(b.apiSeen(), r.SeenReady), mark(b.holding(), r.Holding))
}

// Nodes are the control plane nodes of an earlier run.
func (b Bootstrap) Nodes(log *slog.Logger) []addr.Candidate {
	return Read(b.nodes(), decodeList[addr.Candidate], log)
}

// Keep writes what Nodes reads.
func (b Bootstrap) Keep(nodes []addr.Candidate) error { return keep(b.nodes(), nodes) }

// SettledVIPs are the VIPs of an earlier run. The others are probed for another holder first.
func (b Bootstrap) SettledVIPs(log *slog.Logger) []netip.Addr {
	return Read(b.settled(), decodeList[netip.Addr], log)
}

// Settle writes what SettledVIPs reads.
func (b Bootstrap) Settle(vips []netip.Addr) error { return keep(b.settled(), vips) }

// Starts are the VRRP instances that have been started on this machine. It is for one goroutine.
type Starts struct {
	path string
	all  []vrrp.InstanceName
}

// Starts reads those of earlier runs.
func (b Bootstrap) Starts(log *slog.Logger) *Starts {
	path := filepath.Join(b.State, "started-instances.json")
	return &Starts{path: path, all: Read(path, decodeList[vrrp.InstanceName], log)}
}

// Started are all instances.
func (s *Starts) Started() []vrrp.InstanceName { return s.all }

// Start writes the file if it lacks an instance.
func (s *Starts) Start(instances []vrrp.InstanceName) error {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.all, instances))))
	if slices.Equal(all, s.all) {
		return nil
	}
	if err := keep(s.path, all); err != nil {
		return err
	}
	s.all = all
	return nil
}
