// Package ordered keeps a daemon running in one container while a program of another one orders
// it, by a file in a directory that both have. The file's contents are the order; another order
// starts another process. The daemon's image needs nothing for that but a copy of
// onprem-supervise, and the program that orders needs no right over other processes.
package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/child"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// orderName and stateName are the files of the directory.
	orderName = "order.json"
	stateName = "state.json"
	// every is the longest time between two rounds of the parent.
	every = time.Second
	// watchPause is the time until a watch that failed is tried again.
	watchPause = time.Minute
	// leaving is how long the daemon may take to end with its parent.
	leaving = 6 * time.Second
)

// order is what the daemon is to be. Each change, but for a signal's count, starts a new process.
type order struct {
	On     bool   `json:"on"`
	Digest string `json:"digest"`
	Run    int    `json:"run"` // counts processes, so that no two orders for one are alike
	// Hangups and Reopens count the orders of SIGHUP and SIGUSR2.
	Hangups int `json:"hangups,omitempty"`
	Reopens int `json:"reopens,omitempty"`
}

// same reports whether two orders are for one process.
func (o order) same(other order) bool {
	return o.On == other.On && o.Digest == other.Digest && o.Run == other.Run
}

// state is what the parent reports.
type state struct {
	Order   order  `json:"order"`
	Running bool   `json:"running"`
	Why     string `json:"why,omitempty"` // it does not run
}

// Parent runs a daemon as long as there is an order, and reports what runs.
type Parent struct {
	Dir     string   // of the files
	Command []string // of the daemon
	Log     *slog.Logger

	keeper *child.Keeper
	given  order // to the running process
}

// Run works until ctx ends, and ends the daemon then.
func (p *Parent) Run(ctx context.Context) error {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	wake := loop.NewWake()
	p.keeper = child.New(child.Options{Wake: wake, Log: p.Log})
	watching, end := context.WithCancel(ctx)
	defer end()
	go p.watch(watching, wake)
	for ctx.Err() == nil {
		if err := p.round(ctx); err != nil {
			p.Log.Warn("report the state", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(every):
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	return errors.Join(p.keeper.Stop(last, p.Command[0]), p.report(state{Why: "its parent ends"}))
}

// watch wakes when the order changes. Without inotify the order is read at intervals alone.
func (p *Parent) watch(ctx context.Context, wake chan struct{}) {
	for ctx.Err() == nil {
		err := file.Watch(ctx, []string{filepath.Join(p.Dir, orderName)}, wake)
		if ctx.Err() == nil {
			p.Log.Warn("watch for orders: the file is read at intervals", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchPause):
		}
	}
}

// round does what is ordered, and reports it.
func (p *Parent) round(ctx context.Context) error {
	wanted, err := readJSON[order](filepath.Join(p.Dir, orderName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !wanted.On {
		p.given = wanted
		if err = p.keeper.Stop(ctx, p.Command[0]); err == nil {
			err = errNotOrdered
		}
	} else if err == nil {
		err = p.follow(ctx, wanted)
	}
	s := state{Order: wanted, Running: err == nil && p.keeper.Running()}
	if err != nil {
		s.Why = err.Error()
	}
	return p.report(s)
}

var errNotOrdered = errors.New("it is ordered off")

// follow has the process of an order run, and passes on the signals that it has not got.
func (p *Parent) follow(ctx context.Context, wanted order) error {
	spec := container.Spec{Name: p.Command[0], Command: p.Command,
		Env: map[string]string{"ONPREM_ORDER": fmt.Sprint(wanted.Digest, " ", wanted.Run)}}
	if err := p.keeper.Ensure(ctx, spec); err != nil {
		return err
	}
	if !p.given.same(wanted) {
		p.given = wanted // a new process has read all that a signal would have it read
		return nil
	}
	for _, s := range signals(p.given, wanted) {
		if err := p.keeper.Signal(s); err != nil {
			return fmt.Errorf("signal %s: %w", p.Command[0], err)
		}
	}
	p.given = wanted
	return nil
}

// report writes the state if it is another one.
func (p *Parent) report(s state) error {
	text, _ := json.Marshal(s) // texts, numbers and bits always encode
	_, err := file.WriteIfChanged(filepath.Join(p.Dir, stateName), append(text, '\n'), 0o644)
	return err
}

func readJSON[T any](path string) (v T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}
