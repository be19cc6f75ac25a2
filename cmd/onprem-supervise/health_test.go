package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestHealth holds K-54 to K-56 for the program that watches the container: the supervisor is
// healthy without a configuration, with a keepalived in FAULT, and while it kills a keepalived that
// hangs. It is not when it is stopped itself. If its port is taken, only the answer is missing.
func TestHealth(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	l.host.IP(t, "link set ens3 down\n")
	s := newRealKeepalived(t)
	s.cmd.Args = append([]string{s.cmd.Args[0], "--health", "127.0.0.1:9458"}, s.cmd.Args[1:]...)
	var taken net.Listener
	if err := l.host.In(func() (err error) {
		taken, err = net.Listen("tcp", "127.0.0.1:9458")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.start(l.host)
	s.until("there", 10*time.Second, func(st supervised.Status) bool { return st.Instances != nil })
	await(t, "a port that is taken is not named", 5*time.Second, func() bool {
		return s.log.count("serve the health port") > 0
	})
	taken.Close()
	untilAnswer(t, l.host, "200", 10*time.Second)
	s.propose(fast(s.dir))
	s.untilState("demo_API_0", supervised.Fault, 10*time.Second)
	untilAnswer(t, l.host, "200", time.Second)
	silent := dialIn(t, l.host)
	defer silent.Close() // an idle connection does not keep others waiting for long
	untilAnswer(t, l.host, "200", 5*time.Second)
	s.signalAll(syscall.SIGSTOP)
	untilAnswer(t, l.host, "200", time.Second)
	s.freeze()
	if got, err := answer(l.host, time.Second); err == nil {
		t.Errorf("a stopped supervisor answers %q", got)
	}
	s.cmd.Process.Signal(syscall.SIGCONT)
	untilAnswer(t, l.host, "200", 5*time.Second)
}

// TestHealth_IdleConnections holds that connections which send nothing do not keep a probe waiting,
// neither a few nor more than are served at a time.
func TestHealth_IdleConnections(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.cmd.Args = append([]string{s.cmd.Args[0], "--health", "127.0.0.1:9458"}, s.cmd.Args[1:]...)
	s.start(l.host)
	s.until("there", 10*time.Second, func(st supervised.Status) bool { return st.Instances != nil })
	untilAnswer(t, l.host, "200", 5*time.Second)
	for _, idle := range []int{6, 100} {
		for range idle {
			defer dialIn(t, l.host).Close()
		}
		begin := time.Now()
		got, err := answer(l.host, time.Second)
		if err != nil || !strings.HasPrefix(got, "200") {
			t.Errorf("beside %d idle connections the answer is %q, %v", idle, got, err)
		}
		t.Logf("beside %d idle connections: answer after %s", idle, time.Since(begin))
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	if code := s.wait(5 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

func dialIn(t *testing.T, ns netns.Namespace) (c net.Conn) {
	t.Helper()
	if err := ns.In(func() (err error) {
		c, err = net.Dial("tcp", "127.0.0.1:9458")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

func untilAnswer(t *testing.T, ns netns.Namespace, want string, bound time.Duration) {
	t.Helper()
	var got string
	var err error
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got, err = answer(ns, bound); err == nil && strings.HasPrefix(got, want) {
			return
		}
	}
	t.Fatalf("the answer is %q, %v, want %s", got, err, want)
}

// answer is what a kubelet's probe gets.
func answer(ns netns.Namespace, bound time.Duration) (status string, err error) {
	var c net.Conn
	if err := ns.In(func() (err error) {
		c, err = net.DialTimeout("tcp", "127.0.0.1:9458", bound)
		return err
	}); err != nil {
		return "", err
	}
	defer c.Close()
	used := false
	client := &http.Client{Timeout: bound, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if used {
				return nil, errors.New("only once")
			}
			used = true
			return c, nil
		}}}
	reply, err := client.Get("http://127.0.0.1:9458/healthz")
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	if _, err := io.ReadAll(reply.Body); err != nil {
		return "", err
	}
	return reply.Status, nil
}
