package spec

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
)

// readDraft reads the document by its apiVersion and kind. If these are wrong, platform or spec
// shows what is meant, so that one wrong line at the top hides no finding below.
func readDraft(r *document.Reader, text []byte) (draft, bool) {
	node, ok := r.Read(text)
	if !ok {
		return draft{}, false
	}
	root := r.Map(node)
	if !root.Given {
		return draft{}, false
	}
	platform := root.Has("platform")
	version, kindGiven := r.Text(root.Get("apiVersion")), r.Text(root.Get("kind"))
	if platform && !version.Given {
		version = r.Text(r.Field(root, "apiVersion"))
	}
	switch {
	case isCluster(root, version, kindGiven):
		checkHead(r, version, kindGiven)
		return clusterYAML(r, root), true
	case kindGiven.Given && !platform:
		r.Errorf(kindGiven.At, "a Kubernetes object is neither an install-config nor a "+
			"cluster.yaml: give the file that describes the cluster")
		return draft{}, false
	case version.OK && slices.Contains(installer.Versions(), version.Value):
		return installConfig(r, root), true
	case version.OK:
		r.Errorf(version.At,
			"%s is not known: write v1 in an install-config, %s in a cluster.yaml",
			document.Quote(version.Value), apiVersion)
	case !version.Given:
		r.Errorf(version.At, "is missing: write v1 in an install-config, %s in a cluster.yaml",
			apiVersion)
	}
	if !platform {
		return draft{}, false
	}
	return installConfig(r, root), true
}

// isCluster reports whether a document is meant to be a cluster.yaml.
func isCluster(root document.Map, version, kindGiven document.Scalar[string]) bool {
	spec := slices.Contains(root.Names, "spec") && !root.Has("platform")
	switch {
	case strings.HasPrefix(version.Value, apiGroup):
		return true
	case kindGiven.Value == kind:
		return spec || !version.Given
	}
	return spec && !kindGiven.Given && !slices.Contains(installer.Versions(), version.Value)
}

// checkHead checks what a cluster.yaml begins with.
func checkHead(r *document.Reader, version, kindGiven document.Scalar[string]) {
	if !version.Given {
		r.Errorf(version.At, "is missing: write %s", apiVersion)
	} else if version.Value != apiVersion {
		r.Refuse(version, "is not known: write "+apiVersion)
	}
	if !kindGiven.Given || kindGiven.OK && kindGiven.Value != kind {
		r.Errorf(kindGiven.At, "want the kind %s: write kind: %s", kind, kind)
	}
}
