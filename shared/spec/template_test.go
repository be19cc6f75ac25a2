package spec

import (
	"reflect"
	"strings"
	"testing"
)

// byTemplate is a cluster as a program writes it that cannot take a domain apart and knows the
// platform as OpenShift's objects spell it.
const byTemplate = `{"apiVersion": "onprem-infra.io/v1alpha1", "kind": "Cluster", "spec": {"clusterDomain": "prod.lab.example.com", "families": "DualStackIPv6Primary",
"platform": "BareMetal", "apiVIPs": ["192.0.2.5"], "ingressVIPs": ["192.0.2.6"]}}`

func TestByTemplate(t *testing.T) {
	cluster, findings := Parse("c", []byte(byTemplate), Knobs{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if cluster.Name != "prod" || cluster.BaseDomain != "lab.example.com" || cluster.Families != "DualStackIPv6Primary" {
		t.Errorf("name %q, domain %q, families %q", cluster.Name, cluster.BaseDomain, cluster.Families)
	}
	apart := strings.NewReplacer(`"spec": {"clusterDomain": "prod.lab.example.com"`, `"metadata": {"name": "prod"}, "spec": {"baseDomain": "lab.example.com"`)
	again, findings := Parse("c", []byte(apart.Replace(byTemplate)), Knobs{})
	if len(findings) > 0 || !reflect.DeepEqual(again, cluster) {
		t.Errorf("taken apart by hand it is another cluster: %v\n%+v\n%+v", findings, again, cluster)
	}
	for platform, want := range map[string]Platform{"BareMetal": BareMetal, "OpenStack": OpenStack, "oVirt": OVirt, "VSphere": VSphere, "Nutanix": Nutanix, "None": None} {
		if got, findings := Parse("c", []byte(strings.Replace(byTemplate, "BareMetal", platform, 1)), Knobs{}); got.Platform != want {
			t.Errorf("%s: %q, %v", platform, got.Platform, findings)
		}
	}
}

// TestByTemplateFindings holds that what is wrong with a part of the domain is reported for the whole,
// where it stands.
func TestByTemplateFindings(t *testing.T) {
	for domain, want := range map[string]string{
		`"prod"`:         `c:1:89: error: spec.clusterDomain: "prod" has no dot: write the cluster's name and the domain above it, such as prod.example.com`,
		`"Prod.a.b"`:     `c:1:89: error: spec.clusterDomain: "Prod" has upper-case letters: write "prod"`,
		`"prod.a b"`:     `c:1:89: error: spec.clusterDomain: "a b" is no DNS name: use labels of letters, digits and inner hyphens, at most 63 each, with dots between`,
		`".example.com"`: `c:1:89: error: spec.clusterDomain: is empty: give the cluster a name, such as prod`,
		`7`:              `c:1:89: error: spec.clusterDomain: want a string, got a number: put it in quotes`,
	} {
		_, findings := Parse("c", []byte(strings.Replace(byTemplate, `"prod.lab.example.com"`, domain, 1)), Knobs{})
		if len(findings) != 1 || findings[0].String() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", domain, findings, want)
		}
	}
}
