package mdns

import (
	"fmt"
	"sync"
)

// pool has one listener for all directives with the same settings. Server blocks share it, and so
// does the configuration after a reload, which begins before the former one ends: what is known is
// kept, and no host is asked again.
type pool struct {
	mu   sync.Mutex
	open map[string]*listener
}

var listeners = pool{open: map[string]*listener{}}

// key identifies a listener. The minimum of etcd's members does not concern it.
func (s settings) key() string { return fmt.Sprint(s.bind, s.wish) }

// take returns the listener of settings, and starts the first one.
func (p *pool) take(s settings) *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.open[s.key()]
	if l == nil {
		l = &listener{settings: s}
		l.start()
		p.open[s.key()] = l
	}
	l.users++
	return l
}

// leave gives a listener back. The last user stops it.
func (p *pool) leave(l *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(p.open, l.key())
		l.stop()
	}
}
