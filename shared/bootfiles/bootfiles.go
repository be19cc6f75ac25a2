// Package bootfiles serves what hosts fetch while they are provisioned: it fetches the ramdisk, the
// operating system and iPXE, checks their digests, and opens the ports while it is ordered. It runs
// beside the Ironic of either phase.
package bootfiles

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles/client"
	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// Host is the machine as the room reads and changes it.
type Host interface {
	Orders() (orders.Orders, error)
	Report(orders.Report) error
	// Certificate reports whether the files of the certificate and its key exist: another program
	// makes them, maybe later.
	Certificate() bool
	// Append writes what happened to hosts.
	Append(...events.Event) error
}

// Server serves the files. Its methods are for the room's goroutine.
type Server interface {
	// Open does nothing if the server is open at these addresses.
	Open(ctx context.Context, plain, tls []netip.AddrPort) error
	Close()
	// Err is why it does not serve.
	Err() error
	// Ask asks the server at one of its addresses for a file, and returns the file's size.
	Ask(ctx context.Context, at netip.AddrPort, tls bool, name string) (int64, error)
	Connections() int
}

// Options are what a Room needs. The plan's hosts are provisioned.
type Options struct {
	Plan     plan.Plan
	Phase    provision.Phase // whose hosts are served
	Host     Host
	Server   Server
	Supplier Supplier
	Notifier loop.Notifier
	Wake     chan<- struct{}
	Now      func() time.Time
	Log      *slog.Logger
}

// Room is the HTTP server. Its steps are for one goroutine.
type Room struct {
	Options
	jobs    []*job
	managed map[string]*job // by the name of a file below the root
	clients *client.Hosts

	reporter   *orders.Reporter
	notifier   loop.Reporter
	open       bool
	asked      asked
	unreported error // why the last report was not written

	sum       access.Sum
	unwritten []events.Event // they could not be written yet, for example on a full disk
	counts    [len(kinds)]atomic.Uint64
	sent      atomic.Uint64
	serves    atomic.Bool
	links     atomic.Int64
}

// kinds are those of requests, for the metrics.
var kinds = [...]access.Kind{access.Script, access.Program, access.Kernel, access.Ramdisk,
	access.Image, access.Media, access.File, access.Head, access.Broken, access.Refused}

// New makes the room. Nothing happens before its first step. The error is a finding about an image.
func New(o Options) (*Room, error) {
	items, err := item.Of(o.Plan, o.Phase)
	if err != nil {
		return nil, err
	}
	r := &Room{Options: o, managed: map[string]*job{},
		clients:  client.Of(o.Plan.Provisioning.Hosts),
		reporter: orders.NewReporter(orders.HTTP), notifier: loop.Reporter{Notifier: o.Notifier}}
	for _, i := range items {
		j := &job{item: i, wake: o.Wake, now: o.Now, state: Waiting}
		r.jobs = append(r.jobs, j)
		for _, path := range i.Targets() {
			if name, err := filepath.Rel(layout.HTTP, path); err == nil {
				r.managed[name] = j
			}
		}
	}
	return r, nil
}

// Judge decides whether a file is served. It may be called by any goroutine.
func (r *Room) Judge(name string, tls bool) Verdict {
	if !Open(name, tls) {
		return Hidden
	}
	if j := r.managed[strings.TrimSuffix(name, layout.Digest)]; j != nil {
		if _, good := j.good(); !good {
			return Later
		}
	}
	return Served
}

// Ended takes in a request that has ended. It may be called by any goroutine.
func (r *Room) Ended(a access.Access) {
	for i, kind := range kinds {
		if kind == a.Kind() {
			r.counts[i].Add(1)
		}
	}
	r.sent.Add(uint64(max(a.Bytes, 0)))
	r.sum.Add(a)
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	f := metrics.Files{Serving: r.serves.Load(), Sent: r.sent.Load(),
		Connections: int(r.links.Load())}
	for i, kind := range kinds {
		f.Requests = append(f.Requests, metrics.Requests{Kind: string(kind),
			Count: r.counts[i].Load()})
	}
	for _, j := range r.jobs {
		f.Items = append(f.Items, j.fetched())
	}
	f.Onto(page)
}
