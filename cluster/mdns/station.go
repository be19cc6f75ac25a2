package mdns

import (
	"context"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// station speaks on one interface until it is stopped, in a goroutine of its own: answers cannot
// wait for the room's next turn.
type station struct {
	ear    *ear
	jitter wire.Jitter
	wake   func()
	wanted chan Desired
	ears   chan *ear // to listen with from now on
	heard  chan wire.Packet
	deaf   chan error
	quit   chan bool // whether to say goodbye
	done   chan struct{}
	told   said
}

// ear is a line that is listened to.
type ear struct {
	Line
	over chan struct{} // it is not any more
}

func start(ctx context.Context, host Host, w Where, jitter wire.Jitter) (*station, error) {
	s := &station{jitter: jitter, wake: host.Wake, wanted: make(chan Desired), ears: make(chan *ear), heard: make(chan wire.Packet, 64),
		deaf: make(chan error), quit: make(chan bool), done: make(chan struct{})}
	var err error
	if s.ear, err = s.open(ctx, host, w); err != nil {
		return nil, err
	}
	go s.run()
	return s, nil
}

func (s *station) open(ctx context.Context, host Host, w Where) (*ear, error) {
	e := &ear{over: make(chan struct{})}
	var err error
	e.Line, err = host.Open(ctx, w, func(p wire.Packet) { hand(s.heard, p, e.over) }, func(err error) { hand(s.deaf, err, e.over) })
	return e, err
}

// hand gives the station what came in while it listens.
func hand[T any](to chan<- T, what T, over <-chan struct{}) {
	select {
	case to <- what:
	case <-over:
	}
}

// close ends the sockets, which wait until they have been heard.
func (e *ear) close() {
	close(e.over)
	e.Close()
}

// reopen gives the station other sockets. What it has announced it says once more there.
func (s *station) reopen(ctx context.Context, host Host, w Where) error {
	e, err := s.open(ctx, host, w)
	if err != nil {
		return err
	}
	select {
	case s.ears <- e:
	case <-s.done:
		e.close()
	}
	return nil
}

// set gives the station what to announce from now on.
func (s *station) set(d Desired) {
	select {
	case s.wanted <- d:
	case <-s.done:
	}
}

// stop ends the station, which says goodbye when nobody follows it, and waits for that.
func (s *station) stop(goodbye bool) {
	select {
	case s.quit <- goodbye:
	case <-s.done:
	}
	<-s.done
}

func (s *station) run() {
	defer close(s.done)
	defer func() { s.ear.close() }()
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
		case e := <-s.ears:
			s.ear.close()
			s.ear = e
			r.Again(time.Now())
		case p := <-s.heard:
			r.Receive(time.Now(), p)
		case <-timer.C:
		case err := <-s.deaf:
			s.told.end(err)
			s.wake()
			return
		case goodbye := <-s.quit:
			if goodbye {
				_ = s.send(r.Leave()) // where the interface has gone nobody would hear it
			}
			return
		}
		if out := r.Tick(time.Now()); s.told.tell(r.Claims(), len(out), s.send(out)) {
			s.wake()
		}
	}
}

// send sends all that it can, and returns the first error.
func (s *station) send(out []wire.Outgoing) (first error) {
	for _, o := range out {
		if err := s.ear.Send(o); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// tell notes how things stand and says whether that is news. An error stays until something could
// be sent again.
func (t *said) tell(claims []announce.Claim, sent int, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sent == 0 {
		err = t.err
	}
	news := !slices.Equal(t.claims, claims) || (err == nil) != (t.err == nil)
	t.claims, t.err = claims, err
	return news
}

func (t *said) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over, t.err = true, err
}

func (t *said) now() []announce.Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.claims)
}

func (t *said) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

func (t *said) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
