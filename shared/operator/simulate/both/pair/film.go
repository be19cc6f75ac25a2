package pair

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// Film is the history of the routers' side for a picture.
type Film struct {
	Hosts []HostFilm
	// Fails are the times in which some clients behind routers failed.
	Fails []Stretch
}

// HostFilm is what a host announced when.
type HostFilm struct {
	Name string
	All  []Stretch
}

// Stretch is a time in which something was so; it is open while To is negative.
type Stretch struct {
	From, To time.Duration
	Tone     timeline.Tone
}

// record records the present state.
func (p *pair) record() {
	now, v := max(0, p.routed.Now), p.routed.Slot()
	if p.film.Hosts == nil {
		p.film.Hosts = make([]HostFilm, len(p.twins))
	}
	for i, t := range p.twins {
		f, tone := &p.film.Hosts[i], timeline.Tone("")
		f.Name = t.one.Name
		switch sent := t.two.Sent[v]; {
		case sent.Any() && t.two.Route[v].Behind:
			tone = timeline.Behind
		case sent.Any():
			tone = timeline.Announces
		}
		f.All = mark(f.All, now, tone)
	}
	fails := timeline.Tone("")
	if p.routed.Failing > 0 {
		fails = timeline.Bad
	}
	p.film.Fails = mark(p.film.Fails, now, fails)
}

// mark records a tone from now on; empty for none.
func mark(all []Stretch, now time.Duration, tone timeline.Tone) []Stretch {
	last := len(all) - 1
	if open := last >= 0 && all[last].To < 0; open {
		if all[last].Tone == tone {
			return all
		}
		all[last].To = now
	}
	if tone != "" {
		all = append(all, Stretch{From: now, To: -1, Tone: tone})
	}
	return all
}
