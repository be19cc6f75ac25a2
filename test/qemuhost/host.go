// Package qemuhost has bare machines for tests: qemu, of which a BMC switches the power and chooses
// what they boot from. Each has an empty disk, and a second one as a trap: it is smaller, and has a
// file system with data.
//
// Where this machine has no use of KVM, a guest is some ten times slower than the processor. Its
// firmware, network card and disks are those that virtual machines usually have.
package qemuhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/debian"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// Options describe a machine.
type Options struct {
	Name   string
	MAC    string
	UUID   string
	Legacy bool // starts by BIOS instead of UEFI, unless its BMC wants the other
	// Dir is for its disks, its console and what it remembers. It must exist.
	Dir string
	// MemoryMB and DiskMB are 2048 and 8192 if they are 0. A ramdisk is in memory twice for a time.
	// The trap has TrapMB, 5120 if it is 0: Ironic's agent takes the smallest disk of 4 GiB or more
	// if no hint names one.
	MemoryMB, DiskMB, TrapMB int
	// Card is the machine's end of a wire; nil for a network of qemu's own, in which the machine
	// finds this machine's loopback at 10.0.2.2.
	Card *Tap
	// Client fetches what is inserted as virtual media; nil for one of this machine.
	Client *http.Client
	// Direct is a command line, to start the files kernel and initramfs of Dir with; empty to boot.
	Direct string
	Log    *slog.Logger
}

// Serials of the disks: a root device hint tells them apart.
func (o Options) Serials() (disk, trap string) { return "disk-" + o.Name, "trap-" + o.Name }

// Serials are those of Options.
func (h *Host) Serials() (disk, trap string) { return h.options.Serials() }

// Host is a machine.
type Host struct {
	options Options
	tools   debian.Root
	// next is what the machine starts from after it has reset itself.
	next func() fakebmc.Change

	mu      sync.Mutex
	running *run // nil if it is off
	starts  []fakebmc.Change
	closed  bool
}

// run is one process of qemu.
type run struct {
	qmp   io.WriteCloser
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended and what follows of it is done
}

// New makes a machine that is off. Close ends it.
func New(ctx context.Context, o Options) (*Host, error) {
	tools, err := debian.Tools.Root(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	if o.MemoryMB == 0 {
		o.MemoryMB = 2048
	}
	if o.DiskMB == 0 {
		o.DiskMB = 8192
	}
	if o.TrapMB == 0 {
		o.TrapMB = 5120
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	h := &Host{options: o, tools: tools}
	h.next = func() fakebmc.Change { return fakebmc.Change{On: true, Boot: "Hdd", Mode: h.mode()} }
	return h, h.makeDisks(ctx)
}

func (h *Host) mode() string {
	if h.options.Legacy {
		return "Legacy"
	}
	return "UEFI"
}

func (h *Host) file(name string) string { return filepath.Join(h.options.Dir, name) }

// trapData is a file of the trap's file system, which has room for nothing else beside it.
var trapData = bytes.Repeat([]byte("data of a tenant\n"), 1000)

// makeDisks makes an empty disk and the trap.
func (h *Host) makeDisks(ctx context.Context) error {
	content := h.file("trap")
	err := errors.Join(
		os.WriteFile(h.file("disk.raw"), nil, 0o600), os.Truncate(h.file("disk.raw"), int64(h.options.DiskMB)<<20),
		os.WriteFile(h.file("trap.raw"), nil, 0o600), os.Truncate(h.file("trap.raw"), int64(h.options.TrapMB)<<20),
		os.MkdirAll(content, 0o755), os.WriteFile(filepath.Join(content, "data"), trapData, 0o644),
	)
	if err != nil {
		return err
	}
	return h.tools.Run(ctx, []string{h.options.Dir}, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-L", "tenant", "-d", content, h.file("trap.raw"))
}

// TrapIsWhole reports whether the data on the trap are as they were, and nothing is beside them but
// a file system of that size: whoever writes an operating system there destroys the first, or adds
// to the second. Cleaning may have removed the file system's name.
func (h *Host) TrapIsWhole() (bool, error) {
	f, err := os.Open(h.TrapDisk())
	if err != nil {
		return false, err
	}
	defer f.Close()
	const most = 64 << 20
	var used int
	found := false
	for at := int64(0); ; {
		from, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // no more data
			return found && used < most, nil
		}
		if err != nil {
			return false, err
		}
		if at, err = f.Seek(from, unix.SEEK_HOLE); err != nil {
			return false, err
		}
		if used += int(at - from); used >= most {
			return false, nil
		}
		part := make([]byte, at-from)
		if _, err := f.ReadAt(part, from); err != nil {
			return false, err
		}
		found = found || bytes.Contains(part, trapData)
	}
}

// Disk is the path of the first disk.
func (h *Host) Disk() string { return h.file("disk.raw") }

// TrapDisk is the path of the second disk.
func (h *Host) TrapDisk() string { return h.file("trap.raw") }

// Console is all that the machine has written to its serial line.
func (h *Host) Console() string { return read(h.file("console.log")) }

// Errors is what qemu has printed.
func (h *Host) Errors() string { return read(h.file("qemu.log")) }

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Starts are what the machine has been started from, oldest first.
func (h *Host) Starts() []fakebmc.Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]fakebmc.Change(nil), h.starts...)
}

// IsOn reports whether the machine runs. A machine that resets itself stays on.
func (h *Host) IsOn() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running != nil
}

// Power switches the machine as a BMC asks. A graceful end is up to its operating system.
func (h *Host) Power(c fakebmc.Change) error {
	h.mu.Lock()
	running := h.running
	h.mu.Unlock()
	switch {
	case c.On:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.running != nil {
			return nil
		}
		if h.closed {
			return errors.New("the machine is gone")
		}
		return h.start(c)
	case running == nil:
		return nil
	case c.Graceful:
		_, err := io.WriteString(running.qmp, `{"execute":"system_powerdown"}`+"\n")
		return err
	default:
		h.options.Log.Info("switched off", "host", h.options.Name)
		return h.kill()
	}
}

// kill ends the machine at once, whatever it is starting just then.
func (h *Host) kill() error {
	for {
		h.mu.Lock()
		running := h.running
		h.mu.Unlock()
		if running == nil {
			return nil
		}
		_ = running.cmd.Process.Kill() // it may have ended
		<-running.ended
	}
}

// Close ends the machine. Its files stay.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	return h.kill()
}

// start starts qemu, which ends with this process. It needs no network of its own: it gets its wire
// as an open file. The lock is held.
func (h *Host) start(c fakebmc.Change) error {
	args, err := h.arguments(c)
	if err != nil {
		return err
	}
	cmd := h.tools.Command(context.Background(), []string{h.options.Dir}, append([]string{"qemu-system-x86_64"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if h.options.Card != nil {
		cmd.ExtraFiles = []*os.File{h.options.Card.file}
	}
	out, err := os.OpenFile(h.file("qemu.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	fmt.Fprintln(out, strings.Join(args, " "))
	cmd.Stderr = out
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r := &run{qmp: in, cmd: cmd, ended: make(chan struct{})}
	began := make(chan error)
	go func() {
		// qemu gets its signal when the thread ends that has started it, so no other goroutine may
		// end that thread before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			if _, err = io.WriteString(in, `{"execute":"qmp_capabilities"}`+"\n"); err != nil {
				err = errors.Join(err, cmd.Wait())
			}
		}
		if began <- err; err == nil {
			h.follow(r, events)
		}
	}()
	if err := <-began; err != nil {
		return fmt.Errorf("start qemu: %w: %s", err, h.Errors())
	}
	h.running, h.starts = r, append(h.starts, c)
	h.options.Log.Info("started", "host", h.options.Name, "from", c.Boot, "mode", c.Mode, "start", len(h.starts))
	return nil
}

// follow waits for the end of qemu. A machine that has reset itself is started anew, by what its
// BMC wants then: this is how an override that counts once ends.
func (h *Host) follow(r *run, events io.Reader) {
	defer close(r.ended)
	reset := false
	lines := bufio.NewScanner(events)
	for lines.Scan() {
		var event struct {
			Event string
			Data  struct{ Reason string }
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "SHUTDOWN" {
			reset = event.Data.Reason == "guest-reset"
		}
	}
	_ = r.cmd.Wait() // the lines report how it ended
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = nil
	if !reset || h.closed {
		h.options.Log.Info("ended", "host", h.options.Name)
		return
	}
	h.options.Log.Info("has reset itself", "host", h.options.Name)
	if err := h.start(h.next()); err != nil {
		h.options.Log.Error("the machine did not start again", "host", h.options.Name, "err", err)
	}
}
