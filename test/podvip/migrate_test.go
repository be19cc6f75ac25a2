package podvip

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// The clock of the migrations here: that of every cluster, faster.
const (
	migrateEvery = 12 * time.Second
	migrateLead  = 3 * time.Second
)

// The ways in which nodes speak here.
var (
	old        = plan.Way{Timing: vrrp.ProfileCompat, Mode: spec.Multicast}
	lanUnicast = plan.Way{Timing: vrrp.ProfileLan, Mode: spec.Unicast}
	today      = plan.Way{Timing: vrrp.ProfileCompat, Mode: spec.Unicast}
)

// TestMigrate has a live cluster go over from compat and multicast to lan and unicast, and back to
// compat. Its nodes get the file one after the other, and one of them is said to be upgraded for a
// while; nobody speaks the new way before that is over, and then all do at one instant. Seen from
// outside the VIP never has two holders for longer than the slower way needs to settle that, and
// never none for longer than it takes to notice that a holder is gone.
func TestMigrate(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileCompat)
	l.plan = l.compile(old, spec.Former{})
	l.monitor = []string{"--migrate-every=" + migrateEvery.String(), "--migrate-lead=" + migrateLead.String()}
	g := &rollout{T: t, lan: l, observer: l.control()}
	g.settle("at first", old)
	g.over(old, lanUnicast)
	g.reboots(lanUnicast)
	g.over(lanUnicast, today)
}

// rollout is the cluster with whoever looks at its VIP.
type rollout struct {
	*testing.T
	*lan
	observer *lab.Observer
}

// speaks is what a node's keepalived has been told.
func (n *node) speaks() (w plan.Way) {
	text := n.proposed()
	switch {
	case strings.Contains(text, "version 2\n") && strings.Contains(text, "advert_int 1\n"):
		w.Timing = vrrp.ProfileCompat
	case strings.Contains(text, "version 3\n") && strings.Contains(text, "advert_int 0.1\n"):
		w.Timing = vrrp.ProfileLan
	case strings.Contains(text, "version 3\n") && strings.Contains(text, "advert_int 0.05\n"):
		w.Timing = vrrp.ProfileFast
	}
	if w.Mode = spec.Multicast; strings.Contains(text, "unicast_peer") {
		w.Mode = spec.Unicast
	}
	return w
}

// settle waits until all speak so with all of their health, and one holds the VIP.
func (g *rollout) settle(what string, way plan.Way) {
	g.Helper()
	least := map[string]int{vrrp.ProfileCompat: full, vrrp.ProfileLan: announces(-1, false)}[way.Timing]
	for _, n := range g.nodes {
		g.until(fmt.Sprintf("%s: %s speaks as %s", what, n.Host.Name, way), 60*time.Second, func() bool { return n.speaks() == way && n.priority() >= least })
	}
	g.until(what+": somebody holds the VIP", 30*time.Second, func() bool { return len(g.observer.Holders()) == 1 })
	time.Sleep(3 * time.Second) // whoever has the higher address may preempt
}

// all holds that every node speaks so.
func (g *rollout) all(what string, way plan.Way) {
	g.Helper()
	for _, n := range g.nodes {
		if got := n.speaks(); got != way {
			g.Fatalf("%s: %s speaks as %s", what, n.Host.Name, got)
		}
	}
}

// state writes what the Machine Config Operator says of a node.
func (g *rollout) state(n *node, state string) {
	g.Helper()
	body := fmt.Sprintf(`{"metadata":{"annotations":{"machineconfiguration.openshift.io/state":%q}}}`, state)
	if err := g.api.Call(http.MethodPatch, "/api/v1/nodes/"+n.Host.Name, []byte(body)); err != nil {
		g.Fatal(err)
	}
}

// word is what a node's Node says.
func (g *rollout) word(n *node) notice.Intent {
	g.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, "nodes.json"))
	if err != nil {
		g.Fatal(err)
	}
	var saved struct {
		Objects map[string]struct {
			Metadata struct{ Annotations map[string]string }
		}
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		g.Fatal(err)
	}
	return notice.ReadIntent(saved.Objects[n.Host.Name].Metadata.Annotations[notice.Way])
}

// over rolls a migration out, and judges what was seen of it.
func (g *rollout) over(from, to plan.Way) {
	g.Helper()
	what := from.String() + " to " + to.String()
	former := spec.Former{Timing: from.Timing}
	if from.Mode != to.Mode {
		former.VRRP = from.Mode
	}
	p := g.compile(to, former)
	spans, holder := len(g.observer.Report().Spans), g.observer.Holders()
	g.state(g.nodes[2], "Working")
	for _, n := range g.nodes {
		if err := n.Write(asset.File{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(p)}); err != nil {
			g.Fatal(err)
		}
		g.until(what+": "+n.Host.Name+" says what it knows", 30*time.Second, func() bool { return g.word(n).Knows == p.Way().String() })
		g.all(what+": one after the other", from)
	}
	// One gets a file too early that says nothing of a migration. It remembers.
	if err := g.nodes[1].Write(asset.File{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(g.compile(to, spec.Former{}))}); err != nil {
		g.Fatal(err)
	}
	time.Sleep(migrateEvery + migrateLead) // at least one instant goes by
	g.all(what+": a node is being upgraded", from)
	for _, n := range g.nodes {
		if word := g.word(n); !word.At.IsZero() {
			g.Errorf("%s: a node is being upgraded, and %s says from %s", what, n.Host.Name, word.At)
		}
		if waits := n.waitsFor(); len(waits) != 1 || waits[0] != g.nodes[2].Host.Name+" being changed" {
			g.Errorf("%s: a node is being upgraded, and %s says it waits for %q", what, n.Host.Name, waits)
		}
	}
	g.state(g.nodes[2], "Done")
	g.until(what+": one begins", 2*migrateEvery+2*migrateLead, func() bool {
		return g.nodes[0].speaks() == to || g.nodes[1].speaks() == to || g.nodes[2].speaks() == to
	})
	begun := time.Now()
	for _, n := range g.nodes {
		g.until(what+": all follow", 10*time.Second, func() bool { return n.speaks() == to })
	}
	together := time.Since(begun)
	g.settle(what, to)
	for _, n := range g.nodes {
		g.until(what+": "+n.Host.Name+" says so", 10*time.Second, func() bool { return g.word(n) == notice.Intent{Speaks: p.Way().String()} })
	}
	g.judge(what, spans, together, holder)
}

// waitsFor is what the migration waits for, by the file from which status knows it.
func (n *node) waitsFor() (waits []string) {
	n.l.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.Root, runDir, migrate.LacksFile))
	if err := errors.Join(err, json.Unmarshal(text, &waits)); err != nil {
		n.l.t.Error(err)
	}
	return waits
}

// judge looks at the VIP over the whole migration.
func (g *rollout) judge(what string, from int, together time.Duration, holder []string) {
	g.Helper()
	slower := vrrp.CompatTiming()
	skew := vrrp.Skew(slower.IPv4, full, slower.Advert)
	two, none := g.longest(from)
	g.Logf("%s: all within %s, the VIP went from %v to %v, two holders for %s, none for %s at the longest", what, together.Round(10*time.Millisecond),
		holder, g.observer.Holders(), two.Round(time.Millisecond), none.Round(time.Millisecond))
	if most := slower.Advert + skew; two > most {
		g.Errorf("%s: two holders for %s, at most %s", what, two, most)
	}
	if most := vrrp.MasterDown(slower.IPv4, full, slower.Advert); none > most {
		g.Errorf("%s: no holder for %s, at most %s", what, none, most)
	}
}

// reboots holds that a node which comes back after the instant speaks the new way from its first
// word on, with the API away.
func (g *rollout) reboots(way plan.Way) {
	g.Helper()
	n := g.nodes[0]
	if g.observer.Holders()[0] == n.Host.Name {
		n = g.nodes[1]
	}
	g.api.Down()
	if err := n.Off(); err != nil {
		g.Fatal(err)
	}
	if err := n.Host.On(); err != nil {
		g.Fatal(err)
	}
	n.start()
	g.until("a reboot: it proposes something", 30*time.Second, func() bool { return n.proposed() != "" })
	if got := n.speaks(); got != way {
		g.Errorf("a reboot after the instant: %s speaks as %s", n.Host.Name, got)
	}
	g.api.Up()
	g.settle("after a reboot", way)
}
