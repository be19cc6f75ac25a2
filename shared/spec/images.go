package spec

import (
	"regexp"
	"strings"
)

// The keys of the images that hosts run, as a release's images file spells them. RuntimeCfgImage is
// this project's own.
const (
	KeepalivedImage = "keepalivedImage"
	HAProxyImage    = "haproxyImage"
	CoreDNSImage    = "corednsImage"
	RuntimeCfgImage = "baremetalRuntimeCfgImage"
)

func imageKeys() []string {
	return []string{RuntimeCfgImage, CoreDNSImage, HAProxyImage, KeepalivedImage}
}

// ParseImages reads a JSON file of image references by key. A release's own file names many more
// than hosts run here: those are left alone. Name is what findings call the file; the map is nil
// when one of them is an error.
func ParseImages(name string, text []byte) (map[string]string, Findings) {
	r := newReader(name, "a JSON object of image references")
	var images map[string]string
	if root, ok := r.document(text); ok {
		r.duplicates(root, nil)
		images = r.images(r.object(r.root(root)), false)
	}
	if r.findings = r.findings.first(); r.findings.HasErrors() {
		return nil, r.findings
	}
	return images, r.findings
}

func (r *reader) images(o object, strict bool) map[string]string {
	if strict {
		r.fields(o, imageKeys()...)
	}
	images := map[string]string{}
	for _, key := range imageKeys() {
		if s := r.text(o.get(key)); s.ok && r.checkImage(s) {
			images[key] = s.value
		}
	}
	return images
}

// checkImage reports whether a text is an image reference that container engines read.
func (r *report) checkImage(s said[string]) bool {
	name := repository(s.value)
	switch {
	case !reference.MatchString(s.value):
		r.errorf(s.at, "%s is no image reference: write one such as registry.example.com/name@sha256:…", quote(s.value))
	case len(name) > maxRepository:
		r.errorf(s.at, "%s has a name of %d characters and container engines read %d: shorten it", quote(s.value), len(name), maxRepository)
	default:
		return true
	}
	return false
}

// maxRepository is the longest name of an image, its registry's included, without tag and digest.
const maxRepository = 255

// repository is the part of an image reference before its tag and digest.
func repository(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name
}

// reference is the grammar of image references, so that none reaches a host that no engine can
// read: [HOST[:PORT]/]PATH[:TAG][@DIGEST].
var reference = regexp.MustCompile(`^(?:(?:` + host + `|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` + component + `(?:/` + component + `)*` +
	`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(?:@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?$`)

const (
	host      = label + `(?:\.` + label + `)*`
	label     = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
	component = `[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
)
