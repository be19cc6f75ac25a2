// Package haproxy queries a running HAProxy: by the Unix sockets of its master process and of its
// present worker, and by HTTP on the loopback.
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

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// most is how much of an answer is read: the statistics of 64 slots are some 100 KiB.
const most = 4 << 20

// Within bounds each query. HAProxy answers in a millisecond, or does not work.
const Within = 2 * time.Second

// Ask has HAProxy run commands, one after the other, and returns all of its answers. HAProxy
// reports errors as text like any answer: a caller that depends on a command checks its effect.
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
		return nil, fmt.Errorf("ask HAProxy at %s: the answer exceeds %d bytes", socket, most)
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
		conn.Close()
		return nil, fmt.Errorf("reach HAProxy: %s is no Unix socket", socket)
	}
	return unix, nil
}

// Absent reports whether an error of Ask means that no HAProxy runs.
func Absent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// Structure is the description in the present worker's configuration.
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
// lost. If HAProxy refuses the configuration, the former worker goes on, and Reload returns an
// error; only then refused is true.
func Reload(ctx context.Context, master, worker, structure string) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reloadTakes)
	defer cancel()
	_, err = Ask(ctx, master, "reload")
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // the master may cut its answer
		return false, err
	}
	for {
		if now, err := Structure(ctx, worker); err == nil && now == structure {
			return false, nil
		}
		if answer, err := Ask(ctx, master, "show proc"); err == nil && failed(answer) {
			return true, errors.New("reload HAProxy: " +
				"it refuses its configuration and goes on with the former one: see its log")
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("reload HAProxy: "+
				"it does not run with structure %s after %v: see its log", structure, reloadTakes)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// failed reports whether reloads have failed since the last one that succeeded, by the answer of
// "show proc": "1234 master 5 [failed: 1] …".
func failed(processes []byte) bool {
	_, count, ok := bytes.Cut(processes, []byte("[failed: "))
	return ok && !bytes.HasPrefix(count, []byte("0]"))
}

// hold is how long a connection to one worker is kept. A worker that is replaced ends when its
// connections have ended, this one too.
const hold = 5 * time.Second

// retry is the pause before the next attempt to reach a HAProxy that does not run.
const retry = 100 * time.Millisecond

// Follow sends to wake when a worker has started, and in the instant that it ends: the kernel
// closes the connection that is held to it. It returns nil when ctx ends.
func Follow(ctx context.Context, socket string, wake chan<- struct{}) error {
	there := false
	for ctx.Err() == nil {
		conn, err := dial(ctx, socket)
		if (err == nil) != there {
			there = !there
			loop.Wake(wake)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
			continue
		}
		if err = heldUntil(ctx, conn); !errors.Is(err, context.DeadlineExceeded) {
			loop.Wake(wake)
		}
	}
	return nil
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

// health connects to the loopback anew each time: the question is whether new connections are
// served.
var health = &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}

// Healthy probes a URL of HAProxy's. It is false if the status is not 200, or the connection is
// refused or reset. An error means that the health is unknown: the answer is late or malformed.
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
