package supervised

import (
	"fmt"
	"reflect"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// Supervisor is keepalived's supervisor, as its monitor reaches it.
type Supervisor interface {
	// Status is the last status; the zero Status before the first.
	Status() (Status, error)
	// Propose hands a candidate configuration over.
	Propose(config keepalived.Config) error
}

// Proposal is what a monitor has proposed last. The zero value has proposed nothing.
type Proposal struct {
	config keepalived.Config
	digest string // of its text; empty before the first
}

// Make proposes a configuration if it is not the last one.
func (p *Proposal) Make(c keepalived.Config, to Supervisor) error {
	if p.digest != "" && reflect.DeepEqual(c, p.config) {
		return nil
	}
	if err := to.Propose(c); err != nil {
		return fmt.Errorf("hand keepalived.conf to the supervisor: %w", err)
	}
	p.config, p.digest = c, Digest(keepalived.Render(c))
	return nil
}

// Check reads the supervisor's status. The error is also a refusal of the last proposal.
func (p *Proposal) Check(from Supervisor) (Status, error) {
	s, err := from.Status()
	if err != nil {
		return Status{}, fmt.Errorf("read the supervisor's status: %w", err)
	}
	if s.Refused == nil || s.Refused.Candidate != p.digest {
		return s, nil
	}
	return Status{},
		fmt.Errorf("keepalived's configuration is refused, the former one stays in force: %s",
			s.Refused.Output)
}
