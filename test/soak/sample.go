package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/nftables"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// sample is how much of one thing there is at one time.
type sample struct {
	At    time.Duration `json:"at_ns"`
	What  string        `json:"what"`  // one of gauges
	Where string        `json:"where"` // a node, and a container and a program of it
	Value int           `json:"value"`
}

// What is sampled, and by how much it may grow: from the highest value of the first third of the
// time to the highest of the last one.
var gauges = []struct {
	what  string
	grows func(before int) int // the most that is allowed afterwards
}{
	{resident, func(before int) int { return before + max(before/5, 4096) }},
	{descriptors, func(before int) int { return before + 8 }},
	{goroutines, func(before int) int { return before + 10 }},
	{rules, func(before int) int { return before + 4 }},
	{journalled, func(before int) int { return max(before, 128) + 16 }},
}

const (
	resident    = "resident memory, kB"
	descriptors = "file descriptors"
	goroutines  = "goroutines"
	rules       = "rules and elements of nftables"
	journalled  = "journal, kB"
)

// sample reads all of it on all nodes, which are at rest.
func (r *run) sample() error {
	at := time.Since(r.begin)
	for _, n := range r.stage.Nodes {
		add := func(what, where string, value int) {
			s := sample{At: at, What: what, Where: strings.TrimSpace(n.Name + " " + where), Value: value}
			r.mu.Lock()
			r.samples = append(r.samples, s)
			r.mu.Unlock()
			r.write(s)
		}
		if err := processes(n, add); err != nil {
			return err
		}
		for name, where := range map[string]string{port.MonitorVIP: life.KeepalivedMonitor, port.MonitorLB: life.HAProxyMonitor} {
			if count, err := routines(n, r.stage.Plan.Ports[name]); err == nil { // it may just have been started again
				add(goroutines, where, count)
			}
		}
		count, err := filtered(n)
		if err != nil {
			return fmt.Errorf("read the packet filter of %s: %w", n.Name, err)
		}
		add(rules, "", count)
		if info, err := os.Stat(filepath.Join(n.Root, journal.Path)); err == nil {
			add(journalled, "", int(info.Size()>>10))
		}
	}
	return nil
}

// processes are the memory and the descriptors of each program; of several that are alike, as of
// HAProxy while old connections end, the largest one's.
func processes(n *life.Node, add func(what, where string, value int)) error {
	type use struct{ resident, open int }
	for _, container := range n.Containers() {
		all, err := n.Processes(container)
		if err != nil {
			return err
		}
		most := map[string]use{}
		for _, p := range all {
			open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID))
			if err != nil {
				continue // it has ended
			}
			u := most[p.Program]
			most[p.Program] = use{max(u.resident, figures.Resident(p.PID)), max(u.open, len(open))}
		}
		for program, u := range most {
			add(resident, container+" "+program, u.resident)
			add(descriptors, container+" "+program, u.open)
		}
	}
	return nil
}

// routines reads a program's metrics.
func routines(n *life.Node, number uint16) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", number), nil)
	if err != nil {
		return 0, err
	}
	client := http.Client{Transport: &http.Transport{DialContext: n.Host.Dial, DisableKeepAlives: true}}
	reply, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("port %d has no number of goroutines", number)
}

// filtered is how many rules, and elements of sets, a node's packet filter has.
func filtered(n *life.Node) (count int, err error) {
	err = n.Host.Do(func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		chains, err := c.ListChains()
		if err != nil {
			return err
		}
		for _, chain := range chains {
			all, err := c.GetRules(chain.Table, chain)
			if err != nil {
				return err
			}
			count += len(all)
		}
		tables, err := c.ListTables()
		if err != nil {
			return err
		}
		for _, table := range tables {
			sets, err := c.GetSets(table)
			if err != nil {
				return err
			}
			for _, set := range sets {
				elements, err := c.GetSetElements(set)
				if err != nil {
					return err
				}
				count += len(elements)
			}
		}
		return nil
	})
	return count, err
}
