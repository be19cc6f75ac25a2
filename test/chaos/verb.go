package chaos

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// class is what of a node a fault is about. A node has one fault of a class at a time; without
// power it has no other.
type class int

const (
	daemon  class = iota // keepalived and what stands beside it
	server               // its API server
	wire                 // the way of its packets
	machine              // its processors and disks
	power
)

// verb is how a fault is done to a node of the lab.
type verb struct {
	class class
	// isolated: meanwhile the node's adverts do not go out and in as they should, or that
	// no process there decides which host holds the VIP.
	isolated bool
	// harmless: the node is as well as before: it keeps a VIP, and takes one that no host
	// has.
	harmless bool
	do       func(context.Context, *life.Node, schedule.Fault) (undo func() error, err error)
	undo     func(context.Context, *life.Node) error // nil for what ends by itself, or by the undo of do
}

// verbs are all that can be done to a node. What is killed comes back by itself, but for an API
// server.
var verbs = map[schedule.Kind]verb{
	schedule.KillVRRP:       {class: daemon, do: now((*life.Node).KillVRRP)},
	schedule.StopVRRP:       {class: daemon, do: now(stopVRRP)},
	schedule.KillDaemon:     {class: daemon, do: now(signals(life.Keepalived, syscall.SIGKILL, "keepalived"))},
	schedule.StopKeepalived: {class: daemon, do: now(signals(life.Keepalived, syscall.SIGSTOP, "keepalived"))},
	schedule.EndKeepalived:  {class: daemon, do: now(first(life.Keepalived, syscall.SIGTERM))},
	schedule.KillKeepalived: {class: daemon, isolated: true, do: replaced(life.Keepalived)},
	schedule.StopSupervisor: {class: daemon, isolated: true, harmless: true, do: now(first(life.Keepalived, syscall.SIGSTOP)), undo: then(first(life.Keepalived, syscall.SIGCONT))},
	schedule.KillMonitor:    {class: daemon, harmless: true, do: now(signals(life.KeepalivedMonitor, syscall.SIGKILL))},
	schedule.StopMonitor: {class: daemon, harmless: true, do: now(signals(life.KeepalivedMonitor, syscall.SIGSTOP)),
		undo: then(signals(life.KeepalivedMonitor, syscall.SIGCONT))},
	schedule.KillLBMonitor: {class: daemon, harmless: true, do: now(signals(life.HAProxyMonitor, syscall.SIGKILL))},
	schedule.StopLBMonitor: {class: daemon, harmless: true, do: now(signals(life.HAProxyMonitor, syscall.SIGSTOP)), undo: then(signals(life.HAProxyMonitor, syscall.SIGCONT))},
	schedule.KillLB:        {class: daemon, do: now((*life.Node).KillHAProxy)},
	schedule.StopLB:        {class: daemon, do: now(signals(life.HAProxy, syscall.SIGSTOP)), undo: then(signals(life.HAProxy, syscall.SIGCONT))},
	schedule.KillAPI:       {class: server, harmless: true, do: now(func(n *life.Node) error { return n.API.Kill() }), undo: serve},
	schedule.StopAPI: {class: server, harmless: true, do: now(func(n *life.Node) error { return n.API.Signal(syscall.SIGSTOP) }),
		undo: then(func(n *life.Node) error { return n.API.Signal(syscall.SIGCONT) })},
	schedule.EndAPI:    {class: server, harmless: true, do: now(endAPI), undo: serve},
	schedule.PowerOff:  {class: power, do: now((*life.Node).CutPower), undo: boot},
	schedule.Reboot:    {class: power, do: shutDown, undo: boot},
	schedule.Cut:       {class: wire, isolated: true, do: cuts(lab.Both), undo: reconnect},
	schedule.CutIn:     {class: wire, isolated: true, do: cuts(lab.In), undo: reconnect},
	schedule.CutOut:    {class: wire, isolated: true, do: cuts(lab.Out), undo: reconnect},
	schedule.Loss:      {class: wire, isolated: true, do: spoils, undo: then(good)},
	schedule.Delay:     {class: wire, isolated: true, do: spoils, undo: then(good)},
	schedule.Duplicate: {class: wire, harmless: true, do: spoils, undo: then(good)},
	schedule.Hog:       {class: machine, harmless: true, do: hog, undo: nothing},
	schedule.DiskFull:  {class: machine, harmless: true, do: fill, undo: nothing},
}

func now(f func(*life.Node) error) func(context.Context, *life.Node, schedule.Fault) (func() error, error) {
	return func(_ context.Context, n *life.Node, _ schedule.Fault) (func() error, error) { return nil, f(n) }
}

func then(f func(*life.Node) error) func(context.Context, *life.Node) error {
	return func(_ context.Context, n *life.Node) error { return f(n) }
}

// nothing is the end of what the undo of do has ended.
func nothing(context.Context, *life.Node) error { return nil }

// signals sends a signal to all processes of a container, or of some programs in it.
func signals(container string, sig syscall.Signal, programs ...string) func(*life.Node) error {
	return func(n *life.Node) error { return n.SignalAll(container, sig, programs...) }
}

// first sends a signal to the first process of a container.
func first(container string, sig syscall.Signal) func(*life.Node) error {
	return func(n *life.Node) error { return n.Signal(container, sig) }
}

// replaced kills a container as a whole, and returns when another one runs in its place.
func replaced(container string) func(context.Context, *life.Node, schedule.Fault) (func() error, error) {
	return func(ctx context.Context, n *life.Node, _ schedule.Fault) (func() error, error) {
		former, err := n.PID(container)
		if err != nil {
			return nil, err
		}
		if err := n.SignalAll(container, syscall.SIGKILL); err != nil {
			return nil, err
		}
		for ctx.Err() == nil {
			if pid, err := n.PID(container); err == nil && pid != former {
				return nil, nil
			}
			time.Sleep(sample)
		}
		return nil, ctx.Err()
	}
}

func stopVRRP(n *life.Node) error {
	speaker, err := n.Child(life.Keepalived, "keepalived")
	if err != nil {
		return err
	}
	return syscall.Kill(speaker.PID, syscall.SIGSTOP)
}

// serve starts a node's API server again, and does not wait for it.
func serve(ctx context.Context, n *life.Node) error {
	if n.API.PID() != 0 {
		if err := n.API.Kill(); err != nil { // it got the signal to end, and has not done so yet
			return err
		}
	}
	return n.API.Launch(ctx)
}

func endAPI(n *life.Node) error { return n.API.Signal(syscall.SIGTERM) }

func boot(ctx context.Context, n *life.Node) error { return n.Boot(ctx) }

func shutDown(ctx context.Context, n *life.Node, _ schedule.Fault) (func() error, error) {
	return nil, n.ShutDown(ctx)
}

func cuts(way lab.Way) func(context.Context, *life.Node, schedule.Fault) (func() error, error) {
	return now(func(n *life.Node) error { return n.Host.Cut(way) })
}

func reconnect(_ context.Context, n *life.Node) error { return n.Host.Reconnect() }

func good(n *life.Node) error { return n.Host.Spoil(lab.Line{}) }

// spoils makes a wire bad both ways. What is lost depends on the fault alone.
func spoils(_ context.Context, n *life.Node, f schedule.Fault) (func() error, error) {
	line := lab.Line{Seed: uint64(f.At)}
	switch f.Kind {
	case schedule.Loss:
		line.Loss = float64(f.Amount) / 100
	case schedule.Duplicate:
		line.Duplicate = float64(f.Amount) / 100
	case schedule.Delay:
		line.Delay = time.Duration(f.Amount) * time.Millisecond
	}
	return nil, n.Host.Spoil(line)
}

func hog(ctx context.Context, n *life.Node, f schedule.Fault) (func() error, error) {
	return n.Host.Hog(ctx, lab.Hog{Loops: f.Amount, For: f.For + time.Second})
}

// fill fills both of the node's disks.
func fill(_ context.Context, n *life.Node, _ schedule.Fault) (func() error, error) {
	run, err := n.Fill("/run")
	if err != nil {
		return nil, err
	}
	disk, err := n.Fill("/var")
	if err != nil {
		return nil, errors.Join(err, run())
	}
	return func() error { return errors.Join(run(), disk()) }, nil
}
