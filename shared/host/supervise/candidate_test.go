package supervise

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func TestMustTest(t *testing.T) {
	for _, tt := range []struct {
		name                        string
		candidate, running, refused string
		retest, want                bool
	}{
		{name: "nothing anywhere"},
		{name: "no candidate, one running", running: "a"},
		{name: "no candidate, retest due", running: "a", refused: "b", retest: true},
		{name: "the first candidate", candidate: "a", want: true},
		{name: "the same as the running one", candidate: "a", running: "a", retest: true},
		{name: "another one", candidate: "b", running: "a", want: true},
		{name: "the refused one again", candidate: "b", running: "a", refused: "b"},
		{name: "the refused one, when its time has come", candidate: "b", running: "a",
			refused: "b", retest: true, want: true},
		{name: "a third one after a refusal", candidate: "c", running: "a", refused: "b",
			want: true},
		{name: "back to the running one after a refusal", candidate: "a", running: "a",
			refused: "b"},
		{name: "the first one, refused", candidate: "a", refused: "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, now := idle(t), time.Now()
			s.candidates.running, s.candidates.retestAt = tt.running, now
			if tt.refused != "" {
				s.status.Refused = &supervised.Refusal{Candidate: tt.refused}
			}
			if !tt.retest {
				now = now.Add(-time.Nanosecond)
			}
			if got := s.mustTest(tt.candidate, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestConsiderCandidate_RunningAgain holds that a refusal is forgotten when the monitor proposes the
// running configuration again, and that it stays while there is no candidate.
func TestConsiderCandidate_RunningAgain(t *testing.T) {
	s, text := idle(t), []byte("global_defs {\n}\n")
	s.candidates.running = supervised.Digest(text)
	s.status.Refused = &supervised.Refusal{Candidate: "b"}
	if err := s.considerCandidate(); err != nil || s.status.Refused == nil {
		t.Fatalf("without a candidate: %v, %v", s.status.Refused, err)
	}
	path := filepath.Join(s.RunDir, supervised.CandidateText)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.considerCandidate(); err != nil || s.status.Refused != nil {
		t.Errorf("%+v, %v", s.status.Refused, err)
	}
}
