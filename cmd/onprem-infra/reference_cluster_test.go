//go:build remote

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/port"
)

const (
	fieldsFile  = "../../shared/spec/README.md"
	fieldsBegin = "<!-- fields: generated but for the last column by `go test -tags remote ./cmd/onprem-infra -run Reference -update` -->\n"
	fieldsEnd   = "<!-- end of fields -->\n"
)

// referencePlatforms are those whose defaults differ.
var referencePlatforms = []string{"none", "baremetal", "openstack"}

// fewFields are the fields of a small cluster.yaml, each with a value.
var fewFields = []struct{ name, value string }{
	{"baseDomain", "example.com"}, {"platform", "none"}, {"machineNetworks", "[192.0.2.0/24]"},
	{"apiVIPs", "[192.0.2.5]"}, {"ingressVIPs", "[192.0.2.6]"},
}

// TestReferenceOfFields holds that the reference of cluster.yaml has each field that the parser
// accepts, with the values that it accepts, and the default, by which the plan stays the same. The
// meaning of each is written by hand.
func TestReferenceOfFields(t *testing.T) {
	meanings := fieldMeanings(t)
	var rows strings.Builder
	rows.WriteString("| Field | Value | Default | Meaning |\n|---|---|---|---|\n")
	for _, f := range clusterFields(t) {
		meaning := meanings[f.name]
		if delete(meanings, f.name); meaning == "" {
			t.Errorf("%s: write the meaning of %s into its row", fieldsFile, f.name)
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", f.name, f.value, f.byDefault, meaning)
	}
	for name := range meanings {
		t.Errorf("%s describes %s, which is no field", fieldsFile, name)
	}
	holdDocument(t, fieldsFile, fieldsBegin, fieldsEnd, rows.String())
}

// fieldMeanings is the last column of the table that is there.
func fieldMeanings(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fieldsFile)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), fieldsBegin)
	table, _, _ = strings.Cut(table, fieldsEnd)
	meanings := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| (.*) \\|$").FindAllStringSubmatch(table, -1) {
		meanings[m[1]] = m[2]
	}
	return meanings
}

// clusterField is a row of the reference but for its meaning.
type clusterField struct{ name, value, byDefault string }

// clusterFields are all fields below spec, in the parser's order.
func clusterFields(t *testing.T) (fields []clusterField) {
	t.Helper()
	for _, name := range offered(findingOf(t, "unknown", "a")) {
		f := clusterField{name: name}
		if invoke(t, clusterWith("none", name, ""), "validate", "-c", "-").code != 0 {
			f.byDefault = "required"
		}
		finding := findingOf(t, name, "unknown")
		values := offered(finding)
		switch {
		case strings.Contains(finding, "want a map"):
			fields = append(fields, nestedFields(t, nest{name, name, "{%s}"})...)
			continue
		case name == "hosts":
			fields = append(fields, nestedFields(t, nest{"hosts[]", "hosts[0]", "[{%s}]"})...)
			continue
		case strings.Contains(finding, "want a list"):
			f.value = "list"
		case strings.Contains(finding, "want a whole number"):
			f.value = "number"
			values = []string{exampleOf(t, name)}
		case values != nil:
			f.value = codeSpans(values)
		default:
			f.value = "text"
			values = planned(t, name)
		}
		if f.byDefault == "" && name != "families" { // these follow from the addresses
			f.byDefault = defaultOf(t, name, "%s", values)
		}
		fields = append(fields, f)
	}
	return fields
}

// nest is a map below spec: its name in the reference, its path in findings, and how the value of
// the outermost field is written around its fields.
type nest struct{ name, path, form string }

// nestedFields are the fields of a map below spec.
func nestedFields(t *testing.T, m nest) (fields []clusterField) {
	t.Helper()
	for _, inner := range offered(findingOf(t, m.path+".zzz", fmt.Sprintf(m.form, "zzz: 1"))) {
		f := clusterField{name: m.name + "." + inner, value: "text"}
		finding := findingOf(t, m.path+"."+inner, fmt.Sprintf(m.form, inner+": unknown"))
		values := offered(finding)
		p, isPort := port.Lookup(inner)
		switch {
		case strings.Contains(finding, "want a map") && inner != "network":
			fields = append(fields, nestedFields(t, nest{f.name, m.path + "." + inner, fmt.Sprintf(m.form, inner+": {%s}")})...)
			continue
		case strings.Contains(finding, "want a map"): // of nmstate, whose fields are its own
			f.value = "map"
		case strings.Contains(finding, "want a list") && (inner == "racks" || inner == "peers"):
			fields = append(fields, nestedFields(t, nest{f.name + "[]", m.path + "." + inner + "[0]", fmt.Sprintf(m.form, inner+": [{%s}]")})...)
			continue
		case strings.Contains(finding, "want a list"):
			f.value = "list"
		case strings.Contains(finding, "want a whole number"):
			f.value = "number"
		case strings.Contains(finding, "want true or false"):
			f.value = "`true`, `false`"
		case values != nil:
			f.value = codeSpans(values)
		}
		switch {
		case isPort && m.name == "ports":
			f.byDefault = fmt.Sprintf("`%d`", p.Number)
		case values == nil:
			f.byDefault = defaultOf(t, m.name, "{"+inner+": %s}", planned(t, inner+"Label"))
		}
		fields = append(fields, f)
	}
	// Names that users choose.
	if finding := findingOf(t, m.path+".zzz", fmt.Sprintf(m.form, "zzz: unknown")); len(fields) == 0 && strings.Contains(finding, "want a whole number") {
		fields = append(fields, clusterField{name: m.name + ".HOST", value: "number"})
	}
	if len(fields) == 0 {
		t.Errorf("%s has no fields", m.name)
	}
	return fields
}

// clusterWith is a cluster.yaml of a platform with one field set; an empty value leaves it out.
func clusterWith(platform, name, value string) string {
	set := map[string]string{}
	for _, n := range fewFields {
		set[n.name] = n.value
	}
	set["platform"], set["dnsVIP"] = platform, "192.0.2.7" // without it vrids has no dns

	if name == "vrids" { // without these it has no provisioning
		set["provisioning"] = "{network: managed, address: one}"
		set["hosts"] = "[{name: m0, role: master, bootMAC: '52:54:00:00:00:10', bmc: {address: 'redfish://198.51.100.1/redfish/v1/Systems/1'}}]"
	}
	set[name] = value
	text := "apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: prod\nspec:\n"
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if set[key] != "" {
			text += "  " + key + ": " + set[key] + "\n"
		}
	}
	return text
}

// findingOf is the finding about a value that a field does not accept. The path of the field begins
// with the name that is set.
func findingOf(t *testing.T, path, value string) string {
	t.Helper()
	name, _, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, "[")
	for line := range strings.Lines(invoke(t, clusterWith("none", name, value), "validate", "-c", "-").out) {
		if _, finding, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "spec."+path); ok {
			return finding
		}
	}
	return ""
}

// offered are the words that a finding offers, nil where it describes what to write.
func offered(finding string) []string {
	for _, before := range []string{" one of ", ": write "} {
		_, list, ok := strings.Cut(finding, before)
		words := strings.Split(strings.ReplaceAll(list, " or ", ", "), ", ")
		if ok && len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, " ") }) {
			return words
		}
	}
	return nil
}

// planned are the values that plans of several platforms have under that name.
func planned(t *testing.T, name string) (values []string) {
	t.Helper()
	for _, platform := range referencePlatforms {
		var p map[string]any
		if err := json.Unmarshal([]byte(must(t, clusterWith(platform, "", ""), "plan", "-c", "-", "-o", "json")), &p); err != nil {
			t.Fatal(err)
		}
		if value, ok := p[name].(string); ok && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// defaultOf is the value that leaves the plan as it is without the field, for each platform where
// it is another one. Form is how a value is written.
func defaultOf(t *testing.T, name, form string, values []string) string {
	t.Helper()
	found := map[string][]string{}
	for _, platform := range referencePlatforms {
		without := invoke(t, clusterWith(platform, name, ""), "plan", "-c", "-", "-o", "json").out
		for _, value := range values {
			with := invoke(t, clusterWith(platform, name, fmt.Sprintf(form, value)), "plan", "-c", "-", "-o", "json")
			if value != "" && with.code == 0 && with.out == without {
				found[value] = append(found[value], platform)
				break
			}
		}
	}
	var parts []string
	for _, value := range values {
		switch platforms := found[value]; len(platforms) {
		case 0:
		case len(referencePlatforms):
			return "`" + value + "`"
		default:
			parts = append(parts, fmt.Sprintf("`%s` on %s", value, strings.Join(platforms, ", ")))
		}
	}
	return strings.Join(parts, "; ")
}

// exampleOf is the value of a field in the example, empty where it has none.
func exampleOf(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^ [ #]*` + regexp.QuoteMeta(name) + `: ([^#\n]+?)(?: #.*)?$`).FindStringSubmatch(must(t, "", "example", "cluster"))
	if m == nil {
		return ""
	}
	return m[1]
}

func codeSpans(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
