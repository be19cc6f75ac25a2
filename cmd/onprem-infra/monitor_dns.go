//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

const (
	// everyDNSRound is the longest time between two rounds: nothing wakes the monitor when CoreDNS
	// changes.
	everyDNSRound = 2 * time.Second
	// healthAnswer is longer than CoreDNS needs to answer its health check.
	healthAnswer = time.Second
)

func monitorDNSCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dns",
		Short: "Keep a node's CoreDNS configured",
		Long: `dns writes CoreDNS's Corefile and the names of the cluster's nodes. It follows the host's name servers and the API's nodes, and signals the
CoreDNS of its pod to reload when they change. With --once it writes both files from what this machine knows without the API, and ends.`,
		Example: `  onprem-infra monitor dns --role=master
  onprem-infra monitor dns --role=worker --once`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/dns", std)
	m.kubeconfigFlag(cmd)
	m.roleFlag(cmd, "master, worker or arbiter")
	once := cmd.Flags().Bool("once", false, "write the files and end, before CoreDNS starts")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := m.role()
		if err != nil {
			return err
		}
		p, header, err := m.load(std)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		if *once {
			return dns.New(dns.Options{Plan: p, Role: r, Header: header, Host: nodeDNSHost{m}}).Prepare(ctx)
		}
		return monitorDNS(ctx, m, p, r, header)
	}
	return cmd
}

func monitorDNS(ctx context.Context, m *monitor, p plan.Plan, r role.Role, header string) error {
	api := m.api(p, r)
	nodes := api.ControlPlane(p.ControlPlaneLabel)
	if r == role.Master {
		nodes = api.AllNodes(p.ControlPlaneLabel)
	}
	url := fmt.Sprintf("http://localhost:%d/health", p.Ports[port.CoreDNSHealth])
	beside := &coreDNS{health: probe.NewHTTP(url, localhost.Dial)}
	defer beside.drop()
	room := dns.New(dns.Options{Plan: p, Role: r, Header: header, Host: nodeDNSHost{m}, Nodes: nodes, Daemon: beside})
	m.meter.Add(room.Metrics)
	m.meter.Follow("nodes", nodes.LastReceived)
	steps := loop.Steps[dns.Snapshot, dns.Desired]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply}
	return runInPod(ctx, m, m.credentials(p), steps, everyDNSRound, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorDNS], map[string]func() error{"/healthz": m.alive})
		m.watch(ctx, "nodes", func(ctx context.Context) error { return nodes.Run(ctx, m.wake) })
		m.watch(ctx, "links", func(ctx context.Context) error { return link.Watch(ctx, m.wake) })
		m.watch(ctx, "name servers", func(ctx context.Context) error { return file.Watch(ctx, inspect.ResolverFiles(), m.wake) })
	})
}

// nodeDNSHost is the machine as the room sees it.
type nodeDNSHost struct{ *monitor }

func (nodeDNSHost) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (nodeDNSHost) Resolvers() ([]nameserver.Resolver, error) { return inspect.Files{}.Resolvers() }

func (nodeDNSHost) Write(path string, text []byte) (changed bool, err error) {
	return file.WriteIfChanged(path, text, 0o644)
}

func (nodeDNSHost) Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (nodeDNSHost) Now() time.Time          { return time.Now() }
func (h nodeDNSHost) Later(d time.Duration) { h.later(d) }

// coreDNS is the CoreDNS of the pod, held by a pidfd.
type coreDNS struct {
	held   *proc.Process
	health *probe.HTTP
}

func (c *coreDNS) Running() (running, another bool) {
	if c.held != nil && c.held.Signal(0) == nil {
		return true, false
	}
	c.drop()
	found, err := proc.Running(dns.Command())
	if err != nil {
		return false, false // it has exited: kubelet starts another
	}
	c.held = found
	return true, true
}

func (c *coreDNS) drop() {
	if c.held != nil {
		_ = c.held.Close() // a pidfd that is no longer used
	}
	c.held = nil
}

func (c *coreDNS) Serves(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, healthAnswer)
	defer cancel()
	return c.health.Probe(ctx) == nil
}

// Signal ignores a process that has just exited: the next round finds its successor.
func (c *coreDNS) Signal(sig syscall.Signal) error {
	if err := c.held.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
