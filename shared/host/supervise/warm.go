package supervise

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// A kernel that must send to a neighbour whose link address it does not know asks for it, and sends
// nothing before the answer. When question or answer is lost it asks again a second later
// (net.ipv4.neigh.*.retrans_time_ms; RFC 4861 10). A router that waits speaks to nobody, so that it
// would know none of its peers when it takes a VIP; and when packets were lost just then, as is
// often the reason, it would be a second holder for that second: the former one cannot hear it.
// What a kernel knows it goes on to use for 8 s at the least after the last word of the neighbour,
// while it asks.
const (
	warmEvery = 10 * time.Second // between the beginnings of two rounds, in which each peer is asked for once
	warmMost  = 16               // peers that are asked for at once; others follow a beat later
)

// warmth is how far a round has come. The zero value has yet to begin.
type warmth struct {
	asked int       // peers of this round
	began time.Time // this round
	at    time.Time // when it goes on, or the next one begins
}

// next is whom to ask for now, of so many peers: those from one number to another.
func (w *warmth) next(peers int, now time.Time) (from, to int) {
	if peers == 0 || now.Before(w.at) {
		return 0, 0
	}
	if w.asked == 0 {
		w.began = now
	}
	from, to = w.asked, min(w.asked+warmMost, peers)
	w.asked, w.at = to, now.Add(beat)
	if to == peers {
		w.asked = 0
		if next := w.began.Add(warmEvery); next.After(w.at) {
			w.at = next
		}
	}
	return from, to
}

// warm has the kernel know where the peers are. Nobody waits for the answers, and a link that is
// away has no peers that could be told anything.
func (s *supervisor) warm(now time.Time) {
	from, to := s.warmth.next(len(s.order.peers), now)
	for _, p := range s.order.peers[from:to] {
		if err := link.Ask(p.on, p.address); err != nil {
			s.Log.Debug("look for a peer", "error", err)
		}
	}
}
