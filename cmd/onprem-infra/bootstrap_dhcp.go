//go:build remote

package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	host "github.com/onprem-infra/onprem-infra/shared/host/bootserver"
	servers "github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	hostevents "github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/tail"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	// everyLine is how late an event may be, and maxLog the size of dnsmasq's log in bytes.
	everyLine = 250 * time.Millisecond
	maxLog    = 1 << 20
	// everyServer is how often a foreign server that continues to send is counted.
	everyServer = time.Second
)

func runDHCPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dhcp",
		Short: "Answer the hosts that are installed by DHCP and TFTP",
		Long: `dhcp launches dnsmasq in a container while the phase machine orders it. It
answers the hosts of the orders alone: the packet filter drops the requests of others, and lets
answers out only while this program runs. dnsmasq goes on when this program stops, for transfers,
unless the orders are off. Other servers of the link that configure hosts are logged, counted, and
listed.`,
		Example: `  onprem-infra bootstrap run dhcp
  journalctl -u onprem-dnsmasq`,
		Args: cobra.NoArgs,
	}
	m := containerFlags(cmd, std, "shared/bootserver")
	m.pullLock = layout.Pull
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.Provisioning == nil || p.Images[spec.IronicImage] == "" {
			return errNoDHCP
		}
		return m.runDHCP(ctx, p)
	})
	return cmd
}

var errNoDHCP = errors.New("this machine provisions no hosts: describe their BMCs and name " +
	"ironicImage among the images of the cluster description, or do not run this program")

func (m *machine) runDHCP(ctx context.Context, p plan.Plan) error {
	former, err := readForeign()
	if err != nil {
		m.log.Warn("forget the foreign servers of an earlier run", "error", err)
	}
	seen := bootserver.NewSeen(p.Provisioning, provision.Bootstrap, former)
	room := bootserver.New(bootserver.Options{Plan: p, Phase: provision.Bootstrap,
		Host:  dhcpHost{Host: m.bootHost(seen), dir: hostorders.Run},
		Fence: host.Fence{}, Daemon: m.dnsmasqKeeper(p), Notifier: &m.status, Now: time.Now})
	m.meter.Add(room.Metrics)
	m.meter.Add(seen.Metrics)
	return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorDHCP], nil)
		m.watchLinks(ctx)
		m.watchFiles(ctx, "orders", hostorders.Run.File())
		m.followLog(ctx, room, seen)
	})
}

// bootHost is the machine, which reports foreign servers to seen.
func (m *machine) bootHost(seen *bootserver.Seen) host.Host {
	return host.Host{Servers: &servers.Follower{Watcher: servers.Watcher{
		Expected: seen.Expected, Repeat: everyServer, Listens: m.listens,
		Report: func(s offer.Server) { m.foreign(seen, s) }}}}
}

// followLog keeps what dnsmasq logs of hosts.
func (m *machine) followLog(ctx context.Context, room *bootserver.Room, seen *bootserver.Seen) {
	m.watch(ctx, "dnsmasq's log", func(ctx context.Context) error {
		return keepEvents(ctx, seen, func() error {
			room.Reopen()
			loop.Wake(m.wake)
			return nil
		})
	})
}

// dnsmasqKeeper keeps dnsmasq's container.
func (m *machine) dnsmasqKeeper(p plan.Plan) *daemon.Keeper {
	alive := host.Alive(served.Server(p.Provisioning, provision.Bootstrap))
	probe := func(ctx context.Context, _ daemon.Process) error { return alive(ctx) }
	return m.keeper(probe, makeServed)
}

// makeServed makes the directories that dnsmasq needs.
func makeServed() error {
	for _, dir := range []string{layout.Leases, layout.TFTP} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// listens logs that servers of the link are not watched, and that they are again.
func (m *machine) listens(err error) {
	if err != nil {
		m.log.Warn("watch for other servers", "error", err)
		return
	}
	m.log.Info("watch for other servers")
}

// foreign records a server on the link that is not the cluster's. The hosts that are installed
// get answers of both, and each host chooses one.
func (m *machine) foreign(seen *bootserver.Seen, s offer.Server) {
	list, first := seen.Foreign(s)
	if first != nil {
		m.log.Warn("another server configures hosts of this network", "kind", first.Kind,
			"mac", first.MAC, "address", first.Address, "vlan", first.VLAN,
			"fix", "find its port by its MAC, and end it or take it off this network")
	}
	if err := file.Write(foreign.Path, foreign.Encode(list), 0o644); err != nil {
		m.log.Warn("list foreign servers", "error", err)
	}
}

func readForeign() (foreign.List, error) {
	text, err := file.Read(foreign.Path)
	if err != nil {
		return foreign.List{}, err
	}
	return foreign.Decode(text)
}

// keepEvents keeps what dnsmasq logs of hosts until ctx ends.
func keepEvents(ctx context.Context, seen *bootserver.Seen, reopen func() error) error {
	log := tail.Log{Path: layout.DnsmasqLog, Limit: maxLog, Reopen: reopen}
	defer log.Close()
	for range loop.Every(ctx, everyLine) {
		lines, err := log.Lines()
		bySource := map[events.Source][]events.Event{}
		for _, e := range seen.Lines(time.Now(), lines) {
			bySource[e.Source] = append(bySource[e.Source], e)
		}
		for source, all := range bySource {
			err = errors.Join(err, hostevents.Of(source).Append(all...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dhcpHost is the bootstrap machine for the room.
type dhcpHost struct {
	host.Host
	dir hostorders.Dir
}

func (h dhcpHost) Orders() (orders.Orders, error) { return h.dir.Read() }

func (h dhcpHost) Report(r orders.Report) error { return h.dir.WriteReport(r) }
