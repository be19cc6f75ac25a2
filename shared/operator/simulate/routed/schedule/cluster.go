package schedule

import (
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Cluster is the cluster to simulate. Its hosts are named bootstrap, master-0 and so on, and
// ingress-0 and so on; they are spread over the racks of the plan one after the other.
type Cluster struct {
	BGP       *routed.Plan
	Checks    vrrp.Timing // of the nodes' checks
	Racks     [][]string  // the AS numbers of the routers of each
	Masters   int
	Ingress   int  // nodes with an ingress router
	Bootstrap bool // it announces the API VIP at the beginning, and masters join later
	Clients   VIP  // which VIP the clients use
	Flows     int  // connections of clients; 0: none
	Defect    Defect
	// Elected is the kind of the VIP whose holder VRRP elects too; empty for none. The hosts'
	// programs then run in another simulation (package both), which sets their results.
	Elected vrrp.Kind
	// Ranked reports whether nodes without the default ingress router have a rank of their own.
	Ranked bool
	// Home are the indexes of the racks with hosts: all racks or, where VRRP elects a holder,
	// those that the VIP's network may be in.
	Home []int
	Topology
}

// Defect breaks the product on purpose, so that tests hold that each rule finds something.
type Defect int

// The defects.
const (
	Sound     Defect = iota
	Ungated          // a node announces before it has observed the API
	Equal            // nodes and the bootstrap machine announce paths of one length
	Abrupt           // a host that leaves makes its paths no longer before it withdraws
	Bare             // addresses are removed together with their routes
	Blind            // the monitor's checks find nothing
	Forgetful        // a host that has withdrawn announces nothing any more
	Waiting          // the monitor does not probe ports, and its checks alone find an end
)

// The names of hosts.
const BootstrapName = "bootstrap"

// MasterName is the name of a control plane node.
func MasterName(i int) string { return fmt.Sprintf("master-%d", i) }

func ingressName(i int) string { return fmt.Sprintf("ingress-%d", i) }

// MaxMasters is the largest simulated control plane, and the largest number of racks.
const MaxMasters = 16

// Of is the cluster of a plan; the error is why there is nothing to simulate.
func Of(p plan.Plan, masters int) (c Cluster, err error) {
	switch {
	case p.BGP == nil:
		return c, fmt.Errorf("cluster %s: its hosts announce no VIP to routers, so there is "+
			"nothing to simulate", p.Cluster.Name)
	case masters > MaxMasters || len(p.BGP.Racks) > MaxMasters:
		return c, fmt.Errorf("cluster %s has %d control plane nodes and %d racks: simulate takes "+
			"%d of each at most", p.Cluster.Name, masters, len(p.BGP.Racks), MaxMasters)
	}
	c = Cluster{BGP: p.BGP, Checks: p.Timing.Model, Masters: max(1, masters)}
	if len(p.VIPs.Ingress) > 0 {
		c.Ingress = c.Masters
	}
	c.Ranked = slices.ContainsFunc(p.VRRP.IngressNodes.Checks,
		func(w vrrp.Weight) bool { return w.Check == vrrp.CheckDefaultIngress })
	for i, r := range p.BGP.Racks {
		c.Racks = append(c.Racks, routers(i, r))
		if !p.ByVRRP() || !r.Network.IsValid() || slices.ContainsFunc(p.VIPs.API,
			r.Network.Contains) {
			c.Home = append(c.Home, i)
		}
	}
	if len(c.Racks) == 0 {
		return c, fmt.Errorf("cluster %s has no racks, so there is nothing to simulate",
			p.Cluster.Name)
	}
	if len(c.Home) == 0 {
		return c, fmt.Errorf("cluster %s: the API VIP is in the network of no rack, so there is "+
			"nothing to simulate", p.Cluster.Name)
	}
	c.Topology = c.topology()
	if slices.ContainsFunc(c.Boxes[c.Hosts:], func(b Box) bool { return b.Number == 0 }) {
		return c, fmt.Errorf("cluster %s: its routers, with those above the racks, have more AS "+
			"numbers than simulate takes, 64", p.Cluster.Name)
	}
	return c, nil
}

// Sized is the cluster with so many nodes.
func (c Cluster) Sized(masters, ingress int) Cluster {
	c.Masters, c.Ingress = masters, ingress
	c.Topology = c.topology()
	return c
}

// routers are the AS numbers of a rack's routers, as text. Those of one family are simulated:
// the IPv6 ones only if there are no others. A rack without routers in the plan has its gateway.
func routers(rack int, r routed.Rack) (all []string) {
	var six []string
	for i, p := range r.Peers {
		number := fmt.Sprint(p.ASN)
		if p.ASN == 0 {
			number = fmt.Sprintf("of leaf %d-%d", rack, i)
		}
		if p.Address.Is6() {
			six = append(six, number)
		} else {
			all = append(all, number)
		}
	}
	if len(all) == 0 {
		all = six
	}
	if len(all) == 0 {
		all = []string{fmt.Sprintf("of leaf %d", rack)}
	}
	return all
}

// Policy is the scheme of the grades of a VIP. That of ingress has no bootstrap machine, and
// without elections no ranks; with elections it has one rank more if Ranked.
func (c Cluster) Policy(v VIP) bgp.Policy {
	p := c.BGP.Policy
	if v == Ingress {
		p.Bootstrap = false
		switch {
		case c.Elected == "":
			p.Ranks = 0
		case c.Ranked:
			p.Ranks++
		}
	}
	return p
}

// IsMaster reports whether a host is a control plane node.
func (c Cluster) IsMaster(host int) bool { return host > 0 && host <= c.Masters }

// Announces reports whether a host may announce a VIP.
func (c Cluster) Announces(host int, v VIP) bool {
	if v == API {
		return host <= c.Masters
	}
	return host > c.Masters && host < c.Hosts
}
