// Package query asks a name server so many questions a second, as a crowd of clients does, and
// counts those that a client would call lost.
package query

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Patience is how long the C library's resolver waits before it asks again: an answer that takes
// longer is lost.
const Patience = 5 * time.Second

// sockets is how many clients there are: each has a port of its own.
const sockets = 16

// Question is for a name that exists.
type Question struct {
	Name string
	Type uint16
	Want []string // the right answers: the text of a TXT record, the address of an A record. Any one of them will do
}

// Answer is what became of one question.
type Answer struct {
	Question
	Asked time.Time
	Took  time.Duration // until the answer; Patience or more when there was none
	Rcode int           // -1 when there was no answer
	Text  string        // of the first TXT or A record, empty for another answer
}

// Lost says whether a client lacks what it asked for: there was no answer in time, the server
// failed, or it said something else. That there is no such name, or no such record, is as much of a
// loss: all that are asked for exist.
func (a Answer) Lost() bool {
	return a.Took >= Patience || a.Rcode != dns.RcodeSuccess || !slices.Contains(a.Want, a.Text)
}

// Load is a crowd of clients.
type Load struct {
	questions func(i int) Question
	every     time.Duration
	begun     time.Time
	conns     []net.Conn
	stop      chan struct{}
	asking    sync.WaitGroup
	receiving sync.WaitGroup

	mu      sync.Mutex
	ended   time.Time // zero while it asks
	answers []Answer
	idle    []time.Time             // when one beside it ran that keeps the same times and does nothing
	open    [sockets]map[uint16]int // by ID: index in answers
	err     error
}

// Start asks the server at address, from host, perSecond questions each second until Stop.
// questions gives the i-th one.
func Start(host *lab.Host, address string, perSecond int, questions func(i int) Question) (*Load, error) {
	l := &Load{questions: questions, every: time.Second / time.Duration(perSecond), begun: time.Now(), stop: make(chan struct{})}
	for i := range sockets {
		conn, err := host.Dial(context.Background(), "udp", address)
		if err != nil {
			l.close()
			return nil, err
		}
		l.conns = append(l.conns, conn)
		l.open[i] = map[uint16]int{}
	}
	for i := range l.conns {
		l.receiving.Go(func() { l.receive(i) })
	}
	l.asking.Go(func() { l.pace(l.send) })
	l.asking.Go(func() {
		l.pace(func(int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.idle = append(l.idle, time.Now())
		})
	})
	return l, nil
}

// pace calls f for every question whose time comes before Stop, also for those whose time has
// passed meanwhile. It makes up for lost time at four times the pace and not all at once, which
// would be a flood that servers may drop.
func (l *Load) pace(f func(n int)) {
	for n := 0; ; n++ {
		due := l.begun.Add(time.Duration(n) * l.every)
		select {
		case <-l.stop:
			if due.After(l.ended) {
				return
			}
			time.Sleep(l.every / 4)
		case <-time.After(max(time.Until(due), l.every/4)):
		}
		f(n)
	}
}

func (l *Load) send(n int) {
	question := l.questions(n)
	query := new(dns.Msg).SetQuestion(dns.Fqdn(question.Name), question.Type)
	query.Id = uint16(n / sockets)
	packet, err := query.Pack()
	l.mu.Lock()
	l.answers = append(l.answers, Answer{Question: question, Asked: time.Now(), Took: Patience, Rcode: -1})
	l.open[n%sockets][query.Id] = n
	l.err = errors.Join(l.err, err)
	l.mu.Unlock()
	_, _ = l.conns[n%sockets].Write(packet) // what the network refuses stays unanswered, and so is lost
}

// receive takes the answers that come to one client.
func (l *Load) receive(i int) {
	buf := make([]byte, dns.MaxMsgSize)
	for {
		n, err := l.conns[i].Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		at, reply := time.Now(), new(dns.Msg)
		if err != nil || reply.Unpack(buf[:n]) != nil {
			continue // a port that nobody listens on for a moment: the question stays unanswered
		}
		l.mu.Lock()
		if k, ok := l.open[i][reply.Id]; ok {
			delete(l.open[i], reply.Id)
			a := &l.answers[k]
			a.Took, a.Rcode, a.Text = at.Sub(a.Asked), reply.Rcode, text(reply)
		}
		l.mu.Unlock()
	}
}

// text is the first record of an answer that has one of a known kind.
func text(reply *dns.Msg) string {
	for _, rr := range reply.Answer {
		switch rr := rr.(type) {
		case *dns.TXT:
			return rr.Txt[0]
		case *dns.A:
			return rr.A.String()
		}
	}
	return ""
}

// Stop asks no more, waits for the answers that may still come, and returns what became of every
// question, in the order of asking.
func (l *Load) Stop() (Outcome, error) {
	l.mu.Lock()
	l.ended = time.Now()
	l.mu.Unlock()
	close(l.stop)
	l.asking.Wait()
	for deadline := time.Now().Add(Patience); l.waiting() && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	l.close()
	l.receiving.Wait()
	o := Outcome{Answers: l.answers, Begun: l.begun, Ended: l.ended, Due: int(l.ended.Sub(l.begun)/l.every) + 1}
	o.Starved = 1 - o.covered(l.idle)
	return o, l.err
}

func (l *Load) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, open := range l.open {
		if len(open) > 0 {
			return true
		}
	}
	return false
}

// Answers are what is known by now.
func (l *Load) Answers() []Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Answer(nil), l.answers...)
}

func (l *Load) close() {
	for _, c := range l.conns {
		_ = c.Close() // nothing is written that could be lost
	}
}
