package address

import (
	"context"
	"errors"
	"fmt"
)

// Publish writes the report. If that fails, Apply makes its step all the same, and returns the
// error.
func (r *Room) Publish(_ context.Context, d Desired) error {
	state := d.Report
	if r.unseen != nil {
		state = r.last
		state.Ready, state.Why = false, r.unseen.Error()
	}
	r.last = state
	r.held.Store(state.On && r.own.IsValid())
	r.taken.Store(int64(len(r.probe.MACs)))
	r.unreported = errors.Join(r.status.Report(true, state.Why),
		r.reports.Report(state, r.options.Now(), r.options.Files.Report))
	return nil
}

// Apply makes the next step.
func (r *Room) Apply(_ context.Context, d Desired) error {
	if d.Stale {
		r.probe = Probe{}
	}
	err := r.step(d)
	r.failed = ""
	if err != nil {
		r.failed = err.Error()
	}
	return errors.Join(err, r.unreported)
}

func (r *Room) step(d Desired) error {
	host := r.options.Host
	switch d.Step {
	case Remove:
		return r.remove(d.Claim)
	case Forget:
		return r.options.Files.Forget()
	case Enable:
		if err := host.SetUp(d.Link); err != nil {
			return err
		}
		r.options.Log.Info("enabled the link", "link", d.Link)
	case LinkLocal:
		r.generated = r.options.Now()
		return host.MakeLinkLocal(d.Link)
	case LoopRoute:
		if err := host.DeleteLoopRoute(r.own); err != nil {
			return err
		}
		r.options.Log.Info("removed the route to the loopback link", "address", r.own)
	case Ask:
		return r.ask(d)
	case AskAndAdd:
		if err := r.ask(d); err != nil || len(r.probe.MACs) > 0 {
			return err
		}
		return r.add(d, "no other host answers for it")
	case PutBack:
		return r.add(d, "another program had removed it")
	}
	return nil
}

// ask probes for other hosts that have the address.
func (r *Room) ask(d Desired) error {
	macs, err := r.options.Host.WhoHas(d.Link, r.own)
	if err != nil {
		return err
	}
	r.probe = Probe{Index: d.Claim.Index, At: r.options.Now(), MACs: macs}
	return nil
}

// add adds the address, and claims it first. The kernel has it even if it cannot be announced.
func (r *Room) add(d Desired, why string) error {
	if err := r.options.Files.Keep(d.Claim); err != nil {
		return fmt.Errorf("keep that %s is added: %w", d.Claim.Prefix, err)
	}
	added, err := r.options.Host.Add(d.Link, d.Claim.Prefix)
	if err != nil {
		r.probe = Probe{} // asked anew: it was not there to be put back
		return err
	}
	if !added { // another program was faster: it is not this one's to remove
		return r.options.Files.Forget()
	}
	r.options.Log.Info("added the address", "address", d.Claim.Prefix, "link", d.Link, "why", why)
	if d.Step == PutBack {
		r.restored.Add(1)
	}
	if err := r.options.Host.Announce(d.Link, r.own); err != nil {
		r.options.Log.Warn("announce the address", "error", err)
	}
	return nil
}

// remove removes the address that this program has added, and then its claim.
func (r *Room) remove(c Claim) error {
	if err := r.options.Host.Delete(c.Index, c.Prefix); err != nil {
		return err
	}
	r.options.Log.Info("removed the address", "address", c.Prefix)
	return r.options.Files.Forget()
}
