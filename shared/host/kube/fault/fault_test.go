package fault

import (
	"bytes"
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
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// cut is the error of a watch when the shared connection is cut; the local port differs.
func cut(port int) error {
	return apierrors.NewInternalError(&net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 21), Port: port},
		Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 5), Port: 6443}, Err: os.NewSyscallError("read", syscall.ECONNABORTED)})
}

// TestOneLineForACut holds that a cut connection is one line, which names its watches, and that one
// more line names them when all work again.
func TestOneLineForACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		faults := NewLog(slog.New(slog.NewTextHandler(&log, nil)))
		var all []*Watch
		for _, name := range []string{
			"all nodes", "ConfigMap ns/bootstrap", "ConfigMap ns/candidates", "ConfigMap ns/candidates",
		} {
			all = append(all, faults.Watch(name, Subject{}))
		}
		logged := func() string {
			time.Sleep(gather)
			synctest.Wait()
			text := log.String()
			log.Reset()
			return text
		}
		for port, w := range all {
			w.Failed(cut(40000 + port))
			w.Failed(cut(50000 + port))
		}
		got := logged()
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, `level=WARN msg="watch ConfigMap ns/bootstrap, ConfigMap ns/candidates, all nodes" error="the connection was cut"`) {
			t.Errorf("a cut connection is logged as\n%s", got)
		}
		for _, w := range all {
			w.Failed(cut(60000))
		}
		if got := logged(); got != "" {
			t.Errorf("the same again is logged as\n%s", got)
		}
		for _, w := range all[1:] {
			w.Works()
		}
		if got := logged(); got != "" {
			t.Errorf("while one is lost the others are logged as back:\n%s", got)
		}
		all[0].Works()
		if got := logged(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="watch ConfigMap ns/bootstrap, ConfigMap ns/candidates, all nodes again" after=900ms`) {
			t.Errorf("that all are back is logged as\n%s", got)
		}
		all[0].Failed(cut(1))
		all[0].Failed(errors.New("connection refused"))
		all[1].Failed(cut(1))
		all[1].Works()
		if got := logged(); strings.Count(got, "WARN") != 1 || !strings.Contains(got, `msg="watch all nodes" error="connection refused"`) {
			t.Errorf("of a change at once, and of an end at once, this is logged:\n%s", got)
		}
		all[1].Failed(apierrors.NewResourceExpired("too old"))
		if got := logged(); got != "" {
			t.Errorf("a forgotten version is logged as\n%s", got)
		}
		all[1].Failed(apierrors.NewResourceExpired("too old"))
		if got := logged(); strings.Count(got, "WARN") != 1 {
			t.Errorf("a version forgotten again and again is logged as\n%s", got)
		}
	})
}

// TestRefusedWatchHidesNoOther has a watch that the host has no right to, for good: each loss of another
// one is logged, and that it is back, also with the same error. The refusal is logged once, and that the
// right was granted.
func TestRefusedWatchHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		faults := NewLog(slog.New(slog.NewTextHandler(&log, nil)))
		refused, nodes := faults.Watch("candidates", Subject{Resource: "configmaps"}), faults.Watch("nodes", Subject{})
		forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no"))
		expect := func(what string, lines ...string) {
			t.Helper()
			time.Sleep(gather)
			synctest.Wait()
			text := log.String()
			log.Reset()
			if strings.Count(text, "\n") != len(lines) {
				t.Errorf("%s is logged as\n%s", what, text)
			}
			for _, want := range lines {
				if !strings.Contains(text, want) {
					t.Errorf("%s is logged as\n%s\nwant %s", what, text, want)
				}
			}
		}
		refused.Failed(forbidden)
		expect("a refusal", `msg="watch candidates"`)
		for range 2 {
			time.Sleep(time.Hour)
			refused.Failed(forbidden)
			nodes.Failed(errors.New("connection refused"))
			expect("a loss beside it", `msg="watch nodes" error="connection refused"`)
			nodes.Works()
			expect("its end", `msg="watch nodes again" after=300ms`)
		}
		for range 2 {
			time.Sleep(time.Hour)
			refused.Failed(errors.New("connection refused"))
			nodes.Failed(errors.New("connection refused"))
			expect("a loss of both", `msg="watch candidates, nodes" error="connection refused"`)
			nodes.Works()
			expect("the end for one")
			refused.Failed(forbidden)
			expect("the end for both", `msg="watch nodes again" after=600ms`)
		}
		if all := faults.Forbidden(); len(all) != 1 {
			t.Errorf("refused: %v", all)
		}
		refused.Works()
		expect("a granted right", `msg="watch candidates again" after=4h`)
	})
}
