package announce

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Host is the machine as the room sees it.
type Host interface {
	// Rack is the name of the host's rack, by its file; empty for none.
	Rack() (string, error)
	// Former is the identifier that the speaker has from an earlier run; the zero value for none.
	Former() netip.Addr
	// Configure and Wish write the files for the speaker.
	Configure(spoken.Config) error
	Wish(spoken.Wish) error
	// End leaves what is announced as it is, for a monitor that follows this one.
	End() error
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan // whose hosts announce its VIPs
	Role   role.Role // master or worker
	Host   Host
	Passes func(vrrp.CheckName) bool
	Now    func() time.Time
	Log    *slog.Logger
}

// Room announces a node's VIPs. Its methods are for one goroutine, but for Absent.
type Room struct {
	options Options
	seen    *Seen // the last one; nil before the first
	rack    string
	former  netip.Addr // the identifier
	why     loop.Reasons
	fault   string // of the last round; empty for none
	absent  atomic.Pointer[[]absent.VIP]
}

// New makes a room that has announced nothing yet.
func New(o Options) *Room { return &Room{options: o, former: o.Host.Former()} }

// Announce writes what the speaker is to do now. If nothing was seen in this round, s is nil:
// the last s counts, with the checks' results of now. A node whose monitor writes nothing for
// long leaves. A room that has seen nothing leaves the former run's files alone.
func (r *Room) Announce(s *Seen) {
	if s != nil {
		r.seen = s
	}
	if r.seen == nil {
		return
	}
	err := r.round()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.fault {
		r.options.Log.Warn("announce VIPs to routers", "error", text)
	}
	r.fault = text
}

func (r *Room) round() error {
	o := r.options
	name, err := o.Host.Rack()
	if err != nil {
		err = fmt.Errorf("read the name of the host's rack: %w", err)
	} else {
		r.rack = name
	}
	local := Local{Rack: r.rack, Former: r.former, Passes: o.Passes}
	d := Decide(o.Plan, o.Role, *r.seen, local)
	if !slices.Equal(d.Why, r.why) {
		o.Log.Info("announce", "why", d.Why.String())
		r.why = d.Why
	}
	r.absent.Store(&d.Absent)
	if d.Config != nil {
		r.former = d.Config.Router
		err = errors.Join(err, o.Host.Configure(*d.Config))
	}
	return errors.Join(err, o.Host.Wish(spoken.Wish{Beat: o.Now(), Routes: d.Routes}))
}

// End ends the room in order, after its last round: routers send here on while another monitor
// starts. If a monitor ends without it, the speaker demotes this host below others at once.
func (r *Room) End() error {
	if err := r.options.Host.End(); err != nil {
		return fmt.Errorf("end the announcer in order: %w", err)
	}
	return nil
}

// Absent are the VIPs that this node could announce, and does not. Any goroutine may call it.
func (r *Room) Absent() []absent.VIP {
	if all := r.absent.Load(); all != nil && *all != nil {
		return *all
	}
	return []absent.VIP{}
}
