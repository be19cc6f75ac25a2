//go:build remote

package main

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"strings"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// ofSpeaker is what outlives the program that announces VIPs. If VRRP runs too, another program
// decides about the same VIPs by its own probes, and keeps its own files.
var ofSpeaker = memory.Bootstrap{State: "/var/lib/onprem-infra/speaker", Run: spoken.RunDir}

// speakerHost is the machine as the room sees it.
type speakerHost struct {
	link.Network
	*vip.Watch
	*speakdir.Monitor

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
