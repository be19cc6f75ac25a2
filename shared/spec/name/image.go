package name

import (
	"fmt"
	"regexp"
	"strings"
)

// NoImage is why container engines do not read a text as an image reference; empty if they do.
func NoImage(image string) string {
	name := repository(image)
	switch {
	case !reference.MatchString(image):
		return "is no image reference: write one such as registry.example.com/name@sha256:…"
	case len(name) > maxRepository:
		return fmt.Sprintf("has a name of %d characters and container engines read %d: shorten it",
			len(name), maxRepository)
	}
	return ""
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
