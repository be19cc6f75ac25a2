// Package bfdport finds out whether another process of the host receives BFD's packets: two can
// have the port, and the one that has opened it last gets all of them, without an error for either.
package bfdport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// The ports of BFD's packets.
const (
	Single   = 3784 // of routers on the same network (RFC 5881, 4)
	Multihop = 4784 // of others (RFC 5883, 5)
)

// Of are the ports that the sessions of a configuration need.
func Of(c frr.Config) (all []uint16) {
	for _, p := range c.Peers {
		port := uint16(Single)
		if p.Hops > 1 {
			port = Multihop
		}
		if !slices.Contains(all, port) {
			all = append(all, port)
		}
	}
	slices.Sort(all)
	return all
}

// Port is what is known of the daemon's own sockets. Its zero value knows none.
type Port struct {
	UID     int // of the daemon's user
	pid     int
	learned []uint32 // sockets of the process pid; nil before the first check of it
}

// Taken names what has one of the ports besides the daemon: "bfdd (process 12) has UDP port 3784";
// empty for nothing. PID is the daemon, 0 if it does not run.
func (p *Port) Taken(ports []uint16, pid int) (string, error) {
	var all []string
	for _, port := range ports {
		receivers, err := proc.Receivers(port)
		if err != nil {
			return "", err
		}
		if len(receivers) == 0 {
			continue
		}
		own := p.own(pid)
		// The daemon may have ended meanwhile: what is not there any more does not count.
		still, err := proc.Receivers(port)
		if err != nil {
			return "", err
		}
		receivers = slices.DeleteFunc(receivers, func(r proc.Receiver) bool {
			return slices.Contains(own, r.Inode) || !slices.Contains(still, r)
		})
		if len(receivers) > 0 {
			all = append(all, fmt.Sprintf("%s has UDP port %d", owners(receivers), port))
		}
	}
	return strings.Join(all, ", "), nil
}

// own are the daemon's sockets. Where this program may not list them, they are those that the
// daemon's user has at both ports when that is asked for the first time: the daemon opens them at
// its start, whichever its sessions need then, and keeps them.
func (p *Port) own(pid int) []uint32 {
	if pid == 0 {
		return nil
	}
	if own, err := proc.Sockets(pid); err == nil {
		return own
	}
	if p.pid == pid {
		return p.learned
	}
	p.pid, p.learned = pid, nil
	for _, port := range []uint16{Single, Multihop} {
		all, _ := proc.Receivers(port) // the caller has asked before, and asks again
		for _, r := range all {
			if r.UID == p.UID {
				p.learned = append(p.learned, r.Inode)
			}
		}
	}
	return p.learned
}

// owners names processes. Those of other containers may be invisible to this one.
func owners(receivers []proc.Receiver) string {
	var names []string
	for _, r := range receivers {
		names = append(names, proc.OfSocket(r.Inode)...)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		return strings.Join(names, " and ")
	}
	return fmt.Sprintf("a process of user %d that is not visible from here", receivers[0].UID)
}
