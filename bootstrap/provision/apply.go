package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Publish writes the progress that the status command reads, if something was decided. Hosts are
// deployed and guarded even if it cannot be written: only Apply returns that error.
func (r *Room) Publish(_ context.Context, d Desired) error {
	r.unshown = nil
	if d.Progress.Phase != "" {
		r.unshown = errors.Join(r.Host.Show(d.Progress),
			r.reporter.Report(true, status(d.Progress)))
	}
	return nil
}

// status is a line for the service manager.
func status(p progress.Progress) string {
	return fmt.Sprintf("phase %s; waiting for %s", p.Phase, p.Waits)
}

// Apply writes the journal first, so that no step is made that is not in it. Then the parts get
// their orders, and Ironic its requests, those of different hosts at the same time.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	return errors.Join(r.apply(ctx, d), r.unshown)
}

func (r *Room) apply(ctx context.Context, d Desired) error {
	if d.Unread != nil {
		return errors.Join(d.Unread, r.guard(ctx, d.Guards))
	}
	if err := r.remember(d.Entries...); err != nil {
		return errors.Join(err, r.guard(ctx, d.Guards))
	}
	r.started = true
	r.watched = d.Watched
	unnoted := r.Host.Note(d.Events...) // hosts are deployed all the same
	if unnoted == nil {
		maps.Copy(r.noted, d.Noted)
	}
	if err := r.writeOrders(d.Orders); err != nil {
		return errors.Join(err, r.guard(ctx, d.Guards))
	}
	if d.Examine {
		r.examine()
	}
	return errors.Join(r.request(ctx, d), r.handOver(ctx, d.Handover), unnoted)
}

// writeOrders gives the parts their orders, if these are of another generation than the present.
func (r *Room) writeOrders(want orders.Orders) error {
	now, err := r.Host.Orders()
	if err != nil || now.Generation == want.Generation {
		return err
	}
	if err := permitted(r.memory, want); err != nil {
		return err
	}
	return r.Host.WriteOrders(want)
}

// guard makes the requests of a round that does nothing else. They change no host, and are not in
// the journal: one that Ironic refuses is repeated in each round, and would fill the journal.
func (r *Room) guard(ctx context.Context, all []node.Request) (err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	for _, request := range all {
		err = errors.Join(err, r.Ironic.Do(ctx, request))
	}
	return err
}

// remember adds entries to the journal, and then to what the room knows.
func (r *Room) remember(all ...ledger.Entry) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.Journal.Append(all...); err != nil {
		return err
	}
	for _, e := range all {
		r.memory = r.memory.With(e)
	}
	return nil
}

// asking bounds all requests of a round: for some, Ironic asks the BMC before it answers.
const asking = 90 * time.Second

// request makes the requests. One that Ironic refuses for good has failed; any other is made again
// in a later round, such as those for a node that Ironic has locked.
func (r *Room) request(ctx context.Context, d Desired) error {
	if d.Guarded {
		return r.guard(ctx, d.Guards)
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	outcomes := map[string][]ledger.Entry{}
	var faults []error
	for name, requests := range d.Requests {
		group.Go(func() {
			all, err := r.requestOf(ctx, name, d.Accounts, requests)
			mu.Lock()
			defer mu.Unlock()
			outcomes[name] = all
			if err != nil {
				faults = append(faults, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	if err := r.showUntil(done, d.Progress); err != nil {
		faults = append(faults, err)
	}
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		if err := r.remember(outcomes[name]...); err != nil {
			return err
		}
	}
	slices.SortFunc(faults, func(a, b error) int {
		return slices.Compare([]byte(a.Error()), []byte(b.Error()))
	})
	return errors.Join(faults...)
}

// showUntil repeats the progress until done is closed, so that status does not take a program
// that waits for a slow BMC for one that has stopped.
func (r *Room) showUntil(done <-chan struct{}, p progress.Progress) (err error) {
	ticker := time.NewTicker(progress.Late / 3)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return err
		case <-ticker.C:
			p.At = r.Now()
			err = r.Host.Show(p)
		}
	}
}

// requestOf makes one host's requests, and returns what came of them.
func (r *Room) requestOf(
	ctx context.Context, name, accounts string, requests []node.Request,
) (all []ledger.Entry, err error) {
	known := r.memory.Hosts[name]
	for _, request := range requests {
		if request.Verb == node.Deploy && known.Never() {
			return all, fmt.Errorf("%s: its disk was written or its node has joined, and it is "+
				"not deployed again", name)
		}
		e := ledger.Entry{Host: name, Kind: ledger.Done, Verb: request.Verb}
		err := r.Ironic.Do(ctx, request)
		e.Time = r.Now()
		var refusal Refusal
		switch {
		case err == nil && ledger.Ends(request.Verb):
			e.Evidence = accounts
			all = append(all, e)
		case errors.As(err, &refusal) && refusal.Refused():
			e.Kind, e.Cause = ledger.Failed, err.Error()
			all = append(all, e)
			return all, fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return all, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}
