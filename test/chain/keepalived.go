package chain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Keepalived is a real keepalived on a host of the lab.
type Keepalived struct {
	host *lab.Host
	base string // path of its files, without their extensions
	cmd  *exec.Cmd
	done chan struct{} // nil unless started; closed when it has ended
}

// NewKeepalived keeps its files in dir.
func NewKeepalived(host *lab.Host, dir string) *Keepalived {
	return &Keepalived{host: host, base: filepath.Join(dir, host.Name)}
}

// Start runs keepalived until Stop.
func (k *Keepalived) Start(ctx context.Context, config keepalived.Config) error {
	if err := os.WriteFile(k.base+".conf", keepalived.Render(config), 0o644); err != nil {
		return err
	}
	log, err := os.Create(k.base + ".log")
	if err != nil {
		return err
	}
	defer log.Close()
	k.cmd = k.host.Contained(context.WithoutCancel(ctx), "keepalived", "-n", "-l", "-D", "-P",
		"-f", k.base+".conf", "-p", k.base+".pid", "-r", k.base+".vrrp.pid")
	k.cmd.Stdout, k.cmd.Stderr = log, log
	if err := k.cmd.Start(); err != nil {
		return fmt.Errorf("start keepalived on %s: %w", k.host.Name, err)
	}
	k.done = make(chan struct{})
	go func() {
		defer close(k.done)
		_ = k.cmd.Wait() // how it ended is in its log
	}()
	return nil
}

// Reload gives a running keepalived another configuration.
func (k *Keepalived) Reload(config keepalived.Config) error {
	if err := os.WriteFile(k.base+".conf", keepalived.Render(config), 0o644); err != nil {
		return err
	}
	return k.cmd.Process.Signal(syscall.SIGHUP)
}

// Stop ends keepalived in order. It does nothing if keepalived does not run.
func (k *Keepalived) Stop(ctx context.Context) error {
	if k.done == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = k.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-k.done:
		k.done = nil
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop keepalived on %s: %w", k.host.Name, ctx.Err())
	}
}

// Log is its output.
func (k *Keepalived) Log() string {
	text, err := os.ReadFile(k.base + ".log")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
