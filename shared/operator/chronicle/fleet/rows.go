package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Row is a line of the table. Host is empty for what concerns all of them.
type Row struct {
	At                      time.Time
	Host, Source, What, Why string
	Alarm                   bool
}

// The sources of rows.
const (
	metal3    = "metal3"
	nodes     = "node"
	bootstrap = "bootstrap machine"
)

// mostNames bounds the names of a list in a sentence.
const mostNames = 6

// Rows are what happened, in no order. ended is when provisioning ended on the bootstrap machine;
// zero if that is not known. end is that of the record.
func (f Fleet) Rows(ended, end time.Time) (all []Row) {
	since := func(at time.Time) string {
		if ended.IsZero() || at.Before(ended) {
			return ""
		}
		return progress.Short(at.Sub(ended)) + " after provisioning ended on the bootstrap machine"
	}
	if is := f.world.Ironic; is.Ready && !is.Since.IsZero() {
		all = append(all, Row{At: is.Since, Source: metal3,
			What: "the cluster's own Ironic is ready", Why: since(is.Since)})
	}
	if is := f.world.Handed; is.Phase != "" {
		all = append(all, Row{At: is.Since, Source: bootstrap, Why: "as " + is.Machine +
			" published it", What: fmt.Sprintf("the phase %s begins", is.Phase)})
	}
	for i, b := range f.batches() {
		at, why := b[0].ops[0].Start, names(b)
		if after := since(at); after != "" {
			why = after + ": " + why
		}
		all = append(all, Row{At: at, Source: metal3,
			What: fmt.Sprintf("%s, batch %d", count(len(b)), i+1), Why: why})
	}
	for _, h := range f.hosts {
		all = append(all, h.rows(end)...)
	}
	return all
}

// names are the first ones of hosts.
func names(all []host) string {
	var list []string
	for _, h := range all[:min(len(all), mostNames)] {
		list = append(list, h.Name)
	}
	if more := len(all) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// rows are those of one host.
func (h host) rows(end time.Time) (all []Row) {
	add := func(at time.Time, source, what, why string) {
		all = append(all, Row{At: at, Host: h.Name, Source: source, What: what, Why: why})
	}
	for _, o := range h.ops {
		add(o.Start, metal3, "its "+titles[o.kind]+" begins", "")
		if !o.End.IsZero() {
			add(o.End, metal3, "it is "+done[o.kind], "after "+progress.Short(o.End.Sub(o.Start)))
		}
	}
	for k := register; k <= inspect; k++ {
		if h.forgotten(k) {
			add(h.first(k), metal3, "it was "+done[k]+" again", "when it was so first is not "+
				"known: metal3's operationHistory keeps the last time alone")
		}
	}
	if h.Written() && h.node != nil {
		why := ""
		if d := h.node.Created.Sub(h.Provision.End); !h.Provision.End.IsZero() && d >= 0 {
			why = progress.Short(d) + " after its disk was written"
		}
		add(h.node.Created, nodes, "its Node is in the cluster", why)
		if at := h.joined(); at.Equal(h.node.Since) && !at.IsZero() {
			add(at, nodes, "its Node is Ready", h.took(at))
		}
	}
	if h.is.Cause != "" {
		at := end
		if !h.is.FailedAt.IsZero() {
			at = h.is.FailedAt
		}
		all = append(all, Row{At: at, Host: h.Name, Source: metal3, Alarm: true,
			What: "it goes no further: it is " + h.is.Does, Why: h.is.Cause + ": " + h.is.Do})
	}
	return all
}

// took is how long each phase took until the host had joined.
func (h host) took(joined time.Time) string {
	var parts []string
	part := func(from, to time.Time, what string) {
		if !from.IsZero() && !to.IsZero() && !to.Before(from) {
			parts = append(parts, what+" "+progress.Short(to.Sub(from)))
		}
	}
	part(h.Register.Start, h.Register.End, "registration")
	part(h.Inspect.Start, h.Inspect.End, "inspection")
	part(h.Inspect.End, h.Provision.Start, h.free)
	part(h.Provision.Start, h.Provision.End, "provisioning")
	part(h.Provision.End, h.node.Created, "first boot")
	part(h.node.Created, joined, "until its Node was Ready")
	return strings.Join(parts, ", ")
}

// Notes are sentences about the hosts, and about each that has not joined.
func (f Fleet) Notes() (all []string) {
	joined, waiting := 0, 0
	var spare, others []string
	for _, h := range f.hosts {
		switch {
		case h.is.Step == workers.Joined:
			joined++
		case h.is.Step == workers.Waiting:
			waiting++
		case h.is.Step == workers.Available && h.is.Cause == "":
			spare = append(spare, h.Name)
		default:
			why := "it is " + h.is.Does
			if h.is.Cause != "" {
				why = h.is.Cause + ": " + h.is.Do
			}
			others = append(others, h.Name+" has not joined: "+why)
		}
	}
	if len(f.hosts) > 0 {
		all = append(all, fmt.Sprintf("%d of %d hosts that the cluster provisions joined", joined,
			len(f.hosts)))
	}
	if f.world.Operator.Paused {
		all = append(all, "OpenShift's operator of metal3 is paused")
	}
	if waiting > 0 {
		all = append(all, fmt.Sprintf("Hosts that wait for the handover: %d", waiting))
	}
	if n := len(spare); n > 0 {
		list := slices.Clone(spare[:min(n, mostNames)])
		if n > mostNames {
			list = append(list, fmt.Sprintf("and %d more", n-mostNames))
		}
		all = append(all, "Available, or about to be provisioned: "+strings.Join(list, ", "))
	}
	all = append(all, others...)
	if f.external > 0 {
		all = append(all, fmt.Sprintf("Hosts of another program than metal3, as those of the "+
			"control plane: %d", f.external))
	}
	return append(all, "Times of metal3 and of Nodes are those of the cluster's clocks, to the "+
		"second")
}
