// Package artifact reads the text by which a description names a file that hosts get: where it is,
// and its digest.
package artifact

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Artifact is a file, wherever it is now.
type Artifact struct {
	URL    string // its scheme is http, https or file
	SHA256 string // of the file as it is there: 64 hexadecimal digits in lower case
}

const (
	separator = "@sha256:"
	digits    = 64
	maxText   = 4096 // bytes; servers take no longer URLs
)

// Parse reads URL@sha256:HEX. Its errors are findings: what is wrong, and what to do.
func Parse(text string) (Artifact, error) {
	if len(text) > maxText {
		return Artifact{}, fmt.Errorf("it has %d bytes, %d at most: choose a shorter URL",
			len(text), maxText)
	}
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return Artifact{}, errors.New("it has no digest: write URL@sha256: and the 64 digits " +
			"that sha256sum prints of the file")
	}
	a := Artifact{URL: text[:at], SHA256: strings.ToLower(text[at+len(separator):])}
	if sum, err := hex.DecodeString(a.SHA256); err != nil || len(sum) != digits/2 {
		return Artifact{}, fmt.Errorf("its digest is no SHA-256: write the %d hexadecimal digits "+
			"that sha256sum prints of the file", digits)
	}
	if err := a.check(); err != nil {
		return Artifact{}, err
	}
	return a, nil
}

func (a Artifact) check() error {
	if strings.ContainsFunc(a.URL, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("its URL has a character that is none of a URL: write it as %XX")
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return errors.New("it is no URL: write http://, https:// or file:// and a path")
	}
	switch {
	case !slices.Contains([]string{"http", "https", "file"}, u.Scheme) || u.Opaque != "":
		return errors.New("it is no URL of a file: write http://, https:// or file:// and a path")
	case u.User != nil:
		return errors.New("it has a user or a password, which every host of the cluster could " +
			"read: remove them, the digest is what the file is trusted by")
	case u.Fragment != "":
		return errors.New("it has a part behind #, which no server gets: remove it")
	case u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || u.RawQuery != ""):
		return errors.New("it is no file of this machine: write file:///PATH")
	case u.Scheme != "file" && u.Hostname() == "":
		return errors.New("its URL has no host: write http://HOST/PATH")
	case u.Path == "" || strings.HasSuffix(u.Path, "/") || path.Clean(u.Path) != u.Path:
		return errors.New("its URL names no file: write the path of one, without dots alone " +
			"between slashes")
	}
	for _, end := range []string{".xz", ".zst", ".bz2", ".zip", ".lz4", ".tar"} {
		if strings.HasSuffix(u.Path, end) {
			return fmt.Errorf("a file of the kind %s cannot be unpacked here: compress it by "+
				"gzip, or not at all, and write the digest of that file", end)
		}
	}
	return nil
}

// String is the text that Parse reads.
func (a Artifact) String() string { return a.URL + separator + a.SHA256 }

// Shown is where the file is, without what may be a credential.
func (a Artifact) Shown() string {
	shown, _, _ := strings.Cut(a.URL, "?")
	return shown
}

// Local is the path of a file of this machine; empty for a file of another one.
func (a Artifact) Local() string {
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// name is the path of its URL.
func (a Artifact) name() string {
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	return u.Path
}

// Compressed reports whether it is compressed by gzip.
func (a Artifact) Compressed() bool { return strings.HasSuffix(a.name(), ".gz") }

// QCOW2 reports whether it is a disk image of that format, by its name. Others are raw.
func (a Artifact) QCOW2() bool {
	return strings.HasSuffix(strings.TrimSuffix(a.name(), ".gz"), ".qcow2")
}
