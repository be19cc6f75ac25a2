package spec

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// limit is the longest input in bytes. Real ones are some kilobytes; the trust bundle and the pull secret make the largest part.
const limit = 1 << 20

// wholeDocument is the path of findings that are about no field.
const wholeDocument = "document"

// document reads the one YAML document of a file; JSON is YAML too. It returns false after a finding that leaves nothing to read.
func (r *reader) document(text []byte) (*yaml.Node, bool) {
	if len(text) > limit {
		r.errorf(r.place(1, 1), "has more than %d bytes: give the install-config or cluster.yaml alone", limit)
		return nil, false
	}
	if line, column, bad := unreadable(text); bad {
		r.errorf(r.place(line, column), "holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters")
		return nil, false
	}
	var root *yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.syntax(text, err)
			return nil, false
		}
		if doc.Kind != yaml.DocumentNode || kindOf(doc.Content[0]) == kindNull {
			continue // nothing between two separators
		}
		if root != nil {
			r.errorf(r.place(doc.Content[0].Line, doc.Content[0].Column), "a second document begins here: keep one document in the file")
			return nil, false
		}
		root = doc.Content[0]
	}
	if root == nil {
		r.errorf(r.place(1, 1), "is empty: write an install-config or a cluster.yaml; \"onprem-infra example\" prints both")
		return nil, false
	}
	return root, true
}

func (r *reader) place(line, column int) place {
	return place{file: r.file, line: line, column: column, path: wholeDocument}
}

// unreadable finds the first byte that is not UTF-8 or that no YAML stream may hold (YAML 1.2 5.1).
func unreadable(text []byte) (line, column int, bad bool) {
	line, column = 1, 1
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size == 1,
			c < ' ' && c != '\t' && c != '\n' && c != '\r', c >= 0x7f && c < 0xa0 && c != 0x85, c == 0xfffe, c == 0xffff:
			return line, column, true
		case c == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		i += size
	}
	return 0, 0, false
}

var (
	errorLine   = regexp.MustCompile(`^yaml: line (\d+): `)
	indentedTab = regexp.MustCompile(`^ *\t`)
)

// syntax turns the parser's error into a finding. The parser's text is passed on where it is a fixed one; the name of an anchor may be
// the beginning of a password that nobody put in quotes.
func (r *reader) syntax(text []byte, err error) {
	why, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := errorLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		why = strings.TrimPrefix(err.Error(), m[0])
	}
	lines := strings.Split(string(text), "\n")
	line = max(1, min(line, len(lines)))
	at := r.place(line, 1+len(lines[line-1])-len(strings.TrimLeft(lines[line-1], " ")))
	if tab := indentedTab.FindString(lines[line-1]); tab != "" {
		at.column = len(tab)
		r.errorf(at, "a tab indents this line, where YAML allows spaces only: replace the tab by spaces")
		return
	}
	if strings.Contains(why, "unknown anchor") {
		why = "an alias (*) without its anchor (&)"
	}
	r.errorf(at, "is not YAML here: %s: mend this line or the one before it, and put text with special characters in quotes", why)
}
