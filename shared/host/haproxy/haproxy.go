// Package haproxy speaks with a running HAProxy: by the Unix sockets of its master process and of
// its present worker, and by HTTP on the loopback.
package haproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// most is how much of an answer is read: the statistics of 64 slots are some 100 KiB.
const most = 4 << 20

// Within bounds each question. HAProxy answers in a millisecond, or does not work.
const Within = 2 * time.Second

// Ask has HAProxy carry out commands, one after the other, and returns what it says to all of them.
// HAProxy tells errors as it tells the rest: who needs to know looks at what became of the command.
func Ask(ctx context.Context, socket string, commands ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err = conn.Write([]byte(strings.Join(commands, ";") + "\n")); err == nil {
		err = conn.CloseWrite() // the master waits for more otherwise
	}
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(conn, most+1))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask HAProxy at %s: %w", socket, err)
	case len(answer) > most:
		return nil, fmt.Errorf("ask HAProxy at %s: its answer is longer than %d bytes", socket, most)
	}
	return answer, nil
}

func dial(ctx context.Context, socket string) (*net.UnixConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("reach HAProxy: %w", err)
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("reach HAProxy: %s is no Unix socket", socket), conn.Close())
	}
	return unix, nil
}

// Absent says whether an error of Ask means that no HAProxy is there.
func Absent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// Structure is what the present worker's configuration says of itself as its description.
func Structure(ctx context.Context, socket string) (string, error) {
	answer, err := Ask(ctx, socket, "show info")
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(answer) {
		if text, ok := bytes.CutPrefix(line, []byte("description: ")); ok {
			return string(bytes.TrimSpace(text)), nil
		}
	}
	return "", nil
}

// reloadTakes is how long a new worker may take to begin.
const reloadTakes = 10 * time.Second

// Reload has the master process read its configuration again and waits until a worker runs with the
// structure that the configuration has. The listening sockets are handed over: no connection is
// lost. A configuration that HAProxy refuses leaves the former worker at work, and is an error;
// only then refused is true.
func Reload(ctx context.Context, master, worker, structure string) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reloadTakes)
	defer cancel()
	if _, err := Ask(ctx, master, "reload"); err != nil && !errors.Is(err, syscall.ECONNRESET) { // the master begins anew and may cut its answer
		return false, err
	}
	for {
		if now, err := Structure(ctx, worker); err == nil && now == structure {
			return false, nil
		}
		if answer, err := Ask(ctx, master, "show proc"); err == nil && failed(answer) {
			return true, errors.New("reload HAProxy: it refuses its configuration and goes on with the former one; its log says why")
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("reload HAProxy: it does not run with structure %s after %v; its log may say why", structure, reloadTakes)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// failed reads how many reloads have failed since the last that did not: "1234 master 5 [failed: 1]
// …".
func failed(processes []byte) bool {
	_, count, ok := bytes.Cut(processes, []byte("[failed: "))
	return ok && !bytes.HasPrefix(count, []byte("0]"))
}

// hold is how long a connection to one worker is kept. A worker that is replaced ends when its
// connections have ended, this one too.
const hold = 5 * time.Second

// retry is how long a HAProxy that is not there is waited for.
const retry = 100 * time.Millisecond

// Follow wakes when a worker has come, and when it ends, in the instant that it does: the kernel
// closes the connection that is held to it. It returns nil when ctx ends.
func Follow(ctx context.Context, socket string, wake chan<- struct{}) error {
	there := false
	for ctx.Err() == nil {
		conn, err := dial(ctx, socket)
		if news := (err == nil) != there; news {
			there = !there
			poke(wake)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
			continue
		}
		if err = heldUntil(ctx, conn); !errors.Is(err, context.DeadlineExceeded) {
			poke(wake)
		}
	}
	return nil
}

func poke(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// heldUntil returns when the other side has gone, or ctx ends, or the time to hold is over, which
// is DeadlineExceeded.
func heldUntil(ctx context.Context, conn *net.UnixConn) error {
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := conn.Read(make([]byte, 1)); err != nil && ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// health asks at the loopback, each time by a new connection: what is asked is whether new
// connections are served.
var health = &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}

// Healthy asks a URL of HAProxy's. An answer that is not 200, and a refused connection, are a no;
// an error says that the answer is late or makes no sense, so that nobody knows.
func Healthy(ctx context.Context, url string, within time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	answer, err := health.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return answer.StatusCode == http.StatusOK, answer.Body.Close()
}
