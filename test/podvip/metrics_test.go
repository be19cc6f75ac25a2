package podvip

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// asked is what a monitor says of itself at an address, asked from a host.
func (l *lan) asked(from *lab.Host, address string) (string, error) {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DialContext: from.Dial, DisableKeepAlives: true}}
	reply, err := client.Get(fmt.Sprintf("http://%s/metrics", net.JoinHostPort(address, fmt.Sprint(l.plan.Ports[port.MonitorVIP]))))
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", reply.Status)
	}
	return string(text), err
}

// own is a node's address.
func own(i int) string { return fmt.Sprintf("192.0.2.%d", 11+i) }

// record scrapes the loopback of every node once a second.
func (l *lan) record(r *scrape.Recording, seconds int) {
	l.t.Helper()
	for range seconds {
		for i, n := range l.nodes {
			if page, err := l.asked(n.Host, "127.0.0.1"); err == nil {
				if err := r.Page(own(i), []byte(page)); err != nil {
					l.t.Fatal(err)
				}
			}
		}
		r.Step()
		time.Sleep(time.Second)
	}
}

// TestMetrics is what three real nodes say of themselves: at their loopbacks, at their own
// addresses because their cluster asks for that, and never at a VIP. Recorded while all is well and
// while the holder is cut off from the others, it has the right alarm sound and no other. Each
// second of the recording counts for half a minute.
func TestMetrics(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileLan)
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan, Metrics: spec.MetricsNode,
		MachineNetworks: l.plan.MachineNetworks, APIVIPs: l.plan.VIPs.API, IngressVIPs: l.plan.VIPs.Ingress, Images: l.plan.Images,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.plan = p
	observer := l.control()
	outside := l.add("outside", "192.0.2.80")
	for _, n := range l.nodes {
		n.router.Store(true)
	}
	reports := func(i int, line string) bool {
		page, err := l.asked(l.nodes[i].Host, "127.0.0.1")
		return err == nil && strings.Contains(page, "\n"+line+"\n")
	}
	holds := `onprem_vip_holder{vip="192.0.2.5",kind="api"} 1`
	l.until("one of them says that it holds the API VIP", 60*time.Second, func() bool {
		holders := 0
		for i := range l.nodes {
			if reports(i, holds) {
				holders++
			}
		}
		return holders == 1 && len(observer.Holders()) == 1
	})
	holder := 0
	for i := range l.nodes {
		if reports(i, holds) {
			holder = i
		}
		l.until(own(i)+" has metrics for others at its own address", 30*time.Second, func() bool {
			at, err := l.asked(outside, own(i))
			return err == nil && strings.Contains(at, "onprem_build_info")
		})
	}
	if page, err := l.asked(outside, apiVIP); err == nil {
		t.Errorf("the API VIP says metrics: %.80s", page)
	}
	dir := t.TempDir()
	set, err := monitoring.Assets(l.plan)
	if err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(dir, monitoring.RulesFile)
	for _, f := range set.Files() {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.recorded(rules, holder)
	l.costs(holder)
	l.lost(observer)
}

// number is a sample of what a node says; ok is false where it says none.
func (l *lan) number(n *node, series string) (value float64, ok bool) {
	page, err := l.asked(n.Host, "127.0.0.1")
	_, after, ok := strings.Cut(page, "\n"+series+" ")
	if err != nil || !ok {
		return 0, false
	}
	_, err = fmt.Sscanf(after, "%g", &value)
	return value, err == nil
}

// lost has the holder lose its power: who stands by has heard it until then, and says how long
// nobody was heard.
func (l *lan) lost(observer *lab.Observer) {
	l.t.Helper()
	const about = `{vip="192.0.2.5",kind="api"}`
	var holder, other *node
	l.until("one holds the VIP and the others hear it", 30*time.Second, func() bool {
		holders := observer.Holders()
		for _, n := range l.nodes {
			if len(holders) == 1 && n.Host.Name == holders[0] {
				holder = n
			} else if age, ok := l.number(n, "onprem_vip_advert_age_seconds"+about); len(holders) != 1 || !ok || age > 1 {
				return false
			} else {
				other = n
			}
		}
		return holder != nil
	})
	if _, ok := l.number(holder, "onprem_vip_advert_age_seconds"+about); ok {
		l.t.Error("the holder hears itself")
	}
	before, _ := l.number(other, "onprem_vip_gaps_total"+about)
	if err := holder.Off(); err != nil {
		l.t.Fatal(err)
	}
	l.until("a gap is counted", 20*time.Second, func() bool {
		now, ok := l.number(other, "onprem_vip_gaps_total"+about)
		return ok && now > before
	})
	gap, ok := l.number(other, "onprem_vip_gap_last_seconds"+about)
	if !ok || gap < 0.2 || gap > 2 {
		l.t.Errorf("the holder was lost, and nobody was heard for %v s, %v; want some 0.35", gap, ok)
	}
	late, _ := l.number(other, "onprem_vip_advert_jitter_seconds"+about)
	l.t.Logf("the holder was lost: nobody was heard for %.0f ms; adverts were %.1f ms late at most", 1000*gap, 1000*late)
}

// recorded plays what was recorded to a Prometheus.
func (l *lan) recorded(rules string, holder int) {
	l.t.Helper()
	const pace = 30 * time.Second
	var r scrape.Recording
	l.record(&r, 5)
	if err := r.Firing(l.t, rules, pace, 4*pace, nil); err != nil {
		l.t.Errorf("all is well: %v", err)
	}
	if err := l.nodes[holder].Host.Cut(lab.Both); err != nil {
		l.t.Fatal(err)
	}
	l.record(&r, 10)
	want := []string{"OnpremVIPTwoHolders"}
	for _, n := range l.nodes { // on a busy machine the others may have waited for longer than a lost holder costs, and then that is said as well
		if gap, ok := l.number(n, `onprem_vip_gap_last_seconds{vip="192.0.2.5",kind="api"}`); ok && gap > 0.6 {
			want = []string{"OnpremVIPGap", "OnpremVIPTwoHolders"}
		}
	}
	if err := r.Firing(l.t, rules, pace, 14*pace, want); err != nil {
		l.t.Errorf("the holder is cut off: %v", err)
	}
	if err := l.nodes[holder].Host.Reconnect(); err != nil {
		l.t.Fatal(err)
	}
}

// costs says what it takes a monitor to be scraped: a minute of scrapes, one every 15 s for a
// quarter of an hour.
func (l *lan) costs(i int) {
	l.t.Helper()
	const scrapes = 60
	n := l.nodes[i]
	used := func() (cpu float64) {
		page, err := l.asked(n.Host, "127.0.0.1")
		if err != nil {
			l.t.Fatal(err)
		}
		_, after, _ := strings.Cut(page, "\nprocess_cpu_seconds_total ")
		_, _ = fmt.Sscanf(after, "%g", &cpu)
		return cpu
	}
	const rest = 15 * time.Second
	resident := n.resident("keepalived-monitor")
	before, begun := used(), time.Now()
	time.Sleep(rest) // the time that is measured
	idle := (used() - before) / time.Since(begun).Seconds()
	before, begun = used(), time.Now()
	for range scrapes {
		used()
		time.Sleep(rest / scrapes)
	}
	busy := (used() - before) / time.Since(begun).Seconds()
	each := (busy - idle) * time.Since(begun).Seconds() / scrapes
	l.t.Logf("a monitor at rest takes %.2f %% of a core; a scrape takes %.2f ms more; it had %s in memory before %d scrapes and %s after", 100*idle, 1000*each, resident, scrapes, n.resident("keepalived-monitor"))
}
