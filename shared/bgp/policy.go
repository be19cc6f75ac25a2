package bgp

// Grade is how often a host prepends its own number to the AS path of a VIP, beyond the one that
// BGP itself adds: 0 is the shortest path, the best. Routers compare the lengths of paths before
// attributes such as MED, on which hosts of several racks cannot agree.
type Grade int

// Health is what serves the API on a host.
type Health struct {
	Balancer bool // it answers, and a server of its own is up
	API      bool // the host's own API server is ready
}

// Serves reports whether the host may announce the VIP.
func (h Health) Serves() bool { return h.Balancer || h.API }

// Policy is the scheme of the grades of one VIP's hosts.
type Policy struct {
	// Depth is how many levels of routers are above the leaves: 1 where spines join them, 2 with
	// super-spines, 0 if all hosts have the same leaves. Between two leaves are 2*Depth-1 routers
	// at most, each of which has a number of its own at worst.
	Depth int
	// Ranks is how many hosts are ranked, so that one is in front of the others for every router;
	// 0 if all hosts that serve are alike.
	Ranks int
	// Bootstrap reports whether a bootstrap machine announces the VIP before the cluster's nodes
	// do. The nodes' paths keep their length for as long as the cluster lives, as each change of
	// it moves connections.
	Bootstrap bool
}

// ownAPI is what is added where the balancer does not answer, and the host's API server does.
const ownAPI = 1

// Apart is the least difference of two grades with which every router prefers the better one: the
// fabric adds 2*Depth numbers at most to the better host's path.
func (p Policy) Apart() Grade { return Grade(2*p.Depth + 1) }

// step is the distance of two ranks: the better one is preferred also with the API server alone.
func (p Policy) step() Grade {
	if p.Ranks == 0 {
		return 0
	}
	return p.Apart() + ownAPI
}

// Behind is the grade of the best node. With a bootstrap machine it is so large that each router
// prefers that machine to every node, even if a router adds one more number of its own.
func (p Policy) Behind() Grade {
	if !p.Bootstrap {
		return 0
	}
	return p.Apart() + 1
}

// worst is the largest grade of a node that serves and does not leave.
func (p Policy) worst() Grade {
	return p.Behind() + p.step()*Grade(max(p.Ranks-1, 0)) + ownAPI
}

// Leaving is the grade of a host that is about to withdraw: every router then prefers each other
// host that serves. In this way the nodes succeed the bootstrap machine too.
func (p Policy) Leaving() Grade { return p.worst() + p.Apart() }

// OfBootstrap is the bootstrap machine's grade.
func (p Policy) OfBootstrap(leaving bool) Grade {
	if leaving {
		return p.Leaving()
	}
	return 0
}

// OfNode is a node's grade, by its rank (0 is the best; without ranks it does not count). ok is
// false if it must not announce the VIP.
func (p Policy) OfNode(rank int, h Health, leaving bool) (g Grade, ok bool) {
	if !h.Serves() {
		return 0, false
	}
	if leaving {
		return p.Leaving(), true
	}
	g = p.Behind()
	if p.Ranks > 0 {
		g += p.step() * Grade(min(max(rank, 0), p.Ranks-1))
	}
	if !h.Balancer {
		g += ownAPI
	}
	return g, true
}

// MostDemotions limits the grades through which a host goes before it withdraws.
const MostDemotions = 12

// Demotions are the grades through which a host with a grade leaves, one after another, each when
// all routers have followed the one before. Routers with another way of the same length move to
// other hosts first, then those whose other way is longer, and the host's own leaf last. If a
// leaf moved while spines still send to it, it would send their packets back. Each step is one
// number, by which two leaves of a rack with numbers of their own differ. Steps are larger if
// there would be more than MostDemotions: with so many ranks a host would take too long.
func (p Policy) Demotions(from Grade) (all []Grade) {
	last := max(p.Leaving(), from)
	step := max((last-from+MostDemotions-1)/MostDemotions, 1)
	for g := from + step; g < last; g += step {
		all = append(all, g)
	}
	return append(all, last)
}
