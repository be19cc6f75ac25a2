package mdns

import (
	"fmt"
	"sync"
)

// pool has one pair of ears for all directives that listen for the same. Server blocks share them,
// and so does what comes after a reload, which begins before the former configuration ends: what
// was heard is not forgotten, and nobody is asked again.
type pool struct {
	mu   sync.Mutex
	open map[string]*ears
}

var listeners = pool{open: map[string]*ears{}}

// key is what ears are told apart by: how many members etcd must have is no matter of hearing.
func (s settings) key() string { return fmt.Sprint(s.bind, s.wish) }

// take returns ears that listen for what s says.
func (p *pool) take(s settings) *ears {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.open[s.key()]
	if e == nil {
		e = &ears{settings: s}
		e.start()
		p.open[s.key()] = e
	}
	e.users++
	return e
}

// leave is for who has taken them. The last one stops them.
func (p *pool) leave(e *ears) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users--; e.users == 0 {
		delete(p.open, e.key())
		e.stop()
	}
}
