package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

func monitors(f Facts) (out []Finding) {
	for _, m := range f.Monitors {
		if m.Fault != "" {
			out = append(out, Finding{Looked: "the monitor " + m.Name, Seen: "it is dead, or stands still: " + m.Fault, Do: "read its log (crictl logs, journalctl); its daemon lives on, and nothing keeps it configured"})
		}
	}
	if k := f.Keepalived; k != nil && k.Wanted && k.Started && !k.HeartBeat && k.Silent == "" && len(out) == 0 {
		out = append(out, Finding{Looked: "the heartbeat of keepalived's monitor", Seen: "it stands still, so no check of this host counts", Do: "read the log of the container keepalived-monitor"})
	}
	return out
}

func supervisor(f Facts) []Finding {
	k := f.Keepalived
	switch {
	case k == nil || !k.Wanted:
		return nil
	case !k.Started:
		return []Finding{{Looked: "keepalived's parent", Seen: "it has never spoken on this host", Do: "see that the pod keepalived runs (crictl pods), or on a bootstrap machine the unit onprem-keepalived.service"}}
	case k.Silent != "":
		return []Finding{{Looked: "keepalived's parent", Seen: "it is dead, or stands still: " + k.Silent, Do: "read its log; kubelet or podman starts it again"}}
	}
	return troubled(k)
}

// speaks says that keepalived's parent can be believed.
func (f Facts) speaks() bool {
	return f.Keepalived != nil && f.Keepalived.Wanted && f.Keepalived.Started && f.Keepalived.Silent == ""
}

func refused(f Facts) []Finding {
	if !f.speaks() || f.Keepalived.Refusal == "" {
		return nil
	}
	return []Finding{{Looked: "keepalived's new configuration", Seen: "keepalived refuses it: " + strings.Join(strings.Fields(f.Keepalived.Refusal), " "), Do: "the former one stays in force; mend what it names, or report it"}}
}

// remedies are what to do about a daemon that does not run on its file. Of keepalived's its parent
// writes what the monitor wants, and only when that is another one; the others' monitors put theirs
// right within seconds, when they can.
var remedies = map[string]string{
	"keepalived": "somebody has changed the file by hand, or keepalived was not told: restart the keepalived container, whose monitor writes the file anew",
	"HAProxy": "read the logs of the containers haproxy, which may refuse the file, and haproxy-monitor, which tells HAProxy, and writes the file anew when somebody has changed it " +
		"by hand",
	"CoreDNS": "read the logs of the containers coredns, which may refuse the file, and coredns-monitor, which tells CoreDNS, and writes the file anew when somebody has changed it " +
		"by hand; on a bootstrap machine journalctl -u onprem-coredns",
}

// older compares what daemons run on with their files. That this is another file than at an earlier
// look is another finding: what is being replaced just now has not lasted.
func older(f Facts) (out []Finding) {
	for _, r := range f.Runs {
		if r.Force == "" || r.Disk == "" || r.Force == r.Disk {
			continue
		}
		seen := fmt.Sprintf("another configuration (%.19s) than the disk's", r.Force)
		if r.Force == r.Said { // it would say so of the changed file as well
			seen = fmt.Sprintf("the file has been changed by hand, and %s says that it runs on the one that was written for it (%.19s)", r.Daemon, r.Said)
		}
		out = append(out, Finding{Looked: fmt.Sprintf("what %s runs on, beside %s (%.19s)", r.Daemon, r.Path, r.Disk), Seen: seen, Do: remedies[r.Daemon]})
	}
	return out
}

// rights comes before what a node does not know for the lack of one.
func rights(f Facts) (out []Finding) {
	for _, r := range f.Rights {
		out = append(out, Finding{Looked: "the right of this node's kubelet to " + r.What, Seen: "the API does not give it: " + r.Without, Do: r.Do})
	}
	return out
}

func keepalivedDead(f Facts) []Finding {
	if !f.speaks() || f.Keepalived.Running || f.Keepalived.Applied == "" {
		return nil
	}
	return []Finding{{Looked: "keepalived", Seen: "it does not run", Do: "read the log of the container keepalived: its parent starts it again, and says why it ends"}}
}

// apiServers names each that does not work. That all are down explains most of what else is seen,
// and is said as one.
func apiServers(f Facts) (out []Finding) {
	var down []Server
	for _, s := range f.Servers {
		if !s.Ready {
			down = append(down, s)
		}
	}
	if len(down) == len(f.Servers) && len(down) > 1 {
		var why []string
		for _, s := range down {
			why = append(why, fmt.Sprintf("%s %s", s.Address, s.Why))
		}
		return []Finding{{Looked: "all API servers of the control plane", Seen: "none is ready: " + strings.Join(why, "; "), Do: "read the logs of kube-apiserver and etcd on the control plane's nodes: all else waits for them"}}
	}
	for _, s := range down {
		out = append(out, Finding{Looked: "the API server " + s.Address.String(), Seen: "it is not ready: " + s.Why, Do: "read the logs of kube-apiserver and etcd on that node"})
	}
	return out
}

func haproxyDead(f Facts) []Finding {
	if f.Balancer == nil || f.Balancer.Fault == "" {
		return nil
	}
	return []Finding{{Looked: "this node's HAProxy", Seen: "it does not answer: " + f.Balancer.Fault, Do: "read the log of the container haproxy; meanwhile this node's own API server serves for it"}}
}

// balancer speaks only where an API server works: else there is nothing that HAProxy could know.
func balancer(f Facts) []Finding {
	i := slices.IndexFunc(f.Servers, func(s Server) bool { return s.Ready })
	if f.Balancer == nil || f.Balancer.Fault != "" || len(f.Balancer.Up) > 0 || i < 0 {
		return nil
	}
	return []Finding{{Looked: "the API servers behind this node's HAProxy", Seen: fmt.Sprintf("it takes none for well, and %s is ready", f.Servers[i].Address), Do: "read the log of the container haproxy-monitor; see `onprem-infra status`"}}
}

func redirected(f Facts) []Finding {
	if f.Redirected == nil || *f.Redirected || f.Balancer == nil || f.Balancer.Fault != "" || len(f.Balancer.Up) == 0 {
		return nil
	}
	return []Finding{{Looked: "the redirect from the API's VIP to HAProxy", Seen: "it is not there, though HAProxy serves: so this node's own API server takes everything, and no check of the balancer passes",
		Do: "see who empties the packet filter's tables (nft list ruleset, firewalld); haproxy-monitor sets it again"}}
}

func tracked(f Facts) (out []Finding) {
	for _, t := range f.Tracks {
		if t.Says == t.Passes {
			continue
		}
		was := map[bool]string{true: "passes", false: "does not pass"}
		out = append(out, Finding{Looked: fmt.Sprintf("the check %s", t.Check), Seen: fmt.Sprintf("keepalived is told that it %s, and it %s: %s", was[t.Says], was[t.Passes], t.Why),
			Do: "read the log of the container keepalived-monitor, which tells it"})
	}
	return out
}

func upstreamSelf(f Facts) []Finding {
	if f.Resolver == nil || len(f.Resolver.Self) == 0 {
		return nil
	}
	return []Finding{{Looked: "the name servers in " + f.Resolver.Path, Seen: fmt.Sprintf("%s is this host, or a VIP of its cluster: a question would go round in a circle, so it is not asked", text(f.Resolver.Self)),
		Do: "have DHCP, or the host's network configuration, name the network's own name servers"}}
}

func upstreamNone(f Facts) []Finding {
	r := f.Resolver
	if r == nil || r.Alive > 0 && len(r.Dead) == 0 {
		return nil
	}
	found := Finding{Looked: "the name servers in " + orWord(r.Path, "resolv.conf")}
	switch {
	case r.Alive > 0:
		found.Seen = "not all answer: " + strings.Join(r.Dead, "; ")
		found.Do = "fix that server, or remove it from the host's network configuration: a program " +
			"that asks it first waits seconds for each name"
	case len(r.Dead) > 0:
		found.Seen = "none answers: " + strings.Join(r.Dead, "; ")
		found.Do = "see that they run and are reached from here: names beyond the cluster are not resolved"
	default:
		found.Seen = "none is named that could be asked"
		found.Do = "have DHCP, or the host's network configuration, name one: names beyond the cluster are not resolved"
	}
	return []Finding{found}
}

func coreDNS(f Facts) []Finding {
	if f.NameError == "" {
		return nil
	}
	return []Finding{{Looked: "this host's own name server, CoreDNS", Seen: "it does not answer: " + f.NameError, Do: "read the log of the container coredns; see who else listens at port 53 (ss -lpn 'sport = :53')"}}
}

// same says whether two lists are of the same addresses.
func same(a, b []netip.Addr) bool {
	sorted := func(list []netip.Addr) []netip.Addr {
		return slices.SortedFunc(slices.Values(list), netip.Addr.Compare)
	}
	return slices.Equal(sorted(a), sorted(b))
}

func names(f Facts) (out []Finding) {
	for _, n := range f.Names {
		if !same(n.Got, n.Want) {
			out = append(out, Finding{Looked: "the name " + n.Name + " by this host's CoreDNS", Seen: fmt.Sprintf("it is %s, and should be %s", orWord(text(n.Got), "unknown"), orWord(text(n.Want), "none")),
				Do: "read the log of the container coredns-monitor, and see /etc/coredns/Corefile"})
		}
	}
	return out
}

// outside compares what name servers of the network say. That they say nothing is a fault before
// the cluster exists: afterwards its hosts do without.
func outside(f Facts) (out []Finding) {
	for _, n := range f.Outside {
		if same(n.Got, n.Want) || len(n.Got) == 0 && f.Live {
			continue
		}
		out = append(out, Finding{Looked: fmt.Sprintf("the name %s by %s", n.Name, n.Server), Seen: fmt.Sprintf("it is %s, and should be %s", orWord(text(n.Got), "unknown"), text(n.Want)),
			Do: "mend the record there: who is outside of the cluster goes by it"})
	}
	return out
}
