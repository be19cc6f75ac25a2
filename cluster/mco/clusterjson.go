package mco

import (
	"fmt"
	"strings"
)

// nodesFields are the expressions of the fields of cluster.json that the cluster decides, for a
// node's files. Go quotes their results. For valid values (addresses, names and references) that is
// JSON, and for any other it is still one string.
func nodesFields() map[string]string {
	fields := commonFields()
	fields["dnsRecords"] = `"{{ if eq (dnsRecordsType .) "External" }}External{{ else }}Internal{{ end }}"`
	fields["loadBalancer"] = `"{{ if and (` + vips + `) (` + ours + `) }}OpenShiftManagedDefault{{ else }}UserManaged{{ end }}"`
	return fields
}

// bootstrapFields are nodesFields for the operator's bootstrap command, which lacks some functions.
func bootstrapFields() map[string]string {
	fields := commonFields()
	fields["dnsRecords"] = statusField(
		"DNSRecordsType", "Internal", "BareMetal", "Nutanix", "OpenStack", "VSphere",
	)
	fields["loadBalancer"] = "{{ if " + vips + " }}" +
		statusField(
			"LoadBalancer.Type", "OpenShiftManagedDefault", "BareMetal", "Nutanix", "OpenStack",
			"Ovirt", "VSphere",
		) +
		"{{ else }}\"UserManaged\"{{ end }}"
	return fields
}

// statusField is a field of the platform's status, or a default if it is empty. The status has one
// of the platforms.
func statusField(field, otherwise string, platforms ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{ $value := %q }}", otherwise)
	for _, platform := range platforms {
		opened := "{{ with .Infra.Status.PlatformStatus." + platform + " }}"
		for step := range strings.SplitSeq(field, ".") {
			opened += "{{ with ." + step + " }}"
		}
		b.WriteString(
			opened + "{{ $value = . }}" + strings.Repeat("{{ end }}", strings.Count(opened, "{{")),
		)
	}
	return b.String() + `{{ printf "%q" $value }}`
}

func commonFields() map[string]string {
	quoted := func(value string) string { return `{{ printf "%q" ` + value + ` }}` }
	list := func(values string) string {
		return "{{ range $i, $v := " + values + " }}{{ if $i }}, {{ end }}" + quoted(
			"$v",
		) + "{{ end }}"
	}
	var networks strings.Builder
	for _, platform := range []string{"BareMetal", "OpenStack", "VSphere"} { // others have no such field
		networks.WriteString("{{ with .Infra.Status.PlatformStatus." + platform + " }}" + list(
			".MachineNetworks",
		) + "{{ end }}")
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

// clusterJSON is plan.Encode's text with expressions instead of the values of fields. Each field
// has a line of its own.
func clusterJSON(contents []byte, fields map[string]string) string {
	var b strings.Builder
	left := len(fields)
	for line := range strings.Lines(string(contents)) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		expression, ours := fields[strings.Trim(key, ` "`)]
		switch {
		case found && ours && strings.HasPrefix(key, `    "`):
			left--
			b.WriteString(key + ": " + expression + strings.Repeat(
				",", strings.Count(value[len(value)-1:], ","),
			) + "\n")
		default:
			b.WriteString(quotedSymbols(line))
		}
	}
	if left != 0 {
		panic(fmt.Sprintf("mco: cluster.json lacks %d of the fields %v", left, fields))
	}
	return b.String()
}

// quotedSymbols is expressions for JSON: an expression for a whole string is quoted with its value.
func quotedSymbols(line string) string {
	for _, key := range images() {
		line = strings.ReplaceAll(line, `"`+symbol(key)+`"`, `{{ printf "%q" .Images.`+key+` }}`)
	}
	return expressions(line)
}
