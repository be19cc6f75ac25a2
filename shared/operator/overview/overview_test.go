package overview_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestYAML compares a plan's two forms key by key, in their order, and value by value with its
// type, and holds that no line is wider than a terminal.
func TestYAML(t *testing.T) {
	for _, timing := range []string{vrrp.ProfileLan, vrrp.ProfileCompat} {
		for _, platform := range []spec.Platform{spec.BareMetal, spec.VSphere} {
			p, err := plan.Compile(spec.Cluster{
				Name: "prod", BaseDomain: "example.com", Platform: platform, Timing: timing,
				ControlPlaneReplicas: 3,
				MachineNetworks: []netip.Prefix{
					netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64"),
				},
				APIVIPs: []netip.Addr{
					netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5"),
				},
				IngressVIPs: []netip.Addr{
					netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("2001:db8::6"),
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			v, err := overview.Of(p, func(_ plan.Plan, r role.Role) ([]string, error) {
				return []string{"/etc/onprem-infra/" + string(r)}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			const width = layout.Width(100)
			inYAML, err := v.YAML(width)
			if err != nil {
				t.Fatal(err)
			}
			inJSON, err := v.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := flat(t, inYAML), flat(t, inJSON); got != want {
				t.Errorf("%s, %s: YAML:\n%s\nJSON:\n%s", timing, platform, got, want)
			}
			if strings.Contains(string(inYAML), `{"`) {
				t.Errorf("%s, %s: it is not YAML in block style", timing, platform)
			}
			for line := range strings.Lines(string(inYAML)) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > int(width) {
					t.Errorf("%s, %s: too wide: %s", timing, platform, line)
				}
			}
		}
	}
}

// flat has the kind, the type and the value of each node of a document.
func flat(t *testing.T, text []byte) string {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var add func(n *yaml.Node)
	add = func(n *yaml.Node) {
		fmt.Fprintf(&out, "%d %s %q\n", n.Kind, n.ShortTag(), n.Value)
		for _, child := range n.Content {
			add(child)
		}
	}
	add(&document)
	return out.String()
}
