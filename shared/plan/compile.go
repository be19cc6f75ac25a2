package plan

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/shared/vrrp/proof"
)

// Compile completes the user's input, checks the timers, proves the election policy, and that hosts
// read the plan's cluster.json. The plan shares no memory with the input. Input that spec.Parse
// accepted fails only where settings contradict each other or the policy; the error joins
// everything that is wrong.
func Compile(c spec.Cluster) (Plan, error) {
	mode, timing, err := elections(c)
	policy := flavourFor(c).policy(timing.Policy())
	if c.DNSVIP.IsValid() {
		policy = policy.WithDNS()
	}
	p, err := compile(c, mode, timing, policy, err)
	if before, migrates := c.Before(); migrates && err == nil {
		former, err := Compile(before)
		if err != nil {
			return Plan{}, fmt.Errorf("compile what the cluster migrates from: %w", err)
		}
		p.Former, p.MigrateFrom = &former, former.Way()
	}
	return p, err
}

// compile is Compile with the numbers that the elections run on, or what is wrong with how they
// were asked for.
func compile(c spec.Cluster, mode spec.Mode, timing vrrp.Timing, policy vrrp.Policy, errTiming error) (Plan, error) {
	c, assumed := withAssumedVIPs(c)
	identity, errName := identify(c)
	ids, errIDs := routers(c)
	proven, errPolicy := proof.Prove(policy)
	if errTiming == nil {
		errTiming = proof.CheckTiming(timing)
	}
	ports, errPorts := port.Resolve(c.Ports)
	if mdnsOf(c) == "" {
		delete(ports, port.MDNS)
		delete(ports, port.MonitorMDNS)
	}
	if err := errors.Join(errName, errTiming, errIDs, errPolicy, errPorts, checkMDNS(c.MDNS), checkMetrics(c.Metrics)); err != nil {
		return Plan{}, fmt.Errorf("compile cluster %q: %w", c.Name, err)
	}
	flavour := flavourFor(c)
	vips := vipsOf(c)
	vips.Assumed = assumed
	p := Plan{
		Cluster:         identity,
		Platform:        or(c.Platform, spec.None),
		Distribution:    distributionFor(c),
		Topology:        topologyOf(c),
		Families:        or(Families(c.Families), familiesOf(c)),
		MachineNetworks: masked(c.MachineNetworks),
		DNSClients:      masked(c.DNSClients),
		VIPs:            vips,
		LoadBalancer:    loadBalancerOf(c),
		DNSRecords:      or(c.DNSRecords, spec.Internal),
		MDNS:            mdnsOf(c), Metrics: metricsOf(c),
		EtcdMembers: membersOf(c),
		VRRP: VRRP{
			Mode: mode, OnClash: or(c.OnClash, clash.Report),
			API:               Router{ID: ids[vrrp.API]},
			Ingress:           Router{ID: ids[vrrp.Ingress]},
			BootstrapPriority: policy.Bootstrap,
			ControlPlane:      ladder(policy.ControlPlane, proven.ControlPlaneMax),
			IngressNodes:      ladder(policy.Ingress, proven.IngressMax),
			Margin:            proven.Margin,
			Proof:             proven.Statements,
		},
		Timing:  paces(loadBalancerOf(c), vips, timing, policy),
		Ports:   flavour.ports(ports),
		Records: record.Cluster(identity.Zone, vips.API, vips.Ingress),
		Images:  copied(c.Images),

		Namespace: or(c.Nodes.Namespace, flavour.Namespace), Kubeconfig: or(c.Nodes.Kubeconfig, flavour.Kubeconfig),
		CertificateDirectories: slices.Sorted(slices.Values(c.Nodes.CertificateDirectories)),
		KubeletUnit:            or(c.Nodes.KubeletUnit, flavour.KubeletUnit),
		ControlPlaneLabel:      or(c.Nodes.ControlPlaneLabel, flavour.ControlPlaneLabel),

		knobs: knobs{timing: c.Timing, mode: c.VRRP, former: c.MigrateFrom, vrids: copied(c.VRIDs), ports: copied(c.Ports), clash: c.OnClash, size: sizeOf(c)},
	}
	p.VRRP.elects(vips.DNS, ids[vrrp.DNS], policy, proven)
	if err := readable(c, p); err != nil {
		return Plan{}, fmt.Errorf("compile cluster %q: %w", c.Name, err)
	}
	return p, nil
}

// elects fills in who stands for the DNS VIP, where there is one.
func (v *VRRP) elects(vips []netip.Addr, id vrrp.ID, policy vrrp.Policy, proven proof.Proof) {
	if len(vips) > 0 {
		nodes := ladder(policy.DNS, proven.DNSMax)
		v.DNS, v.DNSBootstrapPriority, v.DNSNodes = Router{ID: id}, policy.BootstrapDNS, &nodes
	}
}

// paces are the profile in numbers, with what follows from it.
func paces(balancer spec.LoadBalancer, vips VIPs, timing vrrp.Timing, policy vrrp.Policy) Timing {
	return Timing{
		Profile:          timing.Profile,
		AdvertIntervalMs: int(timing.Advert.Milliseconds()),
		IPv4Version:      int(timing.IPv4),
		PatienceMs:       ceilMs(max(vrrp.Patience(timing.IPv4, timing.Advert), vrrp.Patience(vrrp.V3, timing.Advert))),
		SilenceMs:        ceilMs(vrrp.Silence),
		Looks:            looks(timing, policy),
		Bounds:           bounds(balancer, vips, policy, timing),
		Model:            timing,
	}
}

// readable holds that hosts accept what they get. They do if spec.Parse accepted the cluster; one
// that was made or changed in another way may have any value, which must not come to light on a
// host. The values are those of cluster.json.
func readable(c spec.Cluster, p Plan) error {
	c.Platform, c.Distribution, c.Topology, c.ControlPlaneReplicas = p.Platform, p.Distribution, p.Topology, p.knobs.size
	c.BaseDomain, c.Families, c.MachineNetworks, c.DNSClients = string(p.Cluster.Domain), string(p.Families), p.MachineNetworks, p.DNSClients
	c.LoadBalancer, c.DNSRecords, c.MDNS, c.Metrics = p.LoadBalancer, p.DNSRecords, p.MDNS, p.Metrics
	c.Nodes = spec.Nodes{Namespace: p.Namespace, Kubeconfig: p.Kubeconfig, CertificateDirectories: p.CertificateDirectories,
		KubeletUnit: p.KubeletUnit, ControlPlaneLabel: p.ControlPlaneLabel}
	var errs []error
	for _, f := range spec.Check(c) {
		if f.Severity == spec.Error {
			errs = append(errs, fmt.Errorf("%s: %s", f.Path, f.Text))
		}
	}
	return errors.Join(errs...)
}

// identify reads the names. The cluster's name becomes part of keepalived's and CoreDNS's
// configuration, so nothing but a label passes.
func identify(c spec.Cluster) (Identity, error) {
	if name, err := record.ParseName(c.Name); err != nil || string(name) != c.Name || strings.Contains(c.Name, ".") {
		return Identity{}, fmt.Errorf("the cluster's name %q is no DNS label in lower case (RFC 1123)", c.Name)
	}
	domain, err := record.ParseName(c.BaseDomain)
	if err != nil {
		return Identity{}, fmt.Errorf("base domain: %w", err)
	}
	zone, err := record.ParseName(c.Name + "." + string(domain))
	if err != nil {
		return Identity{}, fmt.Errorf("the cluster's domain: %w", err)
	}
	return Identity{Name: c.Name, Domain: domain, Zone: zone}, nil
}

// routers are the virtual router IDs, the user's own where they are set. One that is set may hit
// another: the other is not moved out of the way, as nodes of another make would not move it. That
// of the DNS VIP is, unless it is set itself.
func routers(c spec.Cluster) (map[vrrp.Kind]vrrp.ID, error) {
	api, ingress, err := vrrp.IDs(c.Name)
	if err != nil {
		return nil, err
	}
	ids := map[vrrp.Kind]vrrp.ID{vrrp.API: api, vrrp.Ingress: ingress}
	there := "api and ingress"
	if c.DNSVIP.IsValid() {
		there = "api, ingress and dns"
	}
	for _, name := range slices.Sorted(maps.Keys(c.VRIDs)) {
		id, kind := vrrp.ID(c.VRIDs[name]), vrrp.Kind(name)
		switch {
		case id == 0:
			return nil, fmt.Errorf("virtual router ID %s is 0: choose a number from 1 to 255", name)
		case kind == vrrp.API, kind == vrrp.Ingress, kind == vrrp.DNS && c.DNSVIP.IsValid():
			ids[kind] = id
		default:
			return nil, fmt.Errorf("virtual router %q does not exist: there are %s", name, there)
		}
	}
	if ids[vrrp.API] == ids[vrrp.Ingress] {
		return nil, fmt.Errorf("virtual router IDs api and ingress are both %d: choose another number for one of them", ids[vrrp.API])
	}
	if dns := ids[vrrp.DNS]; dns != 0 && (dns == ids[vrrp.API] || dns == ids[vrrp.Ingress]) {
		return nil, fmt.Errorf("virtual router ID dns is %d, and that of api or ingress too: choose another number", dns)
	}
	if c.DNSVIP.IsValid() && ids[vrrp.DNS] == 0 {
		ids[vrrp.DNS] = vrrp.DNSID(c.Name, ids[vrrp.API], ids[vrrp.Ingress])
	}
	return ids, nil
}

// copied is a map of the plan's own, empty and not nil without entries.
func copied[M ~map[K]V, K comparable, V any](m M) M {
	own := make(M, len(m))
	maps.Copy(own, m)
	return own
}
