package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Summary is the part of a plan that an operator compares before an installation, on one screen.
func (v View) Summary(width layout.Width) string {
	var text strings.Builder
	text.WriteString(width.Wrap(fmt.Sprintf("cluster %s: %s on %s, %s, %s",
		v.Cluster.Zone, v.Distribution, v.Platform, v.Topology, v.Families)))
	if rows := vips(v.Plan); len(rows) > 0 {
		head := []string{"VIP", "FOR", "VIRTUAL ROUTER ID"}
		if !v.ByVRRP() {
			head[2] = "ANNOUNCED BY"
		}
		text.WriteString("\n" + width.Table(head, rows))
	}
	text.WriteString("\n" + width.Facts(v.facts()))
	if v.Provisioning != nil {
		text.WriteString("\n" + provisioning(v.Plan, width) + v.Bootstrap.text(width))
	}
	if v.BGP != nil {
		text.WriteString("\n" + announced(v.BGP, width))
	}
	var rows [][]string
	for _, b := range v.bounds() {
		rows = append(rows, []string{
			fmt.Sprintf("%d ms", b.Ms), fmt.Sprintf("%d ms", b.DarkMs), b.Failure,
		})
	}
	if len(rows) > 0 {
		text.WriteString("\n" + width.Table([]string{"OVER WITHIN", "NOT SERVED", "FAILURE"}, rows))
	}
	proved := "priorities"
	if !v.ByVRRP() {
		proved = "grades"
	}
	text.WriteString("\n" + width.Break("", "", "This is a summary. The whole plan, with the "+
		"proof of the "+proved+", all checks, ports, records and files, is printed with -o yaml "+
		"or -o json."))
	return text.String()
}

// vips are the rows of the VIPs.
func vips(p plan.Plan) (rows [][]string) {
	if !p.ByVRRP() {
		rows = announcers(p)
	}
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

// facts are the names of facts with their texts.
func (v View) facts() (names, texts []string) {
	add := func(name, format string, args ...any) {
		names, texts = append(names, name), append(texts, fmt.Sprintf(format, args...))
	}
	networks := make([]string, len(v.MachineNetworks))
	for i, n := range v.MachineNetworks {
		networks[i] = n.String()
	}
	add("networks", "%s", cmp.Or(strings.Join(networks, ", "), "none named"))
	add("load balancer", "%s", v.LoadBalancer)
	if v.LoadBalancer != spec.UserManaged && len(v.VIPs.All()) > 0 && v.ByVRRP() {
		add("VRRP", "%s, timing %s: an advert every %d ms",
			v.VRRP.Mode, v.Timing.Profile, v.Timing.AdvertIntervalMs)
		add("priorities",
			"bootstrap machine %d, control plane %d to %d, margin %d, %d statements proved",
			v.VRRP.BootstrapPriority, v.VRRP.ControlPlane.Base, v.VRRP.ControlPlane.Max,
			v.VRRP.Margin, len(v.VRRP.Proof))
	}
	if p := v.Timing.Proven; p != nil {
		add("proof of timing", "%s was %s late at worst, %s may be, and %s moves a VIP: %d times "+
			"as much; all nodes change to %s if adverts arrive later", p.Host, micro(p.LateUs),
			micro(p.MostUs), micro(p.BearsUs), p.BearsUs/max(p.LateUs, 1), v.Fallback.Way())
	}
	if v.MigrateFrom != (plan.Way{}) {
		add("migration", "all nodes change from %s at one instant", v.MigrateFrom)
	}
	var records, files []string
	for _, r := range v.Records {
		name := string(r.Name)
		if r.Wildcard {
			name = "*." + name
		}
		records = append(records, name)
	}
	add("DNS records", "%s: %s", v.DNSRecords, cmp.Or(strings.Join(records, ", "), "none"))
	images := "none given yet: ignition and render need --images"
	if len(v.Images) > 0 {
		images = fmt.Sprintf("%d given", len(v.Images))
	}
	add("images", "%s", images)
	for _, r := range role.All() {
		if n := len(v.Files[r]); n > 0 {
			files = append(files, fmt.Sprintf("%s %d", r, n))
		}
	}
	add("files", "%s", strings.Join(files, ", "))
	return names, texts
}

// micro formats n microseconds.
func micro(n int) string { return (time.Duration(n) * time.Microsecond).String() }
