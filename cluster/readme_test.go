package cluster

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// rows are the cells of a table of SECURITY.md between two comments, without the head.
func rows(t *testing.T, begin, end string) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "<!-- "+begin+":")
	part, _, ended := strings.Cut(part, "<!-- end of "+end+" -->")
	if !found || !ended {
		t.Fatalf("SECURITY.md has no table %q", begin)
	}
	for line := range strings.Lines(part) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) > 1 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			out = append(out, cells)
		}
	}
	return out[2:]
}

// of is what a rule is about, as the tables say it.
func of(resource string, names []string) string {
	if len(names) > 0 {
		return resource + " `" + strings.Join(names, "`, `") + "`"
	}
	return resource
}

// TestReadme_Rights holds that SECURITY.md names each right that the rendered objects give, and no
// other, and what a node does without it.
func TestReadme_Rights(t *testing.T) {
	p := compiled(t, withoutProvisioningNetwork)
	var given, without [][]string
	for _, o := range Objects(p) {
		r, ok := o.(object.Role)
		if !ok {
			continue
		}
		where := map[string]string{
			"": "everywhere", p.Namespace: "our namespace",
		}[r.Metadata.Namespace]
		if where == "" {
			where = "`" + r.Metadata.Namespace + "`"
		}
		for _, rule := range r.Rules {
			given = append(given, []string{
				strings.Join(rule.Verbs, ", "),
				of(strings.Join(rule.Resources, ", "), rule.ResourceNames), where,
			})
		}
	}
	for _, r := range Rights(p) {
		without = append(without, []string{
			strings.Join(r.Verbs, ", "), of(r.Resource, r.Names), r.Without,
		})
	}
	for _, table := range []struct {
		begin string
		cells int
		want  [][]string
	}{{"rights", 5, given}, {"without", 3, without}} {
		got := rows(t, table.begin, table.begin)
		for _, cells := range got {
			if len(cells) != table.cells || slices.Contains(cells, "") {
				t.Errorf("%s: %q has an empty cell, or not %d", table.begin, cells, table.cells)
			}
		}
		same := func(a, b []string) bool { return slices.Equal(a[:3], b) }
		if !slices.EqualFunc(got, table.want, same) {
			t.Errorf("%s: SECURITY.md has %q, want %q", table.begin, got, table.want)
		}
	}
}

// TestRights_Never holds that no kubelet is given a right to make or remove an object, or one over
// all objects of a kind that it may write.
func TestRights_Never(t *testing.T) {
	for _, r := range Rights(compiled(t, withoutProvisioningNetwork)) {
		for _, verb := range r.Verbs {
			if verb != "update" && !slices.Contains(read(), verb) || verb == "update" &&
				len(r.Names) == 0 {
				t.Errorf("kubelets may %s %s %v", verb, r.Resource, r.Names)
			}
		}
		if r.Without == "" || len(r.Roles) == 0 {
			t.Errorf(
				"%v %s: say who needs it, and what a node does without it", r.Verbs, r.Resource,
			)
		}
	}
}
