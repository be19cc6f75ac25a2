package overview

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Bootstrap is how the bootstrap machine provisions hosts.
type Bootstrap struct {
	Hosts  []string      `json:"hosts"`
	Starts []orders.Part `json:"starts"` // the order in which its parts go on
	Ends   []orders.Part `json:"ends"`   // and off
	VIP    string        `json:"vip"`    // what holds the API VIP meanwhile, and why
}

// bootstrap is nil for a machine that provisions no hosts. While a plan names no images yet, it
// is what the machine will do with them.
func bootstrap(p plan.Plan) *Bootstrap {
	hosts := provisions.Hosts(p)
	if len(hosts) == 0 || len(p.Images) > 0 && !provisions.Runs(p) {
		return nil
	}
	b := &Bootstrap{Starts: orders.Parts(), Ends: orders.Parts(), VIP: vipHolder(p)}
	slices.Reverse(b.Ends)
	for _, h := range hosts {
		b.Hosts = append(b.Hosts, h.Name)
	}
	return b
}

// vipHolder is what holds the API VIP while Ironic answers on the bootstrap machine. The rule is
// that of shared/release: hosts reach Ironic through the VIP, so that a node can take over only
// after Ironic has ended.
func vipHolder(p plan.Plan) string {
	holds, _ := p.BootstrapRuns()
	switch {
	case len(p.VIPs.API) == 0:
		return "there is no API VIP"
	case p.LoadBalancer == spec.UserManaged || !holds:
		return "a load balancer of yours holds it: lead it to the bootstrap machine until Ironic " +
			"has ended there"
	}
	return "the bootstrap machine holds it while Ironic answers, whatever its API server does"
}

// facts are the names of facts with their texts. Which hosts are provisioned is in their table.
func (b *Bootstrap) facts() (names, texts []string) {
	words := make([]string, len(b.Starts))
	for i, p := range b.Starts {
		words[i] = string(p)
	}
	return []string{"starts", "API VIP"}, []string{strings.Join(words, ", ") +
		" on the bootstrap machine; ends in the opposite order", b.VIP}
}

// text is the facts for a summary; empty for a machine that provisions no hosts.
func (b *Bootstrap) text(width layout.Width) string {
	if b == nil {
		return ""
	}
	return "\n" + width.Facts(b.facts())
}
