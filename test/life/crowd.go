package life

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
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

// Crowd is all clients of the API at its VIP, from the neighbour: one new connection every 10
// ms, and fifty watches. The impatient ask for what an API server answers as long as it serves:
// /readyz answers 500 before that ends.
type Crowd struct {
	Probes  *traffic.Prober
	Patient *traffic.Prober // nil without patient clients
	Watches *traffic.Watches

	patience time.Duration
	stop     context.CancelFunc
	done     sync.WaitGroup
}

// vip is where the crowd finds the API.
var vip = "https://" + chain.APIVIP.String() + ":6443"

// Attend starts the clients and waits until all watches run. patience is what one who opens a
// connection has: Patience, or more where the machine does other things beside.
func (l *Life) Attend(ctx context.Context, patience time.Duration) (*Crowd, error) {
	return l.attend(ctx, traffic.Ask{URL: vip + "/version", Every: every, Patience: patience}, 0)
}

// AttendMeasured starts the clients by which figures are made, by TLS 1.3 alone: the impatient ask
// for /readyz, where 500 is the answer of a server that serves and is going to end; and beside them
// one every 100 ms has 12 s.
func (l *Life) AttendMeasured(ctx context.Context) (*Crowd, error) {
	return l.attend(ctx, traffic.Ask{URL: vip + "/readyz", Every: every, Patience: Patience, Good: []int{http.StatusOK, http.StatusInternalServerError}}, 12*time.Second)
}

// Control starts clients of the same kind beside a crowd, a fifth as many, which ask the API server
// of one node by its own address. What they too wait too long for is no fault of the way by the
// VIP.
func (l *Life) Control(n *Node) (*traffic.Prober, error) {
	config, err := l.ClientConfig()
	if err != nil {
		return nil, err
	}
	config.MinVersion = tls.VersionTLS13
	url := "https://" + netip.AddrPortFrom(n.IP, 6443).String() + "/readyz"
	return traffic.ProbeFor(l.Neighbour.Dial, traffic.Ask{URL: url, Config: config, Every: 5 * every, Patience: Patience,
		Good: []int{http.StatusOK, http.StatusInternalServerError}}), nil
}

func (l *Life) attend(ctx context.Context, ask traffic.Ask, patient time.Duration) (*Crowd, error) {
	config, err := l.ClientConfig()
	if err != nil {
		return nil, err
	}
	changing, cancel := context.WithCancel(ctx)
	c := &Crowd{patience: ask.Patience, stop: cancel}
	if patient > 0 {
		config.MinVersion = tls.VersionTLS13
		slow := ask
		slow.Config, slow.Every, slow.Patience = config, 10*every, patient
		c.Patient = traffic.ProbeFor(l.Neighbour.Dial, slow)
	}
	ask.Config = config
	c.Probes = traffic.ProbeFor(l.Neighbour.Dial, ask)
	c.Watches = traffic.Watch(Watchers, l.Neighbour.Dial, vip+"/api/v1/namespaces/default/configmaps?watch=true", config)
	c.done.Go(func() { l.change(changing) })
	if err := Until(ctx, time.Minute, c.Watching); err != nil {
		c.Leave()
		return nil, err
	}
	return c, nil
}

// Watching reports why not all watches run.
func (c *Crowd) Watching() error {
	if n := c.Watches.Running(); n < Watchers {
		return fmt.Errorf("%d of %d watches run", n, Watchers)
	}
	return nil
}

// Leave sends the clients home.
func (c *Crowd) Leave() {
	c.stop()
	c.Probes.Stop()
	if c.Patient != nil {
		c.Patient.Stop()
	}
	c.Watches.Stop()
	c.done.Wait()
}

// change changes one small object again and again, by the API server of a node that takes it: a
// watch must never be silent for want of news.
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

// Until calls f until it has no error.
func Until(ctx context.Context, within time.Duration, f func() error) error {
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
