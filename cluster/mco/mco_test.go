package mco

import (
	"strings"
	"testing"
	language "text/template"

	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestText holds that a text comes out of its template and its YAML as it went in, whatever it
// begins and ends with and whichever braces are in it.
func TestText(t *testing.T) {
	for _, want := range []string{
		"a\n", "a", "a\n\n", "\na\n", "\n", "  a\nb\n", "\ta\n", "a: b\n# c\n- d\n", "{{ .Name }}\n", "{{{{ a }}\n", "a {{ \"b\" }} c", "'\"`\\\n", "%n\n", " \n", "a\n \nb\n", "ü\n", "",
	} {
		var set asset.Set
		if err := set.AddFile(asset.File{Path: "/etc/x", Mode: 0o600, Contents: []byte(want)}); err != nil {
			t.Fatal(err)
		}
		if err := set.AddUnit(asset.Unit{Name: "x.service", DropIns: []asset.DropIn{{Name: "y.conf", Contents: []byte(want)}}}); err != nil {
			t.Fatal(err)
		}
		for name, body := range describe(plan.Plan{}, set) {
			parsed, err := language.New("").Parse(body)
			if err != nil {
				t.Fatalf("%q: %v", want, err)
			}
			var out strings.Builder
			if err := parsed.Execute(&out, nil); err != nil {
				t.Fatalf("%q: %v", want, err)
			}
			var got struct {
				Mode     int
				Contents any
				Dropins  []struct{ Contents string }
			}
			if err := yaml.Unmarshal([]byte(out.String()), &got); err != nil {
				t.Fatalf("%q: %v\n%s", want, err, out.String())
			}
			if name.kind == "units" {
				if got.Dropins[0].Contents != want {
					t.Errorf("%q becomes %q in a unit", want, got.Dropins[0].Contents)
				}
				continue
			}
			if inline := got.Contents.(map[string]any)["inline"]; inline != want || got.Mode != 0o600 {
				t.Errorf("%q becomes %q, mode %o", want, inline, got.Mode)
			}
		}
	}
}

// TestPresence holds that a condition is one of those that there are words for: another set of situations is an error and not another condition.
func TestPresence(t *testing.T) {
	for p, want := range map[presence]string{
		managed | userManaged | withoutVIPs: "body",
		managed | userManaged:               "{{ if onPremPlatformAPIServerInternalIPs . -}}\nbody{{ end -}}\n",
		managed:                             "{{ if and (onPremPlatformAPIServerInternalIPs .) (isOpenShiftManagedDefaultLB .) -}}\nbody{{ end -}}\n",
		userManaged:                         "{{ if and (onPremPlatformAPIServerInternalIPs .) (not (isOpenShiftManagedDefaultLB .)) -}}\nbody{{ end -}}\n",
		withoutVIPs:                         "",
		managed | withoutVIPs:               "",
	} {
		got, err := p.around("body", conditions)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%03b: %q, %v", p, got, err)
		}
	}
	if _, err := presence(announced|withoutVIPs).around("body", routedConditions); err == nil {
		t.Error("there are words for a set that no file has")
	}
}

// TestLogic holds what a template may decide: the text of cluster.json, images, the platform's short name, and whether the whole file is there.
func TestLogic(t *testing.T) {
	t.Run("vrrp", func(t *testing.T) { decides(t, spec.Cluster{}) })
	t.Run("bgp", func(t *testing.T) {
		decides(t, spec.Cluster{Routing: spec.Routing{Management: spec.ByBGP}})
	})
}

func decides(t *testing.T, elections spec.Cluster) {
	t.Helper()
	set, err := Tree(elections)
	if err != nil {
		t.Fatal(err)
	}
	expressions := 0
	for _, f := range set.Tree() {
		text := string(f.Contents)
		if strings.Contains(text, "zz") {
			t.Errorf("%s holds a symbol", f.Path)
		}
		if strings.Contains(text, `"clusterDomain"`) {
			continue
		}
		if strings.HasPrefix(text, "{{ if ") {
			_, text, _ = strings.Cut(text, "-}}\n")
			text = strings.TrimSuffix(text, "{{ end -}}\n")
		}
		for rest := text; ; expressions++ {
			_, after, found := strings.Cut(rest, "{{ ")
			if !found {
				break
			}
			expression, after, _ := strings.Cut(after, " }}")
			if rest = after; !strings.HasPrefix(expression, ".Images.") && !strings.HasPrefix(expression, "onPremPlatformShortName .") {
				t.Errorf("%s decides by {{ %s }}", f.Path, expression)
			}
		}
	}
	if expressions < 30 {
		t.Errorf("only %d expressions were found", expressions)
	}
}

// TestBadSettings holds that settings which no cluster can have make no tree.
func TestBadSettings(t *testing.T) {
	for _, c := range []spec.Cluster{{Timing: "quick"}, {Ports: map[string]uint16{"dns": 5353}}, {MigrateFrom: spec.Former{Timing: "quick"}},
		{Ports: map[string]uint16{"dns": 5353}, Routing: spec.Routing{Management: spec.ByBGP}}} {
		if set, err := Tree(c); err == nil || len(set.Tree()) > 0 {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
