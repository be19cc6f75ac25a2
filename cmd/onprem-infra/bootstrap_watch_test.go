//go:build remote

package main

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

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestWatch_LogsCausesOnce has a watcher fail once a second for an hour, with other numbers in each
// error.
func TestWatch_LogsCausesOnce(t *testing.T) {
	refused := func(n int) error {
		return fmt.Errorf("read tcp 192.0.2.10:%d->192.0.2.1:6443: connection refused", 40000+n)
	}
	for _, tt := range []struct {
		name string
		run  func(n int) error
		want int // lines
	}{
		{"other numbers", refused, 1},
		{"no error at all", func(int) error { return nil }, 1},
		{"two alternating causes", func(n int) error {
			if n%2 == 0 {
				return errors.New("no route to host")
			}
			return refused(n)
		}, 2},
		{"another cause in the end", func(n int) error {
			if n > 1000 {
				return errors.New("no route to host")
			}
			return refused(n)
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				m := &machine{log: slog.New(slog.NewTextHandler(&log, nil)), wake: loop.NewWake()}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				n := 0
				m.watch(ctx, "nodes", func(context.Context) error { n++; return tt.run(n) })
				m.watchers.Wait()
				if got := strings.Count(log.String(), "watch nodes"); got != tt.want || n < 3599 {
					t.Errorf("%d lines of %d trials, want %d:\n%.1000s", got, n, tt.want, log.String())
				}
			})
		})
	}
}
