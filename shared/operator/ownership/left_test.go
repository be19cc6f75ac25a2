package ownership

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// former is a cluster of masters, each with a balancer where that is ours, and of workers.
func former(t *testing.T) Former {
	t.Helper()
	assets := func(p plan.Plan, r role.Role) (asset.Set, error) {
		var set asset.Set
		files := map[role.Role]map[string]string{
			role.Master: {"/etc/a.yaml": "# onprem-infra", "/etc/plain": "of " + p.Cluster.Name},
			role.Worker: {"/etc/a.yaml": "# onprem-infra"},
		}[r]
		if files == nil {
			return set, errors.New("no such role")
		}
		for path, text := range files {
			f := asset.File{Path: path, Mode: 0o644, Contents: []byte(text)}
			if err := set.AddFile(f); err != nil {
				t.Fatal(err)
			}
		}
		return set, nil
	}
	paths := func(p plan.Plan, r role.Role) ([]string, error) {
		set, err := assets(p, r)
		if err != nil {
			return nil, err
		}
		list := set.Paths()
		if r == role.Master && p.LoadBalancer == spec.UserManaged {
			list = append(list, "/etc/aside")
		}
		return list, nil
	}
	now, next := plan.Plan{}, plan.Plan{}
	now.Cluster.Name, next.Cluster.Name = "now", "next"
	return Former{Roles: role.All(), Plans: []plan.Plan{next, now}, Assets: assets, Paths: paths}
}

// TestLeftovers holds which files at a path of ours are ours: those that name this program, and
// those that some plan gives to the letter. Other files are another program's.
func TestLeftovers(t *testing.T) {
	for _, tt := range []struct {
		name           string
		host           map[string]string
		tree           []string // of the role that comes
		leave, foreign []string
	}{
		{name: "an empty host"},
		{name: "of another role", host: map[string]string{"etc/a.yaml": "of onprem-infra 1"},
			leave: []string{"/etc/a.yaml"}},
		{name: "of this role too", host: map[string]string{"etc/a.yaml": "of onprem-infra 1"},
			tree: []string{"/etc/a.yaml"}},
		{name: "without a name, of the next plan", host: map[string]string{"etc/plain": "of next"},
			leave: []string{"/etc/plain"}},
		{name: "without a name, of the former plan", host: map[string]string{"etc/plain": "of now"},
			leave: []string{"/etc/plain"}},
		{name: "without a name, edited", host: map[string]string{"etc/plain": "of now!"},
			foreign: []string{"/etc/plain"}},
		{name: "of another load balancer", host: map[string]string{"etc/aside": "onprem-infra"},
			leave: []string{"/etc/aside"}},
		{name: "at no path of ours", host: map[string]string{"etc/b.yaml": "onprem-infra"}},
		{name: "a directory at a path of ours", host: map[string]string{"etc/a.yaml/b": "x"}},
		{name: "both", host: map[string]string{"etc/a.yaml": "x", "etc/plain": "of now"},
			leave: []string{"/etc/plain"}, foreign: []string{"/etc/a.yaml"}},
		{name: "a long one", host: map[string]string{
			"etc/plain": "onprem-infra" + strings.Repeat("x", 2*mostRead)},
			leave: []string{"/etc/plain"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fstest.MapFS{}
			for path, text := range tt.host {
				host[path] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
			}
			var tree []asset.File
			for _, path := range tt.tree {
				tree = append(tree, asset.File{Path: path})
			}
			leave, foreign, err := former(t).Leftovers(host, tree)
			if err != nil || !slices.Equal(leave, tt.leave) || !slices.Equal(foreign, tt.foreign) {
				t.Errorf("leave %q, foreign %q, %v, want %q and %q", leave, foreign, err, tt.leave, tt.foreign)
			}
		})
	}
}

// closed is a FAKE file system whose files exist and cannot be opened.
type closed struct{ fstest.MapFS }

func (c closed) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestLeftovers_Unread holds that files which cannot be read are neither ours nor foreign, and that all of
// them are named at once.
func TestLeftovers_Unread(t *testing.T) {
	host := closed{fstest.MapFS{"etc/a.yaml": {Mode: 0o600}, "etc/plain": {Mode: 0o600}}}
	leave, foreign, err := former(t).Leftovers(host, nil)
	if len(leave)+len(foreign) > 0 || !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("leave %q, foreign %q, %v", leave, foreign, err)
	}
	for _, name := range []string{"read /etc/a.yaml: ", "read /etc/plain: "} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v: want %s", err, name)
		}
	}
}

// TestIn holds that a directory of others has no file of ours, and that files of ours which do not
// name this program are found by their successors.
func TestIn(t *testing.T) {
	tree := []asset.File{{Path: "/d.json", Contents: []byte("{}")},
		{Path: "/marked", Contents: []byte("onprem-infra")}, {Path: "/plain", Contents: []byte("x")}}
	for _, tt := range []struct {
		ours       bool
		path, text string
		want       bool
	}{
		{false, "/marked", "onprem-infra", false},
		{true, "/marked", "onprem-infra", true},
		{true, "/marked", "of others", false},
		{true, "/plain", "edited", true},
		{true, "/d.json", "of others", true},
		{true, "/other", "of others", false},
	} {
		if got := In(tt.ours, "/d.json", tree)(tt.path, []byte(tt.text)); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}
