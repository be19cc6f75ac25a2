// Package sessions keeps TCP connections of a VIP that moves from hanging: it ends those that are
// open, for both of their ends, and has the host forget which host had the VIP.
package sessions

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
)

// overlap is how long a former holder goes on receiving what is sent to a VIP that it has released
// in order: the new holder announces the VIP a moment after its first advert, and meanwhile
// neighbours open connections at the former one.
const overlap = 20 * time.Millisecond

// Sessions are the TCP connections of this host's VIPs.
type Sessions struct {
	log  *slog.Logger
	lent []netip.Addr // VIPs that this host receives for a moment longer than keepalived has them
}

// New knows of no VIP that is lent.
func New(log *slog.Logger) *Sessions { return &Sessions{log: log} }

// Lend has this host receive what is sent to its VIPs for a moment after keepalived has removed
// them, too. A host that cannot do so loses the connections of that moment.
func (s *Sessions) Lend(vips []netip.Addr) {
	for _, vip := range vips {
		if err := link.Lend(vip); err != nil {
			s.log.Warn("receive what is sent to the VIP after its move", "vip", vip, "error", err)
			continue
		}
		s.lent = append(s.lent, vip)
	}
}

// TakeBack undoes Lend.
func (s *Sessions) TakeBack() { s.takeBack(slices.Clone(s.lent)) }

func (s *Sessions) takeBack(vips []netip.Addr) {
	for _, vip := range vips {
		if err := link.TakeBack(vip); err != nil {
			s.log.Warn("undo what was for the VIP's move", "vip", vip, "error", err)
		}
	}
	s.lent = slices.DeleteFunc(s.lent, func(one netip.Addr) bool {
		return slices.Contains(vips, one)
	})
}

// Released ends the connections of a VIP whose instance is MASTER no longer. Its clients would wait
// for an answer that cannot come: the new holder knows nothing of their connections, and those that
// only receive would wait for minutes. Of several VIPs that are lent keepalived removes one soon
// after the other: all loans end before the first connection does, as that may take a while.
func (s *Sessions) Released(vip netip.Addr) {
	for gone := s.gone(); len(gone) > 0; gone = s.gone() {
		s.overlap(gone)
	}
	s.HangUp(vip)
}

// gone are the VIPs that are lent and that keepalived has removed.
func (s *Sessions) gone() (vips []netip.Addr) {
	for _, vip := range s.lent {
		if _, held, err := link.Holder(vip); err == nil && !held {
			vips = append(vips, vip)
		}
	}
	return vips
}

// overlap lets the moment pass in which packets for VIPs that are lent still arrive here, and takes
// them back. The host does not announce them meanwhile.
func (s *Sessions) overlap(vips []netip.Addr) {
	if silent := slices.DeleteFunc(slices.Clone(vips), netip.Addr.Is6); len(silent) > 0 {
		if err := nft.Hush(false, silent...); err != nil {
			s.log.Warn("do not announce VIPs that have moved", "vips", silent, "error", err)
		}
	}
	<-time.After(overlap)
	s.takeBack(vips)
	if err := nft.Unhush(); err != nil {
		s.log.Warn("announce again what comes back", "vips", vips, "error", err)
	}
}

// Taken ends the connections that this host's own programs have with the former holder of a VIP.
// Their packets arrive here now, and nothing that the former holder sends can reach them: it would
// come from an address of this host. Programs that only receive would wait for long. Where the VIP
// was is forgotten, as in Reset, so that nothing is forwarded to another former holder if this host
// soon releases the VIP again.
func (s *Sessions) Taken(vip netip.Addr) {
	if err := link.Unlearn(vip); err != nil {
		s.log.Warn("forget where the VIP was", "vip", vip, "error", err)
	}
	sessions, err := sockets.SessionsTo(vip)
	for _, one := range sessions {
		err = errors.Join(err, one.Reset())
	}
	if err != nil {
		s.log.Warn("reset this host's sessions with the VIP's former holder",
			"vip", vip, "error", err)
	} else if len(sessions) > 0 {
		s.log.Info("reset this host's sessions with the VIP's former holder",
			"vip", vip, "sessions", len(sessions))
	}
}

// HangUp resets the connections from a VIP that this host has released. That is a service to their
// clients, and no reason to stop anything: failures are logged. A VIP that this host has keeps its
// connections: on a busy host the report of a release may be read after the VIP has come back.
func (s *Sessions) HangUp(vip netip.Addr) {
	if _, held, err := link.Holder(vip); err == nil && held {
		return
	}
	begin := time.Now()
	n, err := Reset(vip)
	s.lent = slices.DeleteFunc(s.lent, func(one netip.Addr) bool { return one == vip })
	if err != nil {
		s.log.Warn("reset the VIP's sessions", "vip", vip, "error", err)
	}
	if n > 0 {
		s.log.Info("reset the VIP's sessions",
			"vip", vip, "sessions", n, "took", time.Since(begin).Round(time.Microsecond))
	}
}

// Reset ends the connections from a VIP that this host does not have, and notifies their clients.
// The kernel sends nothing from an IPv4 address that the host does not have, so the host lends it
// for that moment: as a route to itself and not on a link, while no ARP packet that claims it
// goes out and no packet to it comes in. If the host cannot lend it, the connections end without
// a notice. IPv6 needs none of that. Each loan ends with Reset.
//
// When the host next sends or forwards a packet to the VIP it asks which host has it. Of several
// hosts that took the VIP at once each has the last announcement of another one, and all but one
// release it again: they would forward what still arrives to one another, until its hops are used
// up.
func Reset(vip netip.Addr) (n int, err error) {
	err = link.Unlearn(vip)
	defer func() { err = errors.Join(err, GiveBack(vip)) }()
	if vip.Is4() { // before they are counted: no further one begins
		err = errors.Join(err, nft.Hush(true, vip))
	}
	sessions, failed := sockets.Sessions(vip)
	if failed != nil || len(sessions) == 0 {
		return 0, errors.Join(err, failed)
	}
	if vip.Is4() {
		err = errors.Join(err, link.Lend(vip))
	}
	for _, one := range sessions {
		if failed := one.Reset(); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		n++
	}
	return n, err
}

// GiveBack ends a loan, also one of an earlier run that was killed meanwhile.
func GiveBack(vip netip.Addr) error { return errors.Join(link.TakeBack(vip), nft.Unhush()) }
