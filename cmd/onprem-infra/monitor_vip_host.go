//go:build remote

package main

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// nodeVIPHost is a node as cluster/vip sees it.
type nodeVIPHost struct {
	root     string                        // where the node's files are; empty for the node itself
	links    func() (addr.Snapshot, error) // nil: link.Snapshot
	listener *listen.Listener              // nil: none runs
}

func (h nodeVIPHost) at(path ...string) string { return h.root + filepath.Join(path...) }

func (h nodeVIPHost) run() rundir.Dir { return rundir.Dir(h.at(election.RunDir)) }

// watched are the files whose changes ask for a round.
func (h nodeVIPHost) watched() []string {
	list := []string{h.run().StatusFile()}
	for _, name := range []string{"ipv4", "ipv6", "remote-worker"} {
		list = append(list, h.at(vip.AgreedDir, name))
	}
	return list
}

func (h nodeVIPHost) Links() (addr.Snapshot, error) {
	if h.links == nil {
		return link.Snapshot()
	}
	return h.links()
}

// files are this node's, for inspection.
func (h nodeVIPHost) files() inspect.Files { return inspect.Files{Root: h.root} }

// Agreed reads what node-ip has chosen. A file without an address counts as absent.
func (h nodeVIPHost) Agreed() (agreed []netip.Addr, remote bool, err error) {
	return h.files().Agreed()
}

func (h nodeVIPHost) Status() (supervised.Status, error) { return h.run().Status() }

func (h nodeVIPHost) Propose(config keepalived.Config) error { return h.run().Propose(config) }

func (h nodeVIPHost) Track(check vrrp.CheckName, fault, passes bool) error {
	return h.run().Track(check, fault, passes)
}

func (h nodeVIPHost) tracked(check vrrp.CheckName, fault bool) bool {
	return h.run().Passes(check, fault)
}

func (h nodeVIPHost) SetUnserved(instances []vrrp.InstanceName) error {
	return h.run().SetUnserved(instances)
}

func (h nodeVIPHost) Beat(beat uint64) error { return h.run().Beat(beat) }

func (h nodeVIPHost) Listen(instances []clash.Instance) { h.listener.Expect(instances) }

func (h nodeVIPHost) OtherRouters() clash.Snapshot { return h.listener.Snapshot() }

func (h nodeVIPHost) Keep(m vip.Memory) error {
	return file.Write(h.at(vip.MemoryPath), vip.EncodeMemory(m), 0o644)
}

// memory is that of an earlier run. One that cannot be read is no reason to end.
func (h nodeVIPHost) memory(log *slog.Logger) vip.Memory {
	return memory.Read(h.at(vip.MemoryPath), vip.DecodeMemory, log)
}

func (h nodeVIPHost) KeepMigration(m migrate.Memory) error {
	return file.Write(h.at(vip.MigrationPath), migrate.EncodeMemory(m), 0o644)
}

// migration is what an earlier run knew of the migration.
func (h nodeVIPHost) migration(log *slog.Logger) migrate.Memory {
	return memory.Read(h.at(vip.MigrationPath), migrate.DecodeMemory, log)
}

// current is the plan in force on this node, for verbs that end before a migration does, and for
// rooms that no migration changes.
func current(p plan.Plan, log *slog.Logger) plan.Plan {
	if p.Former == nil {
		return p
	}
	return migrate.New(p, migrate.Usual(), nodeVIPHost{}.migration(log)).InForce(time.Now())
}
