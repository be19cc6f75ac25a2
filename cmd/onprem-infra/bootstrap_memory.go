//go:build remote

package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// memory is what the VIP's room knows from one start of the program to the next. systemd makes both directories.
type memory struct {
	state string // outlives a reboot
	run   string // does not
}

var onHost = memory{state: "/var/lib/onprem-infra", run: vip.RunDir}

// apiSeen is there once the API of this machine has been ready.
func (m memory) apiSeen() string { return filepath.Join(m.state, "api-was-ready") }

// nodes are the control plane nodes that the API last told of.
func (m memory) nodes() string { return filepath.Join(m.state, "control-plane-nodes.json") }

// holding is there while the VIP has not been given up.
func (m memory) holding() string { return filepath.Join(m.run, "holding") }

// release is where the stop logic goes on.
func (m memory) release() (vip.Release, error) {
	seen, err := exists(m.apiSeen())
	if err != nil || !seen {
		return vip.Release{}, err
	}
	held, err := exists(m.holding())
	return vip.Resume(held), err
}

// remember keeps what release reads.
func (m memory) remember(r vip.Memory) error {
	return errors.Join(mark(m.apiSeen(), r.SeenReady), mark(m.holding(), r.Holding))
}

// keptNodes are those of an earlier run. A file that cannot be read is no reason to leave the VIP without a home.
func (m memory) keptNodes(log *slog.Logger) []addr.Node {
	text, err := os.ReadFile(m.nodes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var nodes []addr.Node
	if err == nil {
		err = json.Unmarshal(text, &nodes)
	}
	if err != nil {
		log.Warn("read the nodes of an earlier run", "file", m.nodes(), "error", err)
		return nil
	}
	return nodes
}

func (m memory) keep(nodes []addr.Node) error {
	text, err := json.MarshalIndent(nodes, "", "  ")
	if err != nil {
		return err
	}
	return file.Write(m.nodes(), append(text, '\n'), 0o644)
}

// mark makes an empty file be there or not.
func mark(path string, there bool) error {
	if there {
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
