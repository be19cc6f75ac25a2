// Package redact shows the difference of two files without their secrets.
package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// mostShown bounds the lines of one file's difference.
const mostShown = 400

// Difference is the unified diff from the host's file to the plan's. If the file is not public,
// or is no text, text is empty, and note is the reason.
func Difference(name string, is, want []byte, public bool) (text, note string) {
	switch {
	case !public:
		return "", "its text is not shown, as not everybody may read it"
	case !utf8.Valid(is) || bytes.IndexByte(is, 0) >= 0:
		return "", fmt.Sprintf("it is no text: %d bytes, and %d in the plan", len(is), len(want))
	}
	var s secrets
	is, want = s.hide(is), s.hide(want)
	lines := strings.SplitAfter(string(diff.Diff(name, is, name+" (plan)", want)), "\n")
	var out strings.Builder
	for i, line := range lines[min(1, len(lines)):] { // the first line repeats the two names
		if i == mostShown {
			fmt.Fprintf(&out, "(%d more lines)\n", len(lines)-1-i)
			break
		}
		out.WriteString(visible(line))
	}
	return out.String(), ""
}

// secrets hides secrets behind numbers, so that a diff shows which ones differ.
type secrets struct{ known map[string]int }

// What is a secret in a file of a host: a private key, a password in a URL, the token of an HTTP
// header, the value of a key that is named like one.
var (
	privateKey = regexp.MustCompile(
		`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\z)`)
	userInfo = regexp.MustCompile(`(://)([^/\s"']+)(@)`) // with each @ of a password
	bearer   = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9+/_.=-]{8,})`)
	named    = regexp.MustCompile(`(?i)([a-z0-9_.-]*` +
		`(?:passw(?:or)?d|auth_pass|passphrase|secret|token|api_?key|credential|private_?key|` +
		`"auth)` +
		`[a-z0-9_-]*"?[ \t]*[:= \t][ \t]*)("[^"\n]*"|'[^'\n]*'|[^\s,;]+)`)
)

func (s *secrets) hide(text []byte) []byte {
	text = privateKey.ReplaceAllFunc(text, func(key []byte) []byte { return s.number(key) })
	for _, kind := range []*regexp.Regexp{userInfo, bearer, named} {
		text = s.replace(kind, text)
	}
	return text
}

// replace hides one kind of secrets.
func (s *secrets) replace(kind *regexp.Regexp, text []byte) []byte {
	return kind.ReplaceAllFunc(text, func(all []byte) []byte {
		at := kind.FindSubmatchIndex(all)
		return slices.Concat(all[at[2]:at[3]], s.number(all[at[4]:at[5]]), all[at[5]:])
	})
}

// Message is another program's message in one printable line, without the credentials in its URLs
// and HTTP headers.
func Message(text string) string {
	var s secrets
	all := []byte(text)
	for _, kind := range []*regexp.Regexp{userInfo, bearer} {
		all = s.replace(kind, all)
	}
	return OneLine(strings.ToValidUTF8(string(all), "?"))
}

// number replaces a secret by a number. One that is hidden already stays as it is.
func (s *secrets) number(secret []byte) []byte {
	if bytes.HasPrefix(secret, []byte("(secret")) {
		return secret
	}
	if s.known == nil {
		s.known = map[string]int{}
	}
	if _, ok := s.known[string(secret)]; !ok {
		s.known[string(secret)] = len(s.known) + 1
	}
	return fmt.Appendf(nil, "(secret-%d)", s.known[string(secret)])
}

// visible escapes what is not printable, so that a line cannot control a terminal.
func visible(line string) string {
	var out strings.Builder
	for _, r := range line {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// OneLine is a message of the kernel, or a file's name, in one printable line.
func OneLine(text string) string { return visible(strings.Join(strings.Fields(text), " ")) }
