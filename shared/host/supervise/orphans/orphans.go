// Package orphans removes VIPs that no keepalived answers for.
package orphans

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/sessions"
)

// A VIP that the kernel holds while no instance is MASTER for it makes this host a second holder.
// keepalived adds the address a moment before it reports the state, and the loop may have been
// busy: an orphan is one that is still there when that moment is long over. The kernel reports
// changed addresses, so the VIPs need not be read all the time; but once a beat in any case.
const (
	scanPause = 200 * time.Millisecond // between two scans, at the least
	grace     = 350 * time.Millisecond // from the first sight to the removal

	blindBound = 5 * time.Second // that orphans may be out of reach before this program ends
)

// Orphans are those of a host's VIPs that no instance answers for.
type Orphans struct {
	vips     []netip.Addr
	log      *slog.Logger
	tasks    *pace.Tasks
	sessions *sessions.Sessions

	scanned time.Time // when VIPs were read last
	scanAt  time.Time // when they are read next
	seen    map[netip.Addr]time.Time
	blind   time.Time // since when a VIP that must not be here can be neither seen nor removed
}

// New has seen none of a host's VIPs.
func New(vips []netip.Addr, log *slog.Logger, tasks *pace.Tasks, s *sessions.Sessions) *Orphans {
	return &Orphans{vips: vips, log: log, tasks: tasks, sessions: s,
		seen: map[netip.Addr]time.Time{}}
}

// Due reports whether a scan is due.
func (o *Orphans) Due(now time.Time) bool { return pace.Due(o.scanAt, now) }

// ScanAt is when the next scan is due.
func (o *Orphans) ScanAt() time.Time { return o.scanAt }

// ScanSoon has the next scan come scanPause after the last one at the latest.
func (o *Orphans) ScanSoon() {
	if soon := o.scanned.Add(scanPause); soon.Before(o.scanAt) {
		o.scanAt = soon
	}
}

// Scan removes the VIPs for which no instance is MASTER, whatever program put them there, also
// those of which the configuration has no instance. It returns an error once VIPs have been out of
// reach for long: whatever starts this program again may give it what it lacks.
func (o *Orphans) Scan(now time.Time, held []netip.Addr) error {
	o.scanned, o.scanAt = now, now.Add(pace.Beat)
	var unseen error
	for _, vip := range o.vips {
		on, present, err := link.Holder(vip)
		if err != nil {
			unseen = errors.Join(unseen, o.removeUnseen(vip, held, err))
			continue
		}
		since, seen := o.seen[vip]
		switch {
		case !present || slices.Contains(held, vip):
			delete(o.seen, vip)
		case !seen:
			o.seen[vip] = now
		case now.Sub(since) >= grace:
			o.log.Error("a VIP without a MASTER", "vip", vip, "link", on)
			delete(o.seen, vip)
			if err := o.remove(vip, "no instance is MASTER for it"); err != nil {
				unseen = errors.Join(unseen, err)
				continue
			}
			o.sessions.HangUp(vip)
		}
	}
	if len(o.seen) > 0 {
		o.ScanSoon()
	}
	return o.boundBlindness(unseen, now)
}

// removeUnseen removes a VIP that cannot be read, if it must not be here; an error means that it
// cannot be removed.
func (o *Orphans) removeUnseen(vip netip.Addr, held []netip.Addr, why error) error {
	if slices.Contains(held, vip) {
		return nil
	}
	if err := o.remove(vip, "no instance is MASTER for it"); err != nil {
		return errors.Join(why, err)
	}
	return nil
}

func (o *Orphans) boundBlindness(unseen error, now time.Time) error {
	o.tasks.Note("see and remove orphaned VIPs", unseen)
	switch {
	case unseen == nil:
		o.blind = time.Time{}
	case o.blind.IsZero():
		o.blind = now
	case now.Sub(o.blind) >= blindBound:
		return unseen
	}
	return nil
}

// Present reports whether this host has one of the VIPs, also if it cannot know: a VIP too many is
// worse than a keepalived killed too soon.
func (o *Orphans) Present() bool {
	for _, vip := range o.vips {
		if _, ok, err := link.Holder(vip); ok || err != nil {
			return true
		}
	}
	return false
}

// RemoveAll removes the VIPs, and no other address, from every interface.
func (o *Orphans) RemoveAll(why string) error {
	var failed error
	for _, vip := range o.vips {
		failed = errors.Join(failed, o.remove(vip, why))
	}
	return failed
}

func (o *Orphans) remove(vip netip.Addr, why string) error {
	removed, err := link.RemoveAddress(vip)
	for _, address := range removed {
		o.log.Warn("remove address", "address", address, "why", why)
	}
	return err
}

// RemoveLeftovers removes the VIPs of an earlier run, and ends its loans. A VIP that cannot be
// removed yet is an orphan, which a scan removes.
func (o *Orphans) RemoveLeftovers() {
	if err := o.RemoveAll("left by an earlier run"); err != nil {
		o.log.Error("remove addresses", "error", err)
	}
	for _, vip := range o.vips {
		if err := sessions.GiveBack(vip); err != nil {
			o.log.Warn("end a loan of an earlier run", "error", err)
		}
	}
}
