//go:build remote

package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// current is the plan in force on this node, for verbs that end before a migration does, and for
// rooms that no migration changes.
func current(p plan.Plan, log *slog.Logger) plan.Plan {
	if p.Former == nil {
		return p
	}
	return migrate.New(p, migrate.Usual(), nodeVIPHost{}.migration(log)).InForce(time.Now())
}

// migration is what an earlier run knew. One that cannot be read is no reason to end: the other
// nodes announce their way.
func (h nodeVIPHost) migration(log *slog.Logger) migrate.Memory {
	text, err := os.ReadFile(h.at(vip.MigrationPath))
	if errors.Is(err, fs.ErrNotExist) {
		return migrate.Memory{}
	}
	var m migrate.Memory
	if err == nil {
		m, err = migrate.DecodeMemory(text)
	}
	if err != nil {
		log.Warn("read how this node spoke VRRP", "file", vip.MigrationPath, "error", err)
	}
	return m
}

func (h nodeVIPHost) KeepMigration(m migrate.Memory) error {
	return file.Write(h.at(vip.MigrationPath), migrate.EncodeMemory(m), 0o644)
}
