package podlb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// http is a client on a host, which makes a new connection for each request.
func (w *world) http(from *lab.Host, patience time.Duration) *http.Client {
	w.t.Helper()
	text, err := os.ReadFile(w.dir + "/cert.pem")
	if err != nil {
		w.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: from.Dial, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: apiInt},
	}}
}

// request is one that has ended.
type request struct {
	start  time.Time
	took   time.Duration
	server string // answered
	from   string // as the server saw the client
	err    error
}

// load is a crowd of clients: one starts every 10 ms, whatever becomes of those before.
type load struct {
	stop func()
	mu   sync.Mutex
	all  []request
}

func (w *world) load(from *lab.Host, url string, patience time.Duration) *load {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	l, client := &load{}, w.http(from, patience)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				running.Go(func() {
					r := ask(client, url)
					l.mu.Lock()
					l.all = append(l.all, r)
					l.mu.Unlock()
				})
			}
		}
	})
	var once sync.Once
	l.stop = func() { once.Do(func() { cancel(); running.Wait() }) }
	w.t.Cleanup(l.stop)
	return l
}

func ask(client *http.Client, url string) request {
	r := request{start: time.Now()}
	var text []byte
	reply, err := client.Get(url)
	if err == nil {
		text, err = io.ReadAll(reply.Body)
		reply.Body.Close()
	}
	r.server, r.from, _ = strings.Cut(string(text), " ")
	r.took, r.err = time.Since(r.start), err
	return r
}

// since are the requests that started at from or later and have ended.
func (l *load) since(from time.Time) (some []request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.all {
		if !r.start.Before(from) {
			some = append(some, r)
		}
	}
	return some
}

// by counts who answered; a failed request was answered by nobody.
func by(all []request) map[string]int {
	n := map[string]int{}
	for _, r := range all {
		if r.err != nil {
			n["failed"]++
		} else {
			n[r.server]++
		}
	}
	return n
}

func failed(all []request) (some []request) {
	for _, r := range all {
		if r.err != nil {
			some = append(some, r)
		}
	}
	return some
}

// none fails the test for every failed request.
func none(t *testing.T, what string, at time.Time, all []request) {
	t.Helper()
	bad := failed(all)
	for i, r := range bad {
		if i == 5 {
			break
		}
		t.Errorf("%s: a request that started %v after it failed after %v: %v", what, r.start.Sub(at).Round(time.Millisecond), r.took.Round(time.Millisecond), r.err)
	}
	t.Logf("%s: %d of %d requests failed: %v", what, len(bad), len(all), by(all))
	if len(all) == 0 {
		t.Errorf("%s: there was no request", what)
	}
}

// watch is one long request.
type watch struct {
	mu     sync.Mutex
	server string
	last   time.Time
	end    error
}

// watches holds n of them until the test ends.
func (w *world) watches(n int, url string) []*watch {
	w.t.Helper()
	client := w.http(w.client, 0)
	var all []*watch
	for range n {
		one := &watch{}
		all = append(all, one)
		reply, err := client.Get(url)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { reply.Body.Close() })
		go func() {
			buffer := make([]byte, 64)
			for {
				n, err := reply.Body.Read(buffer)
				one.mu.Lock()
				if n > 0 {
					one.server, _, _ = strings.Cut(string(buffer[:n]), "\n")
					one.last = time.Now()
				}
				if err != nil {
					one.end = err
				}
				one.mu.Unlock()
				if err != nil {
					return
				}
			}
		}()
	}
	return all
}

// on counts the watches on a server: those that have heard something just now, those that have
// ended, and those that hang.
func on(all []*watch, server string) (alive, ended, silent int) {
	for _, one := range all {
		one.mu.Lock()
		switch {
		case server != "" && one.server != server:
		case one.end != nil:
			ended++
		case time.Since(one.last) < time.Second:
			alive++
		default:
			silent++
		}
		one.mu.Unlock()
	}
	return alive, ended, silent
}

// byStart sorts requests, which end in another order than they start.
func byStart(all []request) []request {
	return slices.SortedFunc(slices.Values(all), func(a, b request) int { return a.start.Compare(b.start) })
}

// children are the processes that a process has started.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, child)
	}
	return pids
}
