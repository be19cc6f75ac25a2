package speak

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// seen is what a round has seen, with what the status has beyond the decision.
type seen struct {
	speak.Observed
	sessions   map[string]report.Session
	advertised map[string]map[netip.Addr]bgp.Grade // by session
	paths      map[netip.Addr][]report.Path
}

// steady is how long a session and its BFD are up before routes are announced for the first time.
const steady = time.Second

// observe asks the daemon of BGP. If it does not answer, routers may have what they had.
func (s *speaker) observe(ctx context.Context) (seen, error) {
	o := seen{Observed: speak.Observed{Now: time.Now(), Advertised: map[netip.Addr]bool{},
		Others: map[netip.Addr]bool{}}, advertised: map[string]map[netip.Addr]bgp.Grade{},
		paths: map[netip.Addr][]report.Path{}}
	err := s.ask(ctx, &o)
	if err != nil && s.daemons.all[frr.BGP].keeper.Running() {
		o.advertised = s.advertised
	}
	s.advertised = o.advertised
	for _, vips := range o.advertised {
		for vip := range vips {
			o.Advertised[vip] = true
		}
	}
	for vip, paths := range o.paths {
		o.Others[vip] = slices.ContainsFunc(paths, func(p report.Path) bool {
			return p.Announcer.IsValid() && p.Announcer != s.config.Router
		})
	}
	return o, err
}

func (s *speaker) ask(ctx context.Context, o *seen) error {
	one := s.daemons.all[frr.BGP]
	if !one.keeper.Running() || !one.has.Router.IsValid() {
		return nil // and no router has a route
	}
	answer, err := one.ask(ctx, s.Sockets, report.AskSessions)
	if err != nil {
		return err
	}
	if o.sessions, err = report.Sessions(answer); err != nil {
		return err
	}
	for _, p := range s.config.Peers {
		session := o.sessions[p.Name()]
		if !session.Up() {
			continue
		}
		o.Ready = o.Ready || session.For >= steady && (session.BFD == "" || session.BFD == "Up")
		if err := s.askAdvertised(ctx, o, p); err != nil {
			return err
		}
	}
	for _, vip := range s.vips {
		answer, err := one.ask(ctx, s.Sockets, report.AskPaths(vip))
		if err != nil {
			return err
		}
		if o.paths[vip], err = report.Paths(answer, s.config.ASN); err != nil {
			return err
		}
	}
	return nil
}

// askAdvertised asks what a router has from this host.
func (s *speaker) askAdvertised(ctx context.Context, o *seen, p frr.Peer) error {
	all := map[netip.Addr]bgp.Grade{}
	for _, six := range []bool{false, true} {
		if !p.Carries(six) || !slices.ContainsFunc(s.config.VIPs, func(v netip.Addr) bool {
			return v.Is6() == six
		}) {
			continue
		}
		question := report.AskAdvertised(six, p.Name())
		answer, err := s.daemons.all[frr.BGP].ask(ctx, s.Sockets, question)
		if err != nil {
			return err
		}
		vips, err := report.Advertised(answer)
		if err != nil {
			return err
		}
		for vip, grade := range vips {
			all[vip] = grade
		}
	}
	o.advertised[p.Name()] = all
	return nil
}

// report writes the status if it is another one, and logs troubles that are new.
func (s *speaker) report(d speak.Decision, o seen, troubles []error) {
	status := spoken.Status{At: o.Now, Left: d.Left}
	for _, name := range frr.Daemons() {
		one := s.daemons.all[name]
		status.Daemons = append(status.Daemons, spoken.Daemon{Name: name,
			Running: one.keeper.Running(), Starts: one.starts})
	}
	for _, p := range s.config.Peers {
		status.Sessions = append(status.Sessions, s.session(p, o))
	}
	for _, vip := range s.vips {
		v := spoken.VIP{VIP: vip, Phase: d.State[vip].Phase, Since: d.State[vip].Since,
			Grade: d.Announced[vip]}
		for _, p := range o.paths[vip] {
			if p.Announcer != s.config.Router {
				v.Others = append(v.Others, spoken.Other{Session: p.Session,
					Announcer: p.Announcer, Length: len(p.Path)})
			}
		}
		status.VIPs = append(status.VIPs, v)
	}
	for _, t := range troubles {
		status.Troubles = append(status.Troubles, strings.Split(t.Error(), "\n")...)
	}
	if text := fmt.Sprint(status.Troubles); text != s.logged {
		if s.logged = text; len(status.Troubles) > 0 {
			s.Log.Warn("trouble", "error", errors.Join(troubles...))
		} else {
			s.Log.Info("all troubles have ended")
		}
	}
	path := filepath.Join(s.Dir, spoken.StatusFile)
	if _, err := file.Update(path, spoken.Encode(status), 0o644); err != nil {
		s.Log.Warn("write the status", "error", err)
	}
}

func (s *speaker) session(p frr.Peer, o seen) spoken.Session {
	session := o.sessions[p.Name()]
	out := spoken.Session{Peer: p.Name(), State: session.State, BFD: session.BFD,
		Code: session.Code, Advertised: []netip.Addr{}}
	if session.Up() {
		out.Since = o.Now.Add(-session.For).Truncate(time.Second)
	} else if out.Why = session.Reset; session.Notification != "" {
		out.Why += ": " + session.Notification
	}
	for vip := range o.advertised[p.Name()] {
		out.Advertised = append(out.Advertised, vip)
	}
	slices.SortFunc(out.Advertised, netip.Addr.Compare)
	return out
}
