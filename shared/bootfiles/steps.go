package bootfiles

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// Snapshot is the input of the decision.
type Snapshot struct {
	Orders      orders.Orders
	Items       []Status
	Open        bool  // the ports are, as far as this program knows
	Serving     error // why it does not serve; of the last round
	Certificate bool
}

// Desired is what the room does, and reports.
type Desired struct {
	On          bool
	Certificate bool
	Report      orders.Report
}

// asked is the result of the server's last probe of itself.
type asked struct {
	of  string // the files that were requested
	at  time.Time
	err error
}

// askAgain is how long a successful probe of the server by itself counts.
const askAgain = 30 * time.Second

// Observe reads the orders, and how far the items are.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	o, err := r.Host.Orders()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the orders: %w", err)
	}
	s := Snapshot{Orders: o, Open: r.open, Serving: r.asked.err,
		Certificate: r.Host.Certificate()}
	for _, j := range r.jobs {
		s.Items = append(s.Items, j.status())
	}
	if r.open {
		s.Serving = errors.Join(r.Server.Err(), s.Serving)
	}
	return s, nil
}

// Decide follows the orders. The server is ready when all files are there, each with its digest,
// and its probe of itself for them has passed.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := Desired{On: s.Orders.Wants(orders.HTTP), Certificate: s.Certificate}
	d.Report = orders.Report{Generation: s.Orders.Generation, On: s.Open}
	if !d.On {
		if d.Report.Ready = !s.Open; s.Open {
			d.Report.Why = "closes its ports"
		} else {
			d.Report.Why = "its ports are closed"
		}
		return d, loop.Reasons{"off: " + reason(s.Orders)}
	}
	d.Report.On = true
	good, waits := 0, []string{}
	for _, i := range s.Items {
		if i.State == Good {
			good++
		} else {
			waits = append(waits, i.String())
		}
	}
	switch {
	case !s.Open:
		waits = append(waits, "opens its ports")
	case s.Serving != nil:
		waits = append(waits, s.Serving.Error())
	}
	d.Report.Ready, d.Report.Why = len(waits) == 0, strings.Join(waits, "; ")
	if d.Report.Ready {
		d.Report.Why = r.serving(s.Certificate)
	}
	return d, loop.Reasons{"on: " + reason(s.Orders),
		fmt.Sprintf("%d of %d items are here", good, len(s.Items))}
}

func reason(o orders.Orders) string {
	if o.Why == "" {
		return "there are no orders"
	}
	return o.Why
}

func (r *Room) serving(certificate bool) string {
	plain, secure := Addresses(r.Plan, r.Phase)
	text := fmt.Sprintf("serves at %s, and over TLS at %s", loop.List(plain), loop.List(secure))
	if !certificate {
		text = fmt.Sprintf("serves at %s; over TLS at port %s once Ironic's certificate is there",
			loop.List(plain), strings.Join(ports(secure), ", "))
	}
	return text
}

// String is an item that is not here yet, for people.
func (s Status) String() string {
	switch {
	case s.State == Failed || s.Err != nil && s.State != Fetching:
		return s.Err.Error()
	case s.State != Fetching || s.Done == 0:
		return s.Name + " " + string(s.State)
	}
	text := fmt.Sprintf("%s: %d MB", s.Name, s.Done/1_000_000)
	if s.Total > 0 {
		text = fmt.Sprintf("%s: %d of %d MB", s.Name, s.Done/1_000_000, s.Total/1_000_000)
	}
	if s.Rate > 0 {
		text += fmt.Sprintf(", %.1f MB/s", float64(s.Rate)/1e6)
	}
	return text
}

// Publish reports to the phase machine. If nothing could be observed there is nothing to report,
// and the last report becomes old. A report that cannot be written does not stop Apply, which
// returns that error: hosts get their files all the same.
func (r *Room) Publish(_ context.Context, d Desired) error {
	if d.Report.Why == "" {
		return nil
	}
	err := r.reporter.Report(d.Report, r.Now(), r.Host.Report)
	if err != nil {
		err = fmt.Errorf("report to the phase machine: %w", err)
	}
	r.unreported = errors.Join(err, r.notifier.Report(true, d.Report.Why))
	return nil
}

// Apply opens the ports and fetches what is missing, or closes them.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	failed := errors.Join(r.record(), r.unreported)
	if !d.On {
		r.off()
		return failed
	}
	plain, secure := Addresses(r.Plan, r.Phase)
	if err := r.Server.Open(ctx, plain, secure); err != nil {
		r.changed(false)
		r.asked = asked{err: err}
		failed = errors.Join(failed, err)
	} else {
		r.changed(true)
	}
	for _, j := range r.jobs {
		j.start(ctx, r.Supplier)
		failed = errors.Join(failed, j.status().Err)
	}
	if r.open {
		failed = errors.Join(failed, r.ask(ctx, d.Certificate))
	}
	r.links.Store(int64(r.Server.Connections()))
	return failed
}

// changed notes whether the ports are open. A change is reported at once.
func (r *Room) changed(open bool) {
	if r.open != open {
		loop.Wake(r.Wake)
	}
	r.open = open
	r.serves.Store(open)
}

// ask requests each file from the server, over both ports: every half minute, in each round after
// an error, and at once if a file has changed or the certificate is new.
func (r *Room) ask(ctx context.Context, certificate bool) error {
	var files []File
	for _, j := range r.jobs {
		some, _ := j.good()
		files = append(files, some...)
	}
	what, now := fmt.Sprint(files, certificate), r.Now()
	age := now.Sub(r.asked.at)
	if r.asked.of == what && r.asked.err == nil && age >= 0 && age < askAgain {
		return nil
	}
	before := r.asked
	r.asked = asked{what, now, r.askFor(ctx, files, certificate)}
	if before.of != what || (before.err == nil) != (r.asked.err == nil) {
		loop.Wake(r.Wake)
	}
	return r.asked.err
}

func (r *Room) askFor(ctx context.Context, files []File, certificate bool) error {
	plain, secure := Addresses(r.Plan, r.Phase)
	if !certificate {
		secure = nil
	}
	for _, f := range files {
		name, err := filepath.Rel(layout.HTTP, f.Path)
		if err != nil || !filepath.IsLocal(name) {
			continue // of the TFTP server
		}
		for tls, all := range map[bool][]netip.AddrPort{false: plain, true: secure} {
			for _, at := range all {
				if !Open(name, tls) {
					continue
				}
				size, err := r.Server.Ask(ctx, at, tls, name)
				if err != nil {
					return err
				}
				if size != f.Size {
					return fmt.Errorf("%s has %d bytes when it is asked for at %s, want %d", name,
						size, at, f.Size)
				}
			}
		}
	}
	return nil
}

// maxUnwritten bounds the events that wait until they can be written.
const maxUnwritten = 1000

// record writes which requests have ended. What cannot be written is written later: without a line
// about its image a host counts as one that has not fetched it.
func (r *Room) record() error {
	all, missed := r.sum.Take(r.Now())
	happened := r.unwritten
	for _, a := range all {
		if isOwn(r.Plan, r.Phase, a.Client) { // Ironic, which asks for what hosts are to boot
			r.Log.Info("request", "host", "this machine", "kind", a.Kind(), "what", a.String())
			continue
		}
		name, card := r.clients.Host(a)
		happened = append(happened, events.Event{Time: a.At, Host: name, MAC: card,
			Source: events.HTTP, Kind: string(a.Kind()), Detail: a.String()})
		r.Log.Info("request", "host", name, "kind", a.Kind(), "what", a.String())
	}
	if missed > 0 {
		r.Log.Warn("more different requests than are followed", "requests", missed)
	}
	err := r.Host.Append(happened...)
	if r.unwritten = nil; err != nil {
		r.unwritten = kept(happened)
	}
	return err
}

// kept are the events for which there is room. The oldest are left out, those of images last.
func kept(all []events.Event) []events.Event {
	over := len(all) - maxUnwritten
	all = slices.DeleteFunc(all, func(e events.Event) bool {
		if over <= 0 || e.Kind == string(access.Image) {
			return false
		}
		over--
		return true
	})
	return all[max(over, 0):]
}

// off ends what is under way and frees the ports.
func (r *Room) off() {
	var waits []func()
	for _, j := range r.jobs {
		waits = append(waits, j.cancel())
	}
	r.Server.Close()
	for _, wait := range waits {
		wait()
	}
	r.links.Store(0)
	r.asked = asked{}
	r.changed(false)
}

// Leave frees the ports, and reports that.
func (r *Room) Leave(context.Context) error {
	r.off()
	o, err := r.Host.Orders()
	report := orders.Report{Generation: o.Generation, Why: "its program has stopped"}
	return errors.Join(err, r.record(), r.reporter.Report(report, r.Now(), r.Host.Report))
}
