// Package cause names why a host that is provisioned goes no further, by the last that was seen of
// it: a host that asks and fetches nothing has another fault than one that fetches all and never
// reports.
package cause

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// Cause is how far a host is, and why no further.
type Cause struct {
	Point
	// Why is empty while nothing took too long, Do is what to do about it.
	Why string
	Do  string
}

// fault is why a host stays at a stage, and how long it may be there before that is likely.
type fault struct {
	after   time.Duration
	why, do string
}

// ipxe is how long iPXE needs to find its links and ask for an address; hosts is how long a server
// needs from power to its firmware's first packet, at most; agent is how long a kernel, its
// drivers and the ramdisk's programs need.
const (
	ipxe  = 90 * time.Second
	hosts = 5 * time.Minute
	agent = 5 * time.Minute
)

var faults = map[Stage]fault{
	Nothing: {0, "nothing of it has arrived: its port is in another VLAN or forwards nothing yet " +
		"(spanning tree), or it boots from another device first",
		"check its boot order, and its switch port: cable, VLAN, edge port (portfast)"},
	Started: {hosts, "it was switched on and nothing of it has arrived: its port is in another " +
		"VLAN or forwards nothing yet (spanning tree), or it boots from another device first",
		"check its boot order, and its switch port: cable, VLAN, edge port (portfast)"},
	Asked: {30 * time.Second, "it asks for an address, and DHCP did not answer",
		"see whether DHCP is on, and whether its MAC is the one of the description"},
	Ignored: {0, "it asks for an address, and is none of the hosts that DHCP answers now",
		"compare its MAC with that of the description; if it is to boot later, wait"},
	Answered: {ipxe, "it has an address and was offered no boot program: it does not ask as " +
		"firmware that boots does, or an operating system runs on it",
		"switch network boot on in its firmware, on the port with this MAC"},
	NoProgram: {0, "its firmware is of an architecture for which there is no boot program",
		"set its firmware to UEFI of 64 bits, or its boot mode in the description"},
	Offered: {30 * time.Second, "it was offered a boot program and fetched none: its firmware " +
		"wants another file or is of another architecture, or TFTP and HTTP do not reach it",
		"compare its boot mode with that of the description, and see that no filter or router " +
			"is between"},
	Broken: {0, "a transfer broke off: packets are lost, or their size does not fit the network",
		"check the MTU of the network, and its switch ports for errors"},
	Missing: {0, "it asks for a file that is not served: it is not there, or another DHCP server " +
		"named it",
		"run 'onprem-infra doctor --provisioning' and see which DHCP servers answer"},
	Program: {ipxe, "it has the boot program and fetched no script: iPXE has no driver for its " +
		"card, gets no address, or has no route to this machine",
		"see its screen; a switch port that waits for LACP drops what iPXE sends"},
	Script: {ipxe, "iPXE has its script and fetched no kernel: it has no route to the HTTP " +
		"server, or a filter is between",
		"see that the HTTP port of this machine is reached from there"},
	Kernel: {ipxe, "it has the kernel and not the initramfs: the transfer hangs, or its memory " +
		"is too small", "check the MTU of the network, and that it has 4 GiB at least"},
	Initramfs: {agent, "it has the ramdisk, which did not ask for an address: it has no driver " +
		"for its card, or its port has no carrier yet",
		"see its screen; check the card, and the time that its port needs for a carrier"},
	Media: {agent, "its BMC fetched the virtual media, and its ramdisk did not call back: it " +
		"boots another device, or the ramdisk has no network",
		"see its screen; check secure boot, and that its network has DHCP"},
	RamdiskUp: {agent, "its ramdisk has a network and did not call back: Ironic is not reached, " +
		"or its name, its certificate or the host's clock is wrong",
		"see its screen and its clock; check DNS and the CA that the ramdisk trusts"},
	Deployed: {15 * time.Minute, "its disk is written and it has not joined: it boots another " +
		"device, or its Ignition did not end",
		"see its screen; check its boot order, and that it reaches the API"},
	System: {15 * time.Minute, "its operating system runs, and it has not joined: its Ignition " +
		"did not end, or it does not reach the API",
		"see its screen and its journal; check its network and the names of the API there"},
	Fetched: {15 * time.Minute, "its Ignition has its document, and it has not joined: its " +
		"Ignition or its kubelet did not come to their ends",
		"see its screen and its journal; check which images it pulls, and whether its " +
			"certificate request waits for approval"},
}

// noDHCP is the fault of a ramdisk whose host asked no DHCP server of ours before: that its ramdisk
// does not ask either is no sign.
var noDHCP = fault{agent, "it has the ramdisk, which did not call back: it has no driver for its " +
	"card, got no address of the network's DHCP server, or does not reach Ironic",
	"see its screen; check the card, the DHCP server, and the way to this machine"}

// Of is how far one host is at a time, and why no further. Events are those of this host alone, in
// any order.
func Of(all []events.Event, now time.Time) Cause { return ofTrace(Trace(all), now) }

func ofTrace(trace []Point, now time.Time) Cause {
	c := Cause{Point: Point{Stage: Nothing}}
	if len(trace) > 0 {
		c.Point = trace[len(trace)-1]
	}
	if c.Stage == Failed {
		c.Why, c.Do = "Ironic gave up: "+quote(c.Detail), "correct that, and let it be tried again"
		if f, ok := faults[stayed(trace)]; ok {
			c.Why, c.Do = f.why+"; "+c.Why, f.do
		}
		return c
	}
	if again(trace) {
		c.Why = "its disk is written, and it boots from the network again"
		c.Do = "put its disk first in the boot order of its firmware"
		return c
	}
	f, ok := faults[c.Stage]
	if c.Stage == Initramfs && !slices.ContainsFunc(trace, func(p Point) bool {
		return p.Boot == c.Boot && p.Source == events.DHCP
	}) {
		f = noDHCP
	}
	if ok && (c.At.IsZero() || now.Sub(c.At) >= f.after) {
		c.Why, c.Do = f.why, f.do
	}
	switch c.Stage {
	case NoProgram, Missing, Broken, Offered:
		if c.Why != "" && c.Detail != "" {
			c.Why += " (" + quote(c.Detail) + ")"
		}
	}
	return c
}

// Among is the cause in view of the events of all hosts: if clients of unknown addresses have
// fetched something since, the host may be one of them, and something of it may have arrived.
func (c Cause) Among(all []events.Event) Cause {
	if c.Why == "" || c.Stage != Nothing && c.Stage != Started {
		return c
	}
	var last events.Event
	for _, e := range all {
		if (e.Source == events.HTTP || e.Source == events.TFTP) && e.Unnamed() &&
			e.Time.After(c.At) && !e.Time.Before(last.Time) {
			last = e
		}
	}
	if last.Kind == "" {
		return c
	}
	c.Why = fmt.Sprintf("it was not seen, and may be a client of an unknown address, as it has "+
		"none of this machine's DHCP (the last of them, at %s: %s %s)",
		last.Time.UTC().Format(time.TimeOnly), word(last.Kind), quote(last.Detail))
	c.Do = "see its screen; if it does not boot from the network, check its boot order, and its " +
		"switch port: cable, VLAN, edge port (portfast)"
	return c
}

// stayed is the stage at which the last boot stayed for too long before Ironic gave up; Failed if
// its ramdisk had called back, or if Ironic did not wait for it.
func stayed(trace []Point) Stage {
	last := trace[len(trace)-1]
	for i := len(trace) - 1; i >= 0 && trace[i].Boot == last.Boot; i-- {
		switch p := trace[i]; {
		case p.Stage == Failed:
			last = p
		case p.Stage.before(CalledBack) && last.At.Sub(p.At) >= faults[p.Stage].after:
			return p.Stage
		default:
			return Failed
		}
	}
	return Failed
}

// again reports whether a host that is deployed boots from the network by itself.
func again(trace []Point) bool {
	deployed := false
	for _, p := range trace {
		switch {
		case p.Stage == Deployed:
			deployed = true
		case p.Stage == Started || p.Stage == Joined:
			deployed = false
		}
	}
	last := len(trace) - 1
	return deployed && !trace[last].Stage.before(Offered) && trace[last].Stage.before(CalledBack)
}

// String is a cause for people, with what to do if that is known; empty if there is none.
func (c Cause) String() string {
	if c.Why == "" || c.Do == "" {
		return c.Why
	}
	return c.Why + ": " + c.Do
}

// Gap is a boot that led nowhere: the host began another one.
type Gap struct {
	Cause
	Until time.Time // the begin of the next boot
}

// Gaps are the boots of a host that led nowhere, the oldest first.
func Gaps(all []events.Event) (gaps []Gap) {
	trace := Trace(all)
	for i, p := range trace {
		if i == 0 || p.Boot == trace[i-1].Boot {
			continue
		}
		if s := trace[i-1].Stage; s != Failed && !s.before(CalledBack) {
			continue
		}
		c := ofTrace(trace[:i], p.At.Add(hosts)) // it got no further: each fault counts by then
		gaps = append(gaps, Gap{c, p.At})
	}
	return gaps
}

// quote is a text from the network, quoted and cut.
func quote(text string) string {
	const most = 200
	return fmt.Sprintf("%q", strings.ToValidUTF8(text[:min(len(text), most)], "?"))
}
