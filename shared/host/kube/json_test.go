package kube

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// TestJSON_Refused holds which answers end a request's repetition, which do not, and what their
// reasons are; the client itself repeats none of them, as a budget may ask for it.
func TestJSON_Refused(t *testing.T) {
	const head = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the message",`
	for name, tt := range map[string]struct {
		code         int
		text         string
		final, later bool
		why          string
	}{
		"a budget":                {429, head + `"reason":"TooManyRequests","code":429,"details":{"causes":[{"reason":"DisruptionBudget","message":"keep-db needs 1"}]}}`, false, true, "keep-db needs 1"},
		"a budget, not known":     {429, head + `"reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":10}}`, false, true, "the message"},
		"its namespace ends":      {403, head + `"reason":"Forbidden","code":403,"details":{"causes":[{"reason":"NamespaceTerminating","message":"apps ends"}]}}`, false, true, "apps ends"},
		"without a right":         {403, head + `"reason":"Forbidden","code":403}`, true, false, ""},
		"another one has changed": {409, head + `"reason":"Conflict","code":409}`, false, false, ""},
	} {
		var asked atomic.Int32
		file := filepath.Join(t.TempDir(), "kubeconfig")
		text := secured(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(tt.code)
			_, _ = io.WriteString(w, tt.text)
		}))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err := NewAPI(file, slog.New(slog.DiscardHandler)).JSON(t.Context(), http.MethodPost, "/api/v1/x", map[string]any{}, nil)
		var later Later
		if err == nil || errors.As(err, new(Refused)) != tt.final || errors.As(err, &later) != tt.later || tt.later && later.Why() != tt.why {
			t.Errorf("%s: %v", name, err)
		}
		if n := asked.Load(); n != 1 || time.Since(begin) > time.Second {
			t.Errorf("%s: asked %d times in %s", name, n, time.Since(begin))
		}
	}
}
