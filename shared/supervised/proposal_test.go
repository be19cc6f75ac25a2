package supervised

import (
	"errors"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// TestProposal holds that a configuration is proposed until that has succeeded, and then not again,
// and that only its own refusal counts.
func TestProposal(t *testing.T) {
	var p Proposal
	made, full := 0, true
	propose := func(keepalived.Config) error {
		if made++; full {
			return errors.New("no space left")
		}
		return nil
	}
	if err := p.Make(whole(), propose); err == nil || !strings.Contains(err.Error(),
		"no space left") {
		t.Errorf("without room: %v", err)
	}
	full = false
	for range 3 {
		if err := p.Make(whole(), propose); err != nil {
			t.Error(err)
		}
	}
	other := whole()
	other.Instances[0].Priority++
	if err := p.Make(other, propose); err != nil || made != 3 {
		t.Errorf("proposed %d times, want 3: %v", made, err)
	}
	for digest, refused := range map[string]bool{
		Digest(keepalived.Render(other)): true, Digest(keepalived.Render(whole())): false,
	} {
		err := p.Refused(Status{Refused: &Refusal{Candidate: digest, Output: "Unknown keyword"}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "Unknown keyword") {
			t.Errorf("refused %t: %v", refused, err)
		}
	}
	if err := p.Refused(Status{}); err != nil {
		t.Error(err)
	}
}
