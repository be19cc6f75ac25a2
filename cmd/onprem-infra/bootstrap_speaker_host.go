//go:build remote

package main

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// ofSpeaker is what outlives the program that announces VIPs. Beside VRRP another one decides about
// the same VIPs by probes of its own, and keeps its own files.
var ofSpeaker = memory.Bootstrap{State: "/var/lib/onprem-infra/speaker", Run: spoken.RunDir}

// speakerFiles is the directory of the files between the room and the speaker.
type speakerFiles string

func (d speakerFiles) at(name string) string { return filepath.Join(string(d), name) }

// Config is the zero value before the first. One of another release is none: it is written anew.
func (d speakerFiles) Config() (spoken.Config, error) {
	text, err := file.Read(d.at(spoken.ConfigFile))
	if err != nil || text == nil {
		return spoken.Config{}, err
	}
	c, err := spoken.Decode[spoken.Config](text)
	if err != nil {
		return spoken.Config{}, nil
	}
	return c, nil
}

// Status is the zero value before the first.
func (d speakerFiles) Status() (spoken.Status, error) {
	text, err := file.Read(d.at(spoken.StatusFile))
	if err != nil || text == nil {
		return spoken.Status{}, err
	}
	return spoken.Decode[spoken.Status](text)
}

// forgetStatus removes that of a speaker that has ended.
func (d speakerFiles) forgetStatus() error { return file.Remove(d.at(spoken.StatusFile)) }

func (d speakerFiles) Configure(c spoken.Config) error {
	_, err := file.WriteIfChanged(d.at(spoken.ConfigFile), spoken.Encode(c), 0o644)
	return err
}

func (d speakerFiles) Wish(w spoken.Wish) error {
	_, err := file.Update(d.at(spoken.WishFile), spoken.Encode(w), 0o644)
	return err
}

func (d speakerFiles) Leave(now bool) error {
	if !now {
		return file.Remove(d.at(spoken.LeaveFile))
	}
	_, err := file.WriteIfChanged(d.at(spoken.LeaveFile), []byte("bootstrap/speaker\n"), 0o644)
	return err
}

// speakerHost is the machine as the room sees it.
type speakerHost struct {
	link.Network
	*vip.Watch
	speakerFiles

	nodes     *kube.Watcher
	announced []netip.Addr
}

// Rack is what the file of the host's rack has; empty without one.
func (*speakerHost) Rack() (string, error) {
	text, err := os.ReadFile(spoken.RackFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

func (h *speakerHost) Announced() []netip.Addr { return h.announced }

func (h *speakerHost) Keep(vips []netip.Addr) error {
	h.announced = vips // also if no later start knows of it
	return ofSpeaker.Settle(vips)
}

func (h *speakerHost) Nodes() []addr.Candidate {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

func (h *speakerHost) KeepNodes(nodes []addr.Candidate) error { return ofSpeaker.Keep(nodes) }
