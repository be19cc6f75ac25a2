// Package speak is FRR's parent on a host: it keeps the daemons running, gives them their
// configuration over their sockets, and has them announce what the host's monitor wants, in the
// order that package speak of shared decides.
package speak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/first"
	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/answers"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/judge"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/wished"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Options are what a speaker needs.
type Options struct {
	Dir       string   // of the files of package spoken
	Sockets   string   // directory of the daemons' own sockets; made if it is missing
	Passwords string   // file of the routers' passwords; empty for none
	Programs  string   // directory of FRR's programs
	User      string   // as which they run
	Flags     []string // for each of them
	Health    string   // where to serve health and metrics, an address and port; empty for nowhere
	// RealTime schedules bfdd before all that is not real-time, where the kernel permits it:
	// routers end the sessions of a host whose packets come three tenths of a second late.
	RealTime bool
	Log      *slog.Logger
}

// speaker is the state of one Run.
type speaker struct {
	Options
	daemons    *daemons.Daemons
	candidates judge.Candidates
	rounds     first.Rounds
	status     atomic.Pointer[spoken.Status] // of the last round
	bfd        bfd
	state      speak.State
	vips       []netip.Addr // of all configurations so far, and of the run before
	links      []string     // on which the VIPs' addresses are hidden
	target     frr.Config   // the last good configuration
	config     frr.Config   // what the daemons are to have: that, with VIPs that still leave
	wish       wished.Wish
	known      answers.Known
	logged     []string // the troubles of the last round
}

// round reconciles once. again is when the next round is due if nothing happens before.
func (s *speaker) round(ctx context.Context, end bool) (again time.Time, left bool) {
	var troubles []error
	note := func(err error) {
		if err != nil {
			troubles = append(troubles, err)
		}
	}
	leave, err := file.Exists(filepath.Join(s.Dir, spoken.LeaveFile))
	note(err)
	candidate, err := s.read()
	note(err)
	if candidate.Router.IsValid() && !end {
		note(s.consider(ctx, candidate))
	}
	s.configure()
	starting := false
	if s.config.Router.IsValid() {
		starting, err = s.daemons.Ensure(ctx, s.config)
		note(err)
	}
	seen, err := s.observe(ctx)
	note(err)
	seen.Wish = s.wish.Speak(leave || end)
	d := speak.Decide(s.target.VIPs, s.state, seen.Observed)
	s.record(d)
	note(s.apply(ctx, d))
	d.Given(s.state, time.Now())
	s.report(d, seen, troubles)
	if d.Again.IsZero() {
		d.Again = seen.Now.Add(every)
	}
	s.known.Decide(seen.Now, d)
	if starting || d.Soon { // its effect is observed at once
		s.known.Move(seen.Now)
		d.Again = time.Now().Add(20 * time.Millisecond)
	}
	s.state = d.State
	return d.Again, d.Left
}

// apply does what was decided: addresses come before routes and go after them.
func (s *speaker) apply(ctx context.Context, d speak.Decision) error {
	if !s.target.Router.IsValid() {
		return nil // nothing is decided without a configuration: addresses stay as they are
	}
	held, errHeld := loopback.Held(s.vips)
	announced, errAdded := s.add(d, held)
	wrong := []error{errHeld, errAdded, s.announce(ctx, d.State, announced)}
	if len(d.Disobeyed) > 0 {
		wrong = append(wrong, fmt.Errorf("bgpd has not withdrawn %v within %v: it is killed, "+
			"which does", d.Disobeyed, speak.Obedience))
		s.daemons.Kill(frr.BGP)
	}
	for _, vip := range held {
		if !slices.Contains(d.Addresses, vip) {
			wrong = append(wrong, loopback.Remove(vip))
		}
	}
	return errors.Join(wrong...)
}

// add adds the addresses that the host lacks, or all if it is not known which it has. It returns
// what the host may announce: no route may lead to a host that may lack the address, or that may
// answer for it on a link.
func (s *speaker) add(d speak.Decision, held []netip.Addr) (
	announced map[netip.Addr]bgp.Grade, err error) {
	if len(d.Addresses) > 0 {
		err = s.hide()
	}
	if err != nil {
		return nil, err
	}
	announced = maps.Clone(d.Announced)
	for _, vip := range d.Addresses {
		if slices.Contains(held, vip) {
			continue
		}
		if failed := loopback.Add(vip); failed != nil {
			delete(announced, vip)
			err = errors.Join(err, failed)
		}
	}
	return announced, err
}

// announce has bgpd announce the VIPs and no others, within speak.Obedience if one is withdrawn.
func (s *speaker) announce(ctx context.Context, state speak.State,
	vips map[netip.Addr]bgp.Grade) error {
	if s.wish.Withdraws(state) {
		soon, cancel := context.WithTimeout(ctx, speak.Obedience)
		defer cancel()
		ctx = soon
	}
	return s.daemons.Announce(ctx, s.config, vips)
}

// hide keeps the host from answering for VIPs on links where another host may have them. It is
// repeated, as a link that was made anew lacks the setting. A link that has gone needs none.
func (s *speaker) hide() error {
	var wrong []error
	for _, link := range s.links {
		if err := loopback.Hide(link); !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

func (s *speaker) removeAll() error {
	var wrong []error
	for _, vip := range s.vips {
		wrong = append(wrong, loopback.Remove(vip))
	}
	return errors.Join(wrong...)
}

// record logs each change of a VIP's phase.
func (s *speaker) record(d speak.Decision) {
	for _, vip := range slices.SortedFunc(maps.Keys(d.State), netip.Addr.Compare) {
		was, is := s.state[vip].Phase, d.State[vip].Phase
		if was != is && (was != "" || is != speak.Idle) {
			s.Log.Info(string(is), "vip", vip, "before", was, "grade", d.Announced[vip])
		}
	}
}
