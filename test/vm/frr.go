package vm

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// FRRImage holds this machine's daemons of FRR, which are in the directory programs, the libraries
// that they are linked with, their models, and the files in which they find their user.
func FRRImage(ctx context.Context, name, programs string) (Image, error) {
	tree := map[string]string{"etc/passwd": "/etc/passwd", "etc/group": "/etc/group"}
	for _, daemon := range frr.Daemons() {
		program := filepath.Join(programs, string(daemon))
		linked, err := Linked(ctx, program)
		if err != nil {
			return Image{}, err
		}
		maps.Copy(tree, linked)
		tree[strings.TrimPrefix(program, "/")] = program
	}
	files, err := filepath.Glob("/usr/share/yang/*.yang")
	if err != nil {
		return Image{}, err
	}
	for _, path := range files {
		tree[strings.TrimPrefix(path, "/")] = path
	}
	return Image{Name: name, Tree: tree}, nil
}
