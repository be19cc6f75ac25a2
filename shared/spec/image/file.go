package image

import (
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// longestFile is how long a reference of a file may be, in bytes: what web servers take at least.
const longestFile = 2048

// checkFile reports a text that does not name a file with its digest, as URL@sha256:HEX. It repeats
// no text that may have a password or a token in it: everyone on a host may read the reference.
func checkFile(r *document.Report, s document.Scalar[string]) {
	if !s.OK {
		return
	}
	const form = "write a URL and the file's digest, such as " +
		"https://mirror.example.com/os.raw@sha256:…"
	url, digest, digested := s.Value, "", false
	if i := strings.LastIndex(s.Value, "@sha256:"); i >= 0 {
		url, digest, digested = s.Value[:i], s.Value[i+len("@sha256:"):], true
	}
	switch {
	case strings.Contains(url, "@"):
		r.Errorf(s.At, "has a login in it, or two @, and everyone on a host may read it: serve "+
			"the file without a login, and "+form)
		return
	case strings.ContainsAny(url, "?#"):
		r.Errorf(s.At, "has a ? or a #, behind which a token may be, and everyone on a host may "+
			"read it: "+form)
		return
	case !digested:
		r.Refuse(s, "has no digest: write @sha256: and the digest that sha256sum prints behind "+
			"the URL")
		return
	case !sha256Digest.MatchString(digest):
		r.Refuse(s, "has no SHA-256 digest behind @sha256: write the 64 digits that sha256sum "+
			"prints")
		return
	case len(s.Value) > longestFile:
		r.Refuse(s, "is longer than "+strconv.Itoa(longestFile)+" characters: shorten it")
		return
	}
	scheme, rest, _ := strings.Cut(url, "://")
	authority, below, _ := strings.Cut(rest, "/")
	switch {
	case scheme != "http" && scheme != "https" && scheme != "file":
		r.Refuse(s, "has no scheme http, https or file: "+form)
	case scheme == "file" && authority != "":
		r.Refuse(s, "names a host, and a file URL is of the bootstrap machine's own disk: write "+
			"file:///PATH")
	case scheme != "file" && !isAuthority(authority):
		r.Refuse(s, "has no host and port that can be reached: "+form)
	case !pathOfURL.MatchString(below) || path.Clean("/"+below) != "/"+below:
		r.Refuse(s, "has no path of a file: "+form)
	case packed.MatchString(below):
		r.Refuse(s, "is packed in a way that the bootstrap machine cannot unpack: pack the file "+
			"by gzip, or not at all, and write the digest of that")
	}
}

var (
	sha256Digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// An escaped dot or slash (%2E, %2F) could lead to another directory, and an escaped control
	// character could end a name.
	pathOfURL = regexp.MustCompile(`^(?:[A-Za-z0-9._~!$&'()*+,;=:/-]|` +
		`%(?:[3-689A-Fa-f][0-9A-Fa-f]|2[0-9A-Da-d]|7[0-9A-Ea-e]))+$`)
	authority = regexp.MustCompile(`^(?:` + label + `(?:\.` + label + `)*|\[([0-9a-fA-F:.]+)\])` +
		`(?::([0-9]{1,5}))?$`)
	packed = regexp.MustCompile(`\.(?:xz|zst|bz2|zip|lz4|tar)$`)
)

// label is a part of a host's name.
const label = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`

// isAuthority reports whether a text is HOST or HOST:PORT.
func isAuthority(text string) bool {
	found := authority.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	if six := found[1]; six != "" {
		if a, err := netip.ParseAddr(six); err != nil || !a.Is6() {
			return false
		}
	}
	n, err := strconv.Atoi(found[2])
	return found[2] == "" || err == nil && n > 0 && n < 1<<16
}
