package bootserver

import (
	"context"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

// Snapshot is the input of the decision.
type Snapshot struct {
	Orders orders.Orders
	Links  addr.Snapshot
	// Programs are those of iPXE that are there, and Missing what hosts of the phase lack.
	Programs provisioning.Programs
	Missing  []string
}

// Observe reads the orders, the machine's addresses, and which of iPXE's programs are there. A
// machine that is to be off needs the orders alone.
func (r *Room) Observe(context.Context) (s Snapshot, err error) {
	defer func() { r.unseen = err }()
	if s.Orders, err = r.Host.Orders(); err != nil || !s.Orders.Wants(orders.DHCP) {
		return s, err
	}
	if s.Links, err = r.Host.Links(); err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	s.Programs, s.Missing = served.Present(r.Plan.Provisioning, r.Phase,
		func(program string) bool {
			return r.Host.Exists(path.Join(layout.TFTP, program)) &&
				r.Host.Exists(path.Join(layout.HTTP, program))
		})
	return s, nil
}

// Step is what this round does.
type Step int

// The steps.
const (
	Release Step = iota // the server ends
	Nothing             // there is no network to serve, or no host
	Wait                // something is missing: the fence closes
	Serve
)

// Desired is what the machine should be. The zero value is not applied.
type Desired struct {
	Step       Step
	Generation int64
	Link       string
	Server     netip.Addr
	Filter     bool // DHCP is answered, and not TFTP alone
	Hosts      []mac.MAC
	Clients    Clients
	Conf       []byte
	Files      []asset.File
	// Unknown are hosts of the orders that the plan does not have in this phase.
	Unknown []mac.MAC
	Why     string
}

// Decide computes what is served. Only hosts that both the orders and the plan's phase have are
// answered.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := r.decide(s)
	d.Generation = s.Orders.Generation
	return d, loop.Reasons{d.Why}
}

func (r *Room) decide(s Snapshot) Desired {
	if !s.Orders.Wants(orders.DHCP) {
		return Desired{Step: Release, Why: "off: " + reason(s.Orders)}
	}
	p := r.Plan.Provisioning
	d := Desired{Step: Wait, Server: served.Server(p, r.Phase)}
	if !d.Server.IsValid() {
		return Desired{Step: Nothing, Why: "hosts boot virtual media: there is no network to serve"}
	}
	d.Link, d.Why = Holder(s.Links, d.Server)
	network, _ := served.Network(p, r.Phase, served.Place{Link: d.Link,
		HTTPPort: r.Plan.Ports[port.ProvisioningHTTP], Programs: s.Programs})
	d.Filter = network.Mode == provisioning.Managed
	if d.Filter {
		d.Hosts, d.Unknown = known(s.Orders.Hosts, network.Reservations)
		d.Clients = r.clients(d.Hosts, len(network.Pool) > 0)
	}
	switch {
	case d.Filter && len(d.Hosts) == 0 && !d.Clients.Except:
		d.Step, d.Why = Nothing, "no host is to be answered"
		return d
	case d.Link == "":
		return d
	case len(s.Missing) > 0:
		d.Why = fmt.Sprintf("%s is missing below %s or %s: it comes out of the image of Ironic",
			strings.Join(s.Missing, " and "), layout.TFTP, layout.HTTP)
		return d
	}
	if err := d.render(network, s.Orders.Local); err != nil {
		d.Why = "its configuration is not valid: " +
			strings.ReplaceAll(err.Error(), "\n", "; ")
		return d
	}
	d.Step = Serve
	d.Why = fmt.Sprintf("serves TFTP at %s on %s", d.Server, d.Link)
	if d.Filter {
		d.Why = fmt.Sprintf("answers %d hosts%s at %s on %s", len(d.Hosts),
			map[bool]string{true: " and those that are not listed"}[d.Clients.Except], d.Server,
			d.Link)
	}
	return d
}

// clients are the hosts whose requests are received: the answered ones, or where others get
// addresses of a pool, all but the listed ones that are not answered.
func (r *Room) clients(answered []mac.MAC, pool bool) Clients {
	if !pool {
		return Clients{Hosts: answered}
	}
	others := Clients{Except: true}
	for _, h := range r.Plan.Provisioning.Hosts {
		if !slices.Contains(answered, h.MAC) {
			others.Hosts = append(others.Hosts, h.MAC)
		}
	}
	return others
}

// render makes the files. The configuration is that of all hosts of the phase, so that it stays as
// it is while the set changes: dnsmasq would have to start again. The list has those of the set,
// and which of them boot from their disks.
func (d *Desired) render(network provisioning.Network, local []mac.MAC) error {
	files, err := provisioning.Files(network, layout.DnsmasqConf)
	if err != nil {
		return err
	}
	set := network
	set.Reservations = slices.DeleteFunc(slices.Clone(network.Reservations),
		func(h provisioning.Reservation) bool { return !slices.Contains(d.Hosts, h.MAC) })
	for i, h := range set.Reservations {
		set.Reservations[i].Local = h.Local || slices.Contains(local, h.MAC)
	}
	for i, f := range files {
		switch f.Path {
		case layout.DnsmasqConf:
			d.Conf = f.Contents
		case layout.DnsmasqHost:
			files[i].Contents = provisioning.Hosts(set)
		}
	}
	d.Files = files
	return nil
}

// Holder is the link that has an address which can be used, or why there is none.
func Holder(links addr.Snapshot, server netip.Addr) (link, why string) {
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			switch {
			case a.Prefix.Addr() != server:
			case a.Duplicate:
				return "", fmt.Sprintf("another host has %s: find it, and take the address from it",
					server)
			case a.Tentative:
				return "", fmt.Sprintf("waits for the end of the probe for another host with %s",
					server)
			default:
				return l.Name, ""
			}
		}
	}
	return "", fmt.Sprintf("waits for %s", server)
}

// known are the hosts of the orders that the phase has, sorted, and those that it does not have.
func known(ordered []mac.MAC, phase []provisioning.Reservation) (hosts, unknown []mac.MAC) {
	all := slices.SortedFunc(slices.Values(ordered), mac.MAC.Compare)
	for _, m := range slices.Compact(all) {
		if slices.ContainsFunc(phase, func(h provisioning.Reservation) bool { return h.MAC == m }) {
			hosts = append(hosts, m)
		} else {
			unknown = append(unknown, m)
		}
	}
	return hosts, unknown
}

func reason(o orders.Orders) string {
	if o.Why == "" {
		return "there are no orders"
	}
	return o.Why
}
