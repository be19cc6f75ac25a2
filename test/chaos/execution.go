package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// execution is one schedule in the lab.
type execution struct {
	*Stage
	watch  *watch
	begin  time.Time
	record Record

	running sync.WaitGroup
	mu      sync.Mutex // of what follows
	busy    map[string]map[class]bool
	boots   map[string]int
	errs    []error // of what should have been undone
	nodes   map[string]*sync.Mutex
}

// Execute runs a schedule, from a cluster at rest to a cluster at rest. An error says that it could
// not be played, or that the cluster does not come to rest; the record is whole as far as it goes.
func (s *Stage) Execute(ctx context.Context, schedule schedule.Schedule) (Record, error) {
	p := &execution{Stage: s, busy: map[string]map[class]bool{}, boots: map[string]int{}, nodes: map[string]*sync.Mutex{}}
	for _, name := range s.Names() {
		p.busy[name], p.nodes[name] = map[class]bool{}, &sync.Mutex{}
	}
	p.record = Record{Schedule: schedule, Nodes: s.Names(), Closed: s.open != nil}
	var err error
	if p.watch, err = s.observe(); err != nil {
		return p.record, err
	}
	if err := s.rest(ctx, p.watch); err != nil {
		return p.record, errors.Join(fmt.Errorf("before it begins: %w", err), p.watch.stop(&p.record))
	}
	if err := s.greet(ctx); err != nil {
		return p.record, errors.Join(err, p.watch.stop(&p.record))
	}
	p.begin = time.Now()
	p.record.Begin = p.begin
	for _, f := range schedule.Faults {
		pause(ctx, p.begin.Add(f.At))
		p.inject(ctx, f)
	}
	p.running.Wait()
	pause(ctx, p.begin.Add(schedule.Length))
	if err := s.rest(ctx, p.watch); err != nil {
		p.errs = append(p.errs, fmt.Errorf("after it has ended: %w", err))
	}
	pause(ctx, p.healed().Add(min(s.Bounds.Astray, 2*secondBurst)+2*blur)) // not for a minute
	if s.probes != nil {
		p.record.Requests = s.probes.So().Since(p.begin)
		s.probes.Forget()
	}
	return p.record, errors.Join(append(p.errs, p.watch.stop(&p.record), ctx.Err())...)
}

func pause(ctx context.Context, until time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(until)):
	}
}

func (p *execution) now() time.Duration { return time.Since(p.begin) }

// healed is when the last fault had been undone.
func (p *execution) healed() time.Time {
	last := p.begin
	for _, a := range p.record.Acts {
		if at := p.begin.Add(a.Ended); at.After(last) {
			last = at
		}
	}
	return last
}

// target finds the host that a fault is about: of several holders the first one.
func (p *execution) target(f schedule.Fault) (string, error) {
	if f.Host != schedule.Holder {
		for _, n := range p.Nodes {
			if n.Name == f.Host {
				return f.Host, nil
			}
		}
		return "", fmt.Errorf("there is no %s", f.Host)
	}
	for _, host := range p.watch.vips[0].observer.Holders() {
		if host != p.Bootstrap.Name {
			return host, nil
		}
	}
	return "", errors.New("no host holds the VIP")
}

// inject does one fault, and has it undone in its time.
func (p *execution) inject(ctx context.Context, f schedule.Fault) {
	act := Act{Fault: f, Began: p.now()}
	host, err := p.target(f)
	v, known := verbs[f.Kind]
	switch {
	case err != nil:
		act.Skipped = err.Error()
	case !known:
		act.Skipped = "this lab cannot do that"
	case !p.take(host, v.class):
		act.Skipped = host + " has a fault of that sort"
	}
	if act.Skipped != "" {
		act.Ended = act.Began
		p.note(act)
		return
	}
	act.Host = host
	p.running.Go(func() {
		defer p.free(host, v.class)
		if err := p.run(ctx, v, &act); err != nil {
			p.mu.Lock()
			p.errs = append(p.errs, fmt.Errorf("%v: %w", act.Fault, err))
			p.mu.Unlock()
		}
		act.Ended = p.now()
		p.note(act)
	})
}

func (p *execution) note(a Act) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record.Acts = append(p.record.Acts, a)
}

func (p *execution) take(host string, c class) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := p.busy[host]
	if busy[c] || busy[power] {
		return false
	}
	busy[c] = true
	if c == power {
		p.boots[host]++
	}
	return true
}

func (p *execution) free(host string, c class) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy[host], c)
}

func (p *execution) boot(host string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.boots[host]
}

// run does a fault, waits, and undoes it. What a boot has undone is let be.
func (p *execution) run(ctx context.Context, v verb, act *Act) error {
	n, boot := p.node(act.Host), p.boot(act.Host)
	inner, err := p.alone(n, v.class, func() (func() error, error) { return v.do(ctx, n, act.Fault) })
	if err != nil {
		if v.class == power {
			return err
		}
		act.Skipped = err.Error() // such as for a container that is about to be started again
		return nil
	}
	if v.undo == nil {
		return nil
	}
	p.last(ctx, act.For)
	if inner != nil {
		err = inner()
	}
	if p.boot(act.Host) != boot && (v.class == daemon || v.class == server) {
		return err
	}
	_, undone := p.alone(n, v.class, func() (func() error, error) { return nil, v.undo(ctx, n) })
	if p.boot(act.Host) != boot && v.class != power {
		undone = nil // the power went meanwhile
	}
	if v.class == server && undone == nil && p.boot(act.Host) == boot {
		if undone = n.API.Ready(ctx); p.boot(act.Host) != boot {
			undone = nil
		}
	}
	return errors.Join(err, undone)
}

// last waits until a fault is to be undone: one without a time of its own, at the end of the
// schedule.
func (p *execution) last(ctx context.Context, d time.Duration) {
	if d > 0 {
		pause(ctx, time.Now().Add(d))
		return
	}
	pause(ctx, p.begin.Add(p.record.Schedule.Length))
}

// alone keeps what is done to a node's API server apart from what is done to its power.
func (p *execution) alone(n *life.Node, c class, f func() (func() error, error)) (func() error, error) {
	if c == server || c == power {
		p.nodes[n.Name].Lock()
		defer p.nodes[n.Name].Unlock()
	}
	return f()
}
