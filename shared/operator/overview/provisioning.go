package overview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
)

// fewParts is how many address ranges of a pool a summary shows.
const fewParts = 3

// others is which addresses hosts get by DHCP that the plan does not list.
func others(d *provision.DHCP) string {
	if len(d.Pool) == 0 {
		return d.Unknown
	}
	var parts []string
	for _, free := range d.Pool[:min(fewParts, len(d.Pool))] {
		parts = append(parts, fmt.Sprintf("%s-%s", free.First, free.Last))
	}
	if more := len(d.Pool) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more parts of it", more))
	}
	return "in the cluster " + strings.Join(parts, ", ")
}

// provisioning is which host is answered in which phase, how it boots, and where it reports.
func provisioning(whole plan.Plan, width layout.Width) string {
	p := whole.Provisioning
	network := string(p.Network)
	if p.CIDR.IsValid() {
		network += " " + p.CIDR.String()
	}
	servers := "the API VIP's holder"
	switch {
	case p.BootstrapIP.IsValid():
		servers = fmt.Sprintf("bootstrap machine %s, cluster %s", p.BootstrapIP, p.IP)
	case p.IP.IsValid():
		servers = p.IP.String() + " in both phases"
	}
	if whole.BalancesIronic() {
		servers += fmt.Sprintf("; the cluster's by HAProxy's ports %d and %d",
			whole.Ports[port.IronicLB], whole.Ports[port.VirtualMediaLB])
	}
	names, texts := []string{"provisioning", "Ironic"}, []string{network, servers}
	if d := p.DHCP; d != nil {
		names = append(names, "DHCP")
		text := fmt.Sprintf("%s to %s, lease %d s, other hosts: ", d.First, d.Last, d.LeaseSeconds)
		if p.ServesCluster() {
			text += others(d)
		} else {
			text += "refuse, by the bootstrap machine. The cluster's server is not ours, and may " +
				"answer any host"
		}
		texts = append(texts, text)
	}
	var times []string
	for _, d := range p.Deadlines {
		times = append(times, fmt.Sprintf("%s %d s", d.Step, d.Seconds))
	}
	names, texts = append(names, "deadlines"), append(texts, strings.Join(times, ", "))
	var rows [][]string
	for _, h := range p.Hosts {
		name, driver, address := cmp.Or(h.Name, h.MAC.String()), h.Driver, "none of ours"
		if h.Spare {
			name += " (spare)"
		}
		if h.Verify == machine.VerifyOff {
			driver += ", unverified"
		}
		if h.Address.IsValid() {
			address = h.Address.String()
			if p.DHCP != nil && p.DHCP.Block != 0 {
				address += fmt.Sprintf("/%d", p.DHCP.Block)
			}
		}
		by, reports := string(h.Phase), strings.TrimPrefix(h.Ironic, "https://")
		if h.Phase == provision.Cluster && !provisions.InCluster(whole) {
			if by = "none of ours"; !p.IP.IsValid() {
				reports = by
			}
		}
		rows = append(rows, []string{name, by, address, driver, string(h.Boot), reports})
	}
	return width.Facts(names, texts) + "\n" + width.Table([]string{"HOST", "PROVISIONED BY",
		"ADDRESS", "DRIVER", "BOOT", "REPORTS TO"}, rows)
}
