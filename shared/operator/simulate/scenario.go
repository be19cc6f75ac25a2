// Package simulate measures in virtual time what each failure of a cluster costs its clients.
package simulate

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Scenario is a fault whose cost is of interest, under the name that the measurements use.
type Scenario struct {
	Name  string
	About string
	Kind  vrrp.Kind // of the VIP that it is about; empty for the API's

	after  time.Duration // from the fault to the end, beside the waits of the elections
	change func(*schedule.Cluster)
	faults func(c schedule.Cluster, at time.Duration) []schedule.Fault
	figure func(trace.Result) (time.Duration, bool) // instead of the client's longest wait
}

// Find is a scenario by its name.
func Find(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Run runs a scenario once. The seed decides the phases.
func (s Scenario) Run(c schedule.Cluster, seed uint64) trace.Result {
	return engine.Run(s.Set(c, seed))
}

// Set is the cluster of a run, and its schedule.
func (s Scenario) Set(c schedule.Cluster, seed uint64) (schedule.Cluster, schedule.Schedule) {
	switch c.Kind = s.Kind; c.Kind {
	case vrrp.Ingress:
		c.Workers = 3
	case vrrp.DNS:
		c.Policy = c.Policy.WithDNS()
	}
	if s.change != nil {
		s.change(&c)
	}
	c.Client = schedule.ClientPace
	phase := time.Duration(schedule.NewRand(seed).Int64N(int64(max(time.Second, c.Timing.Advert))))
	at := 2*time.Second + phase.Round(time.Millisecond)
	return c, schedule.Schedule{
		Seed: seed, Length: at + s.after + 3*c.MasterDown(), Faults: s.faults(c, at),
	}
}

// Scenarios are all of them: those of the measurements in the order of their table, and then
// others for which the plan states a bound.
func Scenarios() []Scenario {
	return append(append(measured(), installed()...), stated()...)
}

// on are faults of one host that all begin at once.
func on(host string, lasts time.Duration,
	kinds ...schedule.Kind) func(schedule.Cluster, time.Duration) []schedule.Fault {
	return func(_ schedule.Cluster, at time.Duration) (all []schedule.Fault) {
		for _, kind := range kinds {
			all = append(all, schedule.Fault{At: at, Kind: kind, Host: host, For: lasts})
		}
		return all
	}
}

// joins starts the masters first to last-1, 200 ms apart.
func joins(at time.Duration, first, last int) (all []schedule.Fault) {
	for i := first; i < last; i++ {
		wait := time.Duration(i-first) * 200 * time.Millisecond
		all = append(all,
			schedule.Fault{At: at + wait, Kind: schedule.Join, Host: schedule.MasterName(i)})
	}
	return all
}

func installing(c *schedule.Cluster) { c.Bootstrap = true }

// measured are failures of a cluster in operation.
func measured() []Scenario {
	return []Scenario{
		{Name: "power-loss", About: "the holder's power is cut", after: time.Second,
			faults: on(schedule.Holder, 0, schedule.PowerOff)},
		{Name: "api-crash", About: "the holder's API server is killed", after: 3 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillAPI)},
		{Name: "api-hang", About: "the holder's API server is stopped by a signal",
			after: 4 * time.Second, faults: on(schedule.Holder, 0, schedule.StopAPI)},
		{Name: "lb-crash", About: "the holder's HAProxy is killed", after: 9 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillLB)},
		{Name: "graceful", About: "the holder's keepalived is stopped in order", after: time.Second,
			faults: on(schedule.Holder, time.Minute, schedule.EndKeepalived)},
		{Name: "vrrp-kill", About: "the holder's VRRP process is killed", after: 2 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillVRRP)},
		{Name: "both-kill", About: "the holder's keepalived and its supervisor are killed",
			after: 3 * time.Second, faults: on(schedule.Holder, 0, schedule.KillKeepalived)},
		{Name: "reboot", About: "the holder reboots in order", after: 12 * time.Second,
			faults: on(schedule.Holder, 3*time.Second, schedule.Reboot)},
		{Name: "member-change", About: "a control plane node is added, and taken away again",
			after: 12 * time.Second, change: func(c *schedule.Cluster) { c.Masters++ },
			faults: addAndRemove},
	}
}

// addAndRemove adds a master, and removes it again.
func addAndRemove(c schedule.Cluster, at time.Duration) []schedule.Fault {
	added := c.Masters - 1
	removed := schedule.Fault{
		At: at + 10*time.Second, Kind: schedule.Part, Host: schedule.MasterName(added),
	}
	return append(joins(at, added, c.Masters), removed)
}

func joinAll(c schedule.Cluster, at time.Duration) []schedule.Fault {
	return joins(at, 0, c.Masters)
}

// joinFirst has only the first master join within the run.
func joinFirst(c schedule.Cluster, at time.Duration) []schedule.Fault {
	return append(joins(at, 0, 1), joins(at+schedule.MaxLength, 1, c.Masters)...)
}

// installed are those of the installation.
func installed() []Scenario {
	return []Scenario{
		{Name: "handover", About: "the bootstrap machine's API server shuts down in order",
			after: 16 * time.Second, change: installing,
			faults: on(schedule.BootstrapName, 0, schedule.EndAPI)},
		{Name: "early-move",
			About: "all checks of all masters pass while the bootstrap machine serves",
			after: 20 * time.Second, change: installing, faults: joinAll},
		{Name: "cold-start",
			About: "the first master's API server serves, until its redirect is there",
			after: 10 * time.Second, change: installing, figure: coldStart, faults: joinFirst},
		{Name: "bootstrap-crash", About: "the bootstrap machine's API server is killed",
			after: 7 * time.Second, change: installing,
			faults: on(schedule.BootstrapName, 0, schedule.KillAPI)},
		{Name: "bootstrap-hang", About: "the bootstrap machine's API server is stopped by a signal",
			after: 30 * time.Second, change: installing,
			faults: on(schedule.BootstrapName, 0, schedule.StopAPI)},
	}
}

// stated are failures that are not measured on the wire.
func stated() []Scenario {
	return []Scenario{
		{Name: "lb-hang", About: "the holder's HAProxy is stopped by a signal",
			after: 9 * time.Second, faults: on(schedule.Holder, 0, schedule.StopLB)},
		{Name: "node-down", About: "the holder's HAProxy and API server are killed",
			after:  9 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillLB, schedule.KillAPI)},
		{Name: "monitor-kill", About: "the holder's monitor is killed", after: 13 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillMonitor)},
		{Name: "ingress-power-loss", About: "the power of the ingress VIP's holder is cut",
			Kind: vrrp.Ingress, after: time.Second,
			faults: on(schedule.Holder, 0, schedule.PowerOff)},
		{Name: "ingress-graceful",
			About: "the keepalived of the ingress VIP's holder is stopped in order",
			Kind:  vrrp.Ingress, after: time.Second,
			faults: on(schedule.Holder, time.Minute, schedule.EndKeepalived)},
		{Name: "router-crash", About: "the router of the ingress VIP's holder is killed",
			Kind: vrrp.Ingress, after: 5 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillRouter)},
		{Name: "dns-power-loss", About: "the power of the DNS VIP's holder is cut", Kind: vrrp.DNS,
			after: time.Second, faults: on(schedule.Holder, 0, schedule.PowerOff)},
		{Name: "dns-graceful", About: "the keepalived of the DNS VIP's holder is stopped in order",
			Kind: vrrp.DNS, after: time.Second,
			faults: on(schedule.Holder, time.Minute, schedule.EndKeepalived)},
		{Name: "name-server-crash", About: "the name server of the DNS VIP's holder is killed",
			Kind: vrrp.DNS, after: 5 * time.Second,
			faults: on(schedule.Holder, 0, schedule.KillDNS)},
		{Name: "dns-handover",
			About: "the bootstrap machine's API server shuts down in order, and the DNS VIP goes " +
				"with the API's",
			Kind: vrrp.DNS, after: 16 * time.Second, change: installing,
			faults: on(schedule.BootstrapName, 0, schedule.EndAPI)},
	}
}
