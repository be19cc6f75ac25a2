package ironic

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/conductor"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// Snapshot is what was seen at an instant.
type Snapshot struct {
	orders.Orders
	GRUB   string // where the boot loader of virtual media reads its configuration
	NoGRUB error  // why that is not known
}

// Observe reads the orders, and the boot loader where a host needs it. If the orders cannot be
// read, nothing changes: what runs goes on.
func (r *Room) Observe(context.Context) (s Snapshot, err error) {
	if s.Orders, err = r.Host.Orders(); err != nil {
		err = fmt.Errorf("read the orders: %w", err)
	} else if s.Wants(orders.Ironic) && conductor.Media(r.Plan, provision.Bootstrap) {
		s.GRUB, s.NoGRUB = r.Host.Loader()
	}
	return s, err
}

// Decision is what Apply does.
type Decision struct {
	Orders orders.Orders
	On     bool
	Files  Files
	Names  []string // that the certificate is for
	// Wrong is why the plan's Ironic cannot be configured; nil if it can.
	Wrong error
}

// Decide computes what Ironic is to read.
func (r *Room) Decide(seen Snapshot) (Decision, loop.Reasons) {
	d := Decision{Orders: seen.Orders, On: seen.Wants(orders.Ironic),
		Names: r.Plan.Provisioning.TLSNames}
	if !d.On {
		return d, loop.Reasons{"off: the orders do not ask for it"}
	}
	s, err := conductor.Settings(r.Plan, provision.Bootstrap, seen.GRUB)
	if d.Wrong = cmp.Or(seen.NoGRUB, err); d.Wrong != nil {
		return d, loop.Reasons{"it cannot be configured"}
	}
	d.Files = Files{ironic.Config(s), ironic.Template(s), ironic.Script()}
	return d, loop.Reasons{"on: " + seen.Why}
}

// Apply follows the decision and reports its progress. The report has the error, too.
func (r *Room) Apply(ctx context.Context, d Decision) error {
	state := orders.Report{Generation: d.Orders.Generation, On: true}
	var err error
	if d.On {
		state.Why, err = r.on(ctx, d)
		state.Ready = err == nil
	} else {
		state.On, err = r.off(ctx)
		state.Ready, state.Why = err == nil && !state.On, "it does not run"
	}
	if err != nil {
		state.Why = err.Error()
	}
	r.count()
	return errors.Join(err, r.reports.Report(state, r.Now(), r.Host.Report),
		r.status.Report(true, state.Why))
}

// count notes for the metrics whether Ironic runs; if not, it serves no driver.
func (r *Room) count() {
	r.running.Store(0)
	if r.Daemon.Running() {
		r.running.Store(1)
		return
	}
	r.drivers.Store(0)
}

func (r *Room) on(ctx context.Context, d Decision) (why string, err error) {
	if d.Wrong != nil {
		return "", d.Wrong
	}
	if own := r.Plan.Provisioning.Own(); own.IsValid() {
		if has, err := r.Host.Has(own); err != nil || !has {
			return "", cmp.Or(err, fmt.Errorf("the machine has no address %s yet, at which "+
				"Ironic listens", own))
		}
	}
	certificate, err := r.Host.Identify(d.Names)
	if err != nil {
		return "", err
	}
	if err := r.Host.Trust(); err != nil {
		return "", err
	}
	if err := r.Host.Write(d.Files, ironic.TrustArchive(certificate)); err != nil {
		return "", err
	}
	if err := r.Daemon.Ensure(ctx, Container(r.Plan, d.Files, certificate)); err != nil {
		return "", err
	}
	drivers, err := r.Host.Serves(ctx)
	r.drivers.Store(int64(len(drivers)))
	switch {
	case err != nil:
		return "", fmt.Errorf("it runs, and does not serve yet: %w", err)
	case len(drivers) == 0:
		return "", errNoConductor
	}
	return "serves the drivers " + loop.List(drivers), nil
}

var (
	errNoConductor = errors.New("the API answers, and no conductor serves a driver yet")
	errOpen        = errors.New("the container has ended, and a program listens at Ironic's " +
		"port: end it, `ss -ltnp` names it")
)

// off stops Ironic and reports whether any of it still runs; true if that is not known.
func (r *Room) off(ctx context.Context) (on bool, err error) {
	if err := r.Daemon.Stop(ctx, Name); err != nil {
		return true, err
	}
	if !r.Host.Closed(ctx) {
		return true, errOpen
	}
	return false, nil
}

// Leave stops Ironic, unless the orders ask for it: this may be a restart of this program, and a
// host whose disk is being written would have to begin again. A new start adopts the container.
func (r *Room) Leave(ctx context.Context) error {
	o, err := r.Host.Orders()
	if err != nil {
		return fmt.Errorf("read the orders: %w", err)
	}
	if o.Wants(orders.Ironic) {
		return nil
	}
	_, err = r.off(ctx)
	return err
}
