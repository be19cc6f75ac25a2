package matrix

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// TestTrees holds every file of every host of every kind of cluster. Of the three files in testdata
// one says which tree the hosts of a role get, one which files make up each tree, and one holds
// each file once; all three know trees and files by digests. cluster.json differs from cell to
// cell: its digest stands beside the cell, and it is there as a whole where a cell is the plainest
// one or differs from it in one thing.
func TestTrees(t *testing.T) {
	var where bytes.Buffer
	var trees, contents once
	for _, c := range cells() {
		described, _ := c.described(t)
		p := compiled(t, described)
		decided := plan.Encode(p)
		fmt.Fprintf(&where, "%s: %s", c, sum(decided))
		if c.plain() {
			contents.add("cluster.json of "+c.String(), decided)
		}
		for _, r := range p.Roles() {
			listing := listed(t, goods(t, p, r).Tree(), decided, &contents)
			trees.add(sum(listing), listing)
			fmt.Fprintf(&where, " %s %s", r, sum(listing))
		}
		where.WriteByte('\n')
	}
	t.Run("cells", func(t *testing.T) { golden.Check(t, where.Bytes()) })
	t.Run("trees", func(t *testing.T) { golden.Check(t, txtar.Format(&trees.Archive)) })
	t.Run("files", func(t *testing.T) { golden.Check(t, txtar.Format(&contents.Archive)) })
}

func sum(text []byte) string { return fmt.Sprintf("%.6x", sha256.Sum256(text)) }

// listed is a tree without its cluster.json, which must be the one that was decided; its files go
// into contents.
func listed(t *testing.T, tree []asset.File, decided []byte, contents *once) []byte {
	t.Helper()
	var listing bytes.Buffer
	for _, f := range tree {
		if f.Path == plan.Path {
			if !bytes.Equal(f.Contents, decided) {
				t.Errorf("a host has another cluster.json than was decided:\n%s", f.Contents)
			}
			continue
		}
		fmt.Fprintf(&listing, "%04o %s %s\n", f.Mode, f.Path, sum(f.Contents))
		contents.add(path.Base(f.Path)+" "+sum(f.Contents), f.Contents)
	}
	return listing.Bytes()
}

// plain tells the cells that differ from the plainest in one thing at most.
func (c cell) plain() bool {
	differs := 0
	for _, other := range []bool{
		c.platform != spec.BareMetal, c.balancer != spec.Managed || c.noVIPs, c.records != spec.Internal, c.families != "IPv4", c.topology.name != "ha3",
	} {
		if other {
			differs++
		}
	}
	return differs <= 1 || c.noVIPs && differs == 2
}

// once is an archive of files in the order in which they first came: so a change of one moves no
// other.
type once struct{ txtar.Archive }

func (o *once) add(name string, text []byte) {
	if !slices.ContainsFunc(o.Files, func(f txtar.File) bool { return f.Name == name }) {
		o.Files = append(o.Files, txtar.File{Name: name, Data: text})
	}
}
