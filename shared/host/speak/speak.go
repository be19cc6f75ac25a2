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
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Options are what a speaker needs.
type Options struct {
	Dir       string   // of the files of package spoken
	Sockets   string   // directory of the daemons' own sockets, which their user may write
	Passwords string   // file of the routers' passwords; empty for none
	Programs  string   // directory of FRR's programs
	Flags     []string // for each of them
	// RealTime schedules bfdd before all that is not real-time, where the kernel permits it:
	// routers end the sessions of a host whose packets come three tenths of a second late.
	RealTime bool
	Log      *slog.Logger
}

const (
	// every is the longest time between two rounds: what routers have is asked again then.
	every = time.Second
	// leaving is how long a speaker that is told to end has for it.
	leaving = 5 * time.Second
)

// Run works until ctx ends. It then leaves in order: routers are led elsewhere, routes withdrawn,
// addresses removed, and the daemons ended.
func Run(ctx context.Context, o Options) error {
	wake := loop.NewWake()
	s := &speaker{Options: o, daemons: newDaemons(o, wake)}
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go s.watch(watching, wake)
	work := context.WithoutCancel(ctx)
	var deadline time.Time
	for {
		if ctx.Err() != nil && deadline.IsZero() {
			deadline = time.Now().Add(leaving)
			o.Log.Info("leave", "why", "this program is to end")
		}
		again, left := s.round(work, !deadline.IsZero())
		if !deadline.IsZero() && (left || time.Now().After(deadline)) {
			break
		}
		wait := time.NewTimer(min(every, time.Until(again)))
		stop := ctx.Done()
		if !deadline.IsZero() {
			stop = nil
		}
		select {
		case <-stop:
		case <-wake:
		case <-wait.C:
		}
		wait.Stop()
	}
	last, cancel := context.WithTimeout(work, leaving)
	defer cancel()
	return errors.Join(s.removeAll(), s.daemons.stop(last))
}

// speaker is a host's.
type speaker struct {
	Options
	daemons    *daemons
	state      speak.State
	vips       []netip.Addr // of all configurations so far
	config     frr.Config   // the last good one
	links      []string     // of that
	wish       spoken.Wish
	advertised map[string]map[netip.Addr]bgp.Grade // by session
	logged     string                              // the troubles of the last round
}

// watch wakes when a file changes. Without inotify they are read at intervals alone.
func (s *speaker) watch(ctx context.Context, wake chan struct{}) {
	var paths []string
	for _, name := range []string{spoken.ConfigFile, spoken.WishFile, spoken.LeaveFile} {
		paths = append(paths, filepath.Join(s.Dir, name))
	}
	for ctx.Err() == nil {
		if err := file.Watch(ctx, paths, wake); ctx.Err() == nil {
			s.Log.Warn("watch the files: they are read at intervals", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
}

// round reads, asks, decides and does once. again is when the next one is due, if nothing happens.
func (s *speaker) round(ctx context.Context, end bool) (again time.Time, left bool) {
	var troubles []error
	note := func(err error) {
		if err != nil {
			troubles = append(troubles, err)
		}
	}
	leave, err := file.Exists(filepath.Join(s.Dir, spoken.LeaveFile))
	note(err)
	note(s.read())
	note(s.daemons.ensure(ctx, s.config))
	seen, err := s.observe(ctx)
	note(err)
	seen.Wish = s.wish.Speak(leave || end)
	d := speak.Decide(s.vips, s.state, seen.Observed)
	s.record(d)
	note(s.apply(ctx, d))
	s.report(d, seen, troubles)
	if d.Again.IsZero() {
		d.Again = seen.Now.Add(every)
	}
	if s.changed(d) { // what follows of it is asked at once
		d.Again = time.Now().Add(20 * time.Millisecond)
	}
	s.state = d.State
	return d.Again, d.Left
}

// changed reports whether routers are about to be told something else than they have.
func (s *speaker) changed(d speak.Decision) bool {
	for vip, v := range d.State {
		if v.Phase != s.state[vip].Phase || v.Phase == speak.Demoted ||
			v.Phase == speak.Withdrawn && v.Clear.IsZero() {
			return true
		}
	}
	return false
}

// read reads the files. What cannot be read stays as it was.
func (s *speaker) read() error {
	config, errConfig := decode[spoken.Config](filepath.Join(s.Dir, spoken.ConfigFile))
	wish, errWish := decode[spoken.Wish](filepath.Join(s.Dir, spoken.WishFile))
	if errWish == nil {
		s.wish = wish
	}
	if errConfig != nil {
		return errors.Join(errConfig, errWish)
	}
	passwords, errPasswords := s.passwords()
	if errPasswords == nil {
		s.config, s.links = config.With(passwords), config.Links
		for _, vip := range config.VIPs {
			if !slices.Contains(s.vips, vip) {
				s.vips = append(s.vips, vip)
			}
		}
	}
	return errors.Join(errPasswords, errWish)
}

func (s *speaker) passwords() (map[string]secret.Text, error) {
	if s.Passwords == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.Passwords)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no router has one
	}
	if err != nil {
		return nil, err
	}
	all, err := spoken.Passwords(string(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Passwords, err)
	}
	return all, nil
}

func decode[T spoken.Config | spoken.Wish](path string) (v T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if v, err = spoken.Decode[T](text); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// apply does what was decided: addresses come before routes and go after them.
func (s *speaker) apply(ctx context.Context, d speak.Decision) error {
	var wrong []error
	held, err := loopback.Held(s.vips)
	if err != nil {
		return err
	}
	for _, vip := range d.Addresses {
		if !slices.Contains(held, vip) {
			wrong = append(wrong, s.add(vip))
		}
	}
	announced := d.Announced
	if err := errors.Join(wrong...); err != nil {
		announced = nil // no route leads to a host that may lack the address
	}
	wrong = append(wrong, s.daemons.announce(ctx, s.config, announced))
	if len(d.Disobeyed) > 0 {
		wrong = append(wrong, fmt.Errorf("bgpd has not withdrawn %v within %v: it is killed, "+
			"which does", d.Disobeyed, speak.Obedience))
		s.daemons.kill(frr.BGP)
	}
	for _, vip := range held {
		if !slices.Contains(d.Addresses, vip) {
			wrong = append(wrong, loopback.Remove(vip))
		}
	}
	return errors.Join(wrong...)
}

// add gives the host an address, which it does not answer for on links where another host may.
func (s *speaker) add(vip netip.Addr) error {
	for _, link := range s.links {
		if err := loopback.Hide(link); err != nil {
			return err
		}
	}
	return loopback.Add(vip)
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
	for _, vip := range s.vips {
		was, is := s.state[vip].Phase, d.State[vip].Phase
		if was != is && (was != "" || is != speak.Idle) {
			s.Log.Info(string(is), "vip", vip, "before", was, "grade", d.Announced[vip])
		}
	}
}
