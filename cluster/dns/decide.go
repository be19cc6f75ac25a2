package dns

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// mostKnowing limits the control plane nodes that are asked, which leaves room for the host's name
// servers: a worker asks those if all control plane nodes are down.
const mostKnowing = 9

// Observe reads the host's addresses, its name servers and the nodes. The nodes are the remembered
// ones while the API has not answered or reports none.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	links, err := r.Host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	resolvers, err := r.Host.Resolvers()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the host's name servers: %w", err)
	}
	s := Snapshot{Links: links, Resolvers: resolvers, Source: metrics.FromAPI}
	var nodes []Node
	synced := false
	if r.Nodes != nil {
		nodes, synced = r.Nodes.Nodes()
	}
	switch {
	case synced && len(nodes) > 0:
		s.Nodes = nodes
		return s, nil
	case !r.loaded:
		text, err := r.Host.Read(MemoryPath)
		if err != nil {
			return Snapshot{}, fmt.Errorf("read the nodes of an earlier run: %w", err)
		}
		r.known, r.loaded = decode(text), true
	}
	s.Nodes, s.Source = r.known, metrics.FromMemory
	if len(s.Nodes) == 0 {
		s.Source = metrics.FromNone
	}
	return s, nil
}

// Decide computes the Corefile and the hosts file. Without a usable name server CoreDNS still
// answers the cluster's own names. CoreDNS does not poll its Corefile, as the room sends a signal
// after a change.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	self := func(a netip.Addr) bool { return s.isSelf(r.Plan, a) }
	upstreams, why := nameserver.Upstreams(s.Resolvers, self)
	upstreams, last := s.claimedLast(upstreams)
	hosts, unnamed := r.hosts(s.Nodes)
	reasons := loop.Reasons{why, named(len(hosts), s.Source)}
	if len(last) > 0 {
		reasons = append(reasons, loop.List(last)+" last, as a Node has the address")
	}
	if unnamed != "" {
		reasons = append(reasons, unnamed)
	}
	d := Desired{Hosts: hosts, Corefile: corefile.Config{
		Header:     r.Header,
		Zone:       r.Plan.Cluster.Zone,
		Hosts:      true,
		Upstreams:  upstreams,
		Clients:    r.clients(s),
		HealthPort: r.Plan.Ports[port.CoreDNSHealth],
	}}
	// On the bootstrap machine the records are always ours, as no other server has them yet.
	if r.Plan.DNSRecords != spec.External {
		d.Corefile.Records = r.Plan.Records
	}
	if s.Source == metrics.FromAPI {
		d.Memory = s.Nodes
	}
	if r.Plan.AnswersFromMDNS() {
		announced, why := nameserver.Announced(r.Plan, s.Links)
		d.Corefile.Announced, reasons = &announced, append(reasons, why)
	}
	// Control plane nodes know all nodes and never ask each other, so no query loops.
	if r.Role != role.Master {
		d.Corefile.Knowing = knowing(hosts, s.Links)
		reasons = append(reasons,
			fmt.Sprintf("names of other nodes from %s", loop.List(d.Corefile.Knowing)))
	}
	r.meter.decided(s.Source, len(hosts), len(upstreams))
	return d, reasons
}

// clients are the networks that may query; none for all. A host queries its own name server at the
// node's address, and so from that address. Control plane nodes answer what other nodes forward for
// the names of nodes. A link that is down may be kube-proxy's, with the addresses of all Services.
func (r *Room) clients(s Snapshot) []netip.Prefix {
	var hosts []netip.Addr
	for _, l := range s.Links.Links {
		for _, a := range l.Addresses {
			ip := a.Prefix.Addr()
			if l.Up && addr.Usable(a) && !slices.Contains(r.Plan.VIPs.All(), ip) {
				hosts = append(hosts, ip)
			}
		}
	}
	if r.Role == role.Master {
		for _, n := range s.Nodes {
			hosts = append(hosts, r.addresses(n)...)
		}
	}
	return r.Plan.NameClients(hosts...)
}

// named is the reason for the number of named nodes.
func named(nodes int, source string) string {
	switch source {
	case metrics.FromAPI:
		source = "the API"
	case metrics.FromNone:
		return "no node is named yet"
	}
	return fmt.Sprintf("%d nodes named by %s", nodes, source)
}

// hosts are the nodes by short name, the first label, in order; nodes with the same short name
// share it. unnamed describes the first node without a valid name or address.
func (r *Room) hosts(nodes []Node) (hosts []corefile.Host, unnamed string) {
	byName := map[record.Name][]netip.Addr{}
	for _, n := range nodes {
		label, _, _ := strings.Cut(n.Name, ".")
		short, err := record.ParseName(label)
		if err == nil {
			_, err = record.ParseName(label + "." + string(r.Plan.Cluster.Zone))
		}
		addresses := r.addresses(n)
		if err == nil && len(addresses) == 0 {
			err = fmt.Errorf("it has no address yet")
		}
		if err != nil {
			unnamed = cmp.Or(unnamed, fmt.Sprintf("node %q has no name: %v", n.Name, err))
			continue
		}
		for _, a := range addresses {
			if !slices.Contains(byName[short], a) {
				byName[short] = append(byName[short], a)
			}
		}
	}
	for short, addresses := range byName {
		hosts = append(hosts, corefile.Host{Short: short, Addresses: addresses})
	}
	slices.SortFunc(hosts, func(a, b corefile.Host) int { return cmp.Compare(a.Short, b.Short) })
	return hosts, unnamed
}

// addresses are a node's reachable addresses. A VIP never counts, whichever node holds it.
func (r *Room) addresses(n Node) (own []netip.Addr) {
	for _, a := range n.InternalIPs {
		a = a.Unmap()
		vip := slices.Contains(r.Plan.VIPs.All(), a)
		if !vip && a.IsGlobalUnicast() && a.Zone() == "" {
			own = append(own, a)
		}
	}
	return own
}

// knowing are the control plane nodes to ask, without this machine, each by its first address of a
// family that this machine has too.
func knowing(hosts []corefile.Host, links addr.Snapshot) (all []netip.Addr) {
	families := map[bool]bool{}
	for _, link := range links.Links {
		for _, a := range link.Addresses {
			if ip := a.Prefix.Addr(); !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
				families[ip.Is4()] = true
			}
		}
	}
	own := func(a netip.Addr) bool { return links.LinkOf(a) != "" }
	reachable := func(a netip.Addr) bool { return families[a.Is4()] }
	for _, h := range hosts {
		i := slices.IndexFunc(h.Addresses, reachable)
		if i >= 0 && len(all) < mostKnowing && !slices.ContainsFunc(h.Addresses, own) {
			all = append(all, h.Addresses[i])
		}
	}
	return all
}
