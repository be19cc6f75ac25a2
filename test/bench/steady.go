package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// cost is what a node that holds the VIP costs while nothing happens.
type cost struct {
	Profile   string         `json:"profile"`
	Scenario  string         `json:"scenario"`
	Seconds   float64        `json:"seconds"`
	Nodes     int            `json:"nodes"`
	VIP       float64        `json:"keepalived_cpu_percent"` // of one core: keepalived, its supervisor and its monitor
	All       float64        `json:"cpu_percent"`            // of all our containers
	Execs     int            `json:"execs"`
	Lost      int            `json:"execs_lost,omitempty"` // times that reports of processes were lost
	Adverts   float64        `json:"adverts_per_second"`   // of the holder, a packet to each peer
	Bytes     float64        `json:"advert_bytes_per_second"`
	Requests  map[string]int `json:"api_requests"`
	Sent      int64          `json:"api_sent_bytes"`
	Read      int64          `json:"api_read_bytes"`
	Processes []use          `json:"processes"`
	// Own is the memory of our monitors and supervisors together in kB, pages that they share once.
	Own int `json:"own_kb"`
}

// calm is how long a cluster has after its start until nothing happens any more: so long does a
// node hold the VIP before it knows that no bootstrap machine advertises.
const calm = 70 * time.Second

// steadyAll measures it for every profile.
func (r *run) steadyAll(ctx context.Context) error {
	var errs []error
	for _, profile := range r.profiles {
		found, err := steadyOf(ctx, profile, r.steady)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", profile, steady, err))
			continue
		}
		r.costs = append(r.costs, found)
		r.write(found)
	}
	return errors.Join(errs...)
}

// cluster is a cluster without users, which records the clients of its API.
func cluster(ctx context.Context, profile string, workers int) (*life.Life, error) {
	l, err := life.Open(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)), life.Options{Timing: profile, Workers: workers, Audit: true})
	if err != nil {
		return nil, err
	}
	if err := l.Start(ctx); err != nil {
		return nil, errors.Join(err, l.Close(context.WithoutCancel(ctx)))
	}
	return l, nil
}

func steadyOf(ctx context.Context, profile string, during time.Duration) (c cost, err error) {
	l, err := cluster(ctx, profile, 0)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, l.Close(context.WithoutCancel(ctx))) }()
	if err := pause(ctx, calm); err != nil {
		return c, err
	}
	o, err := l.Observe()
	if err != nil {
		return c, err
	}
	s := &stage{Life: l, observer: o}
	defer o.Stop()
	if err := life.Until(ctx, patience, func() error { _, err := s.holder(); return err }); err != nil {
		return c, err
	}
	holder, err := s.holder()
	if err != nil {
		return c, err
	}
	c = cost{Profile: profile, Scenario: steady, Nodes: len(l.Nodes)}
	return c, c.measure(ctx, l, holder, func() error {
		started, err := holder.Started(during)
		c.Execs, c.Lost = len(started.Programs), started.Lost
		return err
	})
}

// measure reads a node before and after something slow.
func (c *cost) measure(ctx context.Context, l *life.Life, n *life.Node, wait func() error) error {
	adverts, err := l.Adverts()
	if err != nil {
		return err
	}
	spoken := func() []lab.Advert { return adverts.Stop() }
	before, errUses := uses(n)
	asks, errAsks := asked(l, n)
	lines, errLines := carried(ctx, l, n)
	if err := errors.Join(errUses, errAsks, errLines); err != nil {
		spoken()
		return err
	}
	begin := time.Now()
	err = wait()
	c.Seconds = time.Since(begin).Seconds()
	c.count(spoken(), n)
	if err != nil {
		return err
	}
	after, errUses := uses(n)
	asksNow, errAsks := asked(l, n)
	linesNow, errLines := carried(ctx, l, n)
	if err := errors.Join(errUses, errAsks, errLines); err != nil {
		return err
	}
	if err := c.spend(before, after); err != nil {
		return err
	}
	c.Requests = more(asks, asksNow)
	b := since(lines, linesNow)
	c.Sent, c.Read = b.sent, b.read
	return nil
}

// count counts a node's adverts.
func (c *cost) count(all []lab.Advert, n *life.Node) {
	for _, a := range all {
		if a.From == n.IP {
			c.Adverts += 1 / c.Seconds
			c.Bytes += float64(a.Bytes) / c.Seconds
		}
	}
}

// spend is what each process had in the time between.
func (c *cost) spend(before, after map[int]use) (err error) {
	var own []int
	for pid, now := range after {
		if now.Program == "onprem-infra" || now.Program == "onprem-supervise" {
			own = append(own, pid)
		}
		now.CPU -= before[pid].CPU
		c.Processes = append(c.Processes, now)
		share := 100 * now.CPU / c.Seconds
		c.All += share
		if now.Container == life.Keepalived || now.Container == life.KeepalivedMonitor {
			c.VIP += share
		}
	}
	slices.SortFunc(c.Processes, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Program, b.Program), cmp.Compare(b.CPU, a.CPU))
	})
	c.Own, err = figures.Together(own...)
	return err
}

// started is how many processes were started: the least if reports of them were lost.
func (c cost) started() string {
	if c.Lost > 0 {
		return fmt.Sprintf("%d or more", c.Execs)
	}
	return fmt.Sprint(c.Execs)
}

// costTable has what a holder costs, and each of its processes.
func costTable(all []cost) string {
	sums := [][]string{{"profile", "keepalived %", "all %", "own MB", "started", "adverts/s", "bytes/s", "API requests", "sent", "read"}}
	each := [][]string{{"profile", "container", "program", "CPU s", "RSS kB"}}
	for _, c := range all {
		sums = append(sums, []string{c.Profile, fmt.Sprintf("%.2f", c.VIP), fmt.Sprintf("%.2f", c.All), fmt.Sprintf("%.1f", float64(c.Own)/1024), c.started(), fmt.Sprintf("%.1f", c.Adverts),
			fmt.Sprintf("%.0f", c.Bytes), fmt.Sprint(c.Requests), fmt.Sprint(c.Sent), fmt.Sprint(c.Read)})
		for _, p := range c.Processes {
			each = append(each, []string{c.Profile, p.Container, p.Program, fmt.Sprintf("%.2f", p.CPU), fmt.Sprint(p.RSS)})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return table(fmt.Sprintf("The holder of the VIP in %.0f s in which nothing happens; keepalived: with its supervisor and its monitor, of one core; own: our monitors and supervisors, pages that they share once", all[0].Seconds), sums) +
		"\n" + table("Its processes in that time", each)
}
