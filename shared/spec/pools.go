package spec

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// pools are an install-config's machines beside the size of the control plane.
type pools struct {
	arbiter    document.Place
	hasArbiter bool
	fencing    fencing
	workers    []document.Scalar[int]
}

// fencing is how two nodes put each other out of the way. Its user names and passwords are not
// read, and of an address only the protocol.
type fencing struct {
	At        document.Place
	Given     bool
	list      document.Place
	whole     bool
	addresses []document.Scalar[string]
}

func (r *reader) pools(root document.Map) pools {
	arbiter := r.Map(r.Field(root, "arbiter"))
	p := pools{arbiter: arbiter.At, hasArbiter: arbiter.Given}
	p.fencing = r.fencing(r.Map(r.Field(r.Map(r.Field(root, "controlPlane")), "fencing")))
	compute, _ := r.List(r.Field(root, "compute"))
	for _, e := range compute {
		p.workers = append(p.workers, r.Number(r.Field(r.Map(e), "replicas")))
	}
	return p
}

func (r *reader) fencing(o document.Map) fencing {
	list := r.Field(o, "credentials")
	f := fencing{At: o.At, Given: o.Given, list: list.At}
	credentials, ok := r.List(list)
	f.whole = ok || !list.Given()
	for _, e := range credentials {
		f.addresses = append(f.addresses, r.Text(r.Field(r.Map(e), "address")))
	}
	return f
}

// checkPools applies the installer's rules on the shape of a cluster: elections depend on the
// number of nodes.
func (r *report) checkPools(d draft) {
	for _, w := range d.pools.workers {
		if w.OK && w.Value < 0 {
			r.Errorf(w.At, "%d is no number of nodes: write 0 or more", w.Value)
		}
	}
	r.checkArbiter(d)
	two := d.replicas.OK && d.replicas.Value == 2
	switch f := d.pools.fencing; {
	case f.Given && d.platform != BareMetal && d.platform != "":
		r.Errorf(f.At, "the installer takes fencing on baremetal alone: remove it")
	case f.Given && !two && (d.replicas.OK || !d.replicas.Given):
		r.Errorf(f.At, "fencing is for a control plane of 2 nodes: remove it, or write 2 replicas")
	case two && !d.pools.hasArbiter && f.whole && len(f.addresses) == 0:
		r.Errorf(d.replicas.At, "2 control plane nodes need fencing or an arbiter: "+
			"write controlPlane.fencing with 2 credentials, an arbiter, or 3 replicas")
	case f.Given && f.whole && len(f.addresses) != 2:
		r.Errorf(f.list, "there are %d credentials and 2 nodes: write one for each node",
			len(f.addresses))
	case f.Given:
		r.checkProtocols(f)
	}
}

func (r *report) checkArbiter(d draft) {
	switch n := d.arbiters; {
	case !d.pools.hasArbiter:
	case d.platform != BareMetal && d.platform != "":
		r.Errorf(d.pools.arbiter, "the installer takes an arbiter on baremetal alone: remove it")
	case !n.Given:
		r.Errorf(n.At,
			"is missing: write how many arbiters there are, such as 1, or remove the arbiter")
	case n.OK && n.Value == 0:
		r.Errorf(n.At, "there is no arbiter of 0 nodes: write 1, or remove the arbiter")
	}
}

// checkProtocols holds that nodes are fenced by Redfish. An address without a protocol means IPMI.
func (r *report) checkProtocols(f fencing) {
	for _, a := range f.addresses {
		protocol, _, named := strings.Cut(strings.ToLower(a.Value), "://")
		if a.OK && (!named || strings.HasPrefix(protocol, "ipmi")) {
			r.Errorf(a.At, "nodes are not fenced by IPMI: "+
				"write the address of a Redfish service, such as redfish+https://…")
		}
	}
}
