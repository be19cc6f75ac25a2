package inpod

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestSpeaker_Stop holds that Stop waits until the speaker has withdrawn the VIPs, and no longer.
func TestSpeaker_Stop(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	asked, reads := 0, 0
	s := NewSpeaker(plan.Plan{}, func(now bool) error {
		if !now {
			t.Error("it takes a request back")
		}
		asked++
		return nil
	}, func() (spoken.Status, error) {
		reads++
		return spoken.Status{At: time.Unix(7, 0), Left: reads >= 3}, nil
	})
	s.health = probe.NewHTTP(server.URL, dial)
	if err := s.Stop(t.Context(), "speaker"); err != nil || asked != 1 || reads != 3 {
		t.Errorf("%v; asked %d times, read the status %d times", err, asked, reads)
	}
	if err := s.Ensure(t.Context(), container.Spec{}); err != nil {
		t.Errorf("the speaker answers, want no error: %v", err)
	}
	s.status = func() (spoken.Status, error) { return spoken.Status{At: time.Unix(7, 0)}, nil }
	answers := s.health
	for name, health := range map[string]*probe.HTTP{
		"announces still": answers,
		"is slow to answer": probe.NewHTTP(server.URL, func(context.Context, string, string) (net.Conn, error) {
			return nil, os.ErrDeadlineExceeded
		}),
	} {
		s.health = health
		soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := s.Stop(soon, "speaker"); err == nil {
			t.Errorf("the speaker %s, want an error", name)
		}
		cancel()
	}
	s.health = answers
	s.status = func() (spoken.Status, error) { return spoken.Status{}, errors.New("no disk") }
	if err := s.Stop(t.Context(), "speaker"); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("a status that cannot be read: %v", err)
	}
	s.status = func() (spoken.Status, error) { return spoken.Status{}, nil }
	if err := s.Stop(t.Context(), "speaker"); err != nil {
		t.Errorf("none has ever run, want no wait: %v", err)
	}
	server.Close() // its last status is stale
	s.status = func() (spoken.Status, error) { return spoken.Status{At: time.Unix(7, 0)}, nil }
	if err := s.Stop(t.Context(), "speaker"); err != nil {
		t.Errorf("there is no speaker, want no wait: %v", err)
	}
	if err := s.Ensure(t.Context(), container.Spec{}); err == nil || !strings.Contains(err.Error(), "kubelet starts it") {
		t.Errorf("there is no speaker: %v", err)
	}
	s.leave = func(bool) error { return errors.New("read-only") }
	if err := s.Stop(t.Context(), "speaker"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a request that cannot be made: %v", err)
	}
}
