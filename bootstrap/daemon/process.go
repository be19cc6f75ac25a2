package daemon

import (
	"context"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Process is a process that can be signalled without the risk that its PID was reused.
type Process interface {
	Signal(sig syscall.Signal) error
	// Of reports whether the process belongs to the container with this ID.
	Of(container string) (bool, error)
	// Wait returns nil when the process has exited, or the context's error.
	Wait(ctx context.Context) error
	// CPU is the processor time that the process has used.
	CPU() (time.Duration, error)
	// Tracer is the process that traces this one, such as a debugger; 0 for none.
	Tracer() (pid int, err error)
	Close() error
}

// watched is a process whose exit is waited for.
type watched struct {
	process Process
	ended   chan struct{} // closed when the process has exited or is no longer watched
	cancel  context.CancelFunc
}

// follow watches a process instead of the one before it. Its exit requests a round.
func (k *Keeper) follow(process Process) {
	k.running.close()
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{process: process, ended: make(chan struct{}), cancel: cancel}
	k.running = w
	go func() {
		defer close(w.ended)
		_ = process.Wait(ctx) // a lost watch counts as an exit: the next round inspects
		if ctx.Err() == nil {
			loop.Wake(k.Wake)
		}
	}()
}

func (w *watched) running() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// close ends the watch; the process goes on.
func (w *watched) close() {
	if w == nil {
		return
	}
	w.cancel()
	<-w.ended
	_ = w.process.Close() // nothing depends on the descriptor any more
}
