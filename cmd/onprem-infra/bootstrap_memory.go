//go:build remote

package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// memory is the VIP room's state that outlives the program. systemd creates both directories.
type memory struct {
	state string // outlives a reboot
	run   string // does not
}

var onHost = memory{state: "/var/lib/onprem-infra", run: supervised.RunDir}

// apiSeen is a file that exists if the API of this machine has ever been ready.
func (m memory) apiSeen() string { return filepath.Join(m.state, "api-was-ready") }

// nodes is the file of the control plane nodes that the API last reported.
func (m memory) nodes() string { return filepath.Join(m.state, "control-plane-nodes.json") }

// settled is the file of the API VIPs that this machine has held.
func (m memory) settled() string { return filepath.Join(m.state, "settled-vips.json") }

// holding is a file that exists until the VIP is released.
func (m memory) holding() string { return filepath.Join(m.run, "holding") }

// release is the state from which the release logic resumes.
func (m memory) release() (release.State, error) {
	seen, err := exists(m.apiSeen())
	if err != nil || !seen {
		return release.State{}, err
	}
	held, err := exists(m.holding())
	return release.Resume(held), err
}

// remember writes the files that release reads.
func (m memory) remember(r release.Memory) error {
	return errors.Join(mark(m.apiSeen(), r.SeenReady), mark(m.holding(), r.Holding))
}

// keptNodes are the nodes of an earlier run.
func (m memory) keptNodes(log *slog.Logger) []addr.Candidate {
	return kept[addr.Candidate](m.nodes(), log)
}

func (m memory) keep(nodes []addr.Candidate) error { return keep(m.nodes(), nodes) }

// settledVIPs are the VIPs of an earlier run. The others are probed for another holder first.
func (m memory) settledVIPs(log *slog.Logger) []netip.Addr {
	return kept[netip.Addr](m.settled(), log)
}

func (m memory) settle(vips []netip.Addr) error { return keep(m.settled(), vips) }

// starts are the VRRP instances that have been started on this machine. It is for one goroutine.
type starts struct {
	path string
	all  []vrrp.InstanceName
}

func (m memory) starts(log *slog.Logger) *starts {
	path := filepath.Join(m.state, "started-instances.json")
	return &starts{path: path, all: kept[vrrp.InstanceName](path, log)}
}

// add writes the file if it lacks an instance.
func (s *starts) add(instances []vrrp.InstanceName) error {
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

// kept reads a list of an earlier run. An unreadable file is logged and counts as empty, so that
// the VIP keeps a holder.
func kept[T any](path string, log *slog.Logger) []T {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []T
	if err == nil {
		list, err = decodeList[T](text)
	}
	if err != nil {
		log.Warn("read what an earlier run knew", "file", path, "error", err)
	}
	return list
}

func keep[T any](path string, list []T) error {
	text, err := encodeList(list)
	if err != nil {
		return err
	}
	return file.Write(path, text, 0o644)
}

func encodeList[T any](list []T) ([]byte, error) {
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// decodeList reads what encodeList wrote, or nothing.
func decodeList[T any](text []byte) ([]T, error) {
	var list []T
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	return list, nil
}

// mark creates or removes an empty file.
func mark(path string, present bool) error {
	if present {
		_, err := file.WriteIfChanged(path, nil, 0o644)
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
