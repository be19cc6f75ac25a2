package speak

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/answers"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// seen is what a round has observed: the input of the decision, and what only the status needs.
type seen struct {
	speak.Observed
	sessions map[string]report.Session
	routes   answers.Routes
}

// impatience bounds the answer of bgpd while a VIP is to be withdrawn. A bgpd that does not
// answer does not withdraw either, and must be killed in time.
const impatience = 200 * time.Millisecond

// question sends bgpd a question, and returns its answer.
func (s *speaker) question(ctx context.Context, text string) (string, error) {
	if s.wish.Withdraws(s.state) {
		short, cancel := context.WithTimeout(ctx, impatience)
		defer cancel()
		ctx = short
	}
	return s.daemons.Ask(ctx, text)
}

// observe asks bgpd. If a running bgpd does not answer, or its configuration is not known, the
// routers may still have what they had before.
func (s *speaker) observe(ctx context.Context) (seen, error) {
	o := seen{Observed: speak.Observed{Now: time.Now(), Advertised: map[netip.Addr]bool{},
		Others: map[netip.Addr]bool{}}, routes: answers.Routes{
		Advertised: map[string]map[netip.Addr]bgp.Grade{},
		Paths:      map[netip.Addr][]report.Path{}}}
	err := s.ask(ctx, &o)
	unknown := s.daemons.Unknown(frr.BGP)
	if err != nil || unknown {
		s.known.Move(o.Now)
	}
	if err == nil && !unknown {
		s.known.Note(s.config.Peers, o.sessions, o.Now)
	}
	if o.Unsure = unknown || err != nil && s.daemons.PID(frr.BGP) != 0; o.Unsure {
		o.routes.Advertised = s.known.Advertised
	}
	s.known.Routes = o.routes
	for _, vips := range o.routes.Advertised {
		for vip := range vips {
			o.Advertised[vip] = true
		}
	}
	for vip, paths := range o.routes.Paths {
		o.Others[vip] = slices.ContainsFunc(paths, func(p report.Path) bool {
			return p.Announcer.IsValid() && p.Announcer != s.config.Router &&
				!s.wish.Leaves(vip, p.Grade(s.config.ASN))
		})
	}
	return o, err
}

func (s *speaker) ask(ctx context.Context, o *seen) error {
	if !s.daemons.Configured(frr.BGP) {
		return nil // no router has a route of a bgpd without a configuration
	}
	answer, err := s.question(ctx, report.AskSessions)
	if err != nil {
		return err
	}
	if o.sessions, err = report.Sessions(answer); err != nil {
		return err
	}
	for _, p := range s.config.Peers {
		session := o.sessions[p.Name()]
		o.Ready = o.Ready ||
			session.Up() && speak.Ready(session.For, session.BFD == "" || session.BFD == "Up")
	}
	s.known.Compare(s.config.Peers, o.sessions, o.Now)
	if s.known.Count(o.Now) {
		o.routes = s.known.Routes
		return nil
	}
	s.known.Ask(o.Now)
	for _, p := range s.config.Peers {
		if !o.sessions[p.Name()].Up() {
			continue
		}
		if err := s.askAdvertised(ctx, o, p); err != nil {
			return err
		}
	}
	for _, vip := range s.config.VIPs {
		answer, err := s.question(ctx, report.AskPaths(vip))
		if err != nil {
			return err
		}
		if o.routes.Paths[vip], err = report.Paths(answer, s.config.ASN); err != nil {
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
		answer, err := s.question(ctx, question)
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
	o.routes.Advertised[p.Name()] = all
	return nil
}
