package lb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"reflect"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Modes of the files. HAProxy's configuration holds no secret.
const (
	readable fs.FileMode = 0o644
	private  fs.FileMode = 0o600
)

// often is the time between two checks of a HAProxy that has the desired configuration.
const often = time.Second

// again is the time before another trial of a structure that HAProxy refused.
const again = time.Minute

// Apply reconciles the machine with what is desired. The redirect never waits for the members, and
// each of the two continues when the other fails.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	_, err := r.Filter.Ensure(d.Rules)
	if err != nil {
		err = fmt.Errorf("redirect the VIP's connections: %w", err)
	}
	err = errors.Join(err, d.Ironic.Fault, r.ironic.Apply(d.Ironic.Rules), r.sweep())
	switch {
	case d.Fault != nil:
		return errors.Join(err, d.Fault)
	case d.Blind:
		return errors.Join(err, r.ironic.Remember(d.Ironic), r.write(r.accepted(d)))
	}
	if r.Host.Now().Before(r.next) && reflect.DeepEqual(d.Config, r.applied) {
		return err
	}
	return errors.Join(err, r.ironic.Remember(d.Ironic), r.configure(ctx, d))
}

// Prepare writes the first files, before HAProxy starts. If something cannot be read, the files of
// an earlier run stay.
func (r *Room) Prepare(ctx context.Context) error {
	seen, err := r.Observe(ctx)
	if err != nil {
		return err
	}
	d, _ := r.Decide(seen)
	if text, err := r.Host.Read(haproxy.File); d.Fault != nil && err == nil && len(text) > 0 {
		return nil
	}
	return r.write(d)
}

// Leave removes the redirect: without a monitor it would stay when HAProxy exits. HAProxy itself
// continues, so its port stays closed to direct connections: HAProxy cannot recognise a redirected
// connection of IPv6.
func (r *Room) Leave(context.Context) error { return r.ClosePorts() }

// ClosePorts makes the kernel refuse direct connections to the balanced machine config port, and
// redirects nothing.
func (r *Room) ClosePorts() error {
	_, err := r.Filter.Ensure(r.redirects().Off())
	return errors.Join(err, r.ironic.Apply(redirect.Rules{}))
}

// sweep removes, once, the leftovers of other balancers, and Ironic's rules if the cluster no
// longer balances Ironic.
func (r *Room) sweep() error {
	if r.clean {
		return nil
	}
	if _, err := r.Filter.RemoveLeftovers(); err != nil {
		return err
	}
	if err := r.ironic.Sweep(); err != nil {
		return err
	}
	r.clean = true
	return nil
}

// configure gives HAProxy the configuration: by commands if only members differ, by a reload
// otherwise. It always writes the file first, in case HAProxy starts in between. On a full disk
// members change all the same, and sessions of dead servers are cut.
func (r *Room) configure(ctx context.Context, d Desired) error {
	r.next = time.Time{}
	wanted := d.Config
	structure, running, err := r.Daemon.Running(ctx)
	if err != nil {
		return err
	}
	d = r.accepted(d)
	if !running {
		return r.write(d)
	}
	stats, err := r.Daemon.Stats(ctx)
	if err != nil {
		return err
	}
	if want := haproxy.Structure(d.Config); structure != want {
		if want == r.still() {
			return fmt.Errorf("HAProxy refused structure %s and runs with %s: "+
				"see its log for the reason; it is reloaded again in %v", want, structure, again)
		}
		return r.reload(ctx, d, stats)
	}
	err = r.write(d)
	r.force, r.runs, r.refused = d.Config, true, r.still()
	stats, failed := r.change(ctx, d.Config, stats)
	if failed == nil {
		failed = r.cut(ctx, stats, d.Ironic.Alive)
	}
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	r.applied, r.next = wanted, r.Host.Now().Add(often)
	return nil
}

// change gives HAProxy its members and checks that it has them.
func (r *Room) change(
	ctx context.Context, c haproxy.Config, stats []haproxy.Stat,
) ([]haproxy.Stat, error) {
	batches := haproxy.Change(c, stats)
	if len(batches) == 0 {
		return stats, nil
	}
	for _, commands := range batches {
		if err := r.Daemon.Command(ctx, commands...); err != nil {
			return nil, fmt.Errorf("change HAProxy's members: %w", err)
		}
	}
	stats, err := r.Daemon.Stats(ctx)
	if err != nil {
		return nil, err
	}
	if left := haproxy.Change(c, stats); len(left) > 0 {
		return nil, fmt.Errorf("change HAProxy's members: it did not carry out %q", left[0][0])
	}
	return stats, nil
}

// cut ends the sessions of servers that no longer answer, and of Ironic's pods that have ended:
// alive are the others' addresses, nil if they are not known.
func (r *Room) cut(ctx context.Context, stats []haproxy.Stat, alive []netip.Addr) error {
	cut := haproxy.Cut(stats)
	if alive != nil {
		cut = append(cut, haproxy.Ended(stats, alive)...)
	}
	for _, server := range cut {
		if err := r.Daemon.Command(ctx, haproxy.Shut(server)); err != nil {
			return fmt.Errorf("end the sessions of %s/%s: %w", server.Backend, server.Server, err)
		}
	}
	return nil
}

// accepted is the configuration to use after HAProxy has refused a structure: the running one with
// the desired members.
func (r *Room) accepted(d Desired) Desired {
	if refused := r.still(); refused == "" || !r.runs || refused != haproxy.Structure(d.Config) {
		return d
	}
	members, ironic := d.Config.Members, d.Config.Ironic
	d.Config, d.CA = r.force, nil // its CA is in its file already
	if len(members) == len(r.force.Members) {
		d.Config.Members = members
	}
	if ironic.Slots() == r.force.Ironic.Slots() {
		d.Config.Ironic = ironic
	}
	return d
}

// still is the refused structure, until it may be tried again.
func (r *Room) still() string {
	if r.Host.Now().Sub(r.since) < again {
		return r.refused
	}
	return ""
}

// reload gives HAProxy another structure. If HAProxy refuses it, the file gets the former one back:
// a restarted HAProxy could not start with the other.
func (r *Room) reload(ctx context.Context, d Desired, stats []haproxy.Stat) error {
	former := r.force.Trust.CAFile
	before, err := r.Host.Read(haproxy.File)
	if err != nil {
		return err
	}
	if err := r.writeFiles(d, stats); err != nil {
		return err
	}
	wanted := haproxy.Structure(d.Config)
	if refused, err := r.Daemon.Reload(ctx, wanted); err != nil {
		if !refused {
			return err
		}
		r.refused, r.since = wanted, r.Host.Now()
		if r.runs {
			return errors.Join(err, r.write(Desired{Config: r.force}))
		}
		_, werr := r.Host.Write(haproxy.File, before, readable) // an earlier monitor's
		return errors.Join(err, werr)
	}
	r.force, r.runs, r.refused = d.Config, true, ""
	if former != "" && former != d.Config.Trust.CAFile {
		err = r.Host.Remove(string(former))
	}
	return errors.Join(err, r.write(d))
}

// write writes all files that a starting HAProxy reads, and the members for a time without the API.
func (r *Room) write(d Desired) error {
	failed := r.writeFiles(d, nil)
	text, _ := json.Marshal(r.slots) // addresses always encode
	if _, err := r.Host.Write(Memory, append(text, '\n'), readable); err != nil {
		failed = errors.Join(failed, fmt.Errorf("remember the members: %w", err))
	}
	return failed
}

// writeFiles writes what HAProxy reads. stats are those of the running worker before a reload; nil
// without one.
func (r *Room) writeFiles(d Desired, stats []haproxy.Stat) error {
	r.slots = d.Config.Members
	if len(d.CA) > 0 {
		if _, err := r.Host.Write(string(d.Config.Trust.CAFile), d.CA, readable); err != nil {
			return err
		}
	}
	states := haproxy.States(d.Config, stats)
	if _, err := r.Host.Write(haproxy.Run.State(), states, private); err != nil {
		return err
	}
	_, err := r.Host.Write(haproxy.File, haproxy.Render(d.Config), readable)
	return err
}
