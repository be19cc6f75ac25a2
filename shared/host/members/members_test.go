package members

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// TestComplain holds that two objects which cannot be believed are one line each, however often
// they are looked at in turn, and another when one of them is wrong anew.
func TestComplain(t *testing.T) {
	var log bytes.Buffer
	c := New(candidatesPlan, role.Master, kube.NewAPI("absent", slog.New(slog.DiscardHandler)), slog.New(slog.NewTextHandler(&log, nil)))
	for range 5 {
		c.complain("one", errors.New("wrong"))
		c.complain("two", errors.New("wrong too"))
	}
	if got := strings.Count(log.String(), "\n"); got != 2 {
		t.Errorf("%d lines, want 2:\n%s", got, log.String())
	}
	c.complain("one", nil)
	c.complain("one", errors.New("wrong"))
	c.complain("two", errors.New("wrong otherwise"))
	if got := strings.Count(log.String(), "\n"); got != 4 {
		t.Errorf("%d lines, want 4:\n%s", got, log.String())
	}
}
