package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Hog is a load on the local host, and so on every host of every lab: they share its processors.
type Hog struct {
	Loops int           // processes in an endless loop
	Forks int           // processes that start short processes again and again
	For   time.Duration // after which all processes exit by themselves
}

// Hog starts a load as processes of the host. stop ends it; it may be called twice.
func (h *Host) Hog(ctx context.Context, g Hog) (stop func() error, err error) {
	if g.For <= 0 {
		return nil, fmt.Errorf("hog on %s: a load must have an end", h.Name)
	}
	var running []*exec.Cmd
	var once sync.Once
	end := func() (err error) {
		once.Do(func() {
			for _, cmd := range running {
				// The group includes the processes that it has started.
				if one := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); one != nil &&
					!errors.Is(one, syscall.ESRCH) {
					err = errors.Join(err, one)
				}
				_ = cmd.Wait() // it was killed
			}
		})
		return err
	}
	bound := strconv.FormatFloat(g.For.Seconds(), 'f', -1, 64)
	for i := range g.Loops + g.Forks {
		script := "while :; do :; done"
		if i >= g.Loops {
			script = "while :; do /bin/true; done"
		}
		cmd := h.Command(
			context.WithoutCancel(ctx), "timeout", "--signal=KILL", bound, "sh", "-c", script,
		)
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("hog on %s: %w", h.Name, err), end())
		}
		running = append(running, cmd)
		// Of ordinary weight, as a container has by its control group, whatever the niceness of the
		// lab's owner.
		if err := syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("hog on %s: %w", h.Name, err), end())
		}
	}
	return end, nil
}
