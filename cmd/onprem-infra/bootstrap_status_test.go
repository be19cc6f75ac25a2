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

// TestStatusIsTrue holds that a room which said that all is well does not go on saying so while it
// fails, and says so again after it.
func TestStatusIsTrue(t *testing.T) {
	var sent []string
	status := &unitStatus{send: func(text string) error { sent = append(sent, text); return nil }}
	var blind, broken error
	told := ""
	steps := truthful(loop.Steps[struct{}, struct{}]{
		Observe: func(context.Context) (struct{}, error) { return struct{}{}, blind },
		Apply: func(context.Context, struct{}) error {
			if broken != nil {
				return broken
			}
			if told == "MASTER" { // a room says a thing once
				return nil
			}
			told = "MASTER"
			return status.Status(told)
		},
	}, status)
	turn := func(ctx context.Context) {
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
		told          string // by the room, until now
		want          []string
	}{
		{name: "it says how it is", want: []string{"MASTER"}},
		{name: "and says it once", want: nil},
		{name: "it fails", broken: errors.New("the container is gone"), want: []string{"the container is gone"}},
		{name: "it goes on to fail", broken: errors.New("the container is gone"), want: nil},
		{name: "it fails in another way", broken: errors.New("the name is taken"), want: []string{"the name is taken"}},
		{name: "it is well again, and has nothing new to say", want: []string{"MASTER"}},
		{name: "it pulls, which is no failure", broken: daemon.UnderWay{Image: "a:1"}, want: []string{"pulls image a:1"}},
		{name: "it has what it pulled", want: []string{"MASTER"}},
		{name: "it cannot see", blind: errors.New("read links"), want: []string{"read links"}},
		{name: "it sees and has something new to say: once", told: "BACKUP", want: []string{"MASTER"}},
		{name: "it is told to end", ctx: gone, broken: context.Canceled, want: nil},
	} {
		sent, blind, broken = nil, tt.blind, tt.broken
		if tt.told != "" {
			told = tt.told
		}
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		for range 2 {
			turn(ctx)
		}
		if !slices.Equal(sent, tt.want) {
			t.Errorf("%s: sent %q, want %q", tt.name, sent, tt.want)
		}
	}
}
