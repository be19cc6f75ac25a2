package supervise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/supervise/instances"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// drainBound is how long a round waits for the next line of what keepalived has reported.
const drainBound = time.Second

func (s *supervisor) loop(ctx context.Context) error {
	defer s.dropTest()
	for {
		s.rounds.Began(time.Now())
		if err := s.round(ctx); err != nil {
			return errors.Join(err, s.release())
		}
		network, opens := s.events.gate.Open(s.events.network, time.Now())
		select {
		case <-ctx.Done():
			s.handOver()
			return s.release()
		case err := <-s.events.failed:
			return errors.Join(err, s.release())
		case line := <-s.events.lines:
			s.receive(line)
		case <-s.daemon.VRRPDone():
			s.onVRRPExit()
		case <-s.adverts.Slower():
			s.adverts.Receive(s.reported(), time.Now())
		case <-s.events.files:
		case <-network:
			s.events.gate.Close(time.Now())
			s.orphans.ScanSoon()
		case <-s.daemon.Stopped():
			s.daemon.CheckNow()
		case <-s.daemon.Reaped():
		case <-s.due(opens):
		}
	}
}

func (s *supervisor) round(ctx context.Context) error {
	if s.daemon.Exited() {
		s.reapDaemon()
	}
	now := time.Now() // one for all that is due at a beat, or each would have a round of its own
	s.roundAt = now
	s.tasks.Note("prepare tracked files", s.tracks.Prepare())
	err := s.daemon.Check(now, s.instances.Active(), s.order.Instances)
	s.tasks.Note("continue or kill keepalived", err)
	s.tasks.Note("drop the node's weights", s.tracks.CheckMonitor(now))
	if err := s.scanOrphans(now); err != nil {
		return err
	}
	s.tasks.Note("follow the request to leave", s.handleRequest(now))
	s.tasks.Note("read what is not served", s.instances.ReleaseUnserved())
	s.instances.NoteBonuses(now)
	s.tasks.Note("read the candidate configuration", s.considerCandidate())
	s.adverts.WarmPeers(now)
	s.adverts.Know(s.reported())
	if s.candidates.running != "" {
		s.adverts.DropFar(now)
	}
	if ctx.Err() != nil {
		return nil
	}
	s.tasks.Note("start or reload keepalived", s.drive(ctx))
	s.tasks.Note("undo an adopted advert interval", s.undoInterval(now))
	s.tasks.Note("reload keepalived for its tracked files", s.compareTracks(now))
	s.publish()
	return nil
}

// due fires when the next postponed task is due, at also if that is not zero, and after a beat at
// the latest: whatever started this process takes it for dead when it uses no processor time. A
// task that was due in the last round and still is has failed there, and waits for the beat.
func (s *supervisor) due(also time.Time) <-chan time.Time {
	next := time.Now().Add(pace.Beat)
	earlier := func(times ...time.Time) {
		for _, t := range times {
			if t.After(s.roundAt) && t.Before(next) {
				next = t
			}
		}
	}
	wanted := s.candidates.running
	if s.status.Leaving == supervised.Left {
		wanted = ""
	}
	earlier(s.daemon.DueAt(wanted)...)
	earlier(also, s.orphans.ScanAt(), s.adverts.WarmAt(), s.adverts.UndoAt(s.reported()),
		s.instances.SettlesAt(time.Now()))
	if s.status.Refused != nil {
		earlier(s.candidates.retestAt)
	}
	if s.candidates.test != nil {
		earlier(s.candidates.test.Bound)
	}
	if s.status.Leaving == supervised.Asked {
		earlier(s.releaseBy)
	}
	return time.After(time.Until(next))
}

func (s *supervisor) receive(line string) {
	if !s.daemon.Reported(line) {
		return
	}
	e, ok, err := instances.ParseNotify(line)
	if err != nil {
		s.Log.Warn("notification", "error", err)
		return
	}
	if s.daemon.VRRPReplaced() {
		s.onVRRPExit()
	}
	s.daemon.NoteReport()
	if !ok {
		return
	}
	switch change, vip := s.instances.Report(e); {
	case change == instances.Taken && vip.IsValid():
		s.sessions.Taken(vip)
	case change == instances.Released:
		if vip.IsValid() {
			s.sessions.Released(vip)
		}
		s.orphans.ScanSoon()
	}
}

// drain receives all that keepalived has reported so far. A line may be in the FIFO though none
// waits here, as its reader may not have run since. So lines are received until a mark, written
// now, comes back.
func (s *supervisor) drain() error {
	mark := s.daemon.NextMark()
	s.tasks.Go(func(context.Context) { // a full FIFO takes it once lines have been received
		_, err := s.events.fifo.WriteString(mark + "\n")
		s.tasks.Note("write to the FIFO", err)
	})
	for {
		select {
		case line := <-s.events.lines:
			if line == mark {
				return nil
			}
			s.receive(line)
		case <-time.After(drainBound):
			return fmt.Errorf("read the FIFO: what was written is not read after %s", drainBound)
		}
	}
}

// reported are the instances as keepalived reports them; nil while it reports nothing.
func (s *supervisor) reported() map[string]supervised.Instance {
	if !s.daemon.Reports() {
		return nil
	}
	return s.instances.States()
}

// scanOrphans removes VIPs without a MASTER, after all that keepalived has reported has been read.
// Until then none counts as one.
func (s *supervisor) scanOrphans(now time.Time) error {
	if !s.orphans.Due(now) {
		return nil
	}
	begun := time.Now()
	err := s.drain()
	s.tasks.Note("read keepalived's reports", err)
	if err != nil {
		return nil
	}
	// A VIP counts from when it is seen: what drain took is no part of its time.
	return s.orphans.Scan(now.Add(time.Since(begun)), s.instances.Held())
}
