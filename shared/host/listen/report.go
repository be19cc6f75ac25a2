package listen

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// settled is how long a finding must last before it is reported: the holder of a VIP is known a
// moment after it has changed. That of a foreign router is reported at once.
const settled = 900 * time.Millisecond

// maxReports bounds the reports of a minute: a host that sends adverts can invent ever new hosts.
const maxReports = 20

// disturber distinguishes findings.
type disturber struct {
	kind     clash.Kind
	instance vrrp.InstanceName
	host     clash.Host
}

// reports are the findings that have been reported, and those that are yet to settle.
type reports struct {
	first map[disturber]time.Time // when a finding was made for the first time
	made  map[disturber]clash.Finding

	minute time.Time // when the current minute began
	count  int       // of reports in it
}

// allow reports whether one more report is allowed now, and whether it is the last one of its
// minute.
func (r *reports) allow(now time.Time) (ok, last bool) {
	if now.Sub(r.minute) >= time.Minute {
		r.minute, r.count = now, 0
	}
	r.count++
	return r.count <= maxReports, r.count == maxReports
}

// report compares the findings of now with those reported, reports the difference, and returns
// whether there was one.
func (l *Listener) report(all []clash.Finding, now time.Time) (changed bool) {
	r, seen := &l.reports, map[disturber]bool{}
	var found []clash.Finding
	for _, f := range all {
		key := disturber{f.Kind, f.Instance, f.Sender}
		seen[key] = true
		if r.first[key].IsZero() {
			r.first[key] = now
		}
		_, reported := r.made[key]
		if !reported && f.Kind != clash.Foreign && now.Sub(r.first[key]) < settled {
			continue
		}
		found = append(found, f)
		if r.made[key] = f; !reported {
			changed = true
			l.log(f, now, slog.LevelWarn, "an election is disturbed", f.String())
		}
	}
	for key, f := range r.made {
		if !seen[key] {
			delete(r.made, key)
			changed = true
			l.log(f, now, slog.LevelInfo, "an election is not disturbed any more",
				"over: "+f.String())
		}
	}
	maps.DeleteFunc(r.first, func(key disturber, _ time.Time) bool { return !seen[key] })
	if l.outputs.Findings != nil {
		l.outputs.Findings(found)
	}
	l.locked(func() { l.found = slices.Clip(found) })
	return changed
}

func (l *Listener) log(f clash.Finding, now time.Time, level slog.Level, msg, why string) {
	ok, last := l.reports.allow(now)
	if !ok {
		return
	}
	if last {
		msg += "; further findings of this minute are not logged"
	}
	l.Log.Log(context.Background(), level, msg, "kind", f.Kind, "vip", f.VIP, "who",
		f.Sender.String(),
		"why", why)
	if l.outputs.Journal != nil {
		l.outputs.Journal(journal.Entry{
			At: now, Instance: string(f.Instance), VIP: f.VIP, Why: why, Other: f.Sender.Address,
			Clash: string(f.Kind),
		})
	}
}
