package spec

import (
	"slices"
	"strings"
)

// draft reads the document as what it says it is. Where it does not say so in the right words,
// platform or spec tells what it is meant to be, so that one wrong line at the top hides nothing
// below.
func (r *reader) draft(text []byte) (draft, bool) {
	node, ok := r.document(text)
	if !ok {
		return draft{}, false
	}
	r.duplicates(node, nil)
	root := r.object(r.root(node))
	if !root.given {
		return draft{}, false
	}
	platform := root.has("platform")
	version, kindSaid := r.text(root.get("apiVersion")), r.text(root.get("kind"))
	if platform && !version.given {
		version = r.text(r.field(root, "apiVersion"))
	}
	switch {
	case isCluster(root, version, kindSaid):
		r.checkHead(version, kindSaid)
		return r.clusterYAML(root), true
	case kindSaid.given && !platform:
		r.errorf(kindSaid.at, "a Kubernetes object is neither an install-config nor a cluster.yaml: give the file that describes the cluster")
		return draft{}, false
	case version.ok && slices.Contains(versions(), version.value):
		return r.installConfig(root), true
	case version.ok:
		r.errorf(version.at, "%s is not known: write v1 in an install-config, %s in a cluster.yaml", quote(version.value), apiVersion)
	case !version.given:
		r.errorf(version.at, "is missing: write v1 in an install-config, %s in a cluster.yaml", apiVersion)
	}
	if !platform {
		return draft{}, false
	}
	return r.installConfig(root), true
}

// isCluster reports whether a document is meant to be a cluster.yaml.
func isCluster(root object, version, kindSaid said[string]) bool {
	_, spec := root.fields["spec"]
	spec = spec && !root.has("platform")
	switch {
	case strings.HasPrefix(version.value, apiGroup):
		return true
	case kindSaid.value == kind:
		return spec || !version.given
	}
	return spec && !kindSaid.given && !slices.Contains(versions(), version.value)
}

// checkHead checks what a cluster.yaml begins with.
func (r *report) checkHead(version, kindSaid said[string]) {
	switch {
	case !version.given:
		r.errorf(version.at, "is missing: write %s", apiVersion)
	case version.ok && version.value != apiVersion:
		r.errorf(version.at, "%s is not known: write %s", quote(version.value), apiVersion)
	}
	if !kindSaid.given || kindSaid.ok && kindSaid.value != kind {
		r.errorf(kindSaid.at, "want the kind %s: write kind: %s", kind, kind)
	}
}
