package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestWhere holds that the end of the demo prints where the time went: what came before it began,
// and each scene, one that failed as well.
func TestWhere(t *testing.T) {
	s := &show{ctx: t.Context()}
	s.took("before", time.Now().Add(-90*time.Second))
	if err := s.do("a scene", func(context.Context) ([]string, error) { return nil, errors.New("no") }); err == nil {
		t.Error("a scene that fails is no error")
	}
	lines := strings.Split(s.where(), "\n")
	for i, want := range []string{"Where the time went:", "   1m30s  before", "  1. a scene", "   1m30s  altogether"} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d is %q, want %q at its end", i, lines[i], want)
		}
	}
}
