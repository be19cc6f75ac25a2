// Package daemons checks the programs of a live host, and the servers that they depend on.
package daemons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Monitors finds monitors that do not answer.
func Monitors(f facts.Facts) (out facts.Faults) {
	for _, m := range f.Daemons.Monitors {
		if m.Fault != "" {
			out.Add("the monitor "+m.Name, "it is dead, or stands still: "+m.Fault,
				"read its log (crictl logs, journalctl); its daemon runs on, but keeps its "+
					"configuration")
		}
	}
	if k := f.Daemons.Keepalived; k.Current() && !k.Heartbeat && len(out) == 0 {
		out.Add("the heartbeat of keepalived's monitor",
			"it stands still, so no check of this host counts",
			"read the log of the container keepalived-monitor")
	}
	return out
}

// Supervisor finds a supervisor that does not answer, or that cannot do its work.
func Supervisor(f facts.Facts) (out facts.Faults) {
	k, subject := f.Daemons.Keepalived, "keepalived's parent"
	switch {
	case k == nil || !k.Wanted:
	case !k.Started:
		out.Add(subject, "it has never started on this host",
			"see that the pod keepalived runs (crictl pods), or on a bootstrap machine the unit "+
				"onprem-keepalived.service")
	case k.Fault != "":
		out.Add(subject, "it is dead, or stands still: "+k.Fault,
			"read its log; kubelet or podman starts it again")
	case len(k.Troubles) > 0:
		out.Add(subject, "it cannot "+strings.Join(k.Troubles, "; it cannot "),
			"it tries again and again, and holds the VIPs meanwhile: see the findings of "+
				"`limits`, and its log")
	}
	return out
}

// Refused finds a configuration that keepalived refuses.
func Refused(f facts.Facts) (out facts.Faults) {
	if k := f.Daemons.Keepalived; k.Current() && k.Refusal != "" {
		out.Add("keepalived's new configuration",
			"keepalived refuses it: "+strings.Join(strings.Fields(k.Refusal), " "),
			"the former one stays in force; fix what it names, or report it")
	}
	return out
}

// remedies are what to do about a daemon that does not run on its file. The supervisor writes
// keepalived's file only when the monitor wants another one. The other monitors write theirs again
// within seconds, if they can.
var remedies = map[string]string{
	"keepalived": "the file was edited, or keepalived was not reloaded: restart the keepalived " +
		"container, whose monitor writes the file again",
	"HAProxy": "read the logs of the containers haproxy, which may refuse the file, and " +
		"haproxy-monitor, which reloads HAProxy, and writes the file again after an edit",
	"CoreDNS": "read the logs of the containers coredns, which may refuse the file, and " +
		"coredns-monitor, which reloads CoreDNS, and writes the file again after an edit; on a " +
		"bootstrap machine journalctl -u onprem-coredns",
}

// Outdated compares the running configuration of daemons with their files. The subject has the
// file's digest: a file that is just being replaced gives another finding at the second inspection.
func Outdated(f facts.Facts) (out facts.Faults) {
	for _, r := range f.Daemons.Running {
		if r.Loaded == "" || r.Disk == "" || r.Loaded == r.Disk {
			continue
		}
		seen := fmt.Sprintf("another configuration (%.19s) than the disk's", r.Loaded)
		if r.Loaded == r.Header { // it would report so of the edited file as well
			seen = fmt.Sprintf("the file has been changed by hand, and %s reports that it runs on "+
				"the one that was written for it (%.19s)", r.Daemon, r.Header)
		}
		out.Add(fmt.Sprintf("what %s runs on, beside %s (%.19s)", r.Daemon, r.Path, r.Disk), seen,
			remedies[r.Daemon])
	}
	return out
}

// Rights finds rights that this node lacks. What the node does not know for the lack of one
// follows.
func Rights(f facts.Facts) (out facts.Faults) {
	for _, r := range f.Daemons.Rights {
		out.Add("the right of this node's kubelet to "+r.What,
			"the API does not give it: "+r.Without, r.Do)
	}
	return out
}

// Keepalived finds that keepalived does not run.
func Keepalived(f facts.Facts) (out facts.Faults) {
	if k := f.Daemons.Keepalived; k.Current() && !k.Running && k.Applied != "" {
		out.Add("keepalived", "it does not run",
			"read the log of the container keepalived: its parent starts it again, and logs why "+
				"it exited")
	}
	return out
}

// APIServers names each API server that does not work. That all are down explains most other
// findings, and is one finding.
func APIServers(f facts.Facts) (out facts.Faults) {
	var why []string
	for _, s := range f.Daemons.Servers {
		if !s.Ready {
			why = append(why, s.Address.String()+" "+s.Why)
			out.Add("the API server "+s.Address.String(), "it is not ready: "+s.Why,
				"read the logs of kube-apiserver and etcd on that node")
		}
	}
	if len(why) == len(f.Daemons.Servers) && len(why) > 1 {
		out = nil
		out.Add("all API servers of the control plane", "none is ready: "+strings.Join(why, "; "),
			"read the logs of kube-apiserver and etcd on the control plane's nodes: all else "+
				"waits for them")
	}
	return out
}

// HAProxy finds a balancer that does not answer.
func HAProxy(f facts.Facts) (out facts.Faults) {
	if b := f.Daemons.Balancer; b != nil && b.Fault != "" {
		out.Add("this node's HAProxy", "it does not answer: "+b.Fault,
			"read the log of the container haproxy; meanwhile this node's own API server serves "+
				"for it")
	}
	return out
}

// Balancer finds a balancer without a healthy backend, if an API server works: else there is no
// backend that could be healthy.
func Balancer(f facts.Facts) (out facts.Faults) {
	b := f.Daemons.Balancer
	i := slices.IndexFunc(f.Daemons.Servers, func(s facts.Server) bool { return s.Ready })
	if b != nil && b.Fault == "" && len(b.Up) == 0 && i >= 0 {
		out.Add("the API servers behind this node's HAProxy",
			fmt.Sprintf("it reports no healthy backend, and %s is ready",
				f.Daemons.Servers[i].Address),
			"read the log of the container haproxy-monitor; see `onprem-infra status`")
	}
	return out
}

// Redirect finds that connections to the VIP do not reach a balancer that serves.
func Redirect(f facts.Facts) (out facts.Faults) {
	b, r := f.Daemons.Balancer, f.Daemons.Redirected
	if r != nil && !*r && b != nil && b.Fault == "" && len(b.Up) > 0 {
		out.Add("the redirect from the API's VIP to HAProxy",
			"it is not there, though HAProxy serves: so this node's own API server takes "+
				"everything, and no check of the balancer passes",
			"find the program that empties the packet filter's tables (nft list ruleset, "+
				"firewalld); haproxy-monitor sets the redirect again")
	}
	return out
}

// Ironic finds a pod of the cluster's Ironic that the API reports as ready, and that this node does
// not reach.
func Ironic(f facts.Facts) (out facts.Faults) {
	if f.Daemons.Balancer == nil {
		return out
	}
	for _, p := range f.Daemons.Balancer.Ironic {
		if !p.Up {
			out.Add(fmt.Sprintf("the pod of Ironic behind this node's HAProxy (%s)", p.Of),
				fmt.Sprintf("the API reports it as ready, and no connection to %s succeeds: %s",
					p.Address, p.Check),
				"read the log of that pod, and check for a firewall between the two nodes: hosts "+
					"that are provisioned are refused meanwhile")
		}
	}
	return out
}

// Tracked compares the result of each check that keepalived has with a probe of now.
func Tracked(f facts.Facts) (out facts.Faults) {
	result := map[bool]string{true: "passes", false: "does not pass"}
	for _, c := range f.Daemons.Checks {
		if c.Tracked != c.Passes {
			out.Add("the check "+string(c.Name),
				fmt.Sprintf("keepalived has that it %s, and it %s: %s",
					result[c.Tracked], result[c.Passes], c.Why),
				"read the log of the container keepalived-monitor, which writes the result for "+
					"keepalived")
		}
	}
	return out
}
