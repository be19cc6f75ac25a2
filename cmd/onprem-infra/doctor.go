//go:build remote

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const doctorLong = `doctor finds what is wrong. On a host of a live cluster it inspects what runs
there, which hosts answer for the VIPs on its network, and what the other hosts answer; on a plain
host, with -c, whether a cluster can be made there. It prints its findings, the likeliest cause
first: what was inspected, what was seen, and what to do.

It inspects findings twice, so that a VIP which just moves is none. It changes nothing. It asks
which host has each VIP (ARP, neighbour discovery), listens for adverts for some seconds, asks name
servers, time servers and API servers one or two questions each, and other hosts for an echo. It
lists what it could not see: root sees all (capabilities NET_RAW and NET_ADMIN). On a terminal it
shows how far it is, and what the first inspection found.

On a plain host, --peer names other hosts of the future cluster: whether packets, those that fill
the link, and VRRP reach them.

Where hosts announce VIPs to their routers by BGP it also inspects that. On a plain host it opens a
connection to each router of the host's rack, sends what a speaker would (OPEN), reads the answer
and closes, so that no session comes up: a wrong AS number, a router that does not know this host
and a packet filter show before the host exists, and with --bgp-passwords a wrong password. Where a
speaker runs it asks routers without a session for a connection alone. On a host that has a speaker
and no API VIP, as a worker, it opens up to 128 connections to the VIP's port 10250, as fast as they
are answered and without a request, to see by the certificates of kubelets to which nodes routers
spread connections.

With --provisioning-link it inspects only the link on which bare machines are to be installed: its
carrier, MTU and ports, and which servers would boot such a machine. It asks as one does, by DHCP,
ProxyDHCP, DHCPv6 and router solicitation, for some seconds, and takes no lease. Servers that belong
there are stated by --provisioning-server. Another host may see more: switches and VLANs decide. If
the switch announces itself by LLDP meanwhile, its name, port and VLAN are printed; it does so every
30 s, and --lldp waits for it.

With --provisioning it joins two reports about the hosts to be installed. It inspects the link of
the provisioning network, whose values come from the description of -c, or from the files of the
bootstrap machine, and asks the BMCs as "hosts" does. A host that has no such link, or cannot reach
a BMC, reports that as not seen: on the bootstrap machine it is wrong. When the machine has ended to
provision, by its journal, the addresses of the network and its DHCP server are the cluster's. Other
servers that belong there are named by expectedServers of spec.provisioning, or by
--provisioning-server.

With --images it also asks for the files that hosts need (osImage, the ramdisk), without fetching
them: whether they are there, and whether the machine's disk and the hosts' memory have room.
Digests show after a transfer alone.

With --timing-proof it measures for a while how late this host runs a real-time thread, and how late
adverts of other hosts arrive, beside whatever else the host has to do, and prints what to write
under timingProof for timing fast, or why this host cannot have it. Alone it stands for 1m, the
least time that proves anything.

Exit code 0: nothing is wrong; 1: something is. A finding marked as a warning is nothing wrong,
unless --strict is given. With -o json it prints one object; its fields stay:
  at, cluster, live, nodeIPs, checks[] (their names, in the order of causes),
  findings[]{check,severity,looked,seen,do} (severity: error or warning),
  unseen[] (what could not be inspected, in words)
Of a provisioning link these are: at, link, mode, servers[], checks[], findings[], unseen[], and
switch{chassis,system,port,description,announced,untagged,vlans} if it announced itself; each
finding also has severity (error or warning) and vantage (from where it was seen). With
--provisioning there is also hosts[], as "hosts" prints it, and a finding about a host names it in
host. With --timing-proof it prints instead:
  host, at, lastedNs, realTime, thread{times,p999Ns,mostNs},
  senders[]{address,router,intervalNs,late{times,p999Ns,mostNs}},
  timing, allowedNs (how late anything may have been), faults[] (why this host may not have that
  timing; empty if it may)`

func doctorCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with this host or its cluster, and what to do",
		Long:  doctorLong,
		Example: `  onprem-infra doctor
  onprem-infra doctor -c install-config.yaml --peer 192.0.2.22 --peer 192.0.2.23
  onprem-infra doctor -o json | jq '.findings[0]'
  onprem-infra doctor --provisioning -c install-config.yaml
  onprem-infra doctor --provisioning-link 52:54:00:12:34:56 --provisioning-server 172.22.0.2`,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	m := &monitor{machine: &machine{log: quiet(), cluster: plan.Path,
		meter: newMeter("doctor")}}
	var peers []string
	var joins, quiet, hosts bool
	link, proof := provisioningFlags{}, timingProof{}
	link.register(cmd)
	proof.register(cmd)
	format := formatFlag(cmd, "text or json", "text", "json")
	cmd.Flags().StringArrayVar(&peers, "peer", nil,
		"address of another host of the future cluster; may be given several times")
	routers := bgpPasswordsFlag(cmd, "without it those of this host count")
	cmd.Flags().BoolVar(&joins, "joins", false,
		"the cluster lives, and this plain host will join it: its VIPs may be taken")
	cmd.Flags().BoolVar(&hosts, "provisioning", false,
		"inspect only what the installation of hosts needs: their network and their BMCs")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "show no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		others, err := peerAddresses(peers)
		if err = cmp.Or(err, link.check(cmd), proof.check(cmd)); err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		how := printing{format: *format, quiet: quiet, strict: in.strict}
		how.patience, how.progress = link.patience()
		if link.link != "" {
			return link.run(ctx, std, m, how)
		}
		if hosts {
			return link.doctorHosts(ctx, std, in, how)
		}
		host, err := doctorHost(std, m, in, routers)
		if err != nil {
			return err
		}
		if proof.during > 0 {
			return proveTiming(ctx, std, host.Plan, how, proof.during)
		}
		host.Peers, host.Joins = others, joins
		return examine(ctx, std, host, how)
	}
	return cmd
}

// examine inspects a host, and prints what was found.
func examine(ctx context.Context, std streams, host diagnose.Host, how printing) error {
	progress := startProgress(std, how.quiet, "inspecting this host and its network")
	report := host.Diagnose(ctx, diagnose.Progress{Line: progress, First: doctorFirst})
	progress.Done()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("it was stopped before it had seen all: %w", err)
	}
	return printReport(std, how, report)
}

// peerAddresses are the values of --peer.
func peerAddresses(peers []string) (out []netip.Addr, err error) {
	for _, text := range peers {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, usage("--peer %q is no address: write one such as 192.0.2.22", text)
		}
		out = append(out, a)
	}
	return out, nil
}

// doctorFirst fits what the first inspection found to this terminal.
func doctorFirst(found []doctor.Finding) string { return diagnose.FirstText(width(), found) }

// quiet is a log without a reader: the report has what matters.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// doctorHost is this host as it is, or as it will be.
func doctorHost(
	std streams, m *monitor, in *input, routers *routerPasswords,
) (diagnose.Host, error) {
	live, err := file.Exists(m.cluster)
	if err != nil {
		return diagnose.Host{}, err
	}
	if !live && in.file == "" {
		return diagnose.Host{}, fmt.Errorf("this host has no %s, so it is not part of a cluster "+
			"yet: name the description of its future cluster with -c", m.cluster)
	}
	var p, wanted plan.Plan
	var described spec.Cluster
	if live {
		if p, _, err = m.load(std); err != nil {
			return diagnose.Host{}, err
		}
		// Its files are as the description says, also while it has a migration to complete.
		if wanted, err = plan.Compile(m.described); err != nil {
			return diagnose.Host{}, err
		}
	}
	if in.file != "" {
		if described, err = loadCluster(std, in); err != nil {
			return diagnose.Host{}, err
		}
		if live && len(described.Images) == 0 {
			described.Images = p.Images
		}
		if wanted, err = plan.Compile(described); err != nil {
			if live {
				err = errors.Join(errors.New("the cluster of -c"), err)
			}
			return diagnose.Host{}, negative(err)
		}
	}
	if !live {
		p = wanted
	}
	host := newDoctor(node.Current(p, m.log), wanted, m)
	host.Live = live
	here, now := node.New(""), time.Now()
	host.Migration, host.FellBack = here.Pending(p, now, m.log), here.FellBack(p, now, m.log)
	host.Passwords, err = routers.secrets(std, in, p, described)
	return host, err
}
