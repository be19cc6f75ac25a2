// Package session reads the settings of a session in a router's entry of an install-config.
package session

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// Session is that of one router, each value with its place.
type Session struct {
	BFD             document.Scalar[bool] // failures are found by BFD, not by the hold time alone
	Far             document.Scalar[bool] // the router may be on any network, not the host's alone
	Hold, Keepalive document.Scalar[time.Duration]
}

// Read reads the entry of a router. The installer has had two spellings of each field, and knows
// the one or the other:
//
//	bfdEnabled: "true", "false"       failureDetection: BFD, HoldTimer
//	ebgpMultiHop: true, false         peerReachability: MultiHop, DirectlyConnected
//	holdTime: 90s, or seconds         holdTimeSeconds: seconds
//	keepaliveTime: 30s, or seconds    keepaliveTimeSeconds: seconds
//
// The network operator's text of routers keeps the former spelling.
//
// source: openshift/installer, pkg/asset/manifests/bgpvipconfig.go, toFRRPeers.
func Read(r *document.Reader, o document.Map) Session {
	return Session{
		BFD: one(r, word(r, o, "bfdEnabled", "true", "false"),
			word(r, o, "failureDetection", "BFD", "HoldTimer")),
		Far: one(r, grammar.Bool(r, r.Field(o, "ebgpMultiHop")),
			word(r, o, "peerReachability", "MultiHop", "DirectlyConnected")),
		Hold: one(r, span(r, r.Field(o, "holdTime")), seconds(r, r.Field(o, "holdTimeSeconds"))),
		Keepalive: one(r, span(r, r.Field(o, "keepaliveTime")),
			seconds(r, r.Field(o, "keepaliveTimeSeconds"))),
	}
}

// one is the value of a field with two spellings.
func one[T any](r *document.Reader, former, now document.Scalar[T]) document.Scalar[T] {
	if !now.Given {
		return former
	}
	if former.Given {
		r.Errorf(now.At, "has its former spelling beside it, %s, and an installer knows one of "+
			"the two: remove the other", former.At.Where())
	}
	return now
}

// word reads one of two words, of which the first one means yes.
func word(r *document.Reader, o document.Map, field, yes, no string) document.Scalar[bool] {
	text := r.Text(r.Field(o, field))
	r.OneOf(text, yes, no)
	return document.Scalar[bool]{Value: text.Value == yes, At: text.At, Given: text.Given,
		OK: text.OK && (text.Value == yes || text.Value == no)}
}

// span reads a time as 90s, or as a number of seconds.
func span(r *document.Reader, v document.Value) document.Scalar[time.Duration] {
	if _, text := v.Word(); !text {
		return seconds(r, v)
	}
	return grammar.As(&r.Report, r.Text(v), func(text string) (time.Duration, string) {
		if n, err := strconv.Atoi(text); err == nil {
			return whole(n)
		}
		return timers.Span(text)
	})
}

// seconds reads a number of them.
func seconds(r *document.Reader, v document.Value) document.Scalar[time.Duration] {
	n := r.Number(v)
	s := document.Scalar[time.Duration]{At: n.At, Given: n.Given}
	if !n.OK {
		return s
	}
	d, why := whole(n.Value)
	if why != "" {
		r.Errorf(n.At, "%d %s", n.Value, why)
		return s
	}
	s.Value, s.OK = d, true
	return s
}

// longest is what the field of a message has room for, in seconds (RFC 4271, 4.2).
const longest = 65535

// whole is a number of seconds, or why it is none.
func whole(n int) (time.Duration, string) {
	if n < 1 || n > longest {
		return 0, fmt.Sprintf("is no time: write seconds from 1 to %d, such as 9", longest)
	}
	return time.Duration(n) * time.Second, ""
}

// Timers are those of a rack with these routers, which are listed at a place. A rack has one set
// for all: the shortest times, and BFD with all of its routers or with none.
func Timers(r *document.Report, at document.Place, all []Session) timers.Draft {
	t := timers.Draft{At: at}
	none := func(s Session) bool { return s.BFD.OK && !s.BFD.Value }
	for _, s := range all {
		t.Hold, t.Keepalive = shorter(t.Hold, s.Hold), shorter(t.Keepalive, s.Keepalive)
		if none(s) {
			t.Interval = document.Given(timers.Off, s.BFD.At)
		}
	}
	switch {
	case t.Interval.OK && slices.ContainsFunc(all, func(s Session) bool { return !none(s) }):
		r.Warnf(t.Interval.At, "a host does BFD with all of its routers or with none: it does "+
			"none")
	case slices.ContainsFunc(all, func(s Session) bool { return !s.BFD.Given }):
		r.Warnf(at, "a router without failureDetection, formerly bfdEnabled, has BFD here, and "+
			"has none with OpenShift's own speaker or where the Machine Config Operator "+
			"describes the cluster: write failureDetection: BFD and configure it there, or "+
			"write failureDetection: HoldTimer (formerly bfdEnabled: \"true\" or \"false\")")
	}
	return t
}

// shorter is the shorter one of two times, of which either may not be given.
func shorter(a, b document.Scalar[time.Duration]) document.Scalar[time.Duration] {
	if !a.OK || b.OK && b.Value < a.Value {
		return b
	}
	return a
}
