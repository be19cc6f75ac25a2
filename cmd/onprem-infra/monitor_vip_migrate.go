//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// migrationPath is where a node keeps how it speaks VRRP, where that was ever anything else.
const migrationPath = "/var/lib/onprem-infra/migration.json"

// pending is the plan without what it migrates from where that is behind this node.
func pending(p plan.Plan, changed bool) plan.Plan {
	if changed {
		p.Former = nil
	}
	return p
}

// inForce is the plan that counts now.
func inForce(p plan.Plan) plan.Plan {
	if p.Former != nil {
		return *p.Former
	}
	return p
}

// current is inForce on this node, for those who live shorter than a migration, or whom no timing
// tells from another.
func current(p plan.Plan, log *slog.Logger) plan.Plan {
	if p.Former == nil {
		return p
	}
	return inForce(pending(p, migrate.New(p, migrate.Usual(), nodeVIPHost{}.migration(log)).Changed(time.Now())))
}

// migration turns the VIPs' room and decides which of two plans it turns on.
type migration struct {
	wanted  plan.Plan
	room    *migrate.Room
	vips    *vip.Room
	cluster *nodeCluster
	host    nodeVIPHost
	later   func(time.Duration) // has the loop turn again
	changed func(plan.Plan)     // what else goes by the plan, and is called once
	done    bool
	kept    migrate.Memory
}

// moved is what should be on the machine, and what this node should say.
type moved struct {
	vip.Desired
	way migrate.Desired
}

// steps are the room's, with the plan of the instant.
func (g *migration) steps() loop.Steps[vip.Snapshot, moved] {
	return loop.Steps[vip.Snapshot, moved]{Observe: g.vips.Observe, Decide: g.decide, Apply: g.apply}
}

func (g *migration) decide(s vip.Snapshot) (moved, loop.Reasons) {
	d, why := g.vips.Decide(s)
	seen := migrate.Seen{Now: time.Now(), Holds: s.Holds(), Guest: g.vips.Guest()}
	if known, heard := g.cluster.nodes.Known(); heard {
		for _, n := range known {
			seen.Nodes = append(seen.Nodes, migrate.Node{
				Name: n.Name, ControlPlane: n.ControlPlane, Apart: n.Arbiter || n.Remote, Word: notice.ReadWord(n.Way), State: n.State, Kubelet: n.Kubelet,
			})
		}
		seen.Self = g.vips.Itself(s)
	}
	way := g.room.Decide(seen)
	if way.Changed && !g.done {
		g.done = true
		g.vips.Adopt(g.wanted)
		g.changed(g.wanted)
		d, why = g.vips.Decide(s)
	}
	return moved{d, way}, append(why, way.Why...)
}

// apply configures keepalived before anything else: the other nodes do so in the same moment.
func (g *migration) apply(ctx context.Context, m moved) error {
	err := g.vips.Apply(ctx, m.Desired)
	if !m.way.Memory.Equal(g.kept) {
		kept := g.host.keepMigration(m.way.Memory)
		if kept == nil {
			g.kept = m.way.Memory
		}
		err = errors.Join(err, kept)
	}
	if m.way.Say {
		g.cluster.words.write(m.way.Node, notice.EncodeWord(m.way.Word))
	}
	if left := time.Until(m.way.Again); !m.way.Again.IsZero() && left < 2*everyVIPRound {
		g.later(max(left, 0) + time.Millisecond) // a timer may be a little early by the wall clock
	}
	return err
}

// migration is what an earlier run knew. One that cannot be read is no reason to end: the other
// nodes say how they speak.
func (h nodeVIPHost) migration(log *slog.Logger) migrate.Memory {
	text, err := os.ReadFile(h.at(migrationPath))
	if errors.Is(err, fs.ErrNotExist) {
		return migrate.Memory{}
	}
	var m migrate.Memory
	if err == nil {
		m, err = migrate.DecodeMemory(text)
	}
	if err != nil {
		log.Warn("read how this node spoke VRRP", "file", migrationPath, "error", err)
	}
	return m
}

func (h nodeVIPHost) keepMigration(m migrate.Memory) error {
	if err := file.Write(h.at(migrationPath), migrate.EncodeMemory(m), 0o644); err != nil {
		return fmt.Errorf("keep how this node speaks VRRP: %w", err)
	}
	return nil
}
