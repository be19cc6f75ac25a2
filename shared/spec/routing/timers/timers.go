// Package timers reads the timers by which routers find out that a host is gone, and checks them
// against the bounds of BGP and BFD.
package timers

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

// Over is a base with these timers in place of its own. A hold time alone sets the keepalive
// interval to a third of it.
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

// Draft is Timers with their places.
type Draft struct {
	At                        document.Place
	Profile                   document.Scalar[string]
	Hold, Keepalive, Interval document.Scalar[time.Duration]
	Multiplier                document.Scalar[int]
}

// Fields are the names of the fields.
func Fields() []string {
	return []string{"timing", "holdTime", "keepaliveTime", "bfdInterval", "bfdMultiplier"}
}

// Read reads them out of the map that they stand in.
func Read(r *document.Reader, o document.Map) Draft {
	duration := func(field string, read func(string) (time.Duration, string),
	) document.Scalar[time.Duration] {
		return grammar.As(&r.Report, r.Text(o.Get(field)), read)
	}
	return Draft{At: o.At, Profile: r.Text(o.Get("timing")), Hold: duration("holdTime", Span),
		Keepalive: duration("keepaliveTime", Span), Interval: duration("bfdInterval", pause),
		Multiplier: r.Number(o.Get("bfdMultiplier"))}
}

// Span reads a time, or returns why it is none.
func Span(text string) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, "is no time: write one such as 9s"
	}
	return d, ""
}

// pause is a Span, or the word for none.
func pause(text string) (time.Duration, string) {
	if text == off {
		return Off, ""
	}
	d, why := Span(text)
	if why != "" {
		why = "is no time: write one such as 100ms, or none for no BFD"
	}
	return d, why
}

// Values are the timers without their places.
func (t Draft) Values() Timers {
	return Timers{Timing: t.Profile.Value, Hold: t.Hold.Value, Keepalive: t.Keepalive.Value,
		Interval: t.Interval.Value, Multiplier: t.Multiplier.Value}
}

// given reports whether one of them is written.
func (t Draft) given() bool {
	return t.Profile.Given || t.Hold.Given || t.Keepalive.Given || t.Interval.Given ||
		t.Multiplier.Given
}

// Check checks the timers, in place of those of a base, against the bounds of BGP and BFD.
func (t Draft) Check(r *document.Report, base bgp.Timing) {
	r.OneOf(t.Profile, profiles()...)
	if !t.given() {
		return
	}
	at := t.At
	switch {
	case t.Interval.Given:
		at = t.Interval.At
	case t.Multiplier.Given:
		at = t.Multiplier.At
	case t.Hold.Given:
		at = t.Hold.At
	case t.Keepalive.Given:
		at = t.Keepalive.At
	}
	timing := t.Values().Over(base)
	if t.Multiplier.Given && timing.BFD.Interval == 0 {
		r.Errorf(t.Multiplier.At, "has no effect without BFD: remove it, or write bfdInterval")
	}
	for _, wrong := range timing.Wrong() {
		r.Errorf(at, "%s", wrong)
	}
}

// Given are timers that were made in another way than by a document, below a field.
func Given(field string, t Timers) Draft {
	duration := func(name string, d time.Duration) document.Scalar[time.Duration] {
		return document.Scalar[time.Duration]{Value: d, At: document.Field(field + "." + name),
			Given: d != 0, OK: d != 0}
	}
	return Draft{At: document.Field(field),
		Profile: grammar.Set(field+".timing", t.Timing),
		Hold:    duration("holdTime", t.Hold), Keepalive: duration("keepaliveTime", t.Keepalive),
		Interval:   duration("bfdInterval", t.Interval),
		Multiplier: grammar.SetNumber(field+".bfdMultiplier", t.Multiplier, t.Multiplier != 0)}
}

// profiles are the names of timings.
func profiles() (names []string) {
	for _, t := range bgp.Profiles() {
		names = append(names, t.Profile)
	}
	return names
}
