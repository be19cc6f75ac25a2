package status

import (
	"context"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// journal has the entries of this host's journal. A host may have none.
func (i inspector) journal() ([]journal.Entry, error) {
	text, err := i.Files.Optional(journal.Path)
	if err != nil || text == nil {
		return nil, err
	}
	j, err := journal.Decode(text)
	return j.Entries(), err
}

// addressReasons are why the node is known by its addresses. An address that was chosen at boot
// stays for that boot, whichever would be chosen now.
func (i inspector) addressReasons(links addr.Snapshot, agreed []netip.Addr) (out []AddressReason) {
	wish := addr.Wish{VIPs: i.Plan.VIPs.All(), PreferIPv6: i.Plan.Families.IPv6First()}
	choice, _ := addr.ForNode(links, wish) // its error is that there is none: the rulings have it
	for _, a := range agreed {
		reason := AddressReason{
			Address: a, Why: "it was chosen when this host was booted, and is on no link now",
		}
		for _, r := range choice.Rulings {
			if r.Prefix.Addr() == a {
				reason.Link, reason.Why = r.Link, r.Why
			}
		}
		out = append(out, reason)
	}
	return out
}

// staticPods are the manifests on a bootstrap machine that are not ours.
func (i inspector) staticPods() (paths []string, err error) {
	if i.Files.Role() != role.Bootstrap {
		return nil, nil
	}
	all, err := i.Files.Statics()
	for _, s := range all {
		if !s.Ours {
			paths = append(paths, s.Path)
		}
	}
	return paths, err
}

// daemon is what a report has of the supervisor's status.
func daemon(s supervised.Status) *Daemon {
	d := &Daemon{
		Running: s.PID != 0, Restarts: s.Restarts, Leaving: s.Leaving,
		MonitorSilent: s.MonitorStale, Troubles: s.Troubles,
	}
	if s.Refused != nil {
		d.Refused = s.Refused.Output
	}
	return d
}

// balancer has the API servers behind this node's HAProxy, and the pods of the cluster's Ironic.
func (i inspector) balancer(ctx context.Context) (b Balanced, err error) {
	if i.Plan.LoadBalancer != spec.Managed {
		return b, nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspect.Timeout)
	defer cancel()
	stats, err := i.Backends(ctx)
	if err == nil && i.Plan.BalancesIronic() {
		b.Ironic = []Backend{}
	}
	for _, s := range stats {
		one := Backend{
			Name: s.Server, Address: s.Address, Status: s.Status, Up: s.Up(), Check: s.Check,
			Sessions: s.Sessions,
		}
		switch {
		case s.Disabled():
		case s.Backend == haproxy.Masters:
			b.Balancer = append(b.Balancer, one)
		case haproxy.IsIronic(s.Backend):
			one.Of = s.Backend
			b.Ironic = append(b.Ironic, one)
		}
	}
	return b, err
}

// names are what this host's own name server answers for the cluster's names, until it fails once.
func (i inspector) names(ctx context.Context) (out []Name, err error) {
	for _, record := range i.Plan.Records {
		name := inspect.Question(record, "onprem-infra-status")
		bound, cancel := context.WithTimeout(ctx, inspect.Timeout)
		got, err := i.Lookup(bound, name)
		cancel()
		if err != nil {
			return out, err
		}
		want := slices.SortedFunc(slices.Values(record.Addresses), netip.Addr.Compare)
		out = append(out, Name{
			Name: name, Want: want, Answers: append([]netip.Addr{}, got...),
			Right: slices.Equal(got, want),
		})
	}
	return out, nil
}
