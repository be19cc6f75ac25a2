package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// followers are how many nodes TestLongHerd has, each with the two watches of a worker, over a
// connection of its own.
const followers = 1000

// herd is a line of the table.
type herd struct {
	Pace       string  `json:"pace"`
	Nodes      int     `json:"nodes"`
	OutageRate float64 `json:"outage_connections_per_s"` // over the second half of the outage
	Peak       int     `json:"peak_requests_per_s"`      // after it, at worst
	PeakOpened int     `json:"peak_connections_per_s"`
	Back       float64 `json:"all_back_s"` // since its end
	Lists      int     `json:"lists"`      // after its end
}

// TestLongHerd measures the requests of 1,000 followers to a real API server that was down for a
// minute, with and without Crowd.
func TestLongHerd(t *testing.T) {
	if os.Getenv(long) != "1" {
		t.Skipf("takes minutes: %s=1 asks for it", long)
	}
	lines := map[string]herd{}
	for _, pace := range []string{"constant", "crowd"} {
		t.Run(pace, func(t *testing.T) {
			line := stampede(t, pace)
			text, _ := json.Marshal(line)
			fmt.Println(string(text))
			lines[pace] = line
		})
	}
	before, after := lines["constant"], lines["crowd"]
	if after.OutageRate > before.OutageRate/4 || after.PeakOpened > before.PeakOpened/2 || after.Lists > 0 {
		t.Errorf("a crowd asks as much as before: %+v, %+v", before, after)
	}
}

func stampede(t *testing.T, pace string) herd {
	t.Helper()
	c, s := Local(t, Server{Audit: true})
	apply(t, s, aNode("master-0", "192.0.2.20", map[string]string{label: ""}))
	apply(t, s, Objects(ourPlan)[:5]...)
	line, user := newMeter(t, s.Address.String()), "worker-0"
	dir := t.TempDir()
	credentials := func(i int) string { // each its own, or they would share a connection
		id, err := c.Sign(Node(user))
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := errors.Join(err, os.WriteFile(path, c.Kubeconfig(line.url(), id), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range followers {
		api := kube.NewAPI(credentials(i), slog.New(slog.DiscardHandler))
		if pace == "crowd" {
			api = api.Crowd()
		}
		masters, object := api.ControlPlane(label), api.Object(ours, notice.Candidates)
		running.Go(func() { _ = masters.Run(ctx) })
		running.Go(func() { _ = object.Run(ctx) })
		time.Sleep(10 * time.Millisecond) // nodes are not started together
	}
	count := func(verb string) (n int) {
		for _, r := range requests(t, s, "system:node:"+user) {
			if len(r) > len(verb) && r[:len(verb)] == verb {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(3 * time.Minute); count("watch") < 2*followers; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d watches", count("watch"), 2*followers)
		}
	}
	out := herd{Pace: pace, Nodes: followers}
	watches, lists := count("watch"), count("list")
	line.lead("")
	time.Sleep(30 * time.Second) // the followers reach their pace for a long outage
	tried := line.accepted.Load()
	time.Sleep(30 * time.Second) // the time that is measured
	out.OutageRate = float64(line.accepted.Load()-tried) / 30
	line.lead(s.Address.String())
	began, last, opened := time.Now(), watches+lists, line.accepted.Load()
	inspected := began
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for out.Back == 0 {
		<-tick.C
		now, lines := count("watch"), line.accepted.Load()
		all := now + count("list")
		took := time.Since(inspected).Seconds() // more than a second on a busy machine
		out.Peak, out.PeakOpened = max(out.Peak, int(float64(all-last)/took)), max(out.PeakOpened, int(float64(lines-opened)/took))
		last, opened, inspected = all, lines, time.Now()
		if now-watches >= 2*followers {
			out.Back = time.Since(began).Seconds()
		}
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("%d of %d watches are back", now-watches, 2*followers)
		}
	}
	out.Lists = count("list") - lists
	return out
}
