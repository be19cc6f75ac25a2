package traffic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// serve is a server of answers, one event every 10 ms for /watch, and what a client must trust.
func serve(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *tls.Config) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", answer)
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprintln(w, "event")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, &tls.Config{RootCAs: roots}
}

// TestProbe has a server answer its clients in a way for each outcome. If the outcome is not that
// of a timeout, the timeout is long: a busy machine must not change the outcome.
func TestProbe(t *testing.T) {
	const patient, impatient = time.Minute, 200 * time.Millisecond
	unanswered := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, tt := range []struct {
		name     string
		answer   http.HandlerFunc
		dial     Dial
		patience time.Duration
		want     Outcome
	}{
		{"ok", func(http.ResponseWriter, *http.Request) {}, new(net.Dialer).DialContext, patient, Served},
		{"error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, new(net.Dialer).DialContext, patient, Failed},
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, new(net.Dialer).DialContext, patient, Reset},
		{"gone", http.NotFound, new(net.Dialer).DialContext, patient, Refused},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, new(net.Dialer).DialContext, impatient, Late},
		{"unanswered", func(http.ResponseWriter, *http.Request) {}, unanswered, impatient, Silent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, config := serve(t, tt.answer)
			if tt.want == Refused {
				server.Close()
			}
			p := Probe(tt.dial, server.URL, config, 5*time.Millisecond, tt.patience)
			defer p.Stop()
			within(t, tt.name, func() bool { return len(p.So().With(tt.want)) >= 5 })
			if all := p.So(); tt.patience == patient && len(all.With(tt.want)) != len(all) {
				t.Errorf("want %s alone: %v", tt.want, all)
			}
		})
	}
}

func TestOutage(t *testing.T) {
	at := func(ms int, o Outcome) Request {
		return Request{Start: time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond), Outcome: o}
	}
	all := Requests{at(0, Served), at(10, Served), at(20, Late), at(30, Refused), at(40, Served), at(50, Served)}
	if got := all.Outage(); got != 30*time.Millisecond {
		t.Errorf("outage %v, want 30ms", got)
	}
	if got := all.Pause(); got != 10*time.Millisecond {
		t.Errorf("the longest pause is %v, want 10ms", got)
	}
	if got := len(all.Unserved()); got != 2 {
		t.Errorf("%d unserved, want 2", got)
	}
}

func TestWatch(t *testing.T) {
	server, config := serve(t, func(http.ResponseWriter, *http.Request) {})
	w := Watch(4, new(net.Dialer).DialContext, server.URL+"/watch", config)
	defer w.Stop()
	within(t, "watches run", func() bool { return w.Running() == 4 })
	w.Forget()
	server.CloseClientConnections()
	within(t, "watches break and come back", func() bool {
		breaks, _ := w.Report()
		return len(breaks) == 4 && w.Running() == 4
	})
	breaks, _ := w.Report()
	if slices.ContainsFunc(breaks, func(b Break) bool { return b.Outcome != Reset || b.Back.Before(b.At) }) {
		t.Errorf("breaks %+v", breaks)
	}
}

// TestWatchRenew has a server send nothing to its watches: a client that renews them does not wait
// for ever.
func TestWatchRenew(t *testing.T) {
	var silent atomic.Bool
	gone := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if silent.Load() {
				select {
				case <-gone:
				case <-r.Context().Done():
				}
				return
			}
			fmt.Fprintln(w, "event")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}))
	t.Cleanup(func() { close(gone); server.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	w := Watch(2, new(net.Dialer).DialContext, server.URL, &tls.Config{RootCAs: roots})
	defer w.Stop()
	within(t, "watches run", func() bool { return w.Running() == 2 })
	w.Renew(time.Hour)
	if breaks, _ := w.Report(); len(breaks) > 0 {
		t.Fatalf("watches that hear something were renewed: %+v", breaks)
	}
	silent.Store(true)
	within(t, "all is silent", func() bool { _, longest := w.Report(); return longest > 100*time.Millisecond })
	silent.Store(false)
	within(t, "both watches begin anew", func() bool {
		w.Renew(100 * time.Millisecond)
		breaks, _ := w.Report()
		return len(breaks) >= 2 && w.Running() == 2
	})
}

// TestForget holds that what ended before the prober forgot does not come back, even if it is kept
// afterwards: between a request's end and its keeping a busy machine may do much else.
func TestForget(t *testing.T) {
	ended := Request{End: time.Now()}
	var p Prober
	p.keep(ended)
	p.Forget()
	p.keep(ended)
	if got := p.So(); len(got) > 0 {
		t.Errorf("after all was forgotten: %v", got)
	}
	p.keep(Request{End: time.Now()})
	if got := p.So(); len(got) != 1 {
		t.Errorf("a request that ended later: %v", got)
	}
}

// TestProbeFor counts a listed status as served, and forgets. Its clients have long timeouts, so
// that a busy machine serves them too.
func TestProbeFor(t *testing.T) {
	server, config := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	p := ProbeFor(new(net.Dialer).DialContext, Ask{URL: server.URL, Config: config, Every: 5 * time.Millisecond, Patience: time.Minute,
		Good: []int{http.StatusOK, http.StatusInternalServerError}})
	within(t, "some are served", func() bool { return len(p.So().With(Served)) > 5 })
	begin := time.Now()
	p.Forget()
	within(t, "some are served again", func() bool { return len(p.So().With(Served)) > 5 })
	all := p.Stop()
	if ended := func(r Request) bool { return r.End.Before(begin) }; slices.ContainsFunc(all, ended) || len(all.Unserved()) > 0 || all[0].Status != http.StatusInternalServerError {
		t.Errorf("after all was forgotten: %v", all)
	}
}

func within(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 10 s: %s", what)
}
