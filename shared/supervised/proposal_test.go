package supervised

import (
	"errors"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// fakeSupervisor is a FAKE that counts proposals.
type fakeSupervisor struct {
	status    Status
	proposals int
	full      bool
	away      error
}

func (f *fakeSupervisor) Status() (Status, error) { return f.status, f.away }

func (f *fakeSupervisor) Propose(keepalived.Config) error {
	if f.proposals++; f.full {
		return errors.New("no space left")
	}
	return nil
}

// TestProposal holds that a configuration is proposed until that has succeeded, and then not again,
// and that only its own refusal counts.
func TestProposal(t *testing.T) {
	var p Proposal
	f := &fakeSupervisor{full: true}
	if err := p.Make(whole(), f); err == nil || !strings.Contains(err.Error(),
		"no space left") {
		t.Errorf("without room: %v", err)
	}
	f.full = false
	for range 3 {
		if err := p.Make(whole(), f); err != nil {
			t.Error(err)
		}
	}
	other := whole()
	other.Instances[0].Priority++
	if err := p.Make(other, f); err != nil || f.proposals != 3 {
		t.Errorf("proposed %d times, want 3: %v", f.proposals, err)
	}
	for digest, refused := range map[string]bool{
		Digest(keepalived.Render(other)): true, Digest(keepalived.Render(whole())): false,
	} {
		f.status = Status{Refused: &Refusal{Candidate: digest, Output: "Unknown keyword"}}
		_, err := p.Check(f)
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "Unknown keyword") {
			t.Errorf("refused %t: %v", refused, err)
		}
	}
	f.status = Status{PID: 9}
	if s, err := p.Check(f); err != nil || s.PID != 9 {
		t.Error(s, err)
	}
	f.away = errors.New("permission denied")
	if _, err := p.Check(f); !errors.Is(err, f.away) {
		t.Errorf("an unreadable status: %v", err)
	}
}

// TestIsHolder holds that a router which waits for a VIP is not its holder, and that one VIP of
// several is enough.
func TestIsHolder(t *testing.T) {
	s := Status{Instances: map[string]Instance{"a": {State: Backup}}}
	if s.IsHolder() || (Status{}).IsHolder() {
		t.Error("a backup counts as the holder")
	}
	s.Instances["b"] = Instance{State: Master}
	for range 50 { // the order of a map varies
		if !s.IsHolder() {
			t.Fatal("a master does not count as the holder")
		}
	}
}
