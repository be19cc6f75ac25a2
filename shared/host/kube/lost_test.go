package kube

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// cut is what a follower hears when the connection is cut that all of them share; each says it of
// another local port.
func cut(port int) error {
	return apierrors.NewInternalError(&net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 21), Port: port},
		Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 5), Port: 6443}, Err: os.NewSyscallError("read", syscall.ECONNABORTED)})
}

// TestOneLineForACut holds that a cut connection is one line, which names what it carried, and that
// one more says when all of it is back.
func TestOneLineForACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		api := NewAPI("none", slog.New(slog.NewTextHandler(&log, nil)))
		all := []*follower{
			api.AllNodes("a").follower, api.Object("ns", "bootstrap").follower, api.Object("ns", "candidates").follower, api.Object("ns", "candidates").follower,
		}
		said := func() string {
			time.Sleep(gather)
			synctest.Wait()
			text := log.String()
			log.Reset()
			return text
		}
		for port, f := range all {
			f.troubles.hears(f, cut(40000+port))
			f.troubles.hears(f, cut(50000+port))
		}
		got := said()
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, `level=WARN msg="watch ConfigMap ns/bootstrap, ConfigMap ns/candidates, all nodes" error="the connection was cut"`) {
			t.Errorf("a cut connection is said as\n%s", got)
		}
		for _, f := range all {
			f.troubles.hears(f, cut(60000))
		}
		if got := said(); got != "" {
			t.Errorf("the same again is said as\n%s", got)
		}
		for _, f := range all[1:] {
			f.well()
		}
		if got := said(); got != "" {
			t.Errorf("while one is lost the others are said to be back:\n%s", got)
		}
		all[0].well()
		if got := said(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="watch ConfigMap ns/bootstrap, ConfigMap ns/candidates, all nodes again" after=900ms`) {
			t.Errorf("that all are back is said as\n%s", got)
		}
		all[0].troubles.hears(all[0], cut(1))
		all[0].troubles.hears(all[0], errors.New("connection refused"))
		all[1].troubles.hears(all[1], cut(1))
		all[1].well()
		if got := said(); strings.Count(got, "WARN") != 1 || !strings.Contains(got, `msg="watch all nodes" error="connection refused"`) {
			t.Errorf("of what changed at once, and of what was over at once, this is said:\n%s", got)
		}
		all[1].troubles.hears(all[1], apierrors.NewResourceExpired("too old"))
		if got := said(); got != "" {
			t.Errorf("that a place was forgotten is said as\n%s", got)
		}
		all[1].troubles.hears(all[1], apierrors.NewResourceExpired("too old"))
		if got := said(); strings.Count(got, "WARN") != 1 {
			t.Errorf("that a place is forgotten again and again is said as\n%s", got)
		}
	})
}

// TestBackWithoutEvents holds that an answer that goes on is a sign of health, where nothing
// happens that it could tell.
func TestBackWithoutEvents(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		time.Sleep(time.Minute)
		w.api.down.Store(true)
		w.api.endWatches()
		time.Sleep(5 * time.Second)
		w.api.down.Store(false)
		time.Sleep(pace + steady + time.Second)
		synctest.Wait()
		if text := w.log.String(); strings.Count(text, "level=WARN") != 1 || strings.Count(text, "watch nodes again") != 1 {
			t.Errorf("log:\n%s", text)
		}
	})
}

// TestLearntOnce holds that what is known is logged when it is another, and not whenever the API
// says it.
func TestLearntOnce(t *testing.T) {
	inVirtualTime(t, func(w world) {
		for n := range 5 {
			w.api.set("master-0", fakeNode{Labels: master, Annotations: map[string]string{"onprem-infra.io/vrrp-rank": strings.Repeat("1", n+1)}, Addresses: [][2]string{{"InternalIP", "192.0.2.10"}}})
			time.Sleep(2 * pace)
		}
		w.names()
		if text := w.log.String(); strings.Count(text, "names=master-0") != 1 {
			t.Errorf("log:\n%s", text)
		}
	})
}

// TestRunEnds holds that a follower that is told to end has no trouble to tell.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	if err := NewAPI("none", slog.New(slog.NewTextHandler(&log, nil))).AllNodes("a").Run(ctx); !errors.Is(err, context.Canceled) || log.Len() > 0 {
		t.Errorf("%v, and it says %s", err, &log)
	}
}
