package render

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

var update = flag.Bool("update", false, "write the expected files anew")

// TestRender compares every file of every role with what stands in the archive. The first file of
// an archive is the input, images.json the images; then comes what is expected: "ROLE" lists paths,
// modes and owners, or is what is wrong with the role, "ROLE/PATH" are the files that no role
// before has in the same form, or "findings" is what is wrong with the input.
func TestRender(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var input []txtar.File
			var images []byte
			for _, f := range archive.Files {
				switch f.Name {
				case "images.json":
					images = f.Data
					input = append(input, f)
				case "install-config.yaml", "cluster.yaml":
					input = append(input, f)
				}
			}
			out := rendered(input[0], images)
			for _, f := range out {
				if bytes.Contains(f.Data, []byte("must-not-appear")) || bytes.Contains(f.Data, []byte("c2VjcmV0")) {
					t.Errorf("%s holds a secret of the input", f.Name)
				}
			}
			got := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: append(input, out...)})
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := txtar.Format(archive); !bytes.Equal(got, want) {
				t.Errorf("differs from %s at\n%s\nrun with -update, then read the difference", name, firstDifference(got, want))
			}
		})
	}
}

// rendered is what an input becomes. Warnings stand before the files, errors instead of them.
func rendered(input txtar.File, images []byte) []txtar.File {
	described, found := spec.Parse(input.Name, input.Data, spec.Knobs{})
	if images != nil {
		refs, more := spec.ParseImages("images.json", images)
		described.Images, found = refs, append(found, more...)
	}
	var entries []txtar.File
	if len(found) > 0 {
		lines := make([]string, len(found))
		for i, f := range found {
			lines[i] = f.String()
		}
		entries = findings(strings.Join(lines, "\n"))
	}
	if found.HasErrors() {
		return entries
	}
	p, err := plan.Compile(described)
	if err != nil {
		return findings(err)
	}
	written := map[string]string{}
	for _, r := range p.Roles() {
		set, err := goods(p, r, described.Hosts)
		if err == nil {
			_, err = ignition.Encode(set)
		}
		if err != nil {
			entries = append(entries, txtar.File{Name: string(r), Data: fmt.Appendf(nil, "%v\n", err)})
			continue
		}
		entries = append(entries, tree(string(r), set, written)...)
	}
	set, err := cluster.ManifestsWith(p, metal3.Given{Hosts: described.Hosts, InfraID: "ostest-x7k2p"})
	if err != nil {
		return findings(err)
	}
	return append(entries, tree("cluster", set, written)...)
}

// goods are what a host of a role gets. Hosts that the bootstrap machine provisions have one Ignition
// document.
func goods(p plan.Plan, r role.Role, hosts []spec.Host) (asset.Set, error) {
	switch {
	case r == role.Bootstrap && bootstrap.Provisions(p):
		return bootstrap.AssetsWith(p, bootstrap.Options{Hosts: hosts, Ignition: map[string][]byte{"master": []byte("must-not-appear")}})
	case r == role.Bootstrap:
		return bootstrap.Assets(p)
	}
	return cluster.Assets(p, r)
}

func findings(text any) []txtar.File {
	return []txtar.File{{Name: "findings", Data: fmt.Appendf(nil, "%v\n", text)}}
}

// tree is a role's files, behind a list of them. What has been written for another role is only
// listed, and so is what not everyone may read.
func tree(role string, set asset.Set, written map[string]string) []txtar.File {
	var list bytes.Buffer
	var files []txtar.File
	for _, f := range set.Tree() {
		fmt.Fprintf(&list, "%04o %s %s", f.Mode, f.Path, f.By)
		key := f.Path + "\n" + string(f.Contents)
		if first, ok := written[key]; ok {
			fmt.Fprintf(&list, " as %s\n", first)
			continue
		}
		list.WriteByte('\n')
		if f.Mode&0o004 == 0 {
			continue
		}
		written[key] = role
		files = append(files, txtar.File{Name: role + f.Path, Data: f.Contents})
	}
	return append([]txtar.File{{Name: role, Data: list.Bytes()}}, files...)
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		left, right := "(the end)", "(the end)"
		if i < len(g) {
			left = g[i]
		}
		if i < len(w) {
			right = w[i]
		}
		if left != right {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, left, right)
		}
	}
	return "no line"
}
