package kubeapi

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// meter passes connections on to a server and counts the bytes, as they are on the wire.
type meter struct {
	listener   net.Listener
	sent, read atomic.Int64 // by the client
	accepted   atomic.Int64 // connections
	running    sync.WaitGroup

	mu     sync.Mutex
	server string
	cut    context.CancelFunc // ends all connections of now
	ctx    context.Context
}

func newMeter(t testing.TB, server string) *meter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{listener: listener}
	m.lead(server)
	m.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			m.accepted.Add(1)
			m.mu.Lock()
			ctx, server := m.ctx, m.server
			m.mu.Unlock()
			m.running.Go(func() { m.pass(ctx, client, server) })
		}
	})
	t.Cleanup(func() { listener.Close(); m.lead(""); m.running.Wait() })
	return m
}

// lead cuts all connections, and forwards new ones to a server.
func (m *meter) lead(server string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cut != nil {
		m.cut()
	}
	m.server = server
	m.ctx, m.cut = context.WithCancel(context.Background())
}

func (m *meter) url() string { return "https://" + m.listener.Addr().String() }

func (m *meter) pass(ctx context.Context, client net.Conn, server string) {
	defer client.Close()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { client.Close(); conn.Close() })()
	done := make(chan struct{}, 2)
	count := func(to, from net.Conn, n *atomic.Int64) {
		_, _ = io.Copy(io.MultiWriter(to, counter{n}), from)
		done <- struct{}{}
	}
	go count(conn, client, &m.sent)
	go count(client, conn, &m.read)
	<-done
	client.Close()
	conn.Close()
	<-done
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }
