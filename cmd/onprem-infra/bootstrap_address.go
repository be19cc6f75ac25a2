//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/provisioning/address"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/hold"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// errNotProvisioned ends the programs that provision hosts where none is provisioned.
var errNotProvisioned = errors.New("the cluster's hosts are not provisioned: describe their BMCs " +
	"in the cluster description, or do not run this program")

func runAddressCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "address",
		Short: "Hold the bootstrap machine's address on the provisioning network",
		Long: `address gives the card of the provisioning network its address while the phase
machine orders it. It finds the card by its MAC, asks by ARP or neighbour discovery whether another
host has the address, and adds it only if none answers. It puts the address back when another
program removes it. The address stays when this program stops, unless the orders are off: to remove
it for good, stop the unit and use --release. An address that another program has added is never
removed.`,
		Example: `  onprem-infra bootstrap run address
  onprem-infra bootstrap run address --release
  journalctl -u onprem-provisioning-interface`,
		Args: cobra.NoArgs,
	}
	m := newMachine("bootstrap/provisioning/address", std)
	m.clusterFlag(cmd)
	release := cmd.Flags().Bool("release", false,
		"remove the address that this program has added, and end")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.Provisioning == nil {
			return errNotProvisioned
		}
		host := addressHost{dir: hostorders.Run}
		room := m.addressRoom(p, host)
		if *release {
			return room.Release(ctx)
		}
		m.meter.Add(room.Metrics)
		return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorAddress], nil)
			m.watchLinks(ctx)
			m.watchFiles(ctx, "orders", host.dir.File())
		})
	})
	return cmd
}

// addressRoom is the room on a host.
func (m *machine) addressRoom(p plan.Plan, host addressHost) *address.Room {
	return address.New(address.Options{Plan: p, Host: host, Files: host, Notifier: &m.status,
		Now: time.Now, Log: m.log})
}

// addressHost is the machine for the room.
type addressHost struct {
	link.Network
	dir hostorders.Dir
}

func (h addressHost) Orders() (orders.Orders, error) { return h.dir.Read() }

func (h addressHost) Report(r orders.Report) error { return h.dir.WriteReport(r) }

func (h addressHost) claim() string {
	return filepath.Join(string(h.dir), filepath.Base(address.ClaimFile))
}

func (h addressHost) Claim() (address.Claim, error) {
	text, err := file.Read(h.claim())
	if err != nil {
		return address.Claim{}, err
	}
	return address.DecodeClaim(text)
}

func (h addressHost) Keep(c address.Claim) error {
	return file.Write(h.claim(), address.EncodeClaim(c), 0o644)
}

func (h addressHost) Forget() error { return file.Remove(h.claim()) }

func (addressHost) Ethernets() ([]addr.Ethernet, error) { return link.Ethernets() }

func (addressHost) WhoHas(on string, a netip.Addr) ([]string, error) { return reach.WhoHas(on, a) }

func (addressHost) Announce(on string, a netip.Addr) error { return reach.Announce(on, a) }

func (addressHost) SetUp(on string) error { return hold.SetUp(on) }

func (addressHost) MakeLinkLocal(on string) error { return hold.MakeLinkLocal(on) }

func (addressHost) Add(on string, p netip.Prefix) (bool, error) { return hold.Add(on, p) }

func (addressHost) Delete(index int, p netip.Prefix) error { return hold.Delete(index, p) }

func (addressHost) DeleteLoopRoute(a netip.Addr) error { return hold.DeleteLoopRoute(a) }
