package handover

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestRanked holds the hand-over among machines of ours alone: the bootstrap machine keeps the VIP
// until it is asked to leave, and the master of the best rank gets it; a master that leaves gives it
// to the next one, and does not take it back when it returns; and when its host is lost the best of
// the others has it within a master-down time. Adverts are a second apart: the time-outs of two ranks
// then differ by 23 ms, whose order a busy machine keeps. With the shortest adverts they differ by
// 2 ms: the first one takes the VIP, whichever it is, and keeps it.
func TestRanked(t *testing.T) {
	timing := vrrp.Profiles()[0]
	timing.Advert = time.Second
	down := vrrp.MasterDown(timing.Version(vip), timing.Policy().ControlPlane.Serving(), timing.Advert)
	s := newStage(t, 3)
	s.bootstrap.timing = timing
	for i, m := range s.masters {
		m.timing, m.rank = timing, len(s.masters)-1-i // the highest address has the best one
	}
	ranked := []*router{s.masters[2], s.masters[1], s.masters[0]}
	s.bootstrap.propose(true, s.all()...)
	s.bootstrap.start()
	s.held("bootstrap")
	s.startMasters(true)
	s.ready()
	time.Sleep(2 * down) // another move would come within it
	s.held("bootstrap")

	s.handOver("bootstrap to the best rank", s.bootstrap, ranked[0])
	s.handOver("the best rank reboots", ranked[0], ranked[1])
	ranked[0].stay()
	ranked[0].untilBackup()
	time.Sleep(2 * down) // another move would come within it
	s.held(ranked[1].Name)

	begin := time.Now()
	if err := ranked[1].Off(); err != nil {
		t.Fatal(err)
	}
	s.judge("the holder's host is lost", s.moved(begin, ranked[0]), down+noise, noise)
}
