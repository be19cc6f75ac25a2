package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/plan/pace"
	"github.com/onprem-infra/onprem-infra/shared/plan/ports"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
	"github.com/onprem-infra/onprem-infra/shared/plan/size"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/shared/vrrp/proof"
)

// Compile completes the user's input, holds it to the rules of spec.Check, checks the timers and
// proves the election policy. The plan shares no memory with the input. Input that spec.Parse
// accepted fails only where settings contradict each other. The error joins everything that is
// wrong.
func Compile(c spec.Cluster) (Plan, error) {
	timing, _ := vrrp.TimingOf(cmp.Or(c.Timing, timingOf(c.Platform)))
	if n := size.Of(c); timingproof.Needed(timing) && len(c.TimingProof) < n {
		return Plan{}, fmt.Errorf("compile cluster %q: spec.timing: timing %s needs a proof of %d "+
			"hosts at least, and has one of %d: measure it on each, with doctor --timing-proof",
			c.Name, timing.Profile, n, len(c.TimingProof))
	}
	return CompileFormer(c)
}

// CompileFormer is Compile for what hosts have been given before: it does not ask for the proof
// that their timing needed.
func CompileFormer(c spec.Cluster) (Plan, error) {
	timing, _ := vrrp.TimingOf(cmp.Or(c.Timing, timingOf(c.Platform)))
	policy := flavourFor(c).Policy(timing.Policy())
	if c.DNSVIP.IsValid() {
		policy = policy.WithDNS()
	}
	if sharing.Has(c) {
		policy = policy.WithProvisioning()
	}
	p, err := compile(c, timing, policy)
	if before, migrates := c.Before(); migrates && err == nil {
		former, err := CompileFormer(before)
		if err != nil {
			return Plan{}, fmt.Errorf("compile what the cluster migrates from: %w", err)
		}
		p.Former, p.MigrateFrom = &former, former.Way()
	}
	if err == nil && timingproof.Needed(timing) {
		c.Timing, c.MigrateFrom = timingproof.Fallback, spec.Former{}
		fallback, err := Compile(c)
		if err != nil {
			return Plan{}, fmt.Errorf("compile what the cluster changes to: %w", err)
		}
		p.Fallback = &fallback
	}
	return p, err
}

// compile is Compile with the numbers that the elections run on.
func compile(c spec.Cluster, timing vrrp.Timing, policy vrrp.Policy) (Plan, error) {
	c, assumed := withAssumedVIPs(c)
	c = complete(c)
	if err := readable(c); err != nil {
		return Plan{}, fmt.Errorf("compile cluster %q: %w", c.Name, err)
	}
	if c.VRIDs[string(vrrp.Provisioning)] != 0 && !sharing.Has(c) {
		return Plan{}, fmt.Errorf("compile cluster %q: spec.vrids.provisioning: the nodes share "+
			"no provisioning address: remove it, or write address: one", c.Name)
	}
	proven, err := proof.Prove(policy)
	if err := errors.Join(proof.CheckTiming(timing), err); err != nil {
		return Plan{}, fmt.Errorf("compile cluster %q: %w", c.Name, err)
	}
	domain := record.Name(c.BaseDomain)
	zone := record.Name(c.Name) + "." + domain
	p := Plan{
		Cluster: Identity{Name: c.Name, Domain: domain, Zone: zone},
		Shape: Shape{
			Platform: c.Platform, Distribution: c.Distribution, Topology: c.Topology,
			Families: Families(c.Families),
		},
		MachineNetworks: c.MachineNetworks,
		DNSClients:      c.DNSClients,
		VIPs:            VIPs{API: c.APIVIPs, Ingress: c.IngressVIPs, Assumed: assumed},
		Services: Services{
			LoadBalancer: c.LoadBalancer, DNSRecords: c.DNSRecords, MDNS: c.MDNS,
			Metrics: c.Metrics, EtcdMembers: size.Members(c),
		},
		VRRP:    elections(c, policy, proven),
		Ports:   ports.Of(c, flavourFor(c), timing.Profile),
		Records: record.Cluster(zone, c.APIVIPs, c.IngressVIPs),
		Images:  copied(c.Images),
		Nodes:   c.Nodes,
		knobs: knobs{timing: c.Timing, mode: c.VRRP, former: c.MigrateFrom, clash: c.OnClash,
			vrids: copied(c.VRIDs), ports: copied(c.Ports),
			proof: copied(c.TimingProof), size: c.ControlPlaneReplicas},
	}
	if c.DNSVIP.IsValid() {
		p.VIPs.DNS = append(p.VIPs.DNS, c.DNSVIP)
	}
	if p.Provisioning, err = provision.Of(c); err != nil {
		return Plan{}, fmt.Errorf("compile the provisioning of cluster %q: %w", c.Name, err)
	}
	if sharing.Has(c) {
		p.VIPs.Provisioning = append(p.VIPs.Provisioning, p.Provisioning.IP)
	}
	if p.Announcing, err = routed.Of(c, timing, size.Of(c)); err != nil {
		return Plan{}, fmt.Errorf("compile cluster %q: %w", c.Name, err)
	}
	p.Timing = paces(p, timing, policy)
	return p, nil
}

// readable checks that hosts accept what they get, the values of cluster.json: a Cluster that
// was not parsed may have any value, and a wrong one must not first be noticed on a host.
func readable(c spec.Cluster) error {
	var errs []error
	for _, f := range spec.Check(c) {
		if f.Severity == spec.Error {
			errs = append(errs, fmt.Errorf("%s: %s", f.Path, f.Text))
		}
	}
	return errors.Join(errs...)
}

// elections are how VRRP runs.
func elections(c spec.Cluster, policy vrrp.Policy, proven proof.Proof) VRRP {
	ids := routers(c)
	v := VRRP{
		Mode: cmp.Or(c.VRRP, spec.Unicast), OnClash: cmp.Or(c.OnClash, clash.Report),
		API:               Router{ID: ids[vrrp.API]},
		Ingress:           Router{ID: ids[vrrp.Ingress]},
		BootstrapPriority: policy.Bootstrap,
		ControlPlane:      schemeOf(policy.ControlPlane, proven.ControlPlaneMax),
		IngressNodes:      schemeOf(policy.Ingress, proven.IngressMax),
		Margin:            proven.Margin,
		Proof:             proven.Statements,
	}
	if c.DNSVIP.IsValid() {
		nodes := schemeOf(policy.DNS, proven.DNSMax)
		v.DNS, v.DNSNodes = Router{ID: ids[vrrp.DNS]}, &nodes
		v.DNSBootstrapPriority = policy.BootstrapDNS
	}
	if sharing.Has(c) {
		nodes := schemeOf(policy.Provisioning, proven.ProvisioningMax)
		v.Provisioning, v.ProvisioningNodes = Router{ID: ids[vrrp.Provisioning]}, &nodes
	}
	return v
}

// routers are the virtual router IDs, the user's own where they are set. If one of these equals a
// default of the DNS VIP or of the provisioning address, that one has another ID.
func routers(c spec.Cluster) map[vrrp.Kind]vrrp.ID {
	api, ingress, _ := vrrp.IDs(c.Name) // only an empty name has none
	ids := map[vrrp.Kind]vrrp.ID{vrrp.API: api, vrrp.Ingress: ingress}
	for name, id := range c.VRIDs {
		ids[vrrp.Kind(name)] = vrrp.ID(id)
	}
	if c.DNSVIP.IsValid() && ids[vrrp.DNS] == 0 {
		ids[vrrp.DNS] = vrrp.DNSID(c.Name, ids[vrrp.API], ids[vrrp.Ingress],
			ids[vrrp.Provisioning])
	}
	if sharing.Has(c) && ids[vrrp.Provisioning] == 0 {
		ids[vrrp.Provisioning] = vrrp.ProvisioningID(c.Name, ids[vrrp.API], ids[vrrp.Ingress],
			ids[vrrp.DNS])
	}
	return ids
}

// paces is the profile in numbers. Behind a balancer of the user's own there are no bounds.
func paces(p Plan, timing vrrp.Timing, policy vrrp.Policy) Timing {
	elected := bound.VIPs{Provisioning: p.VIPs.Provisioning}
	if p.ByVRRP() {
		elected.API, elected.Ingress, elected.DNS = p.VIPs.API, p.VIPs.Ingress, p.VIPs.DNS
	}
	return pace.Of(timing, policy, elected, p.LoadBalancer == spec.Managed, p.knobs.proof)
}

// copied is a map of the plan's own, empty and not nil without entries.
func copied[M ~map[K]V, K comparable, V any](m M) M {
	own := make(M, len(m))
	maps.Copy(own, m)
	return own
}
