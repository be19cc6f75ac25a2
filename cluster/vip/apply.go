package vip

import (
	"context"
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all
// is as it should be.
func (r *Room) Apply(_ context.Context, d Desired) error {
	r.host.Hear(d.Hears)
	// What is learnt is kept before it shows: an instance that a restart would forget, or a peer,
	// would be taken away again.
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

// propose hands keepalived's configuration over, and is an error when it was refused.
func (r *Room) propose(c keepalived.Config) error {
	if err := r.proposal.Make(c, r.host.Propose); err != nil {
		return err
	}
	status, err := r.host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	return r.proposal.Refused(status)
}
