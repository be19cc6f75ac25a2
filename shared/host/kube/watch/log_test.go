package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
)

// TestBackWithoutEvents holds that a stream that lasts is a sign of health even without events.
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

// TestLearntOnce holds that what is known is logged when its description changes, and not whenever
// the API sends a change.
func TestLearntOnce(t *testing.T) {
	inVirtualTime(t, func(w world) {
		for n := range 5 {
			w.api.set("master-0", at(fmt.Sprintf("192.0.2.1%d", n)))
			time.Sleep(2 * pace)
		}
		w.names()
		if text := w.log.String(); strings.Count(text, "names=master-0") != 1 {
			t.Errorf("log:\n%s", text)
		}
	})
}

// TestRunEnds holds that a watch that is ended reports no fault.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	nodes := newNodes(API{Load: unreachable, Log: log, Faults: fault.NewLog(log)})
	if err := nodes.Run(ctx); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, and it logs %s", err, &out)
	}
}
