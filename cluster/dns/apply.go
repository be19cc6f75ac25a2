package dns

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
)

// Apply writes the files and reloads CoreDNS. It runs every round and changes only what differs. If
// a file cannot be written, its former version stays and the others are written. The Corefile comes
// after the hosts file, which it needs.
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

// Prepare writes the first files before CoreDNS starts. A missing name server is no error: CoreDNS
// answers the cluster's own names, and the monitor follows changes.
func (r *Room) Prepare(ctx context.Context) error {
	seen, err := r.Observe(ctx)
	if err != nil {
		return err
	}
	want, _ := r.Decide(seen)
	return r.Apply(ctx, want)
}

// applyHosts writes the nodes' names. If none are known, the file of an earlier run stays. Without
// one it writes an empty file, because CoreDNS logs an error for a missing one.
func (r *Room) applyHosts(d Desired) error {
	if len(d.Hosts) == 0 {
		text, err := r.Host.Read(corefile.HostsPath)
		if err != nil || len(text) > 0 {
			return err
		}
	}
	hosts := corefile.RenderHosts(r.Header, d.Corefile.Zone, d.Hosts)
	if _, err := r.Host.Write(corefile.HostsPath, hosts); err != nil {
		return fmt.Errorf("write %s: %w", corefile.HostsPath, err)
	}
	return nil
}

// remember keeps the nodes for a time without the API, in memory also if the disk is full.
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

// reload makes CoreDNS read its Corefile unless it is known to have done so. A new CoreDNS process
// is reloaded too: the Corefile may have changed after it was read. Before CoreDNS serves it
// ignores signals, so the reload waits for a later round. A reload loses no query, and CoreDNS
// keeps its running configuration if it refuses the new one.
func (r *Room) reload(ctx context.Context) error {
	if r.Daemon == nil {
		return nil
	}
	running, another := r.Daemon.Running()
	r.meter.runs(running, another)
	if another {
		// It may have started just now, which counts as a reload.
		r.read, r.reloaded = false, r.Host.Now()
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
