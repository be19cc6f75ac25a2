//go:build remote

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/resolv"
	"github.com/onprem-infra/onprem-infra/shared/host/bus"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const (
	// primaryIP is the node's address, chosen once a boot before kubelet starts.
	primaryIP = "/run/nodeip-configuration/primary-ip"
	// everyResolvRound is the longest time between two rounds.
	everyResolvRound = 2 * time.Second
)

func monitorResolvCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolv",
		Short: "Put a node first in its own resolv.conf",
		Long: `resolv makes this node's own CoreDNS its first name server, in resolv.conf or, where
systemd-resolved is in charge, in its configuration. kubelet starts after that.
on-prem-resolv-prepender.service runs it whenever NetworkManager reports a change. It waits until
NetworkManager has a name server and the node has its address, and then ends.`,
		Example: `  onprem-infra monitor resolv`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/resolv", std)
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		room := resolv.New(p, header, resolvHost{m, p.VIPs.All()})
		return runMonitor(ctx, m, stepsOf(room), everyResolvRound, func(ctx context.Context) {
			m.watchFiles(ctx, "name servers",
				resolv.NetworkManager, resolv.Environment, resolv.FQDN, primaryIP)
			m.watchLinks(ctx)
		})
	})
	return cmd
}

// resolvHost is the machine as the room sees it.
type resolvHost struct {
	*monitor
	vips []netip.Addr
}

func (resolvHost) Read(path string) ([]byte, error) { return file.Read(path) }

// NodeIP is the address that node-ip chose. Before that it is the one that node-ip would choose
// without a hint.
func (h resolvHost) NodeIP() (netip.Addr, error) {
	text, err := os.ReadFile(primaryIP)
	switch {
	case err == nil:
		ip, err := netip.ParseAddr(string(bytes.TrimSpace(text)))
		if err != nil {
			return netip.Addr{}, fmt.Errorf("read %s: %w", primaryIP, err)
		}
		return ip, nil
	case !errors.Is(err, fs.ErrNotExist):
		return netip.Addr{}, err
	}
	chosen, err := node.Choose(h.vips)
	if err != nil {
		return netip.Addr{}, err
	}
	return chosen[0], nil
}

func (resolvHost) Enabled(service string) (bool, error) { return systemd.Enabled(service) }

// Write keeps the SELinux label of the former file, or takes that of another file for name lookups.
func (resolvHost) Write(path string, text []byte) (changed bool, err error) {
	if filepath.Dir(path) == resolv.DropIns {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return false, err
		}
	}
	if path == resolv.Config {
		return file.WriteLabelled(path, text, 0o644, "/etc/hosts")
	}
	return file.WriteLabelled(path, text, 0o644)
}

func (resolvHost) RestartResolved(ctx context.Context) error {
	return bus.Restart(ctx, resolv.Resolver)
}

func (resolvHost) ReloadNetworkManager(ctx context.Context) error {
	return bus.ReloadNetworkManager(ctx)
}

func (resolvHost) SetHostname(ctx context.Context, name string) error {
	return bus.SetHostname(ctx, name)
}

func (resolvHost) Now() time.Time          { return time.Now() }
func (h resolvHost) Later(d time.Duration) { h.later(d) }
func (h resolvHost) End()                  { h.stop() }
