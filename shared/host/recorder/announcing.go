package recorder

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// recordAnnouncing notes what the host announces by BGP.
func (r *Recorder) recordAnnouncing(at time.Time, boot string) (err error) {
	if r.options.Speaker == "" {
		return nil
	}
	l := journal.Announcing{At: at, Boot: boot}
	if l.Status, err = r.options.Speaker.Status(); err != nil {
		return fmt.Errorf("read the speaker's status: %w", err)
	}
	if l.Config, err = r.options.Speaker.Config(); err != nil {
		return fmt.Errorf("read the speaker's configuration: %w", err)
	}
	if l.Leaving, err = file.Exists(r.options.Speaker.At(spoken.LeaveFile)); err != nil {
		return fmt.Errorf("read whether this host leaves: %w", err)
	}
	if r.options.Unannounced != nil {
		l.Why = r.options.Unannounced()
	}
	for _, e := range r.journal.NoteAnnouncing(l) {
		r.saved = false
		if r.options.Report != nil {
			r.options.Report(e)
		}
		switch e.Kind {
		case journal.OfRoute:
			r.options.Log.Info("this node announces a VIP, or does not", "vip", e.VIP,
				"phase", e.Phase, "grade", e.Grade, "why", e.Why)
		case journal.OfBFD:
			r.options.Log.Info("BFD with a router", "router", e.Peer, "up", e.Up, "why", e.Why)
		case journal.OfSession:
			r.options.Log.Info("a session with a router", "router", e.Peer, "up", e.Up,
				"why", e.Why)
		default:
			r.options.Log.Info("other announcers of a VIP", "vip", e.VIP, "why", e.Why)
		}
	}
	return nil
}
