// Package ownership decides which files of a directory are ours, and which of them a former role,
// setting or release has left there.
package ownership

import (
	"bytes"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// Marked reports whether a text names this program, as most files of ours do.
func Marked(text []byte) bool { return bytes.Contains(text, []byte("onprem-infra")) }

// In returns a function that reports whether a file is ours. In a directory that is not ours,
// none is. Else a file is if it names this program, if its successor in the new tree does not
// name it either, or if it is the description, which makes a directory ours.
func In(ours bool, description string, tree []asset.File) func(path string, text []byte) bool {
	unmarked := map[string]bool{}
	for _, f := range tree {
		unmarked[f.Path] = f.Path == description || len(f.Contents) > 0 && !Marked(f.Contents)
	}
	return func(path string, text []byte) bool { return ours && (Marked(text) || unmarked[path]) }
}

// IsClusterDocument reports whether a text is a manifest, a rule or a dashboard of ours.
func IsClusterDocument(_ string, text []byte) bool {
	return Marked(text) || bytes.Contains(text, []byte("onprem_"))
}
