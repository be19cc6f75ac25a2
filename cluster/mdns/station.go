package mdns

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// station answers on one interface until it is stopped, in a goroutine of its own: answers cannot
// wait for the room's next round.
type station struct {
	listener  *listener
	jitter    wire.Jitter
	wake      func()
	wanted    chan Desired
	listeners chan *listener // to use from now on
	received  chan wire.Packet
	failed    chan error
	quit      chan bool // whether to send a goodbye
	done      chan struct{}
	status    status
}

// listener is a line that the station receives packets from.
type listener struct {
	Line
	over chan struct{} // closed when the station no longer receives
}

func start(ctx context.Context, host Host, w Where, jitter wire.Jitter) (*station, error) {
	s := &station{
		jitter: jitter, wake: host.Wake, received: make(chan wire.Packet, 64),
		wanted: make(chan Desired), listeners: make(chan *listener), failed: make(chan error),
		quit: make(chan bool), done: make(chan struct{}),
	}
	var err error
	if s.listener, err = s.open(ctx, host, w); err != nil {
		return nil, err
	}
	go s.run()
	return s, nil
}

func (s *station) open(ctx context.Context, host Host, w Where) (*listener, error) {
	e := &listener{over: make(chan struct{})}
	receive := func(p wire.Packet) { hand(s.received, p, e.over) }
	failed := func(err error) { hand(s.failed, err, e.over) }
	var err error
	e.Line, err = host.Open(ctx, w, receive, failed)
	return e, err
}

// hand gives the station a packet or an error while it receives.
func hand[T any](to chan<- T, what T, over <-chan struct{}) {
	select {
	case to <- what:
	case <-over:
	}
}

// close ends the sockets. It first releases goroutines that wait for the station.
func (e *listener) close() {
	close(e.over)
	e.Close()
}

// reopen gives the station other sockets, where it repeats its announcements.
func (s *station) reopen(ctx context.Context, host Host, w Where) error {
	e, err := s.open(ctx, host, w)
	if err != nil {
		return err
	}
	select {
	case s.listeners <- e:
	case <-s.done:
		e.close()
	}
	return nil
}

// set sets what the station announces.
func (s *station) set(d Desired) {
	select {
	case s.wanted <- d:
	case <-s.done:
	}
}

// stop ends the station, with or without a goodbye, and waits for it.
func (s *station) stop(goodbye bool) {
	select {
	case s.quit <- goodbye:
	case <-s.done:
	}
	<-s.done
}

func (s *station) run() {
	defer close(s.done)
	defer func() { s.listener.close() }()
	r := announce.New(nil, s.jitter)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if at, ok := r.Next(); ok {
			timer.Reset(time.Until(at))
		} else {
			timer.Reset(time.Hour)
		}
		select {
		case d := <-s.wanted:
			r.Set(time.Now(), d.Link, d.Hosts)
		case e := <-s.listeners:
			s.listener.close()
			s.listener = e
			r.Again(time.Now())
		case p := <-s.received:
			r.Receive(time.Now(), p)
		case <-timer.C:
		case err := <-s.failed:
			s.status.end(err)
			s.wake()
			return
		case goodbye := <-s.quit:
			if goodbye {
				_ = s.send(r.Leave()) // without the interface no host would receive it
			}
			return
		}
		if out := r.Tick(time.Now()); s.status.update(r.Claims(), len(out), s.send(out)) {
			s.wake()
		}
	}
}

// send sends all that it can, and returns the first error.
func (s *station) send(out []wire.Outgoing) (first error) {
	for _, o := range out {
		if err := s.listener.Send(o); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// report is what a station reports to its room.
type report struct {
	claims []announce.Claim
	err    error // why the station ended, or could not send the last packet
	over   bool  // it has ended by itself
}

// status is a station's report, for both goroutines.
type status struct {
	mu sync.Mutex
	report
}

// update records the state and reports whether it changed. An error stays until a packet could be
// sent again.
func (t *status) update(claims []announce.Claim, sent int, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sent == 0 {
		err = t.err
	}
	news := !slices.Equal(t.claims, claims) || (err == nil) != (t.err == nil)
	t.claims, t.err = claims, err
	return news
}

func (t *status) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over, t.err = true, err
}

func (t *status) now() report {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.report
}
