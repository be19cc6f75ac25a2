package dns

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
)

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all
// is as it should be. A file that cannot be written leaves the former one in force, and the others
// are written all the same. The Corefile is last: it wants the hosts file.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	hosts := r.applyHosts(d)
	changed, err := r.Host.Write(Config, corefile.Render(d.Corefile))
	if err != nil {
		err = fmt.Errorf("write %s: %w", Config, err)
	}
	if changed {
		r.read = false
		r.meter.changed(time.Now())
	}
	return errors.Join(hosts, err, r.remember(d), r.reload(ctx))
}

// Prepare writes the first files, before CoreDNS starts. No known name server is no error: CoreDNS
// answers the cluster's own names, and the monitor follows what comes.
func (r *Room) Prepare(ctx context.Context) error {
	seen, err := r.Observe(ctx)
	if err != nil {
		return err
	}
	want, _ := r.Decide(seen)
	return r.Apply(ctx, want)
}

// applyHosts writes the nodes' names. Where none are known, the file of an earlier run is better
// than an empty one; an empty one is better than none, of which CoreDNS would complain.
func (r *Room) applyHosts(d Desired) error {
	if len(d.Hosts) == 0 {
		text, err := r.Host.Read(corefile.HostsPath)
		if err != nil || len(text) > 0 {
			return err
		}
	}
	if _, err := r.Host.Write(corefile.HostsPath, corefile.RenderHosts(r.Header, d.Corefile.Zone, d.Hosts)); err != nil {
		return fmt.Errorf("write %s: %w", corefile.HostsPath, err)
	}
	return nil
}

// remember keeps the nodes for a time without the API. In memory they stay even when the disk is
// full.
func (r *Room) remember(d Desired) error {
	if len(d.Memory) == 0 {
		return nil
	}
	r.known, r.loaded = d.Memory, true
	if _, err := r.Host.Write(MemoryPath, encode(d.Memory)); err != nil {
		return fmt.Errorf("remember the nodes: %w", err)
	}
	return nil
}

// reload has CoreDNS read its Corefile unless it is known to have done so. One that is new to us is
// told too: the Corefile may have changed after it looked. Before it serves it hears no signal, and
// a turn later is soon enough: it reads the Corefile at its start. A reload loses no query, and a
// Corefile that CoreDNS refuses leaves the former one in force.
func (r *Room) reload(ctx context.Context) error {
	if r.Daemon == nil {
		return nil
	}
	running, another := r.Daemon.Running()
	r.meter.runs(running, another)
	if another {
		r.read, r.reloaded = false, r.Host.Now() // it may have started just now, and a start is as good as a reload
	}
	if r.read || !running || !r.Daemon.Serves(ctx) {
		return nil
	}
	if wait := apart - r.Host.Now().Sub(r.reloaded); wait > 0 {
		r.Host.Later(wait)
		return nil
	}
	if err := r.Daemon.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("have CoreDNS read its Corefile: %w", err)
	}
	r.meter.reloaded()
	r.read, r.reloaded = true, r.Host.Now()
	return nil
}
