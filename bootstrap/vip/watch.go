package vip

import (
	"context"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// Prober probes the services that need the VIP here. All calls bound their time themselves, end
// with their context, and may be made side by side.
type Prober interface {
	API(ctx context.Context) health.API
	Ironic(ctx context.Context) bool
	Heir(ctx context.Context) release.Heir
}

// Watch runs the release logic in real time and keeps its last verdict.
type Watch struct {
	prober   Prober
	remember func(release.Memory) error // keeps what later starts of this program must know
	state    release.State              // for Run alone
	memory   loop.Kept[release.Memory]  // of state
	verdict  *loop.Latest[release.Verdict]
}

// NewWatch makes a watch that continues from a state.
func NewWatch(
	state release.State, prober Prober, remember func(release.Memory) error, wake chan<- struct{},
) *Watch {
	return &Watch{
		prober: prober, remember: remember, state: state,
		verdict: loop.NewLatest[release.Verdict](wake),
		memory: loop.NewKept("remember what the API was", state.Memory(),
			func(a, b release.Memory) bool { return a == b }),
	}
}

// Verdict is the last verdict. It waits for the first: neither holding nor releasing is right
// before.
func (w *Watch) Verdict(ctx context.Context) (release.Verdict, error) { return w.verdict.Get(ctx) }

// Run probes at the pace of health.BootstrapAPI until the context ends. It fails if it cannot keep
// its memory, and can then be run again.
func (w *Watch) Run(ctx context.Context) error {
	for range loop.Every(ctx, health.BootstrapAPI().Interval) {
		found := w.probe(ctx)
		if ctx.Err() != nil {
			break // a probe that was cut short proves nothing
		}
		next, verdict := w.state.Next(found)
		w.verdict.Set(verdict)
		w.state = next
		if err := w.memory.Keep(next.Memory(), w.remember); err != nil {
			return err
		}
	}
	return nil
}

// probe probes the API, and what else the decision depends on. If the VIP is released, only a
// ready API brings it back; after a hang the decision also depends on whether a node is ready.
func (w *Watch) probe(ctx context.Context) (o release.Observation) {
	begin := time.Now()
	if w.state.Released() {
		o.API = w.prober.API(ctx)
		if o.Took = time.Since(begin); o.API == health.Ready && w.state.Hung() {
			o.Heir = w.prober.Heir(ctx)
		}
	} else {
		o = w.probeAll(ctx)
	}
	o.At = time.Now()
	return o
}

// probeAll probes the API. A ready one answers in milliseconds, and nothing else is probed. If the
// answer is late or bad, Ironic is probed beside it: two servers that hang then cost one timeout,
// and a ready API never waits for an Ironic that hangs. If it is late, the control plane nodes are
// probed too: one that is ready need not wait for that timeout.
func (w *Watch) probeAll(ctx context.Context) (o release.Observation) {
	var asked sync.WaitGroup
	defer asked.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin, api, ironic := time.Now(), make(chan health.API, 1), make(chan bool, 1)
	asked.Go(func() { api <- w.prober.API(ctx) })
	answered := false
	if after := w.state.IronicAfter(); after > 0 {
		select {
		case o.API = <-api:
			answered = true
		case <-time.After(after):
		}
	}
	if o.API == health.Ready {
		return o
	}
	asked.Go(func() { ironic <- w.prober.Ironic(ctx) })
	heir := make(chan release.Heir, 1)
	if !answered {
		asked.Go(func() { heir <- w.prober.Heir(ctx) })
		if o = w.awaitLate(begin, api, ironic, heir); o.API == health.Ready || o.Hangs {
			return o
		}
	}
	if o.API == health.ShuttingDown {
		o.Heir = w.prober.Heir(ctx)
	}
	o.Ironic = <-ironic
	return o
}

// awaitLate waits for the answer of an API that was asked at begin and is late, or until the probe
// need not wait for it. It leaves Ironic's answer in its channel.
func (w *Watch) awaitLate(
	begin time.Time, api <-chan health.API, ironic chan bool, heir <-chan release.Heir,
) release.Observation {
	answer, serves, ready := (<-chan bool)(ironic), false, release.NoHeir
	for {
		found, wait := w.state.JudgeLate(time.Since(begin), ready, serves)
		if wait == 0 {
			select { // this machine may have been kept from reading an answer that is there
			case answer := <-api:
				return release.Observation{API: answer}
			default:
				return found
			}
		}
		select {
		case found := <-api:
			return release.Observation{API: found}
		case serves = <-answer:
			ironic <- serves
			answer = nil
		case ready = <-heir:
		case <-time.After(wait):
		}
	}
}
