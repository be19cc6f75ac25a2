package daemon

import (
	"context"
	"syscall"
	"time"
)

// Process is a process that can be signalled without the risk of hitting another that was given its
// number.
type Process interface {
	Signal(sig syscall.Signal) error
	// Of says whether it is a process of the container with this ID.
	Of(container string) (bool, error)
	// Wait returns nil once the process has ended, or the context's error.
	Wait(ctx context.Context) error
	// CPU is the processor time that the process has used.
	CPU() (time.Duration, error)
	// Tracer is the process that traces this one, as a debugger does, and 0 when there is none.
	Tracer() (pid int, err error)
	Close() error
}

// watched is a process whose end somebody waits for.
type watched struct {
	process Process
	ended   chan struct{} // closed when the process has ended, or is not watched any more
	cancel  context.CancelFunc
}

func watch(process Process, atEnd func()) *watched {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watched{process: process, ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(w.ended)
		_ = process.Wait(ctx) // a watch that is lost counts as an end: the next round looks again
		if ctx.Err() == nil {
			atEnd()
		}
	}()
	return w
}

// alive says whether the process runs.
func (w *watched) alive() bool {
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

// close forgets the process without touching it.
func (w *watched) close() {
	if w == nil {
		return
	}
	w.cancel()
	<-w.ended
	_ = w.process.Close() // a descriptor of ours; nothing depends on it any more
}
