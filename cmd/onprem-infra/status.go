//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// everyStatus is the time between two reports of --watch.
const everyStatus = 2 * time.Second

const statusLong = `status reports what this host sees of the cluster's VIPs: for each VIP its
holder, this host's state and priority with their reasons, the API servers behind this node's
balancer, the answers of its DNS server, and routers that disturb its elections. It works on the
bootstrap machine and on every node, changes nothing, and asks no API server unless you name
credentials with --kubeconfig. It needs no privilege, as this host's monitor has received the
adverts. Without a monitor, only root receives them (capability NET_RAW). It lists what it could not
see.

Where hosts announce the VIPs to their routers by BGP it also reports that: for each VIP whether
this host is to announce it, with which grade and since when, and why not; for each router the
session, since when it is up, BFD, which VIPs it has from this host, which paths to other hosts it
has reported, and why the last session ended; and how FRR's programs do. Before nodes change at one
instant (migrateFrom) it reports to what, and when.

Where nodes share an address on the provisioning network it also reports that one, on every machine
of the cluster: why this one is no candidate, if it is none, and which host answers for the address
on this machine's card of that network. To ask there takes a second, and root.

On a bootstrap machine that installs hosts it also reports how far each of them is, what it waits
for, what was seen of it last and why it goes no further, whether DHCP is on and for which hosts,
and other servers that answer there. Whatever blocks the installation is DEGRADED, and named in the
verdict. Times are UTC. After a boot, until the phase machine reports, root sees how far it was.

With --kubeconfig it also reports the hosts that the cluster provisions by its own operators: how
far the bootstrap machine has handed over, how many hosts have joined, and for each other one what
is done with it, for how long, and the last error of metal3. A host that needs a person is
DEGRADED, and named in the verdict. A node's own credentials may not read that: name an
administrator's. With -c and a description it works on any machine that reaches the API.

Its first line is a verdict, for people and for alerts, with a reason:

  OK        every VIP in this host's networks is held, and nothing is wrong: exit code 0
  DEGRADED  the VIPs are held, and something is wrong: exit code 1
  DOWN      no host answers for a VIP, or no API server is up behind this node, or this host has no
            session with a router, or is to announce a VIP and no router has it: exit code 1
  UNKNOWN   it could not be seen whether a VIP is held: exit code 3, as for a host without a cluster

With -o json it prints one object; its fields stay as they are:
  verdict{level,why[]}
  at, cluster, timing, mode, nodeIPs, nodeIPWhy[]{address,link,why}, remoteWorker, gate
  migration{} from{timing,vrrp,vipManagement}, to{}, at, waits[], late: a change of all nodes to
              come; late if one asked for it, as adverts are later than was proven
  fellBack: the timing that the cluster should have, if it has a slower one as hosts were late
  vips[]      vip, for, id, instance, link, here, state, since, why, priority, absent,
              holder{self,mac,host,address,nobody},
              adverts[]{from,mac,priority,version,intervalMs,ageMs},
              peers[]{address,node,ageMs,holds},
              parts[]{name,adds,counts,fault,since,why}
  keepalived  running, restarts, leaving, monitorSilent, refused
  bgp{}, where this host announces VIPs to its routers:
              asn, mode, rack, noRack,
              speaker{started,at,silent,monitorSilent,monitorDied,leaving,left,
              daemons[]{name,running,starts},troubles[]},
              vips[]{vip,for,phase,since,wanted,why,grade,routers[],
              others[]{router,host,foreign,length},uses[]{router,use}},
              routers[]{router,asn,state,up,since,bfd,has[],why,code,means,do};
              phase is one of idle, waiting, announced, demoted, withdrawn;
              use is which path the router prefers: first (this host's), equal (one as long),
              behind (a shorter one), none (a longer one: it does not use this host's), unknown
  balancer[]  name, address, status, up, check, sessions
  provisioning{}, on a bootstrap machine that installs hosts:
              phase, since, at, waits, deadline, dhcp, served[], blockers[], warnings[], stopped,
              hosts[]{name,mac,step,state,waits,since,deadline,lastSeen,next,attempts,tries,
                      retries,blocker,lastError,cause,do},
              parts[]{part,wanted,on,ready,stale,since,at,why}, foreign[]{kind,mac,address,last}
  workers{}, with --kubeconfig:
              handover{phase,hosts,released,waits,ready[],operatorPaused,
              machine{name,phase,since,waits,at,silent}}, joined, external,
              hosts[]{name,step,state,does,since,deadline,poweredOn,operationalStatus,attempt,
                      machine,errorType,lastError,failedAt,cause,do}, machinesWithoutHost[];
              phase is one of bootstrap, ironic, releasing, done
  names[]     name, want, answers, right
  clashes[]   kind, instance, for, link, id, vip, who{address,mac}, better{address,mac}, version,
              intervalMs, priority, vips, last, free; kind is one of foreign-router,
              stranger, version, interval, one-way, two-holders, duplicate-address
  rights[]    right, without: what the API does not let this node do, and what it does without
  hears       which adverts of other routers reach this host, in words
  unseen[]    what could not be inspected, in words
With --watch it prints until it is stopped, and exits with 0: with -o json an object a line. It
follows a new cluster description; while that cannot be read, unseen has why, and the last one
counts.`

func statusCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Report the holder of each VIP, and why, as this host sees it",
		Long:  statusLong,
		Example: `  onprem-infra status
  onprem-infra status --watch
  onprem-infra status --kubeconfig ~/kubeconfig
  onprem-infra status >/dev/null || echo "check $(hostname)"
  onprem-infra status -o json | jq '.vips[] | {vip, holder}'`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "status", std)
	var watch bool
	kubeconfig := cmd.Flags().String("kubeconfig", "", "an administrator's credentials, to report "+
		"the hosts that the cluster provisions")
	format := formatFlag(cmd, "text or json", "text", "json")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "report again every two seconds")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, _, err := m.load(std)
		if err != nil {
			return err
		}
		host := statusHost{monitor: m, std: std, plan: p}
		if *kubeconfig != "" {
			api, err := hostsAPI(*kubeconfig, p.Flavour())
			if err != nil {
				return err
			}
			host.workers = api.Workers
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		if !watch {
			r := status.Inspect(ctx, host.inspector())
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("it was stopped before it had seen all: %w", err)
			}
			return printVerdict(std, r, *format)
		}
		return watchStatus(ctx, std, host.follow, *format)
	}
	return cmd
}

// statusHost is this host for status.
type statusHost struct {
	*monitor
	std     streams
	plan    plan.Plan
	workers func(context.Context, time.Time) (workers.World, error) // nil: not asked for
}

// inspector inspects the host by what is in force now: a migration may have happened since, or
// hosts may have fallen back.
func (h *statusHost) inspector() *inspect.Inspector {
	host := inspect.New(node.Current(h.plan, h.log))
	here, now := node.New(""), time.Now()
	host.Migration = here.Pending(h.plan, now, h.log)
	host.FellBack, host.Workers = here.FellBack(h.plan, now, h.log), h.workers
	return host
}

// follow is inspector by the cluster description of now. While that cannot be read, it is by the
// last one that could.
func (h *statusHost) follow() (*inspect.Inspector, error) {
	if is, err := os.Stat(h.cluster); err == nil && !is.Mode().IsRegular() {
		return h.inspector(), nil // a pipe is read once
	}
	changed, err := h.changed()
	if changed {
		var p plan.Plan
		if p, _, err = h.load(h.std); err == nil {
			h.plan = p
		}
	}
	return h.inspector(), err
}

// watchStatus prints until ctx ends. It inspects anew what inspector returns each time, and goes on
// with what that returns beside an error.
func watchStatus(ctx context.Context, std streams,
	inspector func() (*inspect.Inspector, error), format string) error {
	tick := time.NewTicker(everyStatus)
	defer tick.Stop()
	for ctx.Err() == nil {
		host, err := inspector()
		r := status.Inspect(ctx, host)
		if ctx.Err() != nil {
			return nil // it was stopped before it had seen all
		}
		if err != nil {
			r.Unseen = append(r.Unseen, fmt.Sprintf(
				"the present cluster description (%v): this report is by the one before", err))
		}
		if err := printStatus(std, r, format, true); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}

// printVerdict prints a report once, and returns the exit code of its verdict. A report that is not
// printed has no verdict: the reasons would be missing.
func printVerdict(std streams, r status.Report, format string) error {
	if err := printStatus(std, r, format, false); err != nil {
		return err
	}
	return alerted(r.Verdict)
}

func printStatus(std streams, r status.Report, format string, again bool) error {
	text := r.Text(width())
	if again {
		text += "\n"
	}
	if format == "json" {
		line, err := json.Marshal(r)
		if !again {
			line, err = json.MarshalIndent(r, "", "  ")
		}
		if err != nil {
			return fmt.Errorf("print status: %w", err)
		}
		text = string(line) + "\n"
	}
	_, err := fmt.Fprint(std.out, coloured(std.out, text))
	return err
}

// alerted is the exit code of a verdict. Its reasons have been printed.
func alerted(v judge.Verdict) error {
	switch v.Level {
	case judge.OK:
		return nil
	case judge.Unknown:
		return errors.New("observe the VIPs: it could not be seen which hosts have them: run " +
			"this as root on a host of their networks, or on one that announces them")
	}
	return negative(nil)
}
