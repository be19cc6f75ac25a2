//go:build remote

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inpod"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// everyDNSRound is the longest time between two rounds: nothing wakes the monitor when CoreDNS
// changes.
const everyDNSRound = 2 * time.Second

func monitorDNSCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dns",
		Short: "Keep a node's CoreDNS configured",
		Long: `dns writes CoreDNS's Corefile and the names of the cluster's nodes. It follows the
host's name servers and the API's nodes, and signals the CoreDNS of its pod to reload when they
change. With --once it writes both files from what this machine knows without the API, and ends.`,
		Example: `  onprem-infra monitor dns --role=master
  onprem-infra monitor dns --role=worker --once`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/dns", std)
	m.kubeconfigFlag(cmd)
	m.roleFlag(cmd, "master, worker or arbiter", "")
	once := cmd.Flags().Bool("once", false, "write the files and end, before CoreDNS starts")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		o := dns.Options{Plan: p, Role: m.role, Header: header, Host: nodeDNSHost{monitor: m}}
		if *once {
			return dns.New(o).Prepare(ctx)
		}
		return monitorDNS(ctx, m, o)
	})
	return cmd
}

func monitorDNS(ctx context.Context, m *monitor, o dns.Options) error {
	p, api := o.Plan, m.api(o.Plan)
	nodes := api.ControlPlane(p.ControlPlaneLabel)
	if m.role == role.Master {
		nodes = api.AllNodes(p.ControlPlaneLabel)
	}
	beside := inpod.NewCoreDNS(p, dns.Command())
	defer beside.Drop()
	o.Nodes, o.Daemon = dnsNodes{nodes}, beside
	room := dns.New(o)
	m.meter.Add(room.Metrics)
	m.meter.Follow("nodes", nodes.LastReceived)
	return runInPod(ctx, m, m.credentials(p), stepsOf(room), everyDNSRound,
		func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorDNS], m.alive)
			m.watchAPI(ctx, "nodes", nodes)
			m.watchLinks(ctx)
			m.watchFiles(ctx, "name servers", inspect.ResolverFiles()...)
		})
}

// dnsNodes are Nodes as the room sees them.
type dnsNodes struct{ *kube.Watcher }

func (w dnsNodes) Nodes() (nodes []dns.Node, synced bool) {
	known, synced := w.Known()
	for _, n := range known {
		nodes = append(nodes, dns.Node{Candidate: n.Candidate, ControlPlane: n.ControlPlane})
	}
	return nodes, synced
}

// nodeDNSHost is the machine as the room sees it.
type nodeDNSHost struct {
	link.Network
	*monitor
}

func (nodeDNSHost) Resolvers() ([]nameserver.Resolver, error) { return inspect.Files{}.Resolvers() }

func (nodeDNSHost) Write(path string, text []byte) (changed bool, err error) {
	return file.WriteIfChanged(path, text, 0o644)
}

func (nodeDNSHost) Read(path string) ([]byte, error) { return file.Read(path) }

func (nodeDNSHost) Now() time.Time          { return time.Now() }
func (h nodeDNSHost) Later(d time.Duration) { h.later(d) }
