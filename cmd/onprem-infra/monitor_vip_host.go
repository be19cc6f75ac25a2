//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// nodeVIPHost is a node as the VIP's room sees it.
type nodeVIPHost struct {
	root  string           // where the node's files are; empty for the node itself
	links *keptLinks       // nil: they are read each time
	ear   *listen.Listener // nil on a host that does not listen
}

func (h nodeVIPHost) at(path ...string) string { return h.root + filepath.Join(path...) }

// watched are the files whose change the room wants to see at once.
func (h nodeVIPHost) watched() []string {
	list := []string{h.at(election.RunDir, supervised.StatusFile)}
	for _, name := range []string{"ipv4", "ipv6", "remote-worker"} {
		list = append(list, h.at(vip.AgreedDir, name))
	}
	return list
}

func (h nodeVIPHost) Links() (addr.Snapshot, error) {
	if h.links == nil {
		return link.Snapshot()
	}
	return h.links.snapshot()
}

// files are this node's, for inspection.
func (h nodeVIPHost) files() inspect.Files { return inspect.Files{Root: h.root} }

// Agreed reads what node-ip has chosen.
func (h nodeVIPHost) Agreed() (agreed []netip.Addr, remote bool, err error) {
	return h.files().Agreed()
}

func (h nodeVIPHost) Status() (supervised.Status, error) { return h.files().Supervisor() }

func (h nodeVIPHost) Propose(config keepalived.Config) error {
	return proposeIn(h.at(election.RunDir), config)
}

// proposeIn writes a candidate. A supervisor of this release takes the text for the newer file
// until that is written too, and so goes on with what it has.
func proposeIn(runDir string, config keepalived.Config) error {
	candidate, text := supervised.EncodeCandidate(config)
	if _, err := file.WriteIfChanged(filepath.Join(runDir, supervised.CandidateFile), candidate, 0o644); err != nil {
		return err
	}
	_, err := file.WriteIfChanged(filepath.Join(runDir, supervised.CandidateText), text, 0o644)
	return err
}

// passing and failing are what a tracked file holds.
const (
	passing = "1\n"
	failing = "0\n"
)

func (h nodeVIPHost) Track(check vrrp.CheckName, fault, passes bool) error {
	text, path := failing, h.at(election.TrackFile(check, fault))
	if passes {
		text = passing
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // the supervisor makes it too, and may start later
		return err
	}
	_, err := file.Update(path, []byte(text), 0o644)
	return err
}

func (h nodeVIPHost) Hear(instances []clash.Instance) { h.ear.Expect(instances) }

func (h nodeVIPHost) Air() clash.Air { return h.ear.Snapshot() }

// tracked reports whether an earlier run left a check passing.
func (h nodeVIPHost) tracked(check vrrp.CheckName, fault bool) bool {
	return h.files().Tracked(check, fault)
}

func (h nodeVIPHost) Unserved(instances []vrrp.InstanceName) error {
	var text strings.Builder
	for _, name := range instances {
		text.WriteString(string(name) + "\n")
	}
	_, err := file.Update(h.at(election.RunDir, supervised.UnservedFile), []byte(text.String()), 0o644)
	return err
}

// Beat writes the number in the width of the largest one.
func (h nodeVIPHost) Beat(beat uint64) error {
	return file.Overwrite(h.at(election.RunDir, supervised.HeartbeatFile), fmt.Appendf(nil, "%020d\n", beat), 0o644)
}

func (h nodeVIPHost) Keep(m vip.Memory) error {
	return file.Write(h.at(vip.MemoryPath), vip.EncodeMemory(m), 0o644)
}

// memory is that of an earlier run. One that cannot be read is no reason to end: what runs goes on.
func (h nodeVIPHost) memory(log *slog.Logger) vip.Memory {
	text, err := os.ReadFile(h.at(vip.MemoryPath))
	if errors.Is(err, fs.ErrNotExist) {
		return vip.Memory{}
	}
	var m vip.Memory
	if err == nil {
		m, err = vip.DecodeMemory(text)
	}
	if err != nil {
		log.Warn("read what an earlier run knew", "file", vip.MemoryPath, "error", err)
	}
	return m
}

// nodeCluster is what the API has told this node. Its methods but follow and self are for one
// goroutine.
type nodeCluster struct {
	plan       plan.Plan
	ranked     bool // nodes have ranks, or are about to
	api        *kube.API
	log        *slog.Logger
	believe    notice.Cluster
	nodes      *kube.Watcher
	candidates *kube.Object // nil where every node may hold the ingress VIP
	bootstrap  *kube.Object // nil on workers
	ranks      *annotation  // this node's
	words      *annotation  // of how it speaks VRRP
	gone       *annotation  // that the bootstrap machine is gone

	list *candidates.Reader
	said map[string]string // what could not be believed, by subject
}

func (c *nodeCluster) Nodes() ([]vip.Node, bool) {
	known, heard := c.nodes.Known()
	nodes := make([]vip.Node, len(known))
	for i, n := range known {
		nodes[i] = vip.Node{Node: n.Node, ControlPlane: n.ControlPlane}
		if c.ranked {
			nodes[i].Rank, nodes[i].Created, nodes[i].Down = n.Rank, n.Created, down(n)
		}
	}
	return nodes, heard
}

// down is since when a Node's kubelet has not been working; zero when it works, or nothing is said
// of it.
func down(n kube.Node) time.Time {
	if n.Ready {
		return time.Time{}
	}
	return n.Since
}

// Candidates go by the list that a control plane node keeps on its own Node. As long as none does,
// as before the first of them is upgraded, they go by the object of the former release.
func (c *nodeCluster) Candidates() ([]notice.Candidate, bool) {
	if c.candidates == nil {
		return nil, false
	}
	nodes, _ := c.nodes.Known()
	heard, last := c.nodes.Heard()
	if !heard {
		return c.list.Known()
	}
	texts := map[string]string{}
	for _, n := range nodes {
		if n.List != "" {
			texts[n.Name] = n.List
		}
	}
	err := c.list.Take(texts, formerList(c.candidates), last)
	c.complain("ingress candidates", err)
	return c.list.Known()
}

// Bootstrap is what the bootstrap machine has published. One that has left says so by a list of
// nobody, or a control plane node says so for it, which counts once it is known that the machine
// itself says nothing else; what cannot be believed counts as not heard.
func (c *nodeCluster) Bootstrap() (vip.Bootstrap, bool) {
	if c.bootstrap == nil {
		return vip.Bootstrap{}, false
	}
	nodes, _ := c.nodes.Known()
	left := vip.Bootstrap{Left: slices.ContainsFunc(nodes, func(n kube.Node) bool { return n.Gone })}
	data, exists, heard := c.bootstrap.Data()
	if !heard || !exists || len(data) == 0 {
		return left, heard
	}
	if notice.BootstrapLeft(data) {
		return vip.Bootstrap{Left: true}, true
	}
	addresses, beat, err := notice.ReadBootstrap(data, c.believe)
	c.complain("the bootstrap machine's address", err)
	if err != nil {
		return left, left.Left
	}
	return vip.Bootstrap{Addresses: addresses, Beat: strconv.FormatUint(beat, 10)}, true
}

// complain says of each subject once what cannot be believed.
func (c *nodeCluster) complain(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != c.said[what] && text != "" {
		c.log.Warn("read "+what, "error", text)
	}
	c.said[what] = text
}

// Self is what this node's credentials say. That they cannot be read yet is no news.
func (c *nodeCluster) Self() string {
	name, _ := c.api.NodeName()
	return name
}

// self waits until it is known which Node this machine is, and says its name: that of its
// credentials, or where they name none the control plane node that has an address of this
// machine's.
func (c *nodeCluster) self(ctx context.Context) (string, error) {
	for {
		if name := c.Self(); name != "" {
			return name, nil
		}
		links, err := link.Snapshot()
		if err != nil {
			return "", err
		}
		known, _ := c.Nodes()
		if name := vip.Self(vip.ControlPlane(known), links, c.believe.VIPs); name != "" {
			return name, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
