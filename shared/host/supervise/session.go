package supervise

import (
	"errors"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// lost ends the sessions of an instance that is MASTER no longer. Its clients would wait for an answer that cannot come: who has the VIP now
// knows nothing of them, and what they only listen to stays silent for minutes.
func (s *supervisor) lost(instance string) {
	for _, vip := range s.order.vips[instance] {
		s.hangUp(vip)
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

// hangUp resets the TCP sessions that speak from a VIP which this host has given up. It is a service to their clients, and no reason to stop
// anything: what fails is logged.
func (s *supervisor) hangUp(vip netip.Addr) {
	begin := time.Now()
	n, err := reset(vip)
	if err != nil {
		s.Log.Warn("reset the VIP's sessions", "vip", vip, "error", err)
	}
	if n > 0 {
		s.Log.Info("reset the VIP's sessions", "vip", vip, "sessions", n, "took", time.Since(begin).Round(time.Microsecond))
	}
}

// reset ends the sessions, with a word to the clients. The kernel sends nothing from an IPv4 address that the host does not have, so the host
// lends it for that moment: as a route to itself and not on a link, while no ARP packet that claims it goes out and nothing that others send to
// it comes in. When that cannot be had the sessions end without a word. IPv6 asks for none of that.
func reset(vip netip.Addr) (n int, err error) {
	sessions, err := link.Sessions(vip)
	if err != nil || len(sessions) == 0 {
		return 0, err
	}
	if vip.Is4() {
		defer func() { err = errors.Join(err, giveBack(vip)) }()
		err = lend(vip)
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

func lend(vip netip.Addr) error {
	if err := nft.Hush(vip); err != nil {
		return err
	}
	return link.Lend(vip)
}

// giveBack ends a loan, also one of an earlier run that was killed meanwhile.
func giveBack(vip netip.Addr) error { return errors.Join(link.TakeBack(vip), nft.Unhush()) }
