package mco

import (
	"fmt"
	"strings"
)

// nodesFields are the expressions of cluster.json's fields that the cluster decides, where the
// operator makes a node's files. Their results are written as Go quotes a text: of what may stand
// there, which is addresses, names and references, that is JSON, and of everything else it is still
// one text.
func nodesFields() map[string]string {
	fields := commonFields()
	fields["dnsRecords"] = `"{{ if eq (dnsRecordsType .) "External" }}External{{ else }}Internal{{ end }}"`
	fields["loadBalancer"] = `"{{ if and (` + vips + `) (` + ours + `) }}OpenShiftManagedDefault{{ else }}UserManaged{{ end }}"`
	return fields
}

// bootstrapFields are the same for the operator's bootstrap command, which has not all of the
// functions.
func bootstrapFields() map[string]string {
	fields := commonFields()
	fields["dnsRecords"] = said("DNSRecordsType", "Internal", "BareMetal", "Nutanix", "OpenStack", "VSphere")
	fields["loadBalancer"] = "{{ if " + vips + " }}" +
		said("LoadBalancer.Type", "OpenShiftManagedDefault", "BareMetal", "Nutanix", "OpenStack", "Ovirt", "VSphere") + "{{ else }}\"UserManaged\"{{ end }}"
	return fields
}

// said is what the platform's status says in a field, or a default where it says nothing. Of the
// platforms one is there.
func said(field, otherwise string, platforms ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{ $said := %q }}", otherwise)
	for _, platform := range platforms {
		opened := "{{ with .Infra.Status.PlatformStatus." + platform + " }}"
		for step := range strings.SplitSeq(field, ".") {
			opened += "{{ with ." + step + " }}"
		}
		b.WriteString(opened + "{{ $said = . }}" + strings.Repeat("{{ end }}", strings.Count(opened, "{{")))
	}
	return b.String() + `{{ printf "%q" $said }}`
}

func commonFields() map[string]string {
	quoted := func(value string) string { return `{{ printf "%q" ` + value + ` }}` }
	list := func(values string) string {
		return "{{ range $i, $v := " + values + " }}{{ if $i }}, {{ end }}" + quoted("$v") + "{{ end }}"
	}
	var networks strings.Builder
	for _, platform := range []string{"BareMetal", "OpenStack", "VSphere"} { // the others' status has no such field
		networks.WriteString("{{ with .Infra.Status.PlatformStatus." + platform + " }}" + list(".MachineNetworks") + "{{ end }}")
	}
	return map[string]string{
		"apiVIPs":         "[" + list("onPremPlatformAPIServerInternalIPs .") + "]",
		"clusterDomain":   quoted(".DNS.Spec.BaseDomain"),
		"families":        quoted(".IPFamilies"),
		"ingressVIPs":     "[" + list("onPremPlatformIngressIPs .") + "]",
		"machineNetworks": "[" + networks.String() + "]",
		"platform":        quoted(".Infra.Status.PlatformStatus.Type"),
		"topology":        quoted(".Infra.Status.ControlPlaneTopology"),
	}
}

// clusterJSON is plan.Encode's text with the expressions of fields in the place of their values. A
// field stands on a line of its own.
func clusterJSON(contents []byte, fields map[string]string) string {
	var b strings.Builder
	left := len(fields)
	for line := range strings.Lines(string(contents)) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		expression, ours := fields[strings.Trim(key, ` "`)]
		switch {
		case found && ours && strings.HasPrefix(key, `    "`):
			left--
			b.WriteString(key + ": " + expression + strings.Repeat(",", strings.Count(value[len(value)-1:], ",")) + "\n")
		default:
			b.WriteString(quotedSymbols(line))
		}
	}
	if left != 0 {
		panic(fmt.Sprintf("mco: cluster.json lacks %d of the fields %v", left, sorted(fields)))
	}
	return b.String()
}

// quotedSymbols is expressions for JSON: what stands for a whole text is quoted when its value is
// known.
func quotedSymbols(line string) string {
	for _, key := range images() {
		line = strings.ReplaceAll(line, `"`+symbol(key)+`"`, `{{ printf "%q" .Images.`+key+` }}`)
	}
	return expressions(line)
}
