package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Handed is what was seen of the handover.
type Handed struct {
	Reversal  orders.Reversal
	Published notice.Progress
	Unread    error // why it is not known what is published
	View      handover.View
}

// Handing is what a round does about the handover.
type Handing struct {
	Publish *notice.Progress
	Pause   bool
	Unpause bool
	Begin   []string
}

// handing is what the room keeps of the handover from one round to the next.
type handing struct {
	published bool  // the end: nothing is written any more
	failed    error // why the last round could not do what it was to do
	begun     []string
	seen      seenView
}

// seenView is a view with its phase and its time.
type seenView struct {
	handover.View
	phase progress.Phase
	at    time.Time
}

// answering bounds reading the cluster in a round, and writing: progress is shown in between.
const answering = 8 * time.Second

// observeCluster reads what the handover depends on, in the phases that need it. An API that does
// not answer is no error.
func (r *Room) observeCluster(ctx context.Context, now time.Time) (h Handed, err error) {
	m := r.memory
	if m.HandoverSince.IsZero() || r.handing.published && m.Phase == progress.Ended {
		return h, nil
	}
	if h.Reversal, err = r.Host.Reversal(); err != nil {
		return h, err
	}
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	h.Published, h.Unread = r.Cluster.Published(ctx)
	h.View = r.view(ctx, now, h.Reversal.Asks(m.HandoverSince, now))
	return h, nil
}

// listing is the time between two lists of all hosts, of which there may be thousands: what the
// phases wait for takes minutes.
const listing = 4 * time.Second

// view reads what the phase needs about hosts, Ironic and the operator. It returns a recent view
// again if this machine has changed nothing since, unless a person asks for something (asked).
func (r *Room) view(ctx context.Context, now time.Time, asked bool) (v handover.View) {
	phase := r.memory.Phase
	needs := []progress.Phase{progress.TakeBack, progress.Unpause, progress.Takeover,
		progress.Release}
	if !r.Own.Metal3 || !asked && !slices.Contains(needs, phase) {
		return v
	}
	seen := &r.handing.seen
	if age := now.Sub(seen.at); !asked && seen.phase == phase && age >= 0 && age < listing {
		return seen.View
	}
	if v.Fleet, v.Err = r.Cluster.Fleet(ctx); v.Err == nil && r.Own.Address.IsValid() &&
		(asked || phase == progress.TakeBack || phase == progress.Takeover && v.Fleet.Ironic) {
		v.Holders, v.Err = r.Cluster.Holders()
	}
	*seen = seenView{v, phase, now}
	return v
}

// reverse follows a person's request to take provisioning back, or to hand it over again, if that
// is permitted. It reports whether it did so.
func (d *decision) reverse() bool {
	asked := d.Cluster.Reversal
	switch {
	case !asked.Asks(d.memory.HandoverSince, d.Now):
		return false
	case !asked.Back && d.memory.Held.IsZero():
		return false
	case asked.Back:
		if why := d.Own.Refusal(d.memory, d.Cluster.View); why != "" {
			d.refused = append(d.refused, "provisioning is not taken back: "+why)
			return false
		}
		d.record(ledger.Entry{Kind: ledger.Back, Cause: asked.Why})
	case d.memory.Phase == progress.TakeBack:
		// No part has gone on again, and some may not have gone off yet.
		evidence, wait := d.follow(orders.Parts()...)
		if wait != "" {
			d.refused = append(d.refused, "provisioning is not handed over before: "+wait)
			return false
		}
		d.record(ledger.Entry{Kind: ledger.Again, Cause: asked.Why})
		d.record(ledger.Entry{Kind: ledger.Phase, Phase: progress.Unpause, Evidence: evidence,
			Cause: "provisioning is handed over again"})
	default:
		d.record(ledger.Entry{Kind: ledger.Again, Cause: asked.Why})
	}
	d.wait = "the parts to follow"
	return true
}

// handsOver is the evidence that a phase of the handover has ended, or what it waits for.
func (d *decision) handsOver() (evidence, wait string) {
	if d.memory.Phase == progress.Announce {
		evidence, wait = d.announced()
		return evidence, d.tried(wait)
	}
	if d.memory.Phase == progress.TakeBack {
		if evidence, wait = d.follow(orders.Parts()...); wait != "" {
			return evidence, wait
		}
	}
	var next handover.Next
	switch d.memory.Phase {
	case progress.TakeBack:
		next = d.Own.TakeBack(d.Cluster.View)
	case progress.Unpause:
		next = d.Own.Unpause(d.Cluster.View)
	case progress.Takeover:
		next = d.Own.Takeover(d.Cluster.View)
	case progress.Release:
		next = d.Own.Release(d.Cluster.View)
	}
	d.Handover = Handing{Pause: next.Pause, Unpause: next.Unpause, Begin: next.Begin}
	if len(next.Begin) > 0 && !slices.Equal(next.Begin, d.handing.begun) {
		d.record(ledger.Entry{Kind: ledger.Released, Hosts: next.Begin,
			Cause: "the cluster's own Ironic is ready for them"})
	}
	if next.Pause || next.Unpause || len(next.Begin) > 0 {
		next.Waits = d.tried(next.Waits)
	}
	return next.Evidence, next.Waits
}

// tried is a wait for something that this machine does itself, with why that failed.
func (d *decision) tried(wait string) string {
	if wait == "" || d.handing.failed == nil {
		return wait
	}
	return fmt.Sprintf("%s: %v", wait, d.handing.failed)
}

// progress is how far the handover is, as it is published.
func (d *decision) progress() notice.Progress {
	return notice.ReadHandover(notice.EncodeHandover(notice.Progress{
		Phase: string(d.memory.Phase), Since: d.memory.Since, Machine: d.Name,
		Waits: d.Progress.Waits, At: d.Now}))
}

// announced is whether the cluster's API has the present phase of this machine's handover.
func (d *decision) announced() (evidence, wait string) {
	object := "the ConfigMap " + notice.Handover
	if d.Cluster.Unread != nil {
		return "", fmt.Sprintf("the cluster's API, which is to have %s: %v", object,
			d.Cluster.Unread)
	}
	if !d.progress().Same(d.Cluster.Published) {
		return "", "the cluster's API to have " + object
	}
	return fmt.Sprintf("%s has the phase %q", object, d.Cluster.Published.Phase), ""
}

// Published progress is written again after rewait if it waits for something else, and after
// heartbeat if not: readers take a machine that has not written for two minutes for gone.
const (
	rewait    = 10 * time.Second
	heartbeat = 30 * time.Second
)

// publish decides whether to write the progress of the handover to the cluster's API. It is for
// people, and only the phase announce waits for it.
func (d *decision) publish() {
	ended := d.memory.Phase == progress.Ended
	if d.memory.HandoverSince.IsZero() || d.Cluster.Unread != nil || ended && d.handing.published {
		return
	}
	want, has := d.progress(), d.Cluster.Published
	age := d.Now.Sub(has.At)
	if age < 0 { // the clock was set back
		age = heartbeat
	}
	beats := age < heartbeat || ended
	same := want.Same(has) && beats && (want.Waits == has.Waits || age < rewait)
	if !same {
		d.Handover.Publish = &want
	}
	d.handing.published = same && ended
}

// handOver makes the round's changes of the handover. What fails is repeated in a later round.
func (r *Room) handOver(ctx context.Context, h Handing) (err error) {
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	if h.Publish != nil {
		err = r.Cluster.Publish(ctx, *h.Publish)
	}
	if h.Pause || h.Unpause || len(h.Begin) > 0 {
		r.handing.seen = seenView{}
	}
	if h.Pause || h.Unpause {
		err = errors.Join(err, r.Cluster.Pause(ctx, h.Pause))
	}
	if len(h.Begin) > 0 {
		r.handing.begun = h.Begin
		err = errors.Join(err, r.Cluster.Begin(ctx, h.Begin))
	}
	r.handing.failed = err
	return err
}

// silent is a warning that hosts have had no DHCP server for longer than the plan allows; empty if
// they have. Where the cluster's server is another program's, it starts with the cluster's Ironic.
func (d *decision) silent() string {
	m, limit := d.memory, d.limit("handover")
	if limit == 0 || !m.Phase.Past(progress.DHCPOff) || m.Phase.Past(progress.Release) {
		return ""
	}
	since := m.HandoverSince.Add(m.Took[progress.Announce])
	if d.Now.Sub(since) < limit {
		return ""
	}
	return fmt.Sprintf("no DHCP server has answered since %s, and the plan allows %s: hosts lose "+
		"their addresses a lease of %s after they last renewed: help the phase %q to end",
		since.UTC().Format(time.TimeOnly), limit, d.limit("lease"), m.Phase)
}
