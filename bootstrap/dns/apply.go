package dns

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
)

// Apply writes the Corefile and keeps CoreDNS running. It runs every round and changes only what
// differs. If the Corefile cannot be written, CoreDNS runs with the former one.
func (r *Room) Apply(ctx context.Context, c corefile.Config) error {
	changed, err := r.Host.Write(corefile.Render(c))
	if err != nil {
		err = fmt.Errorf("write %s: %w", Config, err)
		if !r.Host.Written() {
			return err
		}
	}
	return errors.Join(r.run(ctx, c, changed), err)
}

// Prepare writes the first Corefile before CoreDNS starts. A missing name server is no error.
func (r *Room) Prepare(ctx context.Context) error {
	seen, err := r.Observe(ctx)
	if err != nil {
		return err
	}
	want, _ := r.Decide(seen)
	_, err = r.Host.Write(corefile.Render(want))
	return err
}

// run keeps CoreDNS running with the present Corefile; changed means that this round wrote it.
func (r *Room) run(ctx context.Context, c corefile.Config, changed bool) error {
	running := r.Daemon.Running()
	r.answered = r.answered && running
	r.read = r.read && running && !changed
	if err := r.Daemon.Ensure(ctx, Container(r.Plan)); err != nil {
		return err
	}
	if !r.answered { // a CoreDNS that was started later must answer too
		if err := r.Host.Answers(ctx, Probe(r.Plan)); err != nil {
			return fmt.Errorf("ask CoreDNS for api-int: %w", err)
		}
		r.answered = true
	}
	status := fmt.Sprintf("answers for %s, %d name servers behind it", c.Zone, len(c.Upstreams))
	if err := r.reporter.Report(true, status); err != nil {
		return err
	}
	return r.reload()
}

// reload makes CoreDNS read its Corefile unless it is known to have done so. A CoreDNS that was
// just started or adopted is reloaded too: the Corefile may have changed after it was read, and a
// signal before the first answer may be lost. A reload loses no query, and CoreDNS keeps its
// running configuration if it refuses the new one.
func (r *Room) reload() error {
	if r.read {
		return nil
	}
	if err := r.Daemon.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("have CoreDNS read its Corefile: %w", err)
	}
	r.read = true
	return nil
}

// Leave stops CoreDNS.
func (r *Room) Leave(ctx context.Context) error { return r.Daemon.Stop(ctx, containerName) }
