// Package installation reports how far a bootstrap machine is with the hosts that it provisions, by
// what its programs have written, and finds what is in their way.
package installation

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	eventlog "github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	terminal "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Report is the part of `status -o json` about hosts that are provisioned. It is public: fields may
// be added, and none is removed or changes its meaning.
type Report struct {
	progress.Progress
	Hosts   []Host           `json:"hosts"`
	Stopped bool             `json:"stopped"` // the phase machine reports no more
	Parts   []Part           `json:"parts"`
	Foreign []foreign.Server `json:"foreign"` // servers on the network that are none of ours
}

// Host is a host, and why it goes no further.
type Host struct {
	progress.Host
	Cause string `json:"cause,omitempty"`
	Do    string `json:"do,omitempty"`
}

// Part is one of the programs that the phase machine orders.
type Part struct {
	orders.Report
	Wanted bool `json:"wanted"`
	// Stale means that it reports no more, or never has.
	Stale bool `json:"stale"`
}

// Read is what the machine's programs have written; nil if it provisions no hosts. Planned hosts
// are shown until the phase machine reports for the first time since the machine's boot.
func Read(f inspect.Files, planned []provision.Host, now time.Time,
	unseen *inspect.Unseen) *Report {
	dir := hostorders.Dir(f.Path(layout.Run))
	wanted, unread := dir.Read()
	p, err := dir.ReadProgress()
	if errors.Is(err, fs.ErrNotExist) {
		var there bool
		if there, err = f.Exists(layout.Hosts); there {
			p = unreported(f, planned, unseen)
			p.DHCP, p.Served = wanted.Wants(orders.DHCP), wanted.Hosts
		} else if err == nil {
			return nil
		}
	}
	if err != nil {
		unseen.Add("the progress of provisioning", err)
		return nil
	}
	unseen.Add("the orders of the phase machine", unread)
	var reports []orders.Report
	for _, part := range orders.Parts() {
		r, err := dir.ReadReport(part)
		unseen.Add("the report of "+string(part), err)
		r.Part = part
		reports = append(reports, r)
	}
	var list foreign.List
	text, err := read(f.Path(foreign.Path), foreign.MaxFile)
	if err == nil {
		list, err = foreign.Decode(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		unseen.Add("foreign servers", err)
	}
	return Of(p, wanted, reports, Seen{Events: Events(f, unseen), Foreign: list.Servers}, now)
}

// unreported is how far a machine was at the end of its journal, if that can be read.
func unreported(f inspect.Files, planned []provision.Host,
	unseen *inspect.Unseen) progress.Progress {
	p := progress.Progress{Waits: "the first report of its phase machine"}
	entries, err := hostledger.File(f.Path(layout.Journal)).Read()
	unseen.Add("how far provisioning was when this machine started", err)
	memory := ledger.Fold(entries)
	if err == nil {
		p.Phase, p.Since = memory.Phase, memory.Since
	}
	if p.Phase == progress.Ended {
		p.Waits = ""
	}
	for _, h := range planned {
		known := memory.Hosts[h.Name]
		show := progress.Host{Name: h.Name, MAC: h.MAC, Step: progress.Unknown,
			Waits: p.Waits, Retries: known.Retries, Blocker: known.Blocker}
		if !known.Joined.IsZero() {
			show.Step, show.Waits = progress.Joined, ""
		}
		p.Hosts = append(p.Hosts, show)
	}
	return p
}

// Events are what all sources have seen of hosts, in the order of their times.
func Events(f inspect.Files, unseen *inspect.Unseen) (all []events.Event) {
	for _, s := range events.Sources() {
		log := eventlog.Log{Path: f.Path(events.Path(s)), Former: f.Path(events.Former(s))}
		some, broken, err := log.Read()
		if err == nil && broken > 0 {
			err = fmt.Errorf("%d lines cannot be read", broken)
		}
		unseen.Add("events of "+string(s), err)
		all = append(all, some...)
	}
	events.Sort(all)
	return all
}

// read reads a file of bounded size.
func read(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// Seen is what the network shows.
type Seen struct {
	Events  []events.Event
	Foreign []foreign.Server
}

// Of joins what the programs have written.
func Of(p progress.Progress, wanted orders.Orders, reports []orders.Report, seen Seen,
	now time.Time) *Report {
	r := &Report{Progress: p, Hosts: []Host{}, Parts: []Part{},
		Stopped: p.Phase != progress.Ended && !p.At.IsZero() && now.Sub(p.At) >= progress.Late,
		Foreign: append([]foreign.Server{}, seen.Foreign...)}
	for _, h := range p.Hosts {
		host := Host{Host: h}
		c := cause.Of(events.Of(seen.Events, h.Name, h.MAC), now).Among(seen.Events)
		if c.Seen != "" && c.At.After(h.LastSeen.At) {
			host.LastSeen = progress.Event{What: c.Seen, At: c.At}
		}
		// Whether a host should have been seen already, only the phase machine knows.
		if h.Waits != "" && h.Step != progress.Joined && c.Stage != cause.Nothing {
			host.Cause, host.Do = c.Why, c.Do
		}
		r.Hosts = append(r.Hosts, host)
	}
	for _, one := range reports {
		r.Parts = append(r.Parts, Part{Report: one, Wanted: wanted.Wants(one.Part),
			Stale: now.Sub(one.At) >= orders.Stale})
	}
	return r
}

// recent is how long a foreign server counts after it was seen last.
const recent = 5 * time.Minute

// Faults are what keeps hosts from being installed, in words.
func (r *Report) Faults(now time.Time) (all []string) {
	if r.At.IsZero() && r.Phase != progress.Ended {
		all = append(all, "provisioning does not go on: its phase machine has not reported "+
			"since this machine started: see 'journalctl -u onprem-provision'")
	}
	if r.Stopped {
		all = append(all, fmt.Sprintf("provisioning stands still: its phase machine has not "+
			"reported for %s: see 'journalctl -u onprem-provision'", progress.Short(now.Sub(r.At))))
	}
	for _, b := range r.Blockers {
		all = append(all, "provisioning is blocked: "+terminal.Clean(b))
	}
	for _, h := range r.Hosts {
		if h.Blocker != "" {
			all = append(all, fmt.Sprintf("host %s is not installed: %s", h.Name,
				terminal.Clean(h.Blocker)))
		}
	}
	for _, s := range r.Foreign {
		if now.Sub(s.Last) < recent {
			all = append(all, fmt.Sprintf("another server answers hosts on the provisioning "+
				"network: %s: stop it there", terminal.Clean(s.String())))
		}
	}
	for _, p := range r.Parts {
		if p.Wanted && p.Stale && r.Phase != progress.Ended {
			all = append(all, fmt.Sprintf("the part %s of provisioning does not report: see "+
				"'journalctl -u %s'", p.Part, units[p.Part]))
		}
	}
	return all
}

// units are the programs of the parts.
var units = map[orders.Part]string{
	orders.Address: "onprem-provisioning-interface", orders.HTTP: "onprem-httpd",
	orders.Ironic: "onprem-ironic", orders.DHCP: "onprem-dnsmasq",
}
