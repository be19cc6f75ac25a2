// Package node is a node's machine as the rooms of its VIPs see it.
package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/migration"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Host is a node's machine.
type Host struct {
	rundir.Dir // between this program and keepalived's supervisor

	Root     string                        // where the node's files are; empty for the node itself
	Snapshot func() (addr.Snapshot, error) // of the links
	Listener *listen.Listener              // nil: none runs
}

// New takes the directory that is the node's /; empty for the node itself.
func New(root string) Host {
	return Host{Root: root, Dir: rundir.Dir(root + supervised.RunDir), Snapshot: link.Snapshot}
}

// At is a path of the node.
func (h Host) At(path ...string) string { return h.Root + filepath.Join(path...) }

// Watched are the files whose changes ask for a round.
func (h Host) Watched() []string {
	list := []string{h.StatusFile()}
	for _, name := range []string{"ipv4", "ipv6", "remote-worker"} {
		list = append(list, h.At(vip.AgreedDir, name))
	}
	return list
}

// Links is Snapshot.
func (h Host) Links() (addr.Snapshot, error) { return h.Snapshot() }

// Cards are the node's Ethernet links.
func (h Host) Cards() ([]addr.Ethernet, error) { return link.Ethernets() }

// Files are this node's, for inspection.
func (h Host) Files() inspect.Files { return inspect.Files{Root: h.Root} }

// Agreed reads what node-ip has chosen. A file without an address counts as absent.
func (h Host) Agreed() (agreed []netip.Addr, remote bool, err error) { return h.Files().Agreed() }

// Listen sets the instances for which to observe other routers.
func (h Host) Listen(instances []clash.Instance) { h.Listener.Expect(instances) }

// OtherRouters are the VRRP routers that were observed on the links.
func (h Host) OtherRouters() clash.Snapshot { return h.Listener.Snapshot() }

// Keep writes what Memory reads.
func (h Host) Keep(m nodestate.Memory) error {
	return file.Write(h.At(nodestate.Path), nodestate.Encode(m), 0o644)
}

// Memory is what an earlier run kept.
func (h Host) Memory(log *slog.Logger) nodestate.Memory {
	return memory.Read(h.At(nodestate.Path), nodestate.Decode, log)
}

// KeepMigration writes what Migration reads.
func (h Host) KeepMigration(m migrate.Memory) error {
	return file.Write(h.At(vip.MigrationPath), migrate.EncodeMemory(m), 0o644)
}

// Migration is what an earlier run knew of the migration.
func (h Host) Migration(log *slog.Logger) migrate.Memory {
	return memory.Read(h.At(vip.MigrationPath), migrate.DecodeMemory, log)
}

// Resume is the plan of a description, with the migration that an earlier run has begun and this
// node has yet to complete, also if the description no longer has it. It reports nothing of a
// memory that cannot be read: who needs that reads it again.
func (h Host) Resume(p plan.Plan, described spec.Cluster) plan.Plan {
	kept := h.Migration(slog.New(slog.DiscardHandler))
	if kept.Speaks == "" {
		return p
	}
	resumed, err := rollout.Resume(described, kept.Speaks, kept.FellBack)
	if err != nil {
		return p
	}
	return resumed
}

// Current is the plan in force on this node, for programs that end before a migration does, and for
// rooms that no migration changes.
func Current(p plan.Plan, log *slog.Logger) plan.Plan {
	if p.Former == nil && p.Fallback == nil {
		return p
	}
	return migrate.New(p, migrate.Usual(), New("").Migration(log)).InForce(time.Now())
}

// Pending is the migration that is to come on this node; nil if none is. One to a Fallback comes
// once a node asks for it: from then on the monitor reports what it waits for.
func (h Host) Pending(p plan.Plan, now time.Time, log *slog.Logger) *migration.Migration {
	if p.Former == nil && p.Fallback == nil {
		return nil
	}
	kept := h.Migration(log)
	room := migrate.New(p, migrate.Usual(), kept)
	next := room.Pending(now)
	agreed := kept.To == next.Way().String()
	if next.Former == nil {
		return nil
	}
	coming := migration.Coming(next, time.Time{})
	coming.Late = room.Waits()
	if agreed {
		coming.At = kept.At.UTC()
		return coming
	}
	if coming.Waits = h.waits(); coming.Late && len(coming.Waits) == 0 {
		return nil
	}
	return coming
}

// waits is for what the migration waits, as the monitor reports it. It is for people, who do
// without what cannot be read.
func (h Host) waits() (all []string) {
	text, err := h.Files().Optional(supervised.RunDir, migrate.LacksFile)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// FellBack is the plan's timing if this node is on its Fallback instead; empty if not.
func (h Host) FellBack(p plan.Plan, now time.Time, log *slog.Logger) string {
	room := migrate.New(p, migrate.Usual(), h.Migration(log))
	if !room.FellBack(now) {
		return ""
	}
	return p.Timing.Profile
}

// OwnAddresses are the addresses that node-ip chose for this host, without VIPs. Before that they
// are those that it would choose.
func OwnAddresses(p plan.Plan, port uint16) ([]netip.AddrPort, error) {
	agreed, _, err := New("").Agreed()
	if err != nil {
		return nil, err
	}
	vips := p.VIPs.All()
	if len(agreed) == 0 {
		if agreed, err = Choose(vips); err != nil {
			return nil, err
		}
	}
	var at []netip.AddrPort
	for _, a := range agreed {
		if !slices.Contains(vips, a) {
			at = append(at, netip.AddrPortFrom(a, port))
		}
	}
	if len(at) == 0 {
		return nil, errors.New("this host has no address of its own yet")
	}
	return at, nil
}

// Choose are the addresses that node-ip would choose for this host without a hint.
func Choose(vips []netip.Addr) ([]netip.Addr, error) {
	links, err := link.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	chosen, err := addr.ForNode(links, addr.Wish{VIPs: vips})
	return chosen.Addresses, err
}
