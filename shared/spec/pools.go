package spec

import "strings"

// pools are what an install-config says of its machines beside the size of the control plane.
type pools struct {
	arbiter    place
	hasArbiter bool
	fencing    fencing
	workers    []said[int]
}

// fencing is how two nodes put each other out of the way. Its user names and passwords are not
// read, and of an address only the protocol.
type fencing struct {
	at        place
	given     bool
	list      place
	whole     bool
	addresses []said[string]
}

func (r *reader) pools(root object) pools {
	arbiter := r.object(r.field(root, "arbiter"))
	p := pools{arbiter: arbiter.at, hasArbiter: arbiter.given}
	p.fencing = r.fencing(r.object(r.field(r.object(r.field(root, "controlPlane")), "fencing")))
	compute, _ := r.list(r.field(root, "compute"))
	for _, e := range compute {
		p.workers = append(p.workers, r.number(r.field(r.object(e), "replicas")))
	}
	return p
}

func (r *reader) fencing(o object) fencing {
	list := r.field(o, "credentials")
	f := fencing{at: o.at, given: o.given, list: list.at}
	credentials, ok := r.list(list)
	f.whole = ok || !list.given()
	for _, e := range credentials {
		f.addresses = append(f.addresses, r.text(r.field(r.object(e), "address")))
	}
	return f
}

// checkPools applies the installer's rules on the shape of a cluster: nodes elect among themselves
// by what this says of their number.
func (r *report) checkPools(d draft) {
	for _, w := range d.pools.workers {
		if w.ok && w.value < 0 {
			r.errorf(w.at, "%d is no number of nodes: write 0 or more", w.value)
		}
	}
	r.checkArbiter(d)
	two := d.replicas.ok && d.replicas.value == 2
	switch f := d.pools.fencing; {
	case f.given && d.platform != BareMetal && d.platform != "":
		r.errorf(f.at, "the installer takes fencing on baremetal alone: remove it")
	case f.given && !two && (d.replicas.ok || !d.replicas.given):
		r.errorf(f.at, "fencing is for a control plane of 2 nodes: remove it, or write 2 replicas")
	case two && !d.pools.hasArbiter && f.whole && len(f.addresses) == 0:
		r.errorf(d.replicas.at, "2 control plane nodes need fencing or an arbiter: "+
			"write controlPlane.fencing with 2 credentials, an arbiter, or 3 replicas")
	case f.given && f.whole && len(f.addresses) != 2:
		r.errorf(f.list, "there are %d credentials and 2 nodes: write one for each node", len(f.addresses))
	case f.given:
		r.checkProtocols(f)
	}
}

func (r *report) checkArbiter(d draft) {
	switch n := d.arbiters; {
	case !d.pools.hasArbiter:
	case d.platform != BareMetal && d.platform != "":
		r.errorf(d.pools.arbiter, "the installer takes an arbiter on baremetal alone: remove it")
	case !n.given:
		r.errorf(n.at, "is missing: write how many arbiters there are, such as 1, or remove the arbiter")
	case n.ok && n.value == 0:
		r.errorf(n.at, "there is no arbiter of 0 nodes: write 1, or remove the arbiter")
	}
}

// checkProtocols holds that nodes are fenced by Redfish. An address without a protocol means IPMI.
func (r *report) checkProtocols(f fencing) {
	for _, a := range f.addresses {
		protocol, _, named := strings.Cut(strings.ToLower(a.value), "://")
		if a.ok && (!named || strings.HasPrefix(protocol, "ipmi")) {
			r.errorf(a.at, "nodes are not fenced by IPMI: "+
				"write the address of a Redfish service, such as redfish+https://…")
		}
	}
}
