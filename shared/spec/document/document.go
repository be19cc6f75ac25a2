package document

import (
	"errors"
	"io"
	"regexp"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limit is the longest input in bytes. Real ones are some kilobytes; the trust bundle and the pull
// secret make the largest part.
const Limit = 1 << 20

// Whole is the path of findings that are about no field.
const Whole = "document"

// document reads the one YAML document of a file; JSON is YAML too. It returns false after a
// finding that leaves nothing to read.
func (r *Reader) document(text []byte) (*yaml.Node, bool) {
	if len(text) > Limit {
		r.Errorf(r.place(1, 1), "has more than %d bytes: give %s and nothing else", Limit,
			r.want)
		return nil, false
	}
	if line, column, bad := unreadable(text); bad {
		r.Errorf(r.place(line, column), "holds a byte that is not text in UTF-8: save the "+
			"file as UTF-8 without control characters")
		return nil, false
	}
	var root *yaml.Node
	rows := &rowReader{rest: text}
	for dec := yaml.NewDecoder(rows); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.syntax(text, rows.read, err)
			return nil, false
		}
		if doc.Kind != yaml.DocumentNode || kindOf(doc.Content[0]) == kindNull {
			continue // nothing between two separators
		}
		if root != nil {
			r.Errorf(r.place(doc.Content[0].Line, doc.Content[0].Column),
				"a second document begins here: keep one document in the file")
			return nil, false
		}
		root = doc.Content[0]
	}
	if root == nil {
		r.Errorf(r.place(1, 1), "is empty: write %s; \"onprem-infra example\" prints one",
			r.want)
		return nil, false
	}
	r.unFold(root)
	return root, true
}

func (r *Reader) place(line, column int) Place {
	return Place{File: r.file, Line: line, Column: column, Path: Whole}
}

// Breaks are what YAML 1.1 counts as the end of a line.
var Breaks = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// unreadable finds the first byte that is not UTF-8 or that no YAML stream may hold (YAML 1.2 5.1).
func unreadable(text []byte) (line, column int, bad bool) {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 ||
			c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0 &&
			c != 0x85 || c == 0xfffe || c == 0xffff {
			rows := Breaks.Split(string(text[:i]), -1)
			return len(rows), utf8.RuneCountInString(rows[len(rows)-1]) + 1, true
		}
		i += size
	}
	return 0, 0, false
}
