package dns

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
)

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all
// is as it should be. A Corefile that cannot be written leaves the former one in force, and CoreDNS
// runs by that.
func (r *Room) Apply(ctx context.Context, c corefile.Config) error {
	changed, err := r.host.Write(corefile.Render(c))
	if err != nil {
		err = fmt.Errorf("write %s: %w", Config, err)
		if !r.host.Written() {
			return err
		}
	}
	return errors.Join(r.run(ctx, c, changed), err)
}

// run has CoreDNS run by the Corefile that is in place, which is another one when it has changed.
func (r *Room) run(ctx context.Context, c corefile.Config, changed bool) error {
	running := r.daemon.Running()
	r.answered = r.answered && running
	r.read = r.read && running && !changed
	if err := r.daemon.Ensure(ctx, Container(r.plan)); err != nil {
		return err
	}
	if err := r.tell(ctx, fmt.Sprintf("answers for %s, %d name servers behind it", c.Zone, len(c.Upstreams))); err != nil {
		return err
	}
	return r.reload()
}

// reload has CoreDNS read its Corefile unless it is known to have done so. One that has just been
// started or adopted is told too: the Corefile may have changed after it looked, and a signal
// before its first answer may have been lost. A reload loses no query, and a Corefile that CoreDNS
// refuses leaves the former one in force.
func (r *Room) reload() error {
	if r.read {
		return nil
	}
	if err := r.daemon.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("have CoreDNS read its Corefile: %w", err)
	}
	r.read = true
	return nil
}

// Leave stops CoreDNS.
func (r *Room) Leave(ctx context.Context) error { return r.daemon.Stop(ctx, containerName) }

// tell passes the room's state on to the service manager when it changes, and READY once CoreDNS
// has answered. A CoreDNS that was started later must answer too.
func (r *Room) tell(ctx context.Context, status string) error {
	if !r.answered {
		if err := r.host.Answers(ctx, Probe(r.plan)); err != nil {
			return fmt.Errorf("ask CoreDNS for api-int: %w", err)
		}
		r.answered = true
	}
	if status != r.told {
		if err := r.notifier.Status(status); err != nil {
			return err
		}
		r.told = status
	}
	if r.ready {
		return nil
	}
	r.ready = true
	return r.notifier.Ready()
}
