package life

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// logs is the whole output of a node's containers.
func (n *Node) logs() map[string]string {
	all := map[string]string{}
	for _, c := range n.Containers() {
		all[c] = n.Log(c)
	}
	return all
}

// calm holds that after what began before has its last word, as a server of HAProxy's that is new
// for a minute, no process logs anything for so long in which nothing happens.
func (s *stage) calm(t *testing.T, during time.Duration) {
	t.Helper()
	before := map[*Node]map[string]string{}
	since, last := time.Now(), ""
	err := Until(t.Context(), 4*during, func() error {
		for _, n := range s.all() {
			now := n.logs()
			if !maps.Equal(now, before[n]) {
				since, last = time.Now(), news(n, before[n], now)
			}
			before[n] = now
		}
		if rest := time.Since(since); rest < during {
			return fmt.Errorf("nobody has said anything for %v; the last was %s", rest.Round(time.Second), last)
		}
		return nil
	})
	if err != nil {
		t.Errorf("while nothing happens: %v", err)
	}
}

// news is what was added to a node's logs.
func news(n *Node, before, now map[string]string) string {
	var text strings.Builder
	for c, log := range now {
		if added := strings.TrimPrefix(log, before[c]); before != nil && added != "" {
			fmt.Fprintf(&text, "%s of %s: %s", c, n.Name, added)
		}
	}
	return text.String()
}

// keepLogs keeps the output of all containers for a reader.
func (s *stage) keepLogs() {
	keep := os.Getenv(kept)
	if keep == "" {
		return
	}
	for _, n := range s.all() {
		for c, log := range n.logs() {
			s.must(os.WriteFile(filepath.Join(keep, n.Name+"_"+strings.ReplaceAll(c, "/", "_")+".log"), []byte(log), 0o644))
		}
	}
}

// TestLongLogs is the life of a cluster of three minutes as its logs show it: joins, calm, a crash
// of HAProxy, an outage of the API, a loss of power.
func TestLongLogs(t *testing.T) {
	needLong(t)
	s := alone(t, Options{Timing: "lan", Masters: 3, Workers: 1})
	defer s.keepLogs()
	s.calm(t, time.Minute)

	s.must(s.holder().KillHAProxy())
	s.must(Until(t.Context(), time.Minute, func() error { return s.Settled(t.Context()) }))
	s.must(s.held(t.Context()))

	for _, n := range s.Nodes {
		s.must(n.API.Kill())
	}
	time.Sleep(15 * time.Second) // the outage lasts
	for _, n := range s.Nodes {
		s.must(n.API.Start(t.Context()))
	}
	s.must(s.Settled(t.Context()))
	s.must(s.held(t.Context()))

	dead := s.holder()
	s.must(dead.CutPower())
	s.must(Until(t.Context(), time.Minute, func() error { return s.another(dead.Name) }))
	time.Sleep(5 * time.Second) // the logs of a rest without the node
	s.must(dead.Boot(t.Context()))
	s.must(Until(t.Context(), time.Minute, dead.Candidate))
	time.Sleep(5 * time.Second) // the logs of a rest with it
}
