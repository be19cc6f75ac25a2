package installer

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
)

// Pools are the machines of a cluster, by their numbers.
type Pools struct {
	ControlPlane, Arbiters document.Scalar[int]

	arbiter document.Map
	fencing fencing
	workers []document.Scalar[int]
}

// fencing is how two control plane nodes fence each other. Its user names and passwords are not
// read, and of an address only the protocol.
type fencing struct {
	At        document.Place
	Given     bool
	list      document.Place
	whole     bool
	addresses []document.Scalar[string]
}

// ReadPools reads the machines of an install-config.
func ReadPools(r *document.Reader, root document.Map) Pools {
	controlPlane, arbiter := r.Map(r.Field(root, "controlPlane")), r.Map(r.Field(root, "arbiter"))
	p := Pools{
		ControlPlane: r.Number(r.Field(controlPlane, "replicas")),
		Arbiters:     r.Number(r.Field(arbiter, "replicas")),
		arbiter:      arbiter,
		fencing:      readFencing(r, r.Map(r.Field(controlPlane, "fencing"))),
	}
	compute, _ := r.List(r.Field(root, "compute"))
	for _, e := range compute {
		p.workers = append(p.workers, r.Number(r.Field(r.Map(e), "replicas")))
	}
	return p
}

func readFencing(r *document.Reader, o document.Map) fencing {
	list := r.Field(o, "credentials")
	credentials, ok := r.List(list)
	f := fencing{At: o.At, Given: o.Given, list: list.At, whole: ok || !list.Given()}
	for _, e := range credentials {
		f.addresses = append(f.addresses, r.Text(r.Field(r.Map(e), "address")))
	}
	return f
}

// Workers is the number of workers; -1 if it is not written.
func (p Pools) Workers() int {
	sum := -1
	for _, w := range p.workers {
		if w.OK && w.Value >= 0 {
			sum = max(0, sum) + w.Value
		}
	}
	return sum
}

// Fenced reports whether two control plane nodes fence each other.
func (p Pools) Fenced() bool { return p.fencing.Given }

// Check applies the installer's rules on the shape of a cluster: elections depend on the number of
// nodes.
func (p Pools) Check(r *document.Report, on platform.Platform) {
	for _, w := range p.workers {
		if w.OK && w.Value < 0 {
			r.Errorf(w.At, "%d is no number of nodes: write 0 or more", w.Value)
		}
	}
	elsewhere := on != platform.BareMetal && on != ""
	p.checkArbiter(r, elsewhere)
	n := p.ControlPlane
	two := n.OK && n.Value == 2
	switch f := p.fencing; {
	case f.Given && elsewhere:
		r.Errorf(f.At, "the installer takes fencing on baremetal alone: remove it")
	case f.Given && !two && (n.OK || !n.Given):
		r.Errorf(f.At, "fencing is for a control plane of 2 nodes: remove it, or write 2 replicas")
	case two && !p.arbiter.Given && f.whole && len(f.addresses) == 0:
		r.Errorf(n.At, "2 control plane nodes need fencing or an arbiter: "+
			"write controlPlane.fencing with 2 credentials, an arbiter, or 3 replicas")
	case f.Given && f.whole && len(f.addresses) != 2:
		r.Errorf(f.list, "there are %d credentials and 2 nodes: write one for each node",
			len(f.addresses))
	case f.Given:
		f.checkProtocols(r)
	}
}

func (p Pools) checkArbiter(r *document.Report, elsewhere bool) {
	switch n := p.Arbiters; {
	case !p.arbiter.Given:
	case elsewhere:
		r.Errorf(p.arbiter.At, "the installer takes an arbiter on baremetal alone: remove it")
	case !n.Given:
		r.Errorf(n.At,
			"is missing: write how many arbiters there are, such as 1, or remove the arbiter")
	case n.OK && n.Value == 0:
		r.Errorf(n.At, "there is no arbiter of 0 nodes: write 1, or remove the arbiter")
	}
}

// checkProtocols holds that nodes are fenced by Redfish. An address without a protocol means IPMI.
func (f fencing) checkProtocols(r *document.Report) {
	for _, a := range f.addresses {
		protocol, _, named := strings.Cut(strings.ToLower(a.Value), "://")
		if a.OK && (!named || strings.HasPrefix(protocol, "ipmi")) {
			r.Errorf(a.At, "nodes are not fenced by IPMI: "+
				"write the address of a Redfish service, such as redfish+https://…")
		}
	}
}
