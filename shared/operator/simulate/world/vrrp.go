package world

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// State is the state of a VRRP instance.
type State int

const (
	Stopped State = iota // no instance
	Backup
	Master
	Faulted
)

// Router is keepalived with its one instance, as vrrp.c of version 2.2.7 has it.
type Router struct {
	Runs     bool // the process lives
	Frozen   bool // and a signal has stopped it
	State    State
	Priority int           // effective
	Down     time.Duration // ms_down_timer
	Due      time.Duration // sands
	Timer    uint32        // the generation of what is armed
	Process  uint32        // the generation of keepalived's process
	HasVIP   bool          // the kernel has the address, whatever the state is
	Adding   uint32        // the generation of the address's way onto the interface, or off it

	Waiting     []Advert      // what has arrived while it was stopped
	MasterSince time.Duration // when it last became MASTER
	ReceivedAt  time.Duration // when an advert last set its timer
	ChangedAt   time.Duration // when its priority did
	ResumedAt   time.Duration // when it was last continued
}

// Advert is an advert that a host has sent.
type Advert struct {
	From     *Host
	Priority int
}

// supervisor is keepalived's parent.
type supervisor struct {
	Beat      time.Duration // the phase of its beats
	Run       uint32        // the generation of keepalived's next start
	Container Container     // its own
	Back      time.Duration // when its container starts again; of the last kill
	Backoff   supervised.Backoff
	Started   time.Duration  // when keepalived last started
	Releasing bool           // the track file leave is set
	Stopped   bool           // keepalived has ended in order, and does not start again
	Releases  uint32         // the generation of the patience
	After     schedule.Fault // what follows the release
	Dead      bool           // it was killed with keepalived, and has not started again
	Bonus     bonus.State    // of its instance
	Reported  State          // of the instance, as others read it
	Notified  time.Duration  // when the last state comes from keepalived's FIFO
	// Left is what the host does when it has withdrawn from its routers too; the zero value for
	// nothing.
	Left schedule.Fault
}

// Forget begins anew after the VRRP process has exited.
func (s *supervisor) Forget() { s.Bonus = bonus.State{} }

// bootstrapRelease is the bootstrap machine's decision to release the VIP, and its state. There is
// no Ironic.
type bootstrapRelease struct {
	State       release.State
	HandingOver bool // a handover goes on
	Stopped     bool // the release has ended keepalived
	Gen         uint32
	Asked       time.Duration // when the last probe of the API began
}

// Holds reports whether the VIP has not been released.
func (r *bootstrapRelease) Holds() bool { return r.State.Memory().Holding }

// ScheduleTracks has keepalived read its tracked files soon.
func (w *World) ScheduleTracks(h *Host) {
	w.After(w.Take(TrackRead), Event{Kind: EvTrack, Host: int8(h.Index), Gen: h.Router.Process})
}
