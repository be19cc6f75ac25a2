// Package fileserver serves the files of one directory over HTTP and HTTPS: to firmware, boot
// loaders and BMCs, which are slow, many, and trusted with nothing.
package fileserver

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
)

// Verdict is whether a file is served.
type Verdict int

// The verdicts.
const (
	Hidden Verdict = iota // it is answered as if it were not there
	Later                 // it is not known yet to be the right one: 503
	Served
)

// Options are what a Server needs.
type Options struct {
	Root             string // the directory
	Certificate, Key string // PEM; they may come later, and are read again when they change
	// Judge decides by the name of a file below Root, and by how it is asked for. It is called by
	// many goroutines.
	Judge func(name string, tls bool) Verdict
	// Ended gets each request. It is called by many goroutines.
	Ended func(access.Access)
	Log   *slog.Logger
}

// Addresses are where a server answers. They need not be on the machine yet.
type Addresses struct {
	Plain, TLS []netip.AddrPort
}

func (a Addresses) equal(b Addresses) bool {
	return slices.Equal(a.Plain, b.Plain) && slices.Equal(a.TLS, b.TLS)
}

// Server serves while it is open. Open and Close are for one goroutine.
type Server struct {
	Options
	self  string // marks the server's requests to itself; no other program has it
	pair  pair
	limit limit
	open  *opened

	sendHead, takeChunk time.Duration
}

// New makes a server that is closed.
func New(o Options) *Server {
	return &Server{Options: o, self: rand.Text(), pair: pair{certificate: o.Certificate,
		key: o.Key}, sendHead: sendHead, takeChunk: takeChunk}
}

// opened is a server that is open.
type opened struct {
	at      Addresses
	root    *os.Root
	servers []*http.Server
	wait    sync.WaitGroup

	mu  sync.Mutex
	err error // why one of them does not serve any more
}

func (o *opened) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Open has the server answer at these addresses and no others. It does nothing if it does so
// already. All ports are taken, or none.
func (s *Server) Open(ctx context.Context, at Addresses) error {
	if s.open != nil && s.open.at.equal(at) && s.open.failed() == nil {
		return nil
	}
	s.Close()
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return fmt.Errorf("open the directory that is served: %w", err)
	}
	o := &opened{at: at, root: root}
	var listeners []net.Listener
	for i, address := range slices.Concat(at.Plain, at.TLS) {
		l, err := s.listen(ctx, address)
		if err != nil {
			for _, l := range listeners {
				_ = l.Close() // no client has come
			}
			return errors.Join(err, root.Close())
		}
		if i >= len(at.Plain) {
			l = tls.NewListener(l, s.pair.config())
		}
		listeners = append(listeners, l)
	}
	for i, l := range listeners {
		o.serve(s.server(root, i >= len(at.Plain)), l)
	}
	s.open = o
	return nil
}

// listen takes a port at an address that the machine need not have yet: another program adds and
// removes the machine's own address, and a VIP moves.
func (s *Server) listen(ctx context.Context, at netip.AddrPort) (net.Listener, error) {
	l, err := (&net.ListenConfig{Control: freebind}).Listen(ctx, "tcp", at.String())
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("port %d of %s is taken by another program: stop that one "+
			"(ss -ltnp shows it)", at.Port(), at.Addr())
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", at, err)
	}
	return &limited{TCPListener: l.(*net.TCPListener), limit: &s.limit}, nil
}

func freebind(network, _ string, c syscall.RawConn) error {
	level, option := unix.IPPROTO_IP, unix.IP_FREEBIND
	if network == "tcp6" {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_FREEBIND
	}
	var failed error
	err := c.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), level, option, 1) })
	return errors.Join(err, failed)
}

func (o *opened) serve(server *http.Server, l net.Listener) {
	o.servers = append(o.servers, server)
	o.wait.Go(func() {
		err := server.Serve(l)
		o.mu.Lock()
		defer o.mu.Unlock()
		if !errors.Is(err, http.ErrServerClosed) {
			o.err = fmt.Errorf("serve at %s: %w", l.Addr(), err)
		}
	})
}

// Bounds of a client. A BMC reads slowly. The wait for one that has stopped is no longer than its
// restart takes.
const (
	header   = 8 << 10          // bytes
	sendHead = 10 * time.Second // the client's request
	idle     = 30 * time.Second // between two requests
	// takeChunk is for a megabyte: 17 kB/s are less than a slow BMC reads.
	takeChunk = time.Minute
)

func (s *Server) server(root *os.Root, secure bool) *http.Server {
	return &http.Server{
		Handler:        &handler{s, root, secure},
		MaxHeaderBytes: header, ReadHeaderTimeout: s.sendHead, IdleTimeout: idle,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
}

// Err is why an open server does not serve at one of its addresses, or that it is not open.
func (s *Server) Err() error {
	if s.open == nil {
		return errors.New("it is not open")
	}
	return s.open.failed()
}

// Close ends all connections and frees the ports.
func (s *Server) Close() {
	if s.open == nil {
		return
	}
	for _, server := range s.open.servers {
		_ = server.Close() // clients that are cut off ask again
	}
	s.open.wait.Wait()
	_ = s.open.root.Close() // it was only read
	s.open = nil
}

// Connections is how many there are.
func (s *Server) Connections() int { return s.limit.count() }
