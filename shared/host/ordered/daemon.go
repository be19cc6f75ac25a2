package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

const (
	// answer is how long the parent may take to do what is ordered, and poll how often it is asked.
	// What the daemon takes to end comes on top where it is stopped: nobody else would wait for it.
	answer = 2 * time.Second
	poll   = 2 * time.Millisecond
	// failures is how many probes in a row fail before another process is ordered.
	failures = 3
)

// Daemon controls a daemon of another container by orders. Its methods are for one goroutine.
type Daemon struct {
	Dir string // of the files
	// Probe tests whether the running daemon is alive; nil: it is alive if it runs.
	Probe func(context.Context) error

	order  order
	known  bool // the order of an earlier run was read
	failed int  // probes in a row
}

// signals are those that a process gets between two orders, at most one of each kind: a daemon does
// the same for one as for many.
func signals(before, now order) (all []syscall.Signal) {
	if now.Hangups != before.Hangups {
		all = append(all, syscall.SIGHUP)
	}
	if now.Reopens != before.Reopens {
		all = append(all, syscall.SIGUSR2)
	}
	return all
}

// Ensure orders the daemon to run with a specification, and waits until it does. Only the digest
// of that counts: the parent has the command.
func (d *Daemon) Ensure(ctx context.Context, spec container.Spec) error {
	d.resume()
	if d.order.Digest != spec.Digest() || !d.order.On {
		d.order.On, d.order.Digest = true, spec.Digest()
		d.order.Run++
		return d.write(ctx)
	}
	if !d.Running() {
		return d.write(ctx)
	}
	if d.Probe == nil {
		return nil
	}
	err := d.Probe(ctx)
	if err == nil || ctx.Err() != nil {
		d.failed = 0
		return err
	}
	if d.failed++; d.failed < failures {
		return err
	}
	d.failed = 0
	d.order.Run++
	return errors.Join(err, d.write(ctx))
}

// resume takes over the order of an earlier run of this program: its daemon goes on.
func (d *Daemon) resume() {
	if d.known {
		return
	}
	d.known = true
	if former, err := readJSON[order](d.path(orderName)); err == nil {
		d.order = former
	}
}

// write orders, and waits until the parent has done it.
func (d *Daemon) write(ctx context.Context) error {
	if err := d.put(); err != nil {
		return err
	}
	var s state
	err := d.await(ctx, answer, func() (done bool) {
		s = d.state()
		return s.Order == d.order && (s.Running || s.Why != "")
	})
	if err == nil && !s.Running {
		err = errors.New(s.Why)
	}
	return err
}

// put writes the order's file.
func (d *Daemon) put() error {
	text, _ := json.Marshal(d.order) // texts, numbers and bits always encode
	_, err := file.WriteIfChanged(d.path(orderName), append(text, '\n'), 0o644)
	return err
}

// await waits until the parent has answered, for a limited time.
func (d *Daemon) await(ctx context.Context, limit time.Duration, done func() bool) error {
	deadline := time.Now().Add(limit)
	for !done() {
		if time.Now().After(deadline) {
			return fmt.Errorf("the container beside this one does not do what %s orders: does it "+
				"run?", d.path(orderName))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
	return nil
}

// state is what the parent has reported last; the zero value if that is nothing.
func (d *Daemon) state() state {
	s, _ := readJSON[state](d.path(stateName)) // written whole; one that is not there is none
	return s
}

// Running reports whether the daemon runs as it is ordered.
func (d *Daemon) Running() bool {
	s := d.state()
	return s.Running && s.Order.same(d.order)
}

// Signal orders SIGHUP or SIGUSR2 for the daemon. The error is os.ErrProcessDone if none runs.
func (d *Daemon) Signal(sig syscall.Signal) error {
	if !d.Running() {
		return os.ErrProcessDone
	}
	switch sig {
	case syscall.SIGHUP:
		d.order.Hangups++
	case syscall.SIGUSR2:
		d.order.Reopens++
	default:
		return fmt.Errorf("%s has no order", sig)
	}
	return d.write(context.Background())
}

// Stop orders the daemon off, and waits until it has ended. It does not wait for a parent that
// has not begun yet, which reads the order when it does, or that has ended, with its daemon.
func (d *Daemon) Stop(ctx context.Context, _ string) error {
	d.resume()
	if d.order.On || d.order == (order{}) {
		d.order.On = false
		d.order.Run++
	}
	if err := d.put(); err != nil {
		return err
	}
	return d.await(ctx, answer+leaving, func() bool {
		s := d.state()
		return !s.Running && (s.Order == d.order || s.Order == order{})
	})
}

func (d *Daemon) path(name string) string { return filepath.Join(d.Dir, name) }
