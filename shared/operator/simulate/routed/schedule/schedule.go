// Package schedule describes what is simulated of a cluster whose hosts announce its VIPs: its
// plan, its racks and routers, and when which fault happens.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// Kind is a kind of fault.
type Kind string

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

// Fault is one fault.
type Fault struct {
	At   time.Duration
	Kind Kind
	Of   string        // a host, a router, a link as master-0/leaf-0-0, or a rack as rack-0
	For  time.Duration // 0: it does not end, or ends by itself
}

// String writes a fault as a line of a schedule: 1.5s cut master-0/leaf-0-0 for 3s.
func (f Fault) String() string {
	text := fmt.Sprintf("%v %s %s", f.At, f.Kind, f.Of)
	if f.For != 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// Schedule is a list of faults of a cluster that is settled when it begins. The seed decides
// everything else that is random.
type Schedule struct {
	Seed   uint64
	Length time.Duration
	Faults []Fault
}

// String writes a schedule as Parse reads it.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\nlength %v\n", s.Seed, s.Length)
	for _, f := range s.Faults {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}

// Parse reads a schedule: lines "seed N" and "length TIME", and one for each fault. Empty lines and
// text after # are ignored.
func Parse(text string) (s Schedule, err error) {
	if err := script.Read(text, s.parseLine); err != nil {
		return Schedule{}, err
	}
	if s.Length <= 0 || s.Length > Longest {
		return Schedule{}, fmt.Errorf("the schedule's length is %v: add a line such as length "+
			"20s, of at most %v", s.Length, Longest)
	}
	return s, nil
}

func (s *Schedule) parseLine(words []string) (err error) {
	if ok, err := script.Seed(words, &s.Seed); ok {
		return err
	}
	if len(words) > 1 && words[0] == "length" {
		s.Length, err = time.ParseDuration(words[1])
		return err
	}
	f, err := parseFault(words)
	s.Faults = append(s.Faults, f)
	return err
}

func parseFault(words []string) (f Fault, err error) {
	if len(words) != 3 && (len(words) != 5 || words[3] != "for") {
		return f, fmt.Errorf("%q is not TIME KIND NAME [for TIME]", strings.Join(words, " "))
	}
	if f.At, err = time.ParseDuration(words[0]); err != nil {
		return f, err
	}
	f.Kind, f.Of = Kind(words[1]), words[2]
	if len(words) == 5 {
		if f.For, err = time.ParseDuration(words[4]); err != nil {
			return f, err
		}
	}
	switch {
	case !slices.Contains(Kinds(), f.Kind):
		return f, fmt.Errorf("there is no fault %q: choose one of %v", f.Kind, Kinds())
	case f.At < 0 || f.For < 0 || f.At > Longest || f.For > Longest:
		return f, fmt.Errorf("%v: times are from 0 to %v", f, Longest)
	}
	return f, nil
}

// Check reports faults of what a cluster does not have.
func (s Schedule) Check(c Cluster) error {
	for _, f := range s.Faults {
		if all := c.Targets(f.Kind); !slices.Contains(all, f.Of) {
			return fmt.Errorf("%v: %s is not for %s, but for %s", f, f.Kind, f.Of,
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
