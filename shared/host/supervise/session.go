package supervise

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// overlap is how long a holder that has given a VIP up in order goes on taking what is sent to it:
// who takes over announces it a moment after it has made itself known, and meanwhile neighbours
// open connections where the VIP was.
const overlap = 20 * time.Millisecond

// lend has what is sent to the held VIPs taken here also for the moment after keepalived has
// removed them. Who can not is no worse off than before.
func (s *supervisor) lend() {
	for name, i := range s.status.Instances {
		if i.State != supervised.Master {
			continue
		}
		vip, ok := s.order.vips[name]
		if !ok {
			continue
		}
		if err := link.Lend(vip); err != nil {
			s.Log.Warn("take what comes for the VIP after its move", "vip", vip, "error", err)
			continue
		}
		s.lent = append(s.lent, vip)
	}
}

// takeBack ends what lend began.
func (s *supervisor) takeBack() {
	for _, vip := range s.lent {
		if err := link.TakeBack(vip); err != nil {
			s.Log.Warn("end what was for the VIP's move", "vip", vip, "error", err)
		}
	}
	s.lent = nil
}

// lost ends the sessions of an instance that is MASTER no longer. Its clients would wait for an
// answer that cannot come: who has the VIP now knows nothing of them, and what they only listen to
// stays silent for minutes.
func (s *supervisor) lost(instance string) {
	vip, ok := s.order.vips[instance]
	if !ok {
		return
	}
	if slices.Contains(s.lent, vip) {
		s.outlive(vip)
	}
	s.hangUp(vip)
}

// outlive lets the moment pass in which packets for a VIP that is lent still arrive here. The host
// does not announce that it takes them.
func (s *supervisor) outlive(vip netip.Addr) {
	if vip.Is4() {
		if err := nft.Hush(vip, false); err != nil {
			s.Log.Warn("keep a VIP that has moved to this host", "vip", vip, "error", err)
		}
	}
	<-time.After(overlap)
}

// taken ends the sessions that this host's own programs have with the former holder of an
// instance's VIPs. What they send comes here now, and no word of the former holder can reach them:
// it would come from an address that this host has. Those that only listen would do so for long.
func (s *supervisor) taken(instance string) {
	vip, ok := s.order.vips[instance]
	if !ok {
		return
	}
	sessions, err := link.SessionsTo(vip)
	for _, one := range sessions {
		err = errors.Join(err, one.Reset())
	}
	if err != nil {
		s.Log.Warn("reset this host's sessions with the VIP's former holder", "vip", vip, "error", err)
	} else if len(sessions) > 0 {
		s.Log.Info("reset this host's sessions with the VIP's former holder",
			"vip", vip, "sessions", len(sessions))
	}
}

// farewell is lost for every instance.
func (s *supervisor) farewell() {
	for name, i := range s.status.Instances {
		if i.State == supervised.Master {
			s.lost(name)
		}
	}
}

// hangUp resets the TCP sessions that speak from a VIP which this host has given up. It is a
// service to their clients, and no reason to stop anything: what fails is logged.
func (s *supervisor) hangUp(vip netip.Addr) {
	begin := time.Now()
	n, err := reset(vip)
	s.lent = slices.DeleteFunc(s.lent, func(one netip.Addr) bool { return one == vip })
	if err != nil {
		s.Log.Warn("reset the VIP's sessions", "vip", vip, "error", err)
	}
	if n > 0 {
		s.Log.Info("reset the VIP's sessions", "vip", vip, "sessions", n, "took", time.Since(begin).Round(time.Microsecond))
	}
}

// reset ends the sessions, with a word to the clients. The kernel sends nothing from an IPv4
// address that the host does not have, so the host lends it for that moment: as a route to itself
// and not on a link, while no ARP packet that claims it goes out and nothing that others send to it
// comes in. When that cannot be had the sessions end without a word. IPv6 asks for none of that. No
// loan outlives it.
func reset(vip netip.Addr) (n int, err error) {
	defer func() { err = errors.Join(err, giveBack(vip)) }()
	if vip.Is4() {
		err = nft.Hush(vip, true) // before they are counted: no further one begins
	}
	sessions, failed := link.Sessions(vip)
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

// giveBack ends a loan, also one of an earlier run that was killed meanwhile.
func giveBack(vip netip.Addr) error { return errors.Join(link.TakeBack(vip), nft.Unhush()) }
