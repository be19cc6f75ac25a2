package haproxy

import (
	"fmt"
	"net/netip"
	"slices"
)

// Change are the commands that give a running HAProxy with these stats the configuration's members,
// by backend and in order; none if it has them. A new member is down until it has passed its
// checks: it is enabled without weight, set down, and only then given its weight, so that it gets
// no connection between two commands. Connections to a removed member end by themselves.
func Change(c Config, stats []Stat) [][]string {
	var all [][]string
	for _, b := range []struct {
		name    string
		port    uint16
		checked bool
	}{
		{Masters, c.Ports.API, true},
		{MastersOpen, c.Ports.API, false},
		{MachineConfig, c.Ports.MachineConfig, true},
		{MachineConfigOpen, c.Ports.MachineConfig, false},
	} {
		var commands []string
		for i, a := range c.Members {
			at := slices.IndexFunc(stats, func(s Stat) bool {
				return s.Backend == b.name && s.Server == Server(i)
			})
			if at < 0 || b.port == 0 {
				continue // another structure
			}
			commands = append(commands, move(stats[at], a, b.port, b.checked)...)
		}
		if len(commands) > 0 {
			all = append(all, commands)
		}
	}
	return all
}

func move(s Stat, member netip.Addr, port uint16, checked bool) (commands []string) {
	set := func(format string, values ...any) {
		commands = append(commands,
			fmt.Sprintf("set server %s/%s ", s.Backend, s.Server)+fmt.Sprintf(format, values...))
	}
	wanted := usable(member)
	same := !s.Disabled() && s.Address == netip.AddrPortFrom(member.WithZone(""), port)
	if wanted && same || !wanted && s.Disabled() {
		return nil
	}
	if !s.Disabled() {
		set("state maint")
	}
	if !wanted {
		return commands
	}
	set("addr %s port %d", member.WithZone(""), port)
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

// Cut lists the servers, as BACKEND/SERVER, whose sessions must be closed because no process
// answers them, so that clients do not wait for a timeout. Such a server is down because no
// connection succeeds, or has been down for hung seconds because TLS handshakes time out. A server
// that drains, or whose readiness is slow, keeps its sessions. No sessions are cut if no other
// server is up.
func Cut(stats []Stat) []string {
	var cut []string
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
				cut = append(cut, o.Backend+"/"+o.Server)
			}
		}
	}
	return cut
}

// hung is in seconds. Several checks have timed out before, so together it is longer than a TLS
// handshake takes on a busy machine.
const hung = 1
