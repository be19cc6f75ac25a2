package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// everyCluster are clusters that between them give their hosts every file there is.
func everyCluster(t *testing.T) (all []plan.Plan) {
	t.Helper()
	for _, args := range [][]string{
		{"install-config", "--platform", "baremetal"}, {"install-config", "--platform", "vsphere"}, {"install-config", "--platform", "nutanix"},
		{"install-config", "--platform", "openstack"}, {"install-config", "--platform", "ovirt"}, {"cluster", "--platform", "none"},
	} {
		text := must(t, "", append([]string{"example"}, args...)...)
		for _, change := range []func(*spec.Cluster){
			func(*spec.Cluster) {},
			func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged },
			func(c *spec.Cluster) { c.MDNS = spec.MDNSEnabled },
			func(c *spec.Cluster) { c.Topology = spec.HighlyAvailableArbiter },
		} {
			c, findings := spec.Parse("c.yaml", []byte(text), spec.Knobs{})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			c.Images = map[string]string{}
			for _, key := range []string{spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage, spec.RuntimeCfgImage} {
				c.Images[key] = "registry.example.com/" + strings.ToLower(key)
			}
			change(&c)
			if p, err := plan.Compile(c); err == nil { // not every platform has every topology
				all = append(all, p)
			}
		}
	}
	return all
}

// TestDiffKnowsEveryFile holds that of each file that a host of any cluster is given it is known
// what another text of it does.
func TestDiffKnowsEveryFile(t *testing.T) {
	files := map[string]bool{}
	for _, p := range everyCluster(t) {
		for _, r := range p.Roles() {
			set, err := goods(p, r, bootstrap.Options{File: []byte{}})
			if err != nil {
				t.Fatal(err)
			}
			other := fstest.MapFS{}
			for _, f := range set.Tree() {
				other[strings.TrimPrefix(f.Path, "/")] = &fstest.MapFile{Data: []byte("other\n"), Mode: f.Mode}
				files[string(r)+f.Path] = true
			}
			report, err := hostDrift(other, p, r, &p)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range report.Changes {
				if c.Kind != drift.Differs && c.Kind != drift.Disabled {
					t.Errorf("%s %s: %s", r, c.Path, c.Kind)
				}
				if slices.ContainsFunc(c.Effects, func(e drift.Effect) bool { return e.Level == drift.Unknown }) {
					t.Errorf("%s %s: %v", r, c.Path, c.Effects)
				}
			}
			if n := len(set.Tree()); len(report.Changes) < n-1 {
				t.Errorf("%s: %d changes in %d files", r, len(report.Changes), n)
			}
		}
	}
	if len(files) < 60 || !files[string(role.Arbiter)+plan.Path] || !files[string(role.Master)+"/etc/kubernetes/disabled-manifests/haproxy.yaml"] {
		t.Errorf("%d files: the clusters above give not all", len(files))
	}
}

// TestDiffFitsATerminal holds that no line of ours is wider than a terminal; those of files are as
// they are.
func TestDiffFitsATerminal(t *testing.T) {
	for _, p := range everyCluster(t) {
		for _, r := range p.Roles() {
			report, err := hostDrift(fstest.MapFS{}, p, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			text := overview.Host{Role: r, Report: report, Refused: strings.Repeat("its nodes speak otherwise ", 20)}.Text(width())
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns() {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if strings.Contains(text, asset.PresetPath) {
				t.Error("a preset is asked for, where units may be enabled by links")
			}
		}
	}
}
