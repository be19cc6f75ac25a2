package mco

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// nodesFields are the expressions of the fields of cluster.json that the cluster decides, for a
// node's files. Go quotes their results. For valid values (addresses, names and references) that is
// JSON, and for any other it is still one string.
func nodesFields() map[string]string {
	return fields(
		`"{{ if eq (dnsRecordsType .) "External" }}External{{ else }}Internal{{ end }}"`,
		`"{{ if and (`+vips+`) (`+ours+`) }}OpenShiftManagedDefault{{ else }}UserManaged{{ end }}"`)
}

// bootstrapFields are nodesFields for the operator's bootstrap command, which lacks some functions.
func bootstrapFields() map[string]string {
	const managed = "OpenShiftManagedDefault"
	balanced := []string{"BareMetal", "Nutanix", "OpenStack", "Ovirt", "VSphere"}
	recorded := []string{"BareMetal", "Nutanix", "OpenStack", "VSphere"}
	return fields(statusField("DNSRecordsType", "Internal", recorded),
		"{{ if "+vips+" }}"+statusField("LoadBalancer.Type", managed, balanced)+
			`{{ else }}"UserManaged"{{ end }}`)
}

// statusField is a field of the platform's status, or a default if it is empty. The status has one
// of the platforms.
func statusField(field, otherwise string, platforms []string) string {
	steps := "{{ with ." + strings.ReplaceAll(field, ".", " }}{{ with .") + " }}"
	text := fmt.Sprintf("{{ $value := %q }}", otherwise)
	for _, platform := range platforms {
		text += with(platform, steps+"{{ $value = . }}"+
			strings.Repeat("{{ end }}", strings.Count(steps, "{{")))
	}
	return text + quoted("$value")
}

// with is text for a cluster of one platform, in which the dot is the platform's status.
func with(platform, text string) string {
	return "{{ with .Infra.Status.PlatformStatus." + platform + " }}" + text + "{{ end }}"
}

func quoted(value string) string { return `{{ printf "%q" ` + value + ` }}` }

func list(values string) string {
	return "{{ range $i, $v := " + values + " }}{{ if $i }}, {{ end }}" + quoted("$v") + "{{ end }}"
}

func fields(dnsRecords, loadBalancer string) map[string]string {
	networks := "" // only these platforms have such a field
	for _, platform := range []string{"BareMetal", "OpenStack", "VSphere"} {
		networks += with(platform, list(".MachineNetworks"))
	}
	return map[string]string{
		"apiVIPs":         "[" + list("onPremPlatformAPIServerInternalIPs .") + "]",
		"clusterDomain":   quoted(".DNS.Spec.BaseDomain"),
		"dnsRecords":      dnsRecords,
		"families":        quoted(".IPFamilies"),
		"ingressVIPs":     "[" + list("onPremPlatformIngressIPs .") + "]",
		"loadBalancer":    loadBalancer,
		"machineNetworks": "[" + networks + "]",
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
		expression, ours := fields[strings.Trim(key(line), `"`)]
		if ours && strings.HasPrefix(line, `    "`) {
			left--
			line = "    " + key(line) + ": " + expression + end(line)
		} else {
			line = quotedSymbols(line)
		}
		b.WriteString(line)
	}
	if left != 0 {
		panic(fmt.Sprintf("mco: cluster.json lacks %d of the fields %v", left, fields))
	}
	return b.String()
}

// key is the name of the field on a line, in quotes.
func key(line string) string {
	name, _, _ := strings.Cut(line, ":")
	return strings.TrimSpace(name)
}

// end is the end of a line: its comma, if it has one, and its newline.
func end(line string) string { return line[len(strings.TrimRight(line, ",\n")):] }

// quotedSymbols is expressions for JSON: an expression for a whole string is quoted with its value.
func quotedSymbols(line string) string {
	for _, key := range append(images, spec.FRRImage) {
		line = strings.ReplaceAll(line, `"`+symbol(key)+`"`, quoted(".Images."+nameOf(key)))
	}
	return expressions(line)
}
