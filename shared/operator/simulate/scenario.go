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
	faults := schedule.Schedule{
		Seed: seed, Length: at + s.after + 3*c.MasterDown(), Faults: s.faults(c, at),
	}
	return engine.Run(c, faults)
}

// Scenarios are all of them: those of the measurements in the order of their table, and then what
// else the plan states a bound for.
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

// joins starts the masters from the first to before the last one, 200 ms apart.
func joins(at time.Duration, first, last int) (all []schedule.Fault) {
	for i := first; i < last; i++ {
		wait := time.Duration(i-first) * 200 * time.Millisecond
		all = append(all,
			schedule.Fault{At: at + wait, Kind: schedule.Join, Host: schedule.MasterName(i)})
	}
	return all
}

func installing(c *schedule.Cluster) { c.Bootstrap = true }
