// Package routed measures in virtual time what failures cost the clients of a cluster whose hosts
// announce its VIPs to their routers.
package routed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// Scenario is a fault whose cost is of interest.
type Scenario struct {
	Name  string
	About string

	of      string // the bound of the plan; empty for that of the scenario's own name
	vip     schedule.VIP
	routers bool // it is about the power of a router
	joins   bool // the bootstrap machine announces at the beginning, and nodes join
	kinds   []schedule.Kind
	later   []schedule.Kind                     // that follow some seconds after those
	only    func(schedule.Cluster, string) bool // what of its targets it can happen to; nil for all
	lasts   time.Duration
	length  time.Duration
}

// OfRouters reports whether a scenario is about FRR, routers or their links, and not about what
// serves on hosts.
func (s Scenario) OfRouters() bool {
	hosts := []schedule.Kind{schedule.PowerOff, schedule.Reboot, schedule.KillLB, schedule.StopLB,
		schedule.KillAPI, schedule.KillRouter, schedule.KillMonitor, schedule.EndMonitor,
		schedule.EndAPI}
	return !slices.Contains(hosts, s.kinds[0]) && s.vip == schedule.API || s.routers
}

// CutsPower reports whether a host loses its power after the fault of a router (KeepRoutes).
func (s Scenario) CutsPower() bool {
	return len(s.kinds) > 0 && s.kinds[0] == schedule.KeepRoutes
}

// BoundName is the bound of the plan that a scenario has.
func (s Scenario) BoundName() string { return cmp.Or(s.of, s.Name) }

// Find is a scenario by its name.
func Find(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// later is when other faults follow the first ones: a dead monitor's last wish still counts then.
const later = 6 * time.Second

// Flows are how many clients there are.
func Flows() int { return 240 }

// Run runs a scenario once; ok is false if the cluster lacks what it is about. The seed decides
// where and when it happens.
func (s Scenario) Run(c schedule.Cluster, seed uint64) (r world.Result, ok bool) {
	c.Clients, c.Flows, c.Bootstrap = s.vip, Flows(), s.joins
	run, ok := s.Schedule(c, seed)
	if !ok {
		return r, false
	}
	return engine.Run(c, run), true
}

// Schedule is that of a seed; ok is false if the cluster lacks what the scenario is about.
func (s Scenario) Schedule(c schedule.Cluster, seed uint64) (run schedule.Schedule, ok bool) {
	if s.vip == schedule.Ingress && c.Ingress == 0 {
		return run, false
	}
	c.Bootstrap = s.joins
	targets := slices.DeleteFunc(c.Targets(s.kinds[0]), func(name string) bool {
		return s.only != nil && !s.only(c, name)
	})
	if len(targets) == 0 {
		return run, false
	}
	random := schedule.NewRand(seed)
	at := time.Second + time.Duration(random.Int64N(int64(3*time.Second))).Round(time.Millisecond)
	run.Seed = seed
	if s.joins {
		for i := range c.Masters {
			run.Faults = append(run.Faults, schedule.Fault{Kind: schedule.Join,
				Host: schedule.MasterName(i)})
		}
		at += 50 * time.Second
	}
	of := targets[random.IntN(len(targets))]
	for _, k := range s.kinds {
		run.Faults = append(run.Faults, schedule.Fault{At: at, Kind: k, Host: of, For: s.lasts})
	}
	for _, k := range s.later {
		run.Faults = append(run.Faults, schedule.Fault{At: at + later, Kind: k, Host: of})
	}
	if s.kinds[0] == schedule.KeepRoutes {
		run.Faults = append(run.Faults, schedule.Fault{At: at + time.Second,
			Kind: schedule.PowerOff, Host: schedule.MasterName(c.Boxes[c.Find(of)].Rack)})
	}
	run.Length = at + s.length
	return run, true
}

// on selects hosts, routers or links whose name has a prefix.
func on(prefix string) func(schedule.Cluster, string) bool {
	return func(_ schedule.Cluster, name string) bool { return strings.HasPrefix(name, prefix) }
}

// spare are the routers of racks that have another one.
func spare(c schedule.Cluster, name string) bool {
	box := c.Boxes[max(0, c.Find(name))]
	return box.Level == schedule.LeafLevel && len(c.Racks[box.Rack]) > 1
}

// inhabited are the routers of racks with a control plane node: the first ones, in their order.
func inhabited(c schedule.Cluster, name string) bool {
	return c.Boxes[c.Find(name)].Rack < c.Masters
}

// uplink are links between routers without which clients still have a way from each router at the
// top. Where the one router of the one rack with nodes loses a link, a spine has no other.
func uplink(c schedule.Cluster, name string) bool {
	return (strings.HasPrefix(name, "leaf-") || strings.HasPrefix(name, "spine-")) &&
		!slices.ContainsFunc(c.Tops, func(top int) bool { return !descends(c, top, name) })
}

// descends reports whether links other than one lead from a box down to a control plane node.
// Routers of one level have the same AS number, so that no way goes up again.
func descends(c schedule.Cluster, box int, without string) bool {
	if c.IsMaster(box) {
		return true
	}
	for i, l := range c.Links {
		if l.Above == box && c.LinkName(i) != without && descends(c, l.Below, without) {
			return true
		}
	}
	return false
}

const master, ingress = "master-", "ingress-"

// Scenarios are all of them: of hosts, of the product's daemons, of an installation, of networks.
func Scenarios() []Scenario { return slices.Concat(hosts(), daemons(), installed(), network()) }

// one are the kinds of the faults that a scenario begins with, all at once and at one target.
func one(kinds ...schedule.Kind) []schedule.Kind { return kinds }

// hosts are failures and orderly ends of hosts and of what serves on them.
func hosts() []Scenario {
	const short, long = 15 * time.Second, 45 * time.Second
	return []Scenario{
		{Name: "bgp-power-loss", About: "the power of a control plane node is cut",
			kinds: one(schedule.PowerOff), only: on(master), length: short},
		{Name: "bgp-ingress-power-loss", About: "the power of an ingress node is cut",
			of: "bgp-power-loss", vip: schedule.Ingress, kinds: one(schedule.PowerOff),
			only: on(ingress), length: short},
		{Name: "bgp-graceful", About: "a control plane node reboots in order, and comes back",
			kinds: one(schedule.Reboot), only: on(master), length: long},
		{Name: "bgp-upgrade", About: "FRR of a control plane node is replaced in order",
			of: "bgp-graceful", kinds: one(schedule.Upgrade), only: on(master), length: short},
		{Name: "bgp-ingress-graceful", About: "FRR of an ingress node is replaced in order",
			of: "bgp-graceful", vip: schedule.Ingress, kinds: one(schedule.Upgrade),
			only: on(ingress), length: short},
		{Name: "bgp-lb-crash", About: "a node's HAProxy is killed",
			kinds: one(schedule.KillLB), length: short},
		{Name: "bgp-lb-hang", About: "a node's HAProxy is stopped by a signal", of: none,
			kinds: one(schedule.StopLB), length: short},
		{Name: "bgp-node-down", About: "a node's HAProxy and API server are killed",
			kinds: one(schedule.KillLB, schedule.KillAPI), length: short},
		{Name: "bgp-node-hang", About: "a node's HAProxy and API server are stopped by a signal",
			kinds: one(schedule.StopLB, schedule.StopAPI), length: short},
		{Name: "bgp-router-crash", About: "the ingress router of a node is killed",
			vip: schedule.Ingress, kinds: one(schedule.KillRouter), length: short},
	}
}

// none is the name of a bound that no plan has.
const none = "-"

// daemons are failures of the product's own programs.
func daemons() []Scenario {
	const lasts, restart = 20 * time.Second, 5 * time.Second
	return []Scenario{
		{Name: "bgp-monitor-kill", About: "the monitor of a node is killed, and stays away",
			kinds: one(schedule.KillMonitor), only: on(master), length: lasts},
		{Name: "bgp-monitor-kill-then", About: "the monitor of a node is killed, and six seconds " +
			"later its HAProxy and API server", of: "bgp-monitor-kill", only: on(master),
			kinds: one(schedule.KillMonitor), later: one(schedule.KillLB, schedule.KillAPI),
			length: lasts},
		{Name: "bgp-monitor-restart", About: "the monitor of a node ends in order, and is back " +
			"after five seconds", of: none, kinds: one(schedule.EndMonitor), only: on(master),
			lasts: restart, length: lasts},
		{Name: "bgp-daemon-kill", About: "bgpd of a node is killed",
			kinds: one(schedule.KillBGP), only: on(master), length: lasts},
		{Name: "bgp-bfdd-kill", About: "bfdd of a node is killed", of: none,
			kinds: one(schedule.KillBFD), only: on(master), length: lasts},
		{Name: "bgp-zebra-kill", About: "zebra of a node is killed", of: "bgp-daemon-kill",
			kinds: one(schedule.KillZebra), only: on(master), length: lasts},
		{Name: "bgp-speaker-kill", About: "FRR's parent is killed on a node, and FRR with it",
			of: none, kinds: one(schedule.KillSpeaker), only: on(master), length: lasts},
		{Name: "bgp-bgpd-hang", About: "bgpd of a node is stopped by a signal", of: none,
			kinds: one(schedule.StopBGP), only: on(master), length: lasts},
	}
}

// installed are those of an installation.
func installed() []Scenario {
	const lasts = 30 * time.Second
	return []Scenario{
		{Name: "bgp-handover", About: "the API of the bootstrap machine shuts down in order, and " +
			"control plane nodes announce", joins: true, kinds: one(schedule.EndAPI),
			only: on(schedule.BootstrapName), length: lasts},
		{Name: "bgp-bootstrap-power-loss", About: "the power of the bootstrap machine is cut",
			of: "bgp-power-loss", joins: true, kinds: one(schedule.PowerOff),
			only: on(schedule.BootstrapName), length: lasts},
	}
}

// network are failures of links and routers, and routers that are not as the plan needs them.
func network() []Scenario {
	const lasts, length = 10 * time.Second, 30 * time.Second
	return []Scenario{
		{Name: "bgp-router-loss", About: "the power of one of two routers of a rack is cut",
			routers: true, kinds: one(schedule.PowerOff), only: spare, length: length},
		{Name: "bgp-spine-loss", About: "the power of a router above those of the racks is cut",
			of: "bgp-router-loss", routers: true, kinds: one(schedule.PowerOff),
			only: on("spine-"), length: length},
		{Name: "bgp-link-cut", About: "a link of a node loses all packets for ten seconds",
			of: "bgp-power-loss", kinds: one(schedule.Cut), only: on(master), lasts: lasts,
			length: length},
		{Name: "bgp-unplugged", About: "a link of a node is down at both ends for ten seconds",
			of: none, kinds: one(schedule.Unplug), only: on(master), lasts: lasts, length: length},
		{Name: "bgp-uplink-cut", About: "one of several ways between routers loses all " +
			"packets for ten seconds",
			of: "bgp-router-loss", kinds: one(schedule.Cut), only: uplink, lasts: lasts,
			length: length},
		{Name: "bgp-bfd-flap", About: "BFD ends a session of a node without reason", of: none,
			kinds: one(schedule.FlapBFD), only: on(master), length: length},
		{Name: "bgp-rack-cut", About: "a rack is cut from all others for ten seconds", of: none,
			kinds: one(schedule.Partition), lasts: lasts, length: length},
		{Name: "bgp-path-length-ignored", About: "a router of a rack ignores how long paths are",
			of: none, kinds: one(schedule.IgnoreLength), only: on("leaf-"), lasts: lasts,
			length: length},
		{Name: "bgp-one-path", About: "a router of a rack uses one path only (maximum-paths 1)",
			of: none, kinds: one(schedule.OnePath), only: on("leaf-"), lasts: lasts,
			length: length},
		{Name: "bgp-routes-kept", About: "a router of a rack keeps routes of sessions that ended " +
			"(a helper of graceful restart), and a node of the rack loses its power", of: none,
			kinds: one(schedule.KeepRoutes), only: inhabited, lasts: lasts, length: length},
	}
}
