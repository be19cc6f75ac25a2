package life

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// Moved is a move of the VIP as seen from outside.
type Moved struct {
	From, To string
	After    time.Duration // from the order to leave to the new holder alone
	Both     time.Duration // two hosts held it
	NoHolder time.Duration // no host held it
	Requests traffic.Requests
	Cut      int           // watches that were cut
	Silent   time.Duration // the longest that a watch received nothing
	Faults   []string      // everything in which the move was not orderly
}

// String is the move in a line.
func (m Moved) String() string {
	return fmt.Sprintf("from %s to %s after %v, two holders for %v, none for %v; %d watches cut, none silent for more than %v; %v",
		m.From, m.To, m.After.Round(time.Millisecond), m.Both.Round(time.Millisecond), m.NoHolder.Round(time.Millisecond), m.Cut, m.Silent.Round(time.Millisecond), m.Requests)
}

// twoHolders is how long two hosts may hold the VIP in a move: an advertisement, and the skew of
// the nodes' highest priority.
var twoHolders = time.Second + vrrp.Skew(vrrp.V2, vrrp.Compat().ControlPlane.Highest(), time.Second)

// Move has a host that holds the VIP leave in order while the crowd is there, and reports how it
// went. leave returns when the host has left for good; the VIP must have gone before that.
func Move(ctx context.Context, o *lab.Observer, c *Crowd, host string, leave func() error) (Moved, error) {
	c.Watches.Forget()
	begin := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- leave() }()
	m := Moved{From: host}
	moved, to, err := Left(ctx, o, host)
	if err != nil {
		return m, err
	}
	if err := <-ended; err != nil {
		return m, err
	}
	select {
	case <-ctx.Done():
		return m, ctx.Err()
	case <-time.After(max(time.Second, 2*c.patience)): // what the move broke comes back meanwhile
	}
	breaks, silent := c.Watches.Report()
	m.To, m.After, m.Requests, m.Cut, m.Silent = to, moved.Sub(begin), c.Probes.So().Since(begin), len(breaks), silent
	for _, span := range o.Report().Spans {
		switch {
		case span.To.Before(begin):
		case len(span.Holders) == 0:
			m.NoHolder += span.Length()
		case len(span.Holders) > 1:
			m.Both += span.Length()
		}
	}
	m.Faults = faults(m, breaks, moved, max(time.Second, 2*c.patience))
	return m, nil
}

// Left waits until the VIP has a holder that is not host.
func Left(ctx context.Context, o *lab.Observer, host string) (at time.Time, to string, err error) {
	err = Until(ctx, ShutdownDelay, func() error {
		spans := o.Report().Spans
		last := spans[len(spans)-1]
		if len(last.Holders) != 1 || last.Holders[0] == host {
			return fmt.Errorf("the VIP is held by %v", strings.Join(last.Holders, " and "))
		}
		at, to = last.From, last.Holders[0]
		return nil
	})
	return at, to, err
}

const (
	// sample is how often the kernels are asked which host holds the VIP.
	sample = 10 * time.Millisecond
	// blur is how late they are asked on a busy machine.
	blur = 100 * time.Millisecond
)

// faults are what an orderly move does not have: a connection that is refused or times out, a
// request that is cut though it was not open at that instant, a watch that hangs or is not back
// soon, two holders for longer than their packets take.
func faults(m Moved, breaks []traffic.Break, moved time.Time, soon time.Duration) (list []string) {
	// A request that is open at the instant dies with the address: its client receives a reset, or
	// nothing when the packet was lost on the way. One that gets no connection was not open.
	var cut, bad traffic.Requests
	for _, r := range m.Requests.Unserved() {
		open := r.Start.Before(moved.Add(2*sample)) && r.End.After(moved.Add(-blur-m.Both))
		switch {
		case open && r.Outcome != traffic.Refused && r.Outcome != traffic.Silent, r.Outcome == traffic.Reset:
			cut = append(cut, r)
		default:
			bad = append(bad, r)
		}
	}
	if len(bad) > 0 {
		list = append(list, fmt.Sprintf("not served, from %v to %v after the move: %v",
			bad[0].Start.Sub(moved).Round(time.Millisecond), bad[len(bad)-1].Start.Sub(moved).Round(time.Millisecond), bad))
	}
	for _, r := range cut {
		if r.Start.After(moved.Add(blur)) || r.End.Before(moved.Add(-blur-m.Both)) {
			list = append(list, fmt.Sprintf("a request from %v to %v after the move was cut: %v", r.Start.Sub(moved), r.End.Sub(moved), r.Err))
		}
	}
	// While two hold the VIP, each of their announcements is another instant at which it moves.
	if most := 1 + int((slow(m.Requests)+m.Both)/every); len(cut) > most {
		list = append(list, fmt.Sprintf("%d requests were cut, %d at most can have been open", len(cut), most))
	}
	for _, b := range breaks {
		switch {
		case b.Silent > soon:
			list = append(list, fmt.Sprintf("watch %d received nothing for %v before it was cut", b.Watch, b.Silent))
		case b.Back.IsZero() || b.Back.Sub(b.At) > soon:
			list = append(list, fmt.Sprintf("watch %d was cut %v after the move and not back within %v", b.Watch, b.At.Sub(moved), soon))
		}
	}
	if m.Both > twoHolders {
		list = append(list, fmt.Sprintf("two hosts held the VIP for %v", m.Both))
	}
	return list
}

// slow is how long a slow request takes, one of a hundred.
func slow(requests traffic.Requests) time.Duration {
	var all []time.Duration
	for _, r := range requests.With(traffic.Served) {
		all = append(all, r.End.Sub(r.Start))
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}
