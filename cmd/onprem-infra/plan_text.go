package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// planSummary is what of a plan an operator compares before an installation, on one screen.
func planSummary(p planView) string {
	var text strings.Builder
	text.WriteString(wrapped(fmt.Sprintf("cluster %s: %s on %s, %s, %s", p.Cluster.Zone, p.Distribution, p.Platform, p.Topology, p.Families)))
	if rows := planVIPs(p.Plan); len(rows) > 0 {
		text.WriteString("\n" + tabled([]string{"VIP", "FOR", "VIRTUAL ROUTER ID"}, rows))
	}
	text.WriteString("\n" + aligned(planFacts(p)))
	var rows [][]string
	for _, b := range p.Timing.Bounds {
		rows = append(rows, []string{fmt.Sprintf("%d ms", b.Ms), fmt.Sprintf("%d ms", b.DarkMs), b.Failure})
	}
	if len(rows) > 0 {
		text.WriteString("\n" + tabled([]string{"OVER WITHIN", "NOT SERVED", "FAILURE"}, rows))
	}
	text.WriteString("\n" + broken("", "", "This is a summary. The whole plan, with the proof of the priorities, all checks, ports, records and files, "+
		"is printed with -o yaml or -o json."))
	return text.String()
}

// planVIPs are the rows of the VIPs.
func planVIPs(p plan.Plan) (rows [][]string) {
	for e, v := range election.All(p) {
		id := "none: a load balancer of yours holds it"
		if p.LoadBalancer != spec.UserManaged {
			id = fmt.Sprint(e.ID)
		}
		if slices.Contains(p.VIPs.Assumed, string(e.Kind)) {
			id += " (address assumed, as OpenStack's installer does: none is written)"
		}
		rows = append(rows, []string{v.Address.String(), string(e.Kind), id})
	}
	return rows
}

// planFacts are what follows from the description, each with its name.
func planFacts(p planView) (facts [][2]string) {
	add := func(name, format string, args ...any) {
		facts = append(facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	networks := make([]string, len(p.MachineNetworks))
	for i, n := range p.MachineNetworks {
		networks[i] = n.String()
	}
	add("networks", "%s", orNone(strings.Join(networks, ", "), "none named"))
	add("load balancer", "%s", p.LoadBalancer)
	if p.LoadBalancer != spec.UserManaged && len(p.VIPs.All()) > 0 {
		add("VRRP", "%s, timing %s: an advert every %d ms", p.VRRP.Mode, p.Timing.Profile, p.Timing.AdvertIntervalMs)
		add("priorities", "bootstrap machine %d, control plane %d to %d, margin %d, %d statements proved",
			p.VRRP.BootstrapPriority, p.VRRP.ControlPlane.Base, p.VRRP.ControlPlane.Max, p.VRRP.Margin, len(p.VRRP.Proof))
	}
	if p.MigrateFrom != (plan.Way{}) {
		add("migration", "all nodes change from %s at one instant", p.MigrateFrom)
	}
	var names []string
	for _, r := range p.Records {
		name := string(r.Name)
		if r.Wildcard {
			name = "*." + name
		}
		names = append(names, name)
	}
	add("DNS records", "%s: %s", p.DNSRecords, orNone(strings.Join(names, ", "), "none"))
	add("images", "%s", orNone(imageNames(p.Images), "none given yet: ignition and render need --images"))
	var files []string
	for _, r := range role.All() {
		if n := len(p.Files[r]); n > 0 {
			files = append(files, fmt.Sprintf("%s %d", r, n))
		}
	}
	add("files", "%s", strings.Join(files, ", "))
	return facts
}

func imageNames(images map[string]string) string {
	if len(images) == 0 {
		return ""
	}
	return fmt.Sprintf("%d given", len(images))
}

// aligned are facts below each other.
func aligned(facts [][2]string) string {
	width := 0
	for _, f := range facts {
		width = max(width, len(f[0]))
	}
	var text strings.Builder
	for _, f := range facts {
		lead := padded(f[0], width) + gutter
		text.WriteString(broken(lead, strings.Repeat(" ", len(lead)), f[1]))
	}
	return text.String()
}
