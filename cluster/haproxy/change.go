package haproxy

import (
	"fmt"
	"net/netip"
	"slices"
)

// Change are the commands that give a running HAProxy with these stats the configuration's servers,
// by backend and in order; none if it has them. A new server is down until it has passed its
// checks: it is enabled without weight, set down, and only then given its weight, so that it gets
// no connection between two commands. Connections to a removed member end by themselves. Those to
// an Ironic are cut if another one gets its slot, which would no longer show where they lead.
func Change(c Config, stats []Stat) [][]string {
	var all [][]string
	for _, b := range c.backends() {
		var commands []string
		for i, wanted := range b.servers {
			at := slices.IndexFunc(stats, func(s Stat) bool {
				return s.Backend == b.name && s.Server == Server(i)
			})
			if at < 0 {
				continue // another structure
			}
			commands = append(commands, move(stats[at], wanted, b.checked)...)
		}
		if len(commands) > 0 {
			all = append(all, commands)
		}
	}
	return all
}

func move(s Stat, wanted netip.AddrPort, checked bool) (commands []string) {
	set := func(format string, values ...any) {
		commands = append(commands,
			fmt.Sprintf("set server %s/%s ", s.Backend, s.Server)+fmt.Sprintf(format, values...))
	}
	used := usable(wanted.Addr())
	if used && !s.Disabled() && s.Address == wanted || !used && s.Disabled() {
		return nil
	}
	if !s.Disabled() {
		set("state maint")
	}
	if !used {
		return commands
	}
	if IsIronic(s.Backend) && s.Sessions > 0 && s.Address != wanted {
		commands = append(commands, Shut(s))
	}
	set("addr %s port %d", wanted.Addr(), wanted.Port())
	if !checked {
		set("state ready")
		return commands
	}
	set("weight 0")
	set("state ready")
	set("health down")
	set("weight 100%%")
	return commands
}

// Shut is the command that ends the sessions of a server.
func Shut(s Stat) string { return "shutdown sessions server " + s.Backend + "/" + s.Server }

// Ended are the servers of Ironic that still have sessions, and whose pod has ended or is about to:
// none of alive has their address. If the pod's host has lost its power, nothing else ends these
// sessions. A pod that is only not ready keeps them, as a transfer may go on.
func Ended(stats []Stat, alive []netip.Addr) (ended []Stat) {
	for _, s := range stats {
		if IsIronic(s.Backend) && s.Sessions > 0 && !slices.Contains(alive, s.Address.Addr()) {
			ended = append(ended, s)
		}
	}
	return ended
}

// Cut lists the servers of the API whose sessions must be closed because no process
// answers them, so that clients do not wait for a timeout. Such a server is down because no
// connection succeeds, or has been down for hung seconds because TLS handshakes time out. A server
// that drains, or whose readiness is slow, keeps its sessions. No sessions are cut if no other
// server is up.
func Cut(stats []Stat) (cut []Stat) {
	for _, s := range stats {
		if s.Backend != Masters || s.Up() || s.Disabled() {
			continue
		}
		other := slices.ContainsFunc(stats, func(o Stat) bool {
			return o.Backend == Masters && o.Up() && o.Passed()
		})
		gone := s.Check == "L4CON" || s.Check == "L4TOUT" ||
			s.Check == "L6TOUT" && s.Changed >= hung
		if !other || !gone {
			continue
		}
		for _, o := range stats {
			if (o.Backend == Masters || o.Backend == MastersOpen) &&
				o.Server == s.Server && o.Address == s.Address && o.Sessions > 0 {
				cut = append(cut, o)
			}
		}
	}
	return cut
}

// hung is in seconds. Several checks have timed out before, so the total time is longer than a
// TLS handshake takes on a busy machine.
const hung = 1
