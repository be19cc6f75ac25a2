package ignition_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2"
	"golang.org/x/tools/txtar"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// inputs are the clusters whose whole trees package render holds: one of each platform, and more.
func inputs(t *testing.T) map[string]plan.Plan {
	t.Helper()
	archives, err := filepath.Glob("../test/render/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	plans := map[string]plan.Plan{}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, findings := spec.Parse(name, archive.Files[0].Data, spec.Knobs{})
		if findings.HasErrors() {
			continue // an archive of findings
		}
		c.Images = map[string]string{}
		for _, key := range []string{
			spec.RuntimeCfgImage, spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage, spec.FRRImage,
		} {
			c.Images[key] = "registry.example.com/onprem:1"
		}
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		plans[filepath.Base(name)] = p
	}
	if len(plans) < 10 {
		t.Fatalf("there are %d clusters", len(plans))
	}
	return plans
}

// TestFormsOfClusters holds that whatever hosts get, the operator takes, and Butane makes the same
// document of it.
func TestFormsOfClusters(t *testing.T) {
	for name, p := range inputs(t) {
		for _, r := range p.Roles() {
			t.Run(name+"/"+string(r), func(t *testing.T) {
				var set asset.Set
				var err error
				if r == role.Bootstrap {
					set, err = bootstrap.Assets(p)
				} else {
					set, err = cluster.Assets(p, r)
				}
				if err != nil {
					t.Fatal(err)
				}
				document, err := ignition.Encode(set)
				if _, report, parsed := v3_2.Parse(document); err != nil || parsed != nil ||
					len(report.Entries) > 0 {
					t.Errorf("the machine's own reader says %v %v %s", err, parsed, report.String())
				}
				text, err := ignition.Butane(set)
				if err == nil {
					err = alike(t, text, set)
				}
				if err != nil {
					t.Error(err)
				}
				if r == role.Bootstrap {
					return
				}
				text, err = ignition.MachineConfig(set, r)
				if wrong, config := judge(text, r); err != nil || len(wrong) > 0 ||
					!reflect.DeepEqual(config, parsed(t, set)) {
					t.Errorf("%v, %q", err, wrong)
				}
			})
		}
	}
}
