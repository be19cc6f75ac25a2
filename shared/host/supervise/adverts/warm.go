package adverts

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// A kernel that must send to a neighbour whose link address it does not know sends a request for it
// first, and nothing before the answer. If request or answer is lost it asks again a second later
// (net.ipv4.neigh.*.retrans_time_ms; RFC 4861 10). A BACKUP router sends nothing, so it would know
// none of its peers when it takes over; and when packets were lost just then, as is often the
// reason for a takeover, there would be dual holders for that second: the former one cannot receive
// its adverts. A kernel uses what it knows for 8 s at the least after the neighbour's last packet,
// while it asks.
const (
	// between the beginnings of two rounds, in which each peer is asked for once
	warmEvery = 10 * time.Second
	warmMost  = 16 // peers that are asked for at once; others follow a beat later
)

// peer is another router that adverts go to, on a link of this host.
type peer struct {
	on      string
	address netip.Addr
}

func peersOf(instances []keepalived.Instance) (all []peer) {
	for _, i := range instances {
		for _, p := range unicastPeers(i) {
			if one := (peer{string(i.Interface), p}); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// warmth is how far a round has come. The zero value has yet to begin.
type warmth struct {
	asked int       // peers of this round
	began time.Time // this round
	at    time.Time // when it goes on, or the next one begins
}

// next is the range of indices of the peers to ask for now: from, up to and without to.
func (w *warmth) next(peers int, now time.Time) (from, to int) {
	if peers == 0 || now.Before(w.at) {
		return 0, 0
	}
	if w.asked == 0 {
		w.began = now
	}
	from, to = w.asked, min(w.asked+warmMost, peers)
	w.asked, w.at = to, now.Add(pace.Beat)
	if to == peers {
		w.asked = 0
		if next := w.began.Add(warmEvery); next.After(w.at) {
			w.at = next
		}
	}
	return from, to
}

// WarmPeers has the kernel know the peers' link addresses. Nothing waits for the answers, and a
// link that is down has no peers to ask for.
func (a *Adverts) WarmPeers(now time.Time) {
	from, to := a.warm.next(len(a.peers), now)
	for _, p := range a.peers[from:to] {
		if err := link.Ask(p.on, p.address); err != nil {
			a.log.Debug("ask for a peer's link address", "error", err)
		}
	}
}

// WarmAt is when WarmPeers is due next; zero for never.
func (a *Adverts) WarmAt() time.Time {
	if len(a.peers) == 0 {
		return time.Time{}
	}
	return a.warm.at
}
