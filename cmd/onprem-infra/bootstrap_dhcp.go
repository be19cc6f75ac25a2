//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/bootstrap/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	servers "github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	hostevents "github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	filter "github.com/onprem-infra/onprem-infra/shared/host/nft/dhcp"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/tail"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
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
	// dnsmasqStart is more than dnsmasq needs until its first answer on a busy machine, and
	// dnsmasqAnswer more than a running one needs.
	dnsmasqStart  = 3 * time.Second
	dnsmasqAnswer = time.Second
	// everyAnswer is the time between two answers: dnsmasq logs each of them.
	everyAnswer = 10 * time.Second
	// everyLine is how late an event may be, and maxLog the size of dnsmasq's log in bytes.
	everyLine = 250 * time.Millisecond
	maxLog    = 1 << 20
	// everyServer is how often a server that goes on is counted.
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
	m := containerFlags(cmd, std, "bootstrap/dhcp")
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
	seen := dhcp.NewSeen(p.Provisioning, former)
	host := dhcpHost{dir: hostorders.Run, follower: &servers.Follower{Watcher: servers.Watcher{
		Expected: seen.Expected, Repeat: everyServer, Listens: m.listens,
		Report: func(s offer.Server) { m.foreign(seen, s) }}}}
	room := dhcp.New(dhcp.Options{Plan: p, Host: host, Fence: dhcpFence{},
		Daemon: m.dnsmasqKeeper(p, host), Notifier: &m.status, Now: time.Now})
	m.meter.Add(room.Metrics)
	m.meter.Add(seen.Metrics)
	return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorDHCP], nil)
		m.watchLinks(ctx)
		m.watchFiles(ctx, "orders", host.dir.File())
		m.watch(ctx, "dnsmasq's log", func(ctx context.Context) error {
			return keepEvents(ctx, seen, func() error {
				room.Reopen()
				loop.Wake(m.wake)
				return nil
			})
		})
	})
}

// dnsmasqKeeper keeps dnsmasq's container, whose probe is an answer over TFTP: it takes no lease,
// and dnsmasq has one loop for everything.
func (m *machine) dnsmasqKeeper(p plan.Plan, host dhcpHost) *daemon.Keeper {
	server := served.Server(p.Provisioning, provision.Bootstrap)
	var next time.Time
	return m.keeper(func(ctx context.Context, _ daemon.Process) error {
		if time.Now().Before(next) {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, dnsmasqAnswer)
		defer cancel()
		err := host.ask(ctx, server, dhcp.Asked)
		switch {
		case errors.As(err, new(probe.TFTPRefused)), err == nil: // it works
			next = time.Now().Add(everyAnswer)
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("it does not answer over TFTP within %v", dnsmasqAnswer)
		}
		return err
	}, func() error {
		for _, dir := range []string{layout.Leases, layout.TFTP} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		return nil
	})
}

// listens logs that servers of the link are not watched, and that they are again.
func (m *machine) listens(err error) {
	if err != nil {
		m.log.Warn("watch for other servers", "error", err)
		return
	}
	m.log.Info("watch for other servers")
}

// foreign keeps that a server of the link is none of the cluster's. Hosts of the set get answers of
// both: which of them a host takes is up to the host.
func (m *machine) foreign(seen *dhcp.Seen, s offer.Server) {
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
func keepEvents(ctx context.Context, seen *dhcp.Seen, reopen func() error) error {
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

// dhcpHost is the machine for the room.
type dhcpHost struct {
	link.Network
	dir      hostorders.Dir
	follower *servers.Follower
}

func (h dhcpHost) Orders() (orders.Orders, error) { return h.dir.Read() }

func (h dhcpHost) Report(r orders.Report) error { return h.dir.WriteReport(r) }

func (dhcpHost) Exists(path string) bool { return file.Regular(path) }

func (dhcpHost) Write(f asset.File) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return false, err
	}
	return file.WriteIfChanged(f.Path, f.Contents, f.Mode)
}

func (h dhcpHost) Watch(link string) { h.follower.Watch(link) }

// Answers waits until a new dnsmasq has opened its port.
func (h dhcpHost) Answers(ctx context.Context, server netip.Addr, file string) error {
	ctx, cancel := context.WithTimeout(ctx, dnsmasqStart)
	defer cancel()
	for {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, dnsmasqStart/10)
			defer cancel()
			return h.ask(ctx, server, file)
		}()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tftpPort is fixed: hosts have no other.
const tftpPort = 69

func (dhcpHost) ask(ctx context.Context, server netip.Addr, file string) error {
	return probe.TFTP(ctx, netip.AddrPortFrom(server, tftpPort), file)
}

// dhcpFence is the machine's packet filter.
type dhcpFence struct{}

func (dhcpFence) Keep(link string, hosts []mac.MAC) error {
	_, err := filter.Keep(filter.Filter{Link: link, Hosts: hosts, Fenced: true})
	return err
}

func (dhcpFence) Allow(d time.Duration) error { return filter.Allow(d) }

func (dhcpFence) Close() error { return filter.Close() }

func (dhcpFence) Remove() error { return filter.Remove() }
