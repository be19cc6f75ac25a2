package vip

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// mode is how a server behaves.
type mode string

const (
	serves   mode = "up"
	down     mode = "down"     // refuses connections, and cuts those that it has
	hung     mode = "hung"     // takes connections and questions, and answers none
	failing  mode = "500"      // serves, and is not ready
	shutdown mode = "shutdown" // serves, and announces its end
	slow     mode = "slow"     // answers after 3.9 s: late, and before the timeout of an API asked a second earlier
)

// server is a FAKE server of HTTP at one address of a world.
type server struct {
	mu    sync.Mutex
	mode  mode
	conns []net.Conn
	asked int // questions
	dials int // connections
	queue chan net.Conn
}

func (s *server) set(m mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = m
	if m == down {
		for _, c := range s.conns {
			c.Close()
		}
		s.conns = nil
	}
}

func (s *server) counts() (asked, dials int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.dials
}

// ServeHTTP answers in the words of an API server.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	now := s.mode
	s.mu.Unlock()
	switch now {
	case hung:
		<-r.Context().Done()
	case failing:
		http.Error(w, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed", http.StatusInternalServerError)
	case shutdown:
		http.Error(w, "[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed", http.StatusInternalServerError)
	case slow:
		select {
		case <-r.Context().Done():
			return
		case <-time.After(3900 * time.Millisecond):
		}
		io.WriteString(w, "ok")
	default:
		io.WriteString(w, "ok")
	}
}

// dial is the way to the server through a pipe, which virtual time can wait for.
func (s *server) dial() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode == down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	s.dials++
	client, mine := net.Pipe()
	s.conns = append(s.conns, mine)
	if s.mode != hung { // a process that hangs leaves it to the kernel to take connections
		s.queue <- mine
	}
	return client, nil
}

// Accept makes the server a listener of its own.
func (s *server) Accept() (net.Conn, error) {
	if conn, open := <-s.queue; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (s *server) Close() error   { close(s.queue); return nil }
func (s *server) Addr() net.Addr { return &net.TCPAddr{} }

const (
	apiAt    = "localhost:6443"
	ironicAt = "localhost:6385"
	masterAt = "192.0.2.21:6443"
)

// world has servers at its addresses, and the real probes to look at them. It is a Prober.
type world struct {
	servers map[string]*server
	client  *http.Client
	ironic  *probe.HTTP
}

// newWorld is one in which the API of this machine is ready, Ironic is down, and so is the master.
// doubted gives the master a certificate that does not count here. It belongs to the bubble of
// virtual time that it is called in.
func newWorld(t *testing.T, doubted bool) *world {
	t.Helper()
	cert, pool := certificate(t)
	other, _ := certificate(t)
	w := &world{servers: map[string]*server{}}
	transport := &http.Transport{DialContext: w.dial, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}, TLSHandshakeTimeout: 10 * time.Second}
	w.client, w.ironic = &http.Client{Transport: transport}, probe.NewHTTP("http://"+ironicAt+"/v1", w.dial)
	for address, start := range map[string]mode{apiAt: serves, ironicAt: down, masterAt: down} {
		s := &server{mode: start, queue: make(chan net.Conn, 100)}
		w.servers[address] = s
		var listener net.Listener = s
		switch {
		case address == masterAt && doubted:
			listener = tls.NewListener(s, &tls.Config{Certificates: []tls.Certificate{other}})
		case address != ironicAt:
			listener = tls.NewListener(s, &tls.Config{Certificates: []tls.Certificate{cert}})
		}
		h := &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
		go h.Serve(listener)
		t.Cleanup(func() { h.Close(); s.set(down) })
	}
	t.Cleanup(transport.CloseIdleConnections)
	return w
}

func (w *world) dial(_ context.Context, _, address string) (net.Conn, error) {
	s, ok := w.servers[address]
	if !ok {
		return nil, fmt.Errorf("nobody is at %s", address)
	}
	return s.dial()
}

func (w *world) ask(ctx context.Context, address string) health.API {
	state, _ := probe.NewAPI(address, func() (*http.Client, error) { return w.client, nil }).Probe(ctx)
	return state
}

func (w *world) API(ctx context.Context) health.API { return w.ask(ctx, apiAt) }
func (w *world) Ironic(ctx context.Context) bool    { return w.ironic.Probe(ctx) == nil }
func (w *world) Heir(ctx context.Context) release.Heir {
	return release.HeirAmong([]health.API{w.ask(ctx, masterAt)})
}
func (w *world) set(address string, m mode)              { w.servers[address].set(m) }
func (w *world) asked(address string) (asked, dials int) { return w.servers[address].counts() }

// certificate is one for localhost, and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<34, 0), DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// event is a change of what a verdict says, and when it came.
type event struct {
	at   time.Duration
	hold bool
}

// watched runs the real Watch on a world until ctx ends, and returns what its verdicts said, from
// the first on.
func watched(t *testing.T, w *world, from release.State, within time.Duration, script func()) []event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	start, wake := time.Now(), make(chan struct{}, 1)
	watch := NewWatch(from, w, func(release.Memory) error { return nil }, wake)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		if err := watch.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(script)
	var events []event
	for {
		v, err := watch.Verdict(ctx)
		if err != nil {
			return events
		}
		if len(events) == 0 || events[len(events)-1].hold != v.Hold {
			events = append(events, event{time.Since(start), v.Hold})
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return events
		}
	}
}

func equalEvents(t *testing.T, got []event, want ...event) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the VIP was held %v, want %v", got, want)
	}
}
