package routing

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Timers are how a router finds out that a host is gone. Zero values leave those of the profile.
type Timers struct {
	Timing          string // a profile of package bgp
	Hold, Keepalive time.Duration
	Interval        time.Duration // between two packets of BFD; Off for none
	Multiplier      int           // so many missing packets end a session
}

// Off is the interval of hosts that do no BFD.
const Off time.Duration = -1

// off is the word for it.
const off = "none"

// Over are the timers in the place of those of a base. A hold time alone has a third of it between
// two messages.
func (t Timers) Over(base bgp.Timing) bgp.Timing {
	if profile, ok := bgp.TimingOf(t.Timing); ok {
		base = profile
	}
	if t.Hold != 0 {
		base.Hold, base.Keepalive = t.Hold, max(t.Hold/3, time.Second).Truncate(time.Second)
	}
	if t.Keepalive != 0 {
		base.Keepalive = t.Keepalive
	}
	switch {
	case t.Interval == Off:
		base.BFD = bgp.BFD{}
	case t.Interval != 0:
		base.BFD.Interval = t.Interval
	}
	if t.Multiplier != 0 && base.BFD.Interval != 0 {
		base.BFD.Multiplier = t.Multiplier
	}
	if base.BFD.Interval != 0 && base.BFD.Multiplier == 0 {
		base.BFD.Multiplier = 3
	}
	return base
}

// timers are Timers with their places.
type timers struct {
	at                        document.Place
	profile                   document.Scalar[string]
	hold, keepalive, interval document.Scalar[time.Duration]
	multiplier                document.Scalar[int]
}

// timerFields are the names of the fields.
func timerFields() []string {
	return []string{"timing", "holdTime", "keepaliveTime", "bfdInterval", "bfdMultiplier"}
}

func readTimers(r *document.Reader, o document.Map) timers {
	duration := func(field string, read func(string) (time.Duration, string),
	) document.Scalar[time.Duration] {
		return grammar.As(&r.Report, r.Text(o.Get(field)), read)
	}
	return timers{at: o.At, profile: r.Text(o.Get("timing")), hold: duration("holdTime", span),
		keepalive: duration("keepaliveTime", span), interval: duration("bfdInterval", pause),
		multiplier: r.Number(o.Get("bfdMultiplier"))}
}

func span(text string) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, "is no time: write one such as 9s"
	}
	return d, ""
}

// pause is a span, or the word for none.
func pause(text string) (time.Duration, string) {
	if text == off {
		return Off, ""
	}
	d, why := span(text)
	if why != "" {
		why = "is no time: write one such as 100ms, or none for no BFD"
	}
	return d, why
}

func (t timers) values() Timers {
	return Timers{Timing: t.profile.Value, Hold: t.hold.Value, Keepalive: t.keepalive.Value,
		Interval: t.interval.Value, Multiplier: t.multiplier.Value}
}

// given reports whether one of them is written.
func (t timers) given() bool {
	return t.profile.Given || t.hold.Given || t.keepalive.Given || t.interval.Given ||
		t.multiplier.Given
}

// check holds timers to what BGP and BFD have, over those of all racks.
func (t timers) check(r *document.Report, base Timers) {
	r.OneOf(t.profile, profiles()...)
	if !t.given() {
		return
	}
	at := t.at
	switch {
	case t.interval.Given:
		at = t.interval.At
	case t.multiplier.Given:
		at = t.multiplier.At
	case t.hold.Given:
		at = t.hold.At
	case t.keepalive.Given:
		at = t.keepalive.At
	}
	usual, _ := bgp.TimingOf(bgp.ProfileLan)
	for _, wrong := range t.values().Over(base.Over(usual)).Wrong() {
		r.Errorf(at, "%s", wrong)
	}
}

// givenTimers are those that were made in another way than by a document.
func givenTimers(at string, t Timers) timers {
	duration := func(field string, d time.Duration) document.Scalar[time.Duration] {
		return document.Scalar[time.Duration]{Value: d, At: document.Field(at + field),
			Given: d != 0, OK: d != 0}
	}
	return timers{at: document.Field(at), profile: given(at+".timing", t.Timing),
		hold: duration(".holdTime", t.Hold), keepalive: duration(".keepaliveTime", t.Keepalive),
		interval:   duration(".bfdInterval", t.Interval),
		multiplier: number(at+".bfdMultiplier", t.Multiplier)}
}
