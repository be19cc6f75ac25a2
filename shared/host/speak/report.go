package speak

import (
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/first"
	"github.com/onprem-infra/onprem-infra/shared/host/uptime"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// report writes the status, and logs new troubles.
func (s *speaker) report(d speak.Decision, o seen, troubles []error) {
	status := spoken.Status{At: o.Now, Up: uptime.Now(), Left: d.Left, BFDTaken: s.bfd.taken,
		Monitor: s.wish.Monitor(d.Silent, s.Log)}
	for _, name := range frr.Daemons() {
		status.Daemons = append(status.Daemons, spoken.Daemon{Name: name,
			Running: s.daemons.PID(name) != 0, Starts: s.daemons.Starts(name)})
	}
	for _, p := range s.config.Peers {
		status.Sessions = append(status.Sessions, s.session(p, o))
	}
	for _, vip := range slices.SortedFunc(maps.Keys(d.State), netip.Addr.Compare) {
		v := spoken.VIP{VIP: vip, Phase: d.State[vip].Phase, Since: d.State[vip].Since,
			Grade: d.Announced[vip]}
		for _, p := range o.routes.Paths[vip] {
			if p.Announcer == s.config.Router {
				v.Own = append(v.Own, p.Session)
				continue
			}
			v.Others = append(v.Others, spoken.Other{Session: p.Session,
				Announcer: p.Announcer, Length: len(p.Path)})
		}
		status.VIPs = append(status.VIPs, v)
	}
	if !s.target.Router.IsValid() { // the next run must know of them, if this one is killed
		for _, vip := range s.vips {
			status.VIPs = append(status.VIPs, spoken.VIP{VIP: vip, Phase: speak.Idle})
		}
	}
	for _, t := range troubles {
		status.Troubles = append(status.Troubles, strings.Split(t.Error(), "\n")...)
	}
	s.log(status.Troubles)
	s.status.Store(&status)
	path := filepath.Join(s.Dir, spoken.StatusFile)
	if _, err := file.Update(path, spoken.Encode(status), 0o644); err != nil {
		s.Log.Warn("write the status", "error", err)
	}
}

// log logs each trouble when it begins, and the end of all.
func (s *speaker) log(troubles []string) {
	for _, t := range troubles {
		if !slices.Contains(s.logged, t) {
			s.Log.Warn("trouble", "error", t)
		}
	}
	if len(troubles) == 0 && len(s.logged) > 0 {
		s.Log.Info("all troubles have ended")
	}
	s.logged = troubles
}

// health is the health port: whether the loop makes rounds, and the metrics.
func (s *speaker) health() first.Health {
	return first.Health{Address: s.Health, Rounds: &s.rounds, Log: s.Log,
		Pages: map[string]first.Page{"/metrics": {Type: metrics.ContentType, Text: s.metrics}}}
}

func (s *speaker) metrics() []byte {
	page := &metrics.Page{}
	if status := s.status.Load(); status != nil {
		metrics.Speaker(*status).Onto(page)
	}
	return page.Text()
}

func (s *speaker) session(p frr.Peer, o seen) spoken.Session {
	session := o.sessions[p.Name()]
	out := spoken.Session{Peer: p.Name(), State: session.State, BFD: session.BFD,
		Code: session.Code, Advertised: []netip.Addr{}, Flaps: s.known.Flaps(p.Name())}
	if session.Up() {
		out.Since = o.Now.Add(-session.For).Truncate(time.Second)
	} else if out.Why = session.Reset; session.Notification != "" {
		out.Why += ": " + session.Notification
	}
	for vip := range o.routes.Advertised[p.Name()] {
		out.Advertised = append(out.Advertised, vip)
	}
	slices.SortFunc(out.Advertised, netip.Addr.Compare)
	return out
}
