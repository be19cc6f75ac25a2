package simulate

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what goes wrong, or is done to a host.
type Kind string

// The kinds. Those that stop something end after Fault.For, when it is set; what a supervisor or
// kubelet restarts by itself comes back by itself.
const (
	KillVRRP       Kind = "kill-vrrp"       // SIGKILL to keepalived's VRRP process
	KillKeepalived Kind = "kill-keepalived" // to all of keepalived, and to its supervisor
	StopKeepalived Kind = "stop-keepalived" // SIGSTOP to all of keepalived; its supervisor continues it
	EndKeepalived  Kind = "end-keepalived"  // keepalived and its supervisor are told to end, and start again
	KillLB         Kind = "kill-lb"         // SIGKILL to HAProxy
	StopLB         Kind = "stop-lb"         // SIGSTOP to it
	KillAPI        Kind = "kill-api"        // SIGKILL to the API server
	StopAPI        Kind = "stop-api"        // SIGSTOP to it
	EndAPI         Kind = "end-api"         // it is told to end: it announces that, serves on for a while and is gone
	KillMCS        Kind = "kill-mcs"        // SIGKILL to the machine config server
	KillMonitor    Kind = "kill-monitor"    // SIGKILL to the monitor that makes the node's checks
	KillRouter     Kind = "kill-router"     // SIGKILL to the ingress router
	DrainRouter    Kind = "drain-router"    // the ingress router takes nothing new
	KillDNS        Kind = "kill-dns"        // SIGKILL to the node's name server
	PowerOff       Kind = "power-off"       // the power is cut, and comes back
	Reboot         Kind = "reboot"          // in order
	Cut            Kind = "cut"             // from the network, both ways
	CutIn          Kind = "cut-in"          // it hears nobody
	CutOut         Kind = "cut-out"         // nobody hears it
	Loss           Kind = "loss"            // Amount percent of the packets, each way
	Delay          Kind = "delay"           // of each packet that it sends, Amount ms
	Duplicate      Kind = "duplicate"       // Amount percent of what it sends
	Hog            Kind = "hog"             // its processors are busy: keepalived comes to its turn up to Amount ms late
	DiskFull       Kind = "disk-full"       // nothing that an election needs is on a disk
	Join           Kind = "join"            // a master that was not there before begins to run
	Part           Kind = "part"            // its Node is taken away

	// What follows is for the lab. Nothing of it is simulated but stop-vrrp, which is
	// stop-keepalived to it.
	StopVRRP       Kind = "stop-vrrp"       // SIGSTOP to keepalived's VRRP process alone
	KillDaemon     Kind = "kill-daemon"     // SIGKILL to all of keepalived, and not to its supervisor
	StopSupervisor Kind = "stop-supervisor" // SIGSTOP to it
	StopMonitor    Kind = "stop-monitor"    // SIGSTOP to the monitor that makes the node's checks
	KillLBMonitor  Kind = "kill-lb-monitor" // SIGKILL to HAProxy's monitor
	StopLBMonitor  Kind = "stop-lb-monitor" // SIGSTOP to it
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{KillVRRP, KillKeepalived, StopKeepalived, EndKeepalived, KillLB, StopLB, KillAPI, StopAPI, EndAPI, KillMCS, KillMonitor, KillRouter,
		DrainRouter, KillDNS, PowerOff, Reboot, Cut, CutIn, CutOut, Loss, Delay, Duplicate, Hog, DiskFull, Join, Part}
}

// labKinds are those that schedules may have for the lab's sake.
func labKinds() []Kind {
	return []Kind{StopVRRP, KillDaemon, StopSupervisor, StopMonitor, KillLBMonitor, StopLBMonitor}
}

// Holder is the name of the host that has the VIP when a fault begins, for a fault that is about it
// whichever it is.
const Holder = "holder"

// Fault is one thing that is done to a host.
type Fault struct {
	At     time.Duration
	Kind   Kind
	Host   string        // or Holder
	For    time.Duration // 0: it does not end, or ends by itself
	Amount int           // of Loss and Duplicate in percent, of Delay and Hog in milliseconds
}

// String writes a fault as a line of a schedule: 1.5s loss master-0 20 for 3s.
func (f Fault) String() string {
	text := fmt.Sprintf("%v %s %s", f.At, f.Kind, f.Host)
	if f.Amount != 0 {
		text += fmt.Sprintf(" %d", f.Amount)
	}
	if f.For != 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// Schedule is a list of faults, by time. The seed decides all that is left to chance: phases,
// delays, which packets are lost.
type Schedule struct {
	Seed   uint64
	Length time.Duration
	Faults []Fault
}

// String writes a schedule as ParseSchedule reads it.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\nlength %v\n", s.Seed, s.Length)
	for _, f := range s.Faults {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}

// ParseSchedule reads a schedule: a line for the seed, one for the length, and one for each fault,
// in any order. Empty lines and what follows # are for people.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := s.read(words); err != nil {
			return Schedule{}, fmt.Errorf("read schedule, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Schedule{}, fmt.Errorf("read schedule: %w", err)
	}
	if s.Length <= 0 || s.Length > longest {
		return Schedule{}, fmt.Errorf("read schedule: its length is %v: say one of at most %v, as in: length 20s", s.Length, longest)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return s, nil
}

// longest is how long a schedule may be.
const longest = time.Hour

// lameDuck is how long an API server continues to serve after it was told to end.
const lameDuck = 15 * time.Second

func (s *Schedule) read(words []string) (err error) {
	switch {
	case len(words) == 2 && words[0] == "seed":
		s.Seed, err = strconv.ParseUint(words[1], 10, 64)
	case len(words) == 2 && words[0] == "length":
		s.Length, err = time.ParseDuration(words[1])
	default:
		var f Fault
		if f, err = parseFault(words); err == nil {
			s.Faults = append(s.Faults, f)
		}
	}
	return err
}

func parseFault(words []string) (f Fault, err error) {
	if len(words) < 3 {
		return f, fmt.Errorf("%q is not TIME KIND HOST [AMOUNT] [for TIME]", strings.Join(words, " "))
	}
	f.Kind, f.Host = Kind(words[1]), words[2]
	if f.At, err = time.ParseDuration(words[0]); err != nil {
		return f, err
	}
	if !slices.Contains(Kinds(), f.Kind) && !slices.Contains(labKinds(), f.Kind) {
		return f, fmt.Errorf("there is no fault %q: choose one of %v", f.Kind, Kinds())
	}
	rest := words[3:]
	if len(rest) > 0 && rest[0] != "for" {
		if f.Amount, err = strconv.Atoi(rest[0]); err != nil {
			return f, err
		}
		rest = rest[1:]
	}
	if len(rest) == 2 && rest[0] == "for" {
		f.For, err = time.ParseDuration(rest[1])
		rest = nil
	}
	switch {
	case err != nil:
		return f, err
	case len(rest) > 0:
		return f, fmt.Errorf("%q: nothing is known of that", strings.Join(rest, " "))
	case f.At < 0 || f.For < 0 || f.Amount < 0 || f.Amount > 1000:
		return f, fmt.Errorf("%v: times are not negative, and amounts are from 0 to 1000", f)
	}
	return f, nil
}

// Check finds what a schedule asks of hosts that a cluster does not have.
func (s Schedule) Check(c Cluster) error {
	names := c.hosts()
	for _, f := range s.Faults {
		if f.Host != Holder && !slices.Contains(names, f.Host) {
			return fmt.Errorf("%v: there is no host %s, but %s and %s", f, f.Host, strings.Join(names, ", "), Holder)
		}
	}
	return nil
}
