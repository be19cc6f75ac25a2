package vip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all is as it should be.
func (r *Room) Apply(_ context.Context, d Desired) error {
	r.host.Hear(d.Hears)
	// What is learnt is kept before it shows: an instance that a restart would forget, or a peer, would be taken away again.
	kept := r.keep(d.Memory)
	if d.Tell != "" {
		r.cluster.TellGone(d.Tell)
	}
	r.cluster.ClaimRank(d.Claim)
	if d.Leave {
		return kept
	}
	return errors.Join(kept, r.propose(d.Config))
}

func (r *Room) keep(m Memory) error {
	if m.equal(r.kept) {
		return nil
	}
	if err := r.host.Keep(m); err != nil {
		return fmt.Errorf("keep what is known of the cluster: %w", err)
	}
	r.kept = m
	return nil
}

// propose hands keepalived's configuration over when it differs from the last one, and says when it was refused.
func (r *Room) propose(c keepalived.Config) error {
	if r.proposed == nil || !reflect.DeepEqual(c, r.wanted) {
		config := keepalived.Render(c)
		if !bytes.Equal(config, r.proposed) {
			if err := r.host.Propose(config); err != nil {
				return fmt.Errorf("hand keepalived.conf to the supervisor: %w", err)
			}
		}
		r.wanted = c
		r.proposed = config
	}
	status, err := r.host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	if refused := status.Refused; refused != nil && refused.Candidate == supervised.Digest(r.proposed) {
		return fmt.Errorf("keepalived's configuration is refused, the former one stays in force: %s", refused.Output)
	}
	return nil
}
