package life

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

const (
	every = 10 * time.Millisecond // between two starts of impatient clients
	// Patience is how long a client of the measured kind waits for its whole answer.
	Patience = 200 * time.Millisecond
	// Watchers is how many clients hold a watch.
	Watchers = 50
	beat     = 100 * time.Millisecond // between two events of a watch
)

// Crowd is everybody who uses the API at its VIP, from the neighbour: one new connection every 10 ms, and fifty watches. The impatient ask for
// what an API server answers as long as it serves: /readyz says 500 before that ends.
type Crowd struct {
	Probes  *traffic.Prober
	Watches *traffic.Watches

	patience time.Duration
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// Attend starts the clients and waits until all watches run. patience is what one who opens a connection has: Patience, or more where the
// machine does other things beside.
func (l *Life) Attend(ctx context.Context, patience time.Duration) (*Crowd, error) {
	config, err := l.ClientConfig()
	if err != nil {
		return nil, err
	}
	changing, cancel := context.WithCancel(ctx)
	vip := "https://" + chain.APIVIP.String() + ":6443"
	c := &Crowd{
		patience: patience, stop: cancel,
		Probes:  traffic.Probe(l.Neighbour.Dial, vip+"/version", config, every, patience),
		Watches: traffic.Watch(Watchers, l.Neighbour.Dial, vip+"/api/v1/namespaces/default/configmaps?watch=true", config),
	}
	c.done.Go(func() { l.change(changing) })
	err = until(ctx, time.Minute, func() error {
		if n := c.Watches.Running(); n < Watchers {
			return fmt.Errorf("%d of %d watches run", n, Watchers)
		}
		return nil
	})
	if err != nil {
		c.Leave()
		return nil, err
	}
	return c, nil
}

// Leave sends the clients home.
func (c *Crowd) Leave() {
	c.stop()
	c.Probes.Stop()
	c.Watches.Stop()
	c.done.Wait()
}

// change changes one small object again and again, by the API server of a node that takes it: a watch must never be silent for want of news.
func (l *Life) change(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	writer := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for range l.Nodes {
			if write(ctx, l.Nodes[writer].API, n) == nil {
				break
			}
			writer = (writer + 1) % len(l.Nodes)
		}
	}
}

// write writes a number into the watched object, which it makes the first time.
func write(ctx context.Context, s *kubeapi.Server, n int) error {
	const path = "/api/v1/namespaces/default/configmaps"
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	object := map[string]any{"metadata": map[string]any{"name": "beat"}, "data": map[string]string{"n": fmt.Sprint(n)}}
	err := s.Admin().Do(ctx, http.MethodPatch, path+"/beat", object, nil)
	var refused kubeapi.Refusal
	if errors.As(err, &refused) && refused.Code == http.StatusNotFound {
		return s.Admin().Do(ctx, http.MethodPost, path, object, nil)
	}
	return err
}

// until calls f until it has no error.
func until(ctx context.Context, within time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
