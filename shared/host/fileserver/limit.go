package fileserver

import (
	"net"
	"net/netip"
	"sync"
)

// How many connections there may be, in all and of one client. A client that opens more loses the
// new ones at once, so that no host keeps others from their files.
const (
	maxConnections = 768
	maxOfClient    = 64
)

// limit counts connections. The zero value has none.
type limit struct {
	mu  sync.Mutex
	all int
	of  map[netip.Addr]int
}

func (l *limit) take(client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxConnections || l.of[client] >= maxOfClient {
		return false
	}
	if l.of == nil {
		l.of = map[netip.Addr]int{}
	}
	l.all++
	l.of[client]++
	return true
}

func (l *limit) free(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
}

func (l *limit) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// limited is a listener within the limit.
type limited struct {
	*net.TCPListener
	limit *limit
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		from := clientOf(c.RemoteAddr().String())
		if l.limit.take(from) {
			return &counted{TCPConn: c, free: sync.OnceFunc(func() { l.limit.free(from) })}, nil
		}
		_ = c.Close() // nothing was read or written
	}
}

// counted is a connection. By TCPConn's ReadFrom the kernel copies files to it (sendfile).
type counted struct {
	*net.TCPConn
	free func()
}

func (c *counted) Close() error {
	c.free()
	return c.TCPConn.Close()
}

// clientOf is the address of a client as net/http has it.
func clientOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
