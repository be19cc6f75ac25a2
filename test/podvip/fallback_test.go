package podvip

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestFallback has what the holder of a cluster with the timing fast sends arrive late, by less than
// what moves a VIP: the nodes that receive its adverts ask for the slower timing, and all change to
// it at one instant. The holder is the same one at the end. A node that comes back has that timing
// from its first advert on, though its file has the other one.
func TestFallback(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileFast)
	l.monitor = []string{"--migrate-every=" + migrateEvery.String(), "--migrate-lead=" + migrateLead.String()}
	g := &rollout{T: t, lan: l, observer: l.control()}
	fast := plan.Way{Timing: vrrp.ProfileFast, Mode: spec.Unicast}
	for _, n := range g.nodes {
		g.until(n.Host.Name+" begins", 60*time.Second, func() bool { return n.speaks() == fast })
	}
	g.until("one holds the VIP", 30*time.Second, func() bool { return len(g.observer.Holders()) == 1 })
	spans, holder := len(g.observer.Report().Spans), g.observer.Holders()
	g.measure(holder)
	g.spoil(holder, lab.Line{Jitter: 60 * time.Millisecond, Way: lab.Out})
	g.until("all change", 90*time.Second, func() bool {
		return !slices.ContainsFunc(g.nodes, func(n *node) bool { return n.speaks() != lanUnicast })
	})
	g.spoil(holder, lab.Line{})
	g.settle("after it", lanUnicast)
	for _, n := range g.nodes {
		g.until(n.Host.Name+" announces it", 10*time.Second, func() bool { return g.word(n) == notice.Intent{Speaks: lanUnicast.String()} })
		kept, err := os.ReadFile(filepath.Join(n.Root, vip.MigrationPath))
		if err != nil || !strings.Contains(string(kept), lanUnicast.String()) {
			t.Errorf("%s keeps %s, %v", n.Host.Name, kept, err)
		}
	}
	if logged := g.nodes[0].Log("keepalived/keepalived-monitor") + g.nodes[1].Log("keepalived/keepalived-monitor") + g.nodes[2].Log("keepalived/keepalived-monitor"); !strings.Contains(logged, "ms late, one of 192.0.2.") {
		t.Error("no node logs which adverts were late")
	}
	g.judgeFallback(spans, holder)
	g.reboots(lanUnicast)
}

// measure holds that a node which receives adverts measures how late they are, and that a moment of it
// proves nothing.
func (g *rollout) measure(holders []string) {
	g.Helper()
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return !slices.Contains(holders, n.Host.Name) })
	n := g.nodes[i]
	out, err := n.Host.Command(g.Context(), filepath.Join(g.dir, "onprem-infra"), "doctor", "--timing-proof", "2s", "-c", filepath.Join(n.Root, plan.Path)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a real-time thread was late: ") || !strings.Contains(string(out), "every 50ms) were late: ") ||
		!strings.Contains(string(out), "measure for 1m0s at least") || strings.Contains(string(out), "timingProof") {
		g.Errorf("doctor --timing-proof on %s: %v\n%s", n.Host.Name, err, out)
	}
}

// spoil sets the faults of the wires of these hosts.
func (g *rollout) spoil(hosts []string, l lab.Line) {
	g.Helper()
	for _, n := range g.nodes {
		if slices.Contains(hosts, n.Host.Name) {
			if err := n.Host.Spoil(l); err != nil {
				g.Fatal(err)
			}
		}
	}
}

// judgeFallback looks at the VIP over the whole change. The slower timing's takeover is the longest
// time without a holder, and with two: this program carries the adverts of the spoilt wire, so a
// machine that stalls may let a backup take the VIP, until the holder's next advert arrives.
func (g *rollout) judgeFallback(from int, holder []string) {
	g.Helper()
	slower, _ := vrrp.TimingOf(vrrp.ProfileLan)
	two, none := g.longest(from)
	down := vrrp.MasterDown(slower.IPv4, slower.Policy().ControlPlane.Lowest(), slower.Advert)
	g.Logf("the VIP went from %v to %v, two holders for %v, none for %v at the longest", holder, g.observer.Holders(), two, none)
	if now := g.observer.Holders(); !slices.Equal(now, holder) {
		g.Errorf("the VIP went from %v to %v, and its holder served", holder, now)
	}
	if most := down + g.observer.Report().Slowest; two > most {
		g.Errorf("two holders for %v, at most %v", two, most)
	}
	if none > down {
		g.Errorf("no holder for %v, at most %v", none, down)
	}
}

// longest is for how long the VIP has had two holders, and none, since a span.
func (g *rollout) longest(from int) (two, none time.Duration) {
	g.Helper()
	report := g.observer.Report()
	if report.Err != nil {
		g.Error(report.Err)
	}
	for _, s := range report.Spans[from-1:] {
		switch len(s.Holders) {
		case 0:
			none = max(none, s.Length())
		case 1:
		default:
			two = max(two, s.Length())
		}
	}
	return two, none
}
