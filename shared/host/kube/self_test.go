package kube

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// TestAnnotate_AlikeErrors holds that a refused annotation reads the same whatever its value is: a
// list of nodes has another serial at each attempt, and would fill the log.
func TestAnnotate_AlikeErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := secured(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	}))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	api := NewAPI(file, slog.New(slog.DiscardHandler))
	first := api.Annotate(t.Context(), "master-0", notice.PublishedKey, `{"serial":1}`)
	second := api.Annotate(t.Context(), "master-0", notice.PublishedKey, `{"serial":2}`)
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("%v, then %v", first, second)
	}
}
