package fakeline

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// server sends text on each connection and closes it.
func server(t *testing.T, text string) *Line {
	t.Helper()
	back, front := listen(t), listen(t)
	go func() {
		for {
			conn, err := back.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	l := Serve(front, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", back.Addr().String())
	})
	t.Cleanup(func() { l.Close() })
	return l
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// received is what a client receives before the end, an error or the deadline.
func received(t *testing.T, l *Line, within time.Duration) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", l.listener.Addr().String())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

func TestLine(t *testing.T) {
	text := strings.Repeat("x", 1<<17)
	for _, tt := range []struct {
		name        string
		fault       Fault
		within      time.Duration
		least, most int // bytes that get through
		err         string
	}{
		{name: "good", within: 10 * time.Second, least: len(text), most: len(text)},
		{name: "cut", fault: Fault{Cut: 1 << 15}, within: 10 * time.Second, most: len(
			text,
		) / 2, err: "reset"},
		{
			name: "hangs from the start", fault: Fault{Stalled: true}, within: 200 * time.Millisecond,
			err: "timeout",
		},
		{
			name: "hangs in the middle", fault: Fault{Hang: 1 << 15}, within: time.Second,
			least: 1 << 15, most: len(text) / 2, err: "timeout",
		},
		{name: "slow", fault: Fault{Rate: 1 << 14}, within: time.Second, least: 1, most: len(
			text,
		) / 2, err: "timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := server(t, text)
			l.Set(tt.fault)
			got, err := received(t, l, tt.within)
			if len(got) < tt.least || len(got) > tt.most || tt.err == "" && err != nil ||
				tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf(
					"%d bytes and %v, want %d to %d bytes and %q", len(got), err, tt.least, tt.most,
					tt.err,
				)
			}
			l.Set(Fault{})
			if got, err := received(t, l, 10*time.Second); got != text || err != nil {
				t.Errorf("%d bytes after the fault ended (%v), want %d", len(got), err, len(text))
			}
		})
	}
}

// TestLine_OpenConnectionRecovers holds that a connection that hangs continues when the fault ends.
func TestLine_OpenConnectionRecovers(t *testing.T) {
	text := strings.Repeat("x", 1<<17)
	l := server(t, text)
	l.Set(Fault{Hang: 1 << 15})
	time.AfterFunc(100*time.Millisecond, func() { l.Set(Fault{}) })
	if got, err := received(t, l, 10*time.Second); got != text || err != nil {
		t.Errorf("%d bytes (%v), want %d", len(got), err, len(text))
	}
}
