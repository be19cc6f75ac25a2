//go:build remote

package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// settled is how long what is found must stay so before it is said, but for a foreign router: who
// holds a VIP is known a moment after it has changed.
const settled = 900 * time.Millisecond

// disturber tells findings apart.
type disturber struct {
	kind     clash.Kind
	instance vrrp.InstanceName
	who      clash.Host
}

// sayings bound what is said in a minute: whoever can send adverts can think of ever new hosts.
type sayings struct {
	since time.Time
	said  int
}

// mostSayings is how much is said in a minute.
const mostSayings = 20

// may says whether one more thing may be said, and whether it is the last one.
func (s *sayings) may(now time.Time) (ok, last bool) {
	if now.Sub(s.since) >= time.Minute {
		s.since, s.said = now, 0
	}
	s.said++
	return s.said <= mostSayings, s.said == mostSayings
}

// judge takes what is found now, says what is new and what has ceased, and whether there was any of
// it.
func (l *listener) judge(all []clash.Finding, now time.Time) (changed bool) {
	seen := map[disturber]bool{}
	var found []clash.Finding
	for _, f := range all {
		key := disturber{f.Kind, f.Instance, f.Who}
		seen[key] = true
		if l.first[key].IsZero() {
			l.first[key] = now
		}
		_, said := l.said[key]
		if !said && f.Kind != clash.Foreign && now.Sub(l.first[key]) < settled {
			continue
		}
		found = append(found, f)
		if l.said[key] = f; !said {
			changed = true
			l.say(f, now, slog.LevelWarn, "an election is disturbed", f.String())
		}
	}
	for key, f := range l.said {
		if !seen[key] {
			delete(l.said, key)
			changed = true
			l.say(f, now, slog.LevelInfo, "an election is not disturbed any more", "over: "+f.String())
		}
	}
	for key := range l.first {
		if !seen[key] {
			delete(l.first, key)
		}
	}
	if l.tells != nil {
		l.tells(found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = slices.Clip(found)
	return changed
}

// say has a line in the log, and one in the journal.
func (l *listener) say(f clash.Finding, now time.Time, level slog.Level, what, why string) {
	ok, last := l.says.may(now)
	if !ok {
		return
	}
	if last {
		what += "; what else is found within this minute is not said"
	}
	l.log.Log(context.Background(), level, what, "kind", f.Kind, "vip", f.VIP, "who", f.Who.String(), "why", why)
	if l.journal != nil {
		l.journal(journal.Entry{At: now, Instance: string(f.Instance), VIP: f.VIP, Why: why, Other: f.Who.Address, Clash: string(f.Kind)})
	}
}
