package spec

import (
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
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
	if root, ok := r.Read(text); ok {
		images = r.images(r.Map(root), false)
	}
	if r.Findings = r.Findings.First(); r.Findings.HasErrors() {
		return nil, r.Findings
	}
	return images, r.Findings
}

func (r *reader) images(o document.Map, strict bool) map[string]string {
	if strict {
		r.Known(o, imageKeys()...)
	}
	images := map[string]string{}
	for _, key := range imageKeys() {
		if s := r.Text(o.Get(key)); s.OK && r.checkImage(s) {
			images[key] = s.Value
		}
	}
	return images
}

// checkImage reports whether a text is an image reference that container engines read.
func (r *report) checkImage(s document.Scalar[string]) bool {
	name := repository(s.Value)
	switch {
	case !reference.MatchString(s.Value):
		r.Errorf(s.At,
			"%s is no image reference: write one such as registry.example.com/name@sha256:…",
			document.Quote(s.Value))
	case len(name) > maxRepository:
		r.Errorf(s.At, "%s has a name of %d characters and container engines read %d: shorten it",
			document.Quote(s.Value), len(name), maxRepository)
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
var reference = regexp.MustCompile(`^(?:(?:` + host + `|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` +
	component + `(?:/` + component + `)*` +
	`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(?:@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?$`)

const (
	host      = label + `(?:\.` + label + `)*`
	label     = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
	component = `[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
)
