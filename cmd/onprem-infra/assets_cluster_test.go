package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRenderCluster holds that the cluster's own objects need no images, and are no host's: no
// document for a machine is made of them.
func TestRenderCluster(t *testing.T) {
	config, _ := exampleFilesIn(t)
	out := filepath.Join(t.TempDir(), "manifests")
	must(t, "", "render", "--role=cluster", "-c", config, "--out", out)
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Contains(names, "01-namespace.yaml") || len(names) < 5 {
		t.Errorf("wrote %q", names)
	}
	text, err := os.ReadFile(filepath.Join(out, "01-namespace.yaml"))
	if err != nil || !strings.Contains(string(text), "kind: Namespace") || !strings.Contains(string(text), "name: openshift-kni-infra") {
		t.Errorf("the namespace is %q (%v)", text, err)
	}
	if o := invoke(t, "", "ignition", "--role=cluster", "-c", config); o.code != 2 || o.out != "" ||
		!strings.Contains(o.err, `role "cluster" is not one of: bootstrap, master, worker, arbiter`) {
		t.Errorf("ignition --role=cluster: exit %d, %q, %q", o.code, o.out, o.err)
	}
	if o := invoke(t, "", "render", "-c", config, "--out", out); o.code != 2 || !strings.Contains(o.err, "name one of bootstrap, master, worker, arbiter, cluster") {
		t.Errorf("render without a role: exit %d, %q", o.code, o.err)
	}
}

// TestPlanFilesByRole holds that the plan lists what each kind of host gets, by the roles that the
// cluster has.
func TestPlanFilesByRole(t *testing.T) {
	input := must(t, "", "example", "cluster")
	for input, want := range map[string][]string{
		input: {"bootstrap", "master", "worker"},
		strings.Replace(input, "topology: HighlyAvailable", "topology: HighlyAvailableArbiter", 1): {"arbiter", "bootstrap", "master", "worker"},
	} {
		text := must(t, input, "plan", "-c", "-", "-o", "yaml")
		_, files, _ := strings.Cut(text, "\nfiles:\n")
		var got []string
		for line := range strings.Lines(files) {
			if name := strings.TrimSuffix(strings.TrimSpace(line), ":"); !strings.HasPrefix(strings.TrimSpace(line), "-") && strings.HasSuffix(strings.TrimSpace(line), ":") {
				got = append(got, name)
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("files of %q, want %q", got, want)
		}
		if !strings.Contains(files, "/etc/kubernetes/manifests/haproxy.yaml") {
			t.Error("the files of a master lack HAProxy's pod")
		}
	}
}
