// Package schedule describes what is simulated of a cluster whose hosts announce its VIPs: its
// plan, its racks and routers, and when which fault happens.
package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// Kind is a kind of fault.
type Kind = script.Kind

// The kinds. Those that stop something end after Fault.For, when it is set; what a parent or
// kubelet restarts by itself comes back by itself.
const (
	PowerOff     Kind = "power-off"    // of a host or a router; its ports stay up at the other end
	Reboot       Kind = "reboot"       // in order
	Upgrade      Kind = "upgrade"      // FRR is ended in order and replaced
	Cut          Kind = "cut"          // a link loses all packets, and stays up at both ends
	Unplug       Kind = "unplug"       // a link's ports go down
	FlapBFD      Kind = "flap-bfd"     // BFD ends the session of a link once, without reason
	Partition    Kind = "partition"    // a rack has no link to the routers above it
	KillLB       Kind = "kill-lb"      // SIGKILL to HAProxy
	StopLB       Kind = "stop-lb"      // SIGSTOP to it
	KillAPI      Kind = "kill-api"     // SIGKILL to the API server
	StopAPI      Kind = "stop-api"     // SIGSTOP to it
	EndAPI       Kind = "end-api"      // SIGTERM to it: not ready, it serves for a while
	KillRouter   Kind = "kill-router"  // SIGKILL to the ingress router
	KillMonitor  Kind = "kill-monitor" // SIGKILL to the monitor of the node's checks
	EndMonitor   Kind = "end-monitor"  // SIGTERM to it
	KillBGP      Kind = "kill-bgpd"
	StopBGP      Kind = "stop-bgpd" // SIGSTOP to it
	KillBFD      Kind = "kill-bfdd"
	KillZebra    Kind = "kill-zebra"
	KillSpeaker  Kind = "kill-speaker"  // FRR's parent, and FRR with it
	IgnoreLength Kind = "ignore-length" // a router prefers no shorter path
	OnePath      Kind = "one-path"      // a router uses one path (maximum-paths 1)
	KeepRoutes   Kind = "keep-routes"   // a router keeps routes of sessions that have ended
	Join         Kind = "join"          // a control plane node starts beside the bootstrap machine
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{PowerOff, Reboot, Upgrade, Cut, Unplug, FlapBFD, Partition, KillLB, StopLB,
		KillAPI, StopAPI, EndAPI, KillRouter, KillMonitor, EndMonitor, KillBGP, StopBGP, KillBFD,
		KillZebra, KillSpeaker, IgnoreLength, OnePath, KeepRoutes, Join}
}

// Fault is one fault of a host, a router, a link as master-0/leaf-0-0, or a rack as rack-0.
type Fault = script.Fault

// Schedule is a list of faults of a cluster that is settled when it begins.
type Schedule = script.Schedule

// Parse reads a schedule.
func Parse(text string) (Schedule, error) {
	return script.Grammar{Kinds: Kinds(), Longest: Longest}.Parse(text)
}

// Check returns an error for the first fault that cannot happen to its target in a cluster.
func (c Cluster) Check(s Schedule) error {
	for _, f := range s.Faults {
		if all := c.Targets(f.Kind); !slices.Contains(all, f.Host) {
			return fmt.Errorf("%v: %s is not for %s, but for %s", f, f.Kind, f.Host,
				strings.Join(all, ", "))
		}
	}
	return nil
}

// Targets are what a kind of fault can happen to.
func (c Cluster) Targets(k Kind) (names []string) {
	switch k {
	case Cut, Unplug, FlapBFD:
		return c.linkNames()
	case Partition:
		for i := range c.Racks {
			names = append(names, fmt.Sprintf("rack-%d", i))
		}
		return names
	}
	for i, b := range c.Boxes {
		if c.happens(k, i, b) {
			names = append(names, b.Name)
		}
	}
	return names
}

func (c Cluster) linkNames() (names []string) {
	for i, l := range c.Links {
		if l.Below != 0 || c.Bootstrap {
			names = append(names, c.LinkName(i))
		}
	}
	return names
}

// happens reports whether a kind of fault can happen to a box.
func (c Cluster) happens(k Kind, i int, b Box) bool {
	host, boot := b.Level == HostLevel, i == 0
	switch k {
	case PowerOff:
		return !boot || c.Bootstrap
	case IgnoreLength, OnePath:
		return !host
	case KeepRoutes:
		return b.Level == LeafLevel
	case KillLB, StopLB:
		return c.IsMaster(i)
	case Join:
		return c.IsMaster(i) && c.Bootstrap
	case KillAPI, StopAPI, EndAPI:
		return c.IsMaster(i) || boot && c.Bootstrap
	case KillRouter:
		return c.Announces(i, Ingress)
	}
	return host && (!boot || c.Bootstrap)
}
