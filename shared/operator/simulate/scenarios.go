package simulate

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Scenarios are all of them: those of the measurements in the order of their table, and then what
// else the plan states a bound for.
func Scenarios() []Scenario {
	return append(append(measured(), installed()...), stated()...)
}

// on are faults of one host that all begin at once.
func on(host string, lasts time.Duration, kinds ...Kind) func(Cluster, time.Duration) []Fault {
	return func(_ Cluster, at time.Duration) (all []Fault) {
		for _, kind := range kinds {
			all = append(all, Fault{At: at, Kind: kind, Host: host, For: lasts})
		}
		return all
	}
}

// joins starts the masters from the first to before the last one, 200 ms apart.
func joins(at time.Duration, first, last int) (all []Fault) {
	for i := first; i < last; i++ {
		wait := time.Duration(i-first) * 200 * time.Millisecond
		all = append(all, Fault{At: at + wait, Kind: Join, Host: masterName(i)})
	}
	return all
}

// added is the master that member-change adds to those of the cluster.
func added(c Cluster) int { return c.Masters - 1 }

func installing(c *Cluster) { c.Bootstrap = true }

// measured are failures of a cluster in operation.
func measured() []Scenario {
	return []Scenario{
		{Name: "power-loss", About: "the holder's power is cut", after: time.Second, faults: on(Holder, 0, PowerOff)},
		{Name: "api-crash", About: "the holder's API server is killed", after: 3 * time.Second, faults: on(Holder, 0, KillAPI)},
		{Name: "api-hang", About: "the holder's API server is stopped by a signal", after: 4 * time.Second, faults: on(Holder, 0, StopAPI)},
		{Name: "lb-crash", About: "the holder's HAProxy is killed", after: 9 * time.Second, faults: on(Holder, 0, KillLB)},
		{Name: "graceful", About: "the holder's keepalived is stopped in order", after: time.Second, faults: on(Holder, time.Minute, EndKeepalived)},
		{Name: "vrrp-kill", About: "the holder's VRRP process is killed", after: 2 * time.Second, faults: on(Holder, 0, KillVRRP)},
		{Name: "both-kill", About: "the holder's keepalived and its supervisor are killed", after: 3 * time.Second, faults: on(Holder, 0, KillKeepalived)},
		{Name: "reboot", About: "the holder reboots in order", after: 12 * time.Second, faults: on(Holder, 3*time.Second, Reboot)},
		{Name: "member-change", About: "a control plane node is added, and taken away again", after: 12 * time.Second,
			change: func(c *Cluster) { c.Masters++ }, faults: func(c Cluster, at time.Duration) []Fault {
				return append(joins(at, added(c), c.Masters), Fault{At: at + 10*time.Second, Kind: Part, Host: masterName(added(c))})
			}},
	}
}

// installed are those of the installation.
func installed() []Scenario {
	return []Scenario{
		{Name: "handover", About: "the bootstrap machine's API server shuts down in order", after: 16 * time.Second, change: installing,
			faults: on(bootstrapName, 0, EndAPI)},
		{Name: "early-move", About: "all checks of all masters pass while the bootstrap machine serves", after: 20 * time.Second,
			change: installing, faults: func(c Cluster, at time.Duration) []Fault { return joins(at, 0, c.Masters) }},
		{Name: "cold-start", About: "the first master's API server serves, until its redirect is there", after: 10 * time.Second,
			change: installing, figure: coldStart, faults: func(c Cluster, at time.Duration) []Fault {
				return append(joins(at, 0, 1), joins(at+longest, 1, c.Masters)...) // the others are not there yet
			}},
		{Name: "bootstrap-crash", About: "the bootstrap machine's API server is killed", after: 7 * time.Second, change: installing,
			faults: on(bootstrapName, 0, KillAPI)},
		{Name: "bootstrap-hang", About: "the bootstrap machine's API server is stopped by a signal", after: 30 * time.Second, change: installing,
			faults: on(bootstrapName, 0, StopAPI)},
	}
}

// stated are failures that nobody measures on the wire.
func stated() []Scenario {
	return []Scenario{
		{Name: "lb-hang", About: "the holder's HAProxy is stopped by a signal", after: 9 * time.Second, faults: on(Holder, 0, StopLB)},
		{Name: "node-down", About: "the holder's HAProxy and API server are killed", after: 9 * time.Second, faults: on(Holder, 0, KillLB, KillAPI)},
		{Name: "monitor-kill", About: "the holder's monitor is killed", after: 13 * time.Second, faults: on(Holder, 0, KillMonitor)},
		{Name: "ingress-power-loss", About: "the power of the ingress VIP's holder is cut", Kind: vrrp.Ingress, after: time.Second, faults: on(Holder, 0, PowerOff)},
		{Name: "ingress-graceful", About: "the keepalived of the ingress VIP's holder is stopped in order", Kind: vrrp.Ingress, after: time.Second,
			faults: on(Holder, time.Minute, EndKeepalived)},
		{Name: "router-crash", About: "the router of the ingress VIP's holder is killed", Kind: vrrp.Ingress, after: 5 * time.Second, faults: on(Holder, 0, KillRouter)},
		{Name: "dns-power-loss", About: "the power of the DNS VIP's holder is cut", Kind: vrrp.DNS, after: time.Second, faults: on(Holder, 0, PowerOff)},
		{Name: "dns-graceful", About: "the keepalived of the DNS VIP's holder is stopped in order", Kind: vrrp.DNS, after: time.Second,
			faults: on(Holder, time.Minute, EndKeepalived)},
		{Name: "name-server-crash", About: "the name server of the DNS VIP's holder is killed", Kind: vrrp.DNS, after: 5 * time.Second, faults: on(Holder, 0, KillDNS)},
		{Name: "dns-handover", About: "the bootstrap machine's API server shuts down in order, and the DNS VIP goes with the API's", Kind: vrrp.DNS,
			after: 16 * time.Second, change: installing, faults: on(bootstrapName, 0, EndAPI)},
	}
}
