package spec

// validate applies the rules.
func (r *report) validate(d draft) {
	d = d.assume()
	r.checkNames(d.name, d.domain)
	r.oneOf(d.loadBalancer, balancers(d)...)
	r.oneOf(d.dnsRecords, string(Internal), string(External))
	r.oneOf(d.families, Families()...)
	r.oneOf(d.distribution, string(Kubernetes), string(OpenShift))
	r.checkTopology(d)
	r.checkNodes(d.nodes)
	r.checkOverlap(d.networks)
	if d.platform != "" {
		r.checkRequired(d)
		r.checkPairs(d)
		r.checkDNS(d)
		r.checkPrimary(d)
		r.checkMembership(d)
	}
	if d.installConfig {
		r.checkInstalled(d)
	}
}

// balancers are the words for the load balancer's type. A cluster.yaml has a shorter one for ours,
// which balancer has replaced.
func balancers(d draft) []string {
	words := []string{string(Managed), string(UserManaged)}
	if !d.installConfig {
		words = append([]string{OwnManaged}, words...)
	}
	return words
}

// shape is the topology that the document names, or that follows from the number of nodes; empty
// if it has neither.
func (d draft) shape() Topology {
	switch {
	case d.topology.Given:
		return Topology(d.topology.Value)
	case d.arbiters.Value > 0:
		return HighlyAvailableArbiter
	case !d.replicas.OK:
		return ""
	case d.replicas.Value == 1:
		return SingleReplica
	case d.replicas.Value == 2:
		return DualReplica
	}
	return HighlyAvailable
}

func (r *report) checkTopology(d draft) {
	r.oneOf(d.topology, string(HighlyAvailable), string(HighlyAvailableArbiter),
		string(DualReplica), string(SingleReplica))
	if d.arbiters.OK && d.arbiters.Value < 0 {
		r.Errorf(d.arbiters.At, "%d is no number of nodes: write 0 or more", d.arbiters.Value)
	}
	if !d.replicas.OK {
		return
	}
	n, at := d.replicas.Value, d.replicas.At
	if n < 1 {
		r.Errorf(at, "a control plane has at least one node, not %d: write 1 or more", n)
		return
	}
	if n == 1 && d.platform == BareMetal && d.installConfig {
		r.Warnf(at, "the installer refuses a single control plane node on baremetal: write 3, or "+
			"describe the cluster in a cluster.yaml")
	}
	for _, rule := range []struct {
		shape       Topology
		least, most int
		want        string
	}{
		{SingleReplica, 1, 1, "topology SingleReplica has 1 control plane node"},
		{DualReplica, 2, 2, "topology DualReplica has 2 control plane nodes"},
		{HighlyAvailableArbiter, 2, n, "an arbiter needs 2 control plane nodes or more beside it"},
		{HighlyAvailable, 3, n, "topology HighlyAvailable has 3 control plane nodes or more"},
	} {
		if d.shape() == rule.shape && (n < rule.least || n > rule.most) {
			r.Errorf(at, "%s, not %d: change one of the two", rule.want, n)
		}
	}
}
