package mdns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Ports and TTLs of the services, as other programs know them.
const (
	workstationPort = 42424 // no program listens there; the service only shows that the host exists
	etcdPort        = 2380
	serviceTTL      = 3200 * time.Second
	etcdHostTTL     = 300 * time.Second
)

// Observe reads the host. A missing name, or a choice that node-ip has not made, is no error.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	links, err := r.host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	agreed, err := r.host.Agreed()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the node's addresses: %w", err)
	}
	name, err := r.host.Hostname()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the host name: %w", err)
	}
	s := Snapshot{Links: links, Agreed: agreed, Hostname: name}
	if r.station != nil {
		s.Claims, s.At = r.station.status.now().claims, r.where
	}
	return s, nil
}

// Decide decides what to announce, and where.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	r.mu.Lock()
	r.claims = s.Claims
	r.mu.Unlock()
	if r.plan.MDNS != spec.MDNSEnabled {
		return Desired{}, loop.Reasons{"the cluster does not use multicast DNS"}
	}
	name, why := short(s.Hostname)
	if why != "" {
		return Desired{}, loop.Reasons{why}
	}
	agreed, from := s.Agreed, "node-ip"
	if len(agreed) == 0 {
		chosen, err := addr.ForNode(s.Links, addr.Wish{VIPs: r.plan.VIPs.All()})
		if err != nil {
			return Desired{}, loop.Reasons{"wait for the node's address: " + err.Error()}
		}
		agreed, from = chosen.Addresses, "as node-ip would choose"
	}
	link, ok := owner(s.Links, agreed[0])
	if !ok {
		return Desired{}, loop.Reasons{
			fmt.Sprintf("wait until an interface has %v (%s)", agreed[0], from),
		}
	}
	d := Desired{Where: Where{Index: link.Index, Name: link.Name}}
	var own []netip.Addr
	for _, a := range link.Addresses {
		ip := a.Prefix.Addr()
		d.Link = append(d.Link, a.Prefix)
		if slices.Contains(agreed, ip) && !a.Tentative {
			own = append(own, ip)
			if ip.Is4() && !d.Where.From4.IsValid() {
				d.Where.From4 = ip
			}
		}
		d.Where.IPv6 = d.Where.IPv6 || ip.Is6() && ip.IsLinkLocalUnicast() && !a.Tentative
	}
	d.Hosts = r.announced(name, own)
	reasons := loop.Reasons{fmt.Sprintf("%s is %v on %s (%s) by %s",
		name, own, link.Name, from, d.Where.families())}
	for _, c := range s.Claims {
		ours := func(h wire.Host) bool { return h.Name == c.Name }
		if d.Where == s.At && slices.ContainsFunc(d.Hosts, ours) && c.State != announce.Probing {
			reasons = append(reasons, r.reason(c))
		}
	}
	return d, reasons
}

// reason is the reason for how a name is announced, or not.
func (r *Room) reason(c announce.Claim) string {
	switch {
	case c.State == announce.Lost:
		return fmt.Sprintf("not announced: %v has the name %s; "+
			"give one of the two hosts another one", c.Rival, c.Name)
	case c.Within:
		return fmt.Sprintf("%[1]s is announced as %[1]s.%[2]s.local: "+
			"%[3]v, which is no node of this cluster, has %[1]s.local",
			c.Name, r.plan.Cluster.Name, c.Rival)
	}
	return fmt.Sprintf("%s is announced", c.Name)
}

// short is the first label of a host's name. A host without a name must not be announced: all of
// them are called localhost.
func short(hostname string) (record.Name, string) {
	label, _, _ := strings.Cut(strings.TrimSpace(hostname), ".")
	name, err := record.ParseName(label)
	switch {
	case err != nil:
		return "", fmt.Sprintf("wait for a host name: %q is not valid: %v", hostname, err)
	case name == "localhost":
		return "", "wait for a host name: it is " + hostname
	}
	return name, ""
}

// owner is the interface that has an address which can be used.
func owner(s addr.Snapshot, ip netip.Addr) (addr.Link, bool) {
	for _, l := range s.Links {
		for _, a := range l.Addresses {
			if a.Prefix.Addr() == ip && !a.Tentative && l.Up {
				return l, true
			}
		}
	}
	return addr.Link{}, false
}

// announced are the host itself and, on a control plane node, its etcd member at the host's own
// name. If the name ends in a number N, the member is also announced as etcd-N, as older clusters
// expect. Of two nodes with the same number the second one does not get that name.
func (r *Room) announced(name record.Name, own []netip.Addr) []wire.Host {
	service := func(what string, kind wire.Type, port uint16, ttl time.Duration) wire.Service {
		instance := wire.Instance(r.plan.Cluster.Name, what+"-"+string(name))
		return wire.Service{Instance: instance, Type: kind, Port: port, TTL: ttl}
	}
	hosts := []wire.Host{{
		Name: name, Cluster: record.Name(r.plan.Cluster.Name), Addresses: own, Reverse: true,
		Services: []wire.Service{
			service("Workstation", wire.Workstation, workstationPort, serviceTTL),
		},
	}}
	if r.role != role.Master {
		return hosts
	}
	etcd := service("Etcd", wire.Etcd, etcdPort, serviceTTL)
	hosts[0].Services = append(hosts[0].Services, etcd)
	i := strings.LastIndexByte(string(name), '-')
	number := string(name[i+1:])
	member := record.Name("etcd-" + number)
	if i >= 0 && number != "" && strings.Trim(number, "0123456789") == "" && name != member {
		hosts = append(hosts, wire.Host{
			Name: member, Cluster: hosts[0].Cluster, Addresses: own, Services: []wire.Service{
				service("EtcdWorkstation", wire.Workstation, workstationPort, etcdHostTTL),
			},
		})
	}
	return hosts
}
