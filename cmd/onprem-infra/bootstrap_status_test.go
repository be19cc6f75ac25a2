//go:build remote

package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestUnitStatus holds that the status shows the error while a room's step fails, and the room's
// own status again after it.
func TestUnitStatus(t *testing.T) {
	var sent []string
	status := &unitStatus{send: func(text string) error { sent = append(sent, text); return nil }}
	var blind, broken error
	reported := ""
	steps := reportSteps(loop.Steps[struct{}, struct{}]{
		Observe: func(context.Context) (struct{}, error) { return struct{}{}, blind },
		Apply: func(context.Context, struct{}) error {
			if broken != nil {
				return broken
			}
			if reported == "MASTER" { // a room reports a status once
				return nil
			}
			reported = "MASTER"
			return status.Status(reported)
		},
	}, status)
	round := func(ctx context.Context) {
		if _, err := steps.Observe(ctx); err == nil {
			if err := steps.Apply(ctx, struct{}{}); errors.As(err, new(daemon.UnderWay)) {
				t.Errorf("%v is a failure to the loop", err)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name          string
		ctx           context.Context
		blind, broken error
		reported      string // by the room, until now
		want          []string
	}{
		{name: "it reports its status", want: []string{"MASTER"}},
		{name: "and reports it once", want: nil},
		{name: "it fails", broken: errors.New("the container is gone"), want: []string{"the container is gone"}},
		{name: "it goes on to fail", broken: errors.New("the container is gone"), want: nil},
		{name: "it fails in another way", broken: errors.New("the name is taken"), want: []string{"the name is taken"}},
		{name: "it is healthy again with the same status", want: []string{"MASTER"}},
		{name: "it pulls, which is no failure", broken: daemon.UnderWay{Image: "a:1"}, want: []string{"pulls image a:1"}},
		{name: "it has what it pulled", want: []string{"MASTER"}},
		{name: "it cannot observe", blind: errors.New("read links"), want: []string{"read links"}},
		{name: "it observes again, with another status", reported: "BACKUP", want: []string{"MASTER"}},
		{name: "it is stopped", ctx: gone, broken: context.Canceled, want: nil},
	} {
		sent, blind, broken = nil, tt.blind, tt.broken
		if tt.reported != "" {
			reported = tt.reported
		}
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		for range 2 {
			round(ctx)
		}
		if !slices.Equal(sent, tt.want) {
			t.Errorf("%s: sent %q, want %q", tt.name, sent, tt.want)
		}
	}
}
