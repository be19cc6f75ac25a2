package supervised

import (
	"fmt"
	"reflect"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// Proposal is what a monitor has proposed last. The zero value has proposed nothing.
type Proposal struct {
	config keepalived.Config
	digest string // of its text; empty before the first
}

// Make calls propose with a configuration if it is not the last one.
func (p *Proposal) Make(c keepalived.Config, propose func(keepalived.Config) error) error {
	if p.digest != "" && reflect.DeepEqual(c, p.config) {
		return nil
	}
	if err := propose(c); err != nil {
		return fmt.Errorf("hand keepalived.conf to the supervisor: %w", err)
	}
	p.config, p.digest = c, Digest(keepalived.Render(c))
	return nil
}

// Refused is an error if the supervisor has refused the last one.
func (p *Proposal) Refused(s Status) error {
	if s.Refused == nil || s.Refused.Candidate != p.digest {
		return nil
	}
	return fmt.Errorf("keepalived's configuration is refused, the former one stays in force: %s",
		s.Refused.Output)
}
