package conflict

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
)

// The pace of probing. The kernel finds in 3 s that no host has an address, and keepalived listens
// for 3.7 s before it holds the VIP: an answer in that time is in time.
const (
	paceFirst = 20 * time.Millisecond  // after the first question: a host usually answers sooner
	paceOpen  = 100 * time.Millisecond // while the kernel's verdict is on its way
	paceKnown = time.Second            // with a verdict; keepalived listens for over two of them
)

// timeout is how long to wait for an answer. The kernel has its verdict sooner, but none at all
// where it sends no question: on a link without ARP, or beside an entry that a person made.
const timeout = 5 * time.Second

// Run probes until every VIP is settled, and returns when ctx ends. After an error it can be run
// again.
func (d *Detector) Run(ctx context.Context) error {
	for {
		pace, err := d.round()
		if err != nil {
			return err
		}
		var next <-chan time.Time // never, if all is settled
		if len(d.open) > 0 {
			next = time.After(pace)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next:
		}
	}
}

// round probes the open VIPs once, and returns the time until the next round.
func (d *Detector) round() (pace time.Duration, err error) {
	links, err := d.options.Network.Links()
	if err != nil {
		return 0, fmt.Errorf("read links: %w", err)
	}
	findings := maps.Clone(d.known) // a host stays there until it is known to have left
	var failed error
	pace = paceKnown
	for _, vip := range slices.Clone(d.open) {
		verdict, host, err := d.probe(vip, links)
		failed = errors.Join(failed, err)
		switch verdict {
		case own:
			d.open = slices.DeleteFunc(d.open, func(other netip.Addr) bool { return other == vip })
			d.settled, d.unsaved = append(slices.Clip(d.settled), vip), true
			delete(findings, vip)
		case free:
			delete(findings, vip)
		case proxied:
			findings[vip] = Finding{Router: host}
		case taken:
			findings[vip] = Finding{Holder: host}
		case pending:
			pace = paceOpen
			fallthrough
		case unknown:
			if findings[vip].Holder == (Host{}) {
				findings[vip] = Finding{Pending: true}
			}
		}
	}
	if pace == paceOpen && !d.waited && failed == nil {
		d.waited = true
		return paceFirst, nil
	}
	d.known = findings
	d.findings.Set(findings)
	return pace, errors.Join(failed, d.save())
}

// verdict is what one probe of one VIP gives.
type verdict int

const (
	unknown verdict = iota // the VIP cannot be probed at the moment
	pending
	free    // no host answers, or none can
	proxied // a router answers for every address
	taken
	own
)

func (d *Detector) probe(vip netip.Addr, links addr.Snapshot) (verdict, Host, error) {
	switch {
	case links.LinkOf(vip) != "":
		return own, Host{}, nil
	case slices.Contains(d.options.Free, vip):
		return free, Host{}, nil
	}
	choice, err := addr.ForVIP(links, vip, d.options.Plan.VIPs.All(), nil)
	switch {
	case err != nil || !isUp(links, choice.Link):
		delete(d.asked, vip)
		return unknown, Host{}, nil // the room reports why
	case !choice.OnLink:
		delete(d.asked, vip)
		return free, Host{}, nil
	}
	return d.ask(vip, choice.Link, links)
}

// ask reads the answer to the last question, and asks again.
func (d *Detector) ask(vip netip.Addr, link string, links addr.Snapshot) (verdict, Host, error) {
	found, err := d.options.Network.Neighbour(link, vip)
	if err != nil {
		return unknown, Host{}, err
	}
	if err := d.options.Network.Ask(link, vip); err != nil {
		return unknown, Host{}, err
	}
	now, q := time.Now(), d.asked[vip]
	first := q.link != link
	if first || found.MAC != "" {
		q = question{link: link, since: now}
	}
	// Before the first question an absence answers another program's, maybe long ago.
	q.free = q.free || found.Absent && !first || now.Sub(q.since) >= timeout
	d.asked[vip] = q
	switch host := (Host{Link: link, MAC: found.MAC}); {
	case found.MAC != "":
		return d.judge(vip, host, links), host, nil
	case q.free:
		return free, Host{}, nil
	case first:
		d.judge(vip, host, links) // so that the gateway is known when it answers
	}
	return pending, Host{}, nil
}

// judge reports whether a host that answers is a gateway of its link, which answers for every
// address. A gateway that is not known yet is asked for. A gateway whose own address is the VIP
// holds it.
func (d *Detector) judge(vip netip.Addr, host Host, links addr.Snapshot) verdict {
	for _, gateway := range gateways(links, host.Link) {
		if gateway == vip {
			continue
		}
		known, err := d.options.Network.Neighbour(host.Link, gateway)
		switch {
		case err == nil && known.MAC == "":
			_ = d.options.Network.Ask(host.Link, gateway) // without its address it stays unknown
		case err == nil && known.MAC == host.MAC:
			return proxied
		}
	}
	return taken
}

// gateways are the routers of a link's default routes.
func gateways(s addr.Snapshot, link string) []netip.Addr {
	var found []netip.Addr
	for _, r := range s.Routes {
		onLink := slices.ContainsFunc(s.Links,
			func(l addr.Link) bool { return l.Name == link && l.Index == r.LinkIndex })
		if onLink && r.Destination.IsValid() && r.Destination.Bits() == 0 && r.Gateway.IsValid() {
			found = append(found, r.Gateway)
		}
	}
	return found
}

func (d *Detector) save() error {
	if !d.unsaved {
		return nil
	}
	if err := d.options.Remember(d.settled); err != nil {
		return fmt.Errorf("remember that %s is on this machine: %w", election.Join(d.settled), err)
	}
	d.unsaved = false
	return nil
}

func isUp(s addr.Snapshot, name string) bool {
	return slices.ContainsFunc(s.Links, func(l addr.Link) bool { return l.Name == name && l.Up })
}
