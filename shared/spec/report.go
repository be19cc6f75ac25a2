package spec

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// place is where a value stands. Line 0 is the command line: file is then the flag.
type place struct {
	file         string
	line, column int
	path         string
}

// said is what the user wrote in one place.
type said[T any] struct {
	value T
	at    place
	given bool // something stands there, right or wrong
	ok    bool // value is what the user wrote; otherwise a finding says why not
}

// report gathers findings.
type report struct{ findings Findings }

func (r *report) errorf(at place, format string, args ...any) { r.add(at, Error, format, args) }
func (r *report) warnf(at place, format string, args ...any)  { r.add(at, Warning, format, args) }

func (r *report) add(at place, severity Severity, format string, args []any) {
	r.findings = append(r.findings, Finding{
		File: at.file, Line: at.line, Column: at.column, Severity: severity, Path: at.path, Text: fmt.Sprintf(format, args...),
	})
}

// longest is how much of a word a finding shows, in characters.
const longest = 60

// quote shows a word of the user on one line, cut when it is long. Only values of fields that this
// package reads come here: none of them is secret.
func quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest]) + "…"
	}
	return strconv.Quote(s)
}

// step is the way from a map to one of its fields in a path.
func step(path, key string) string {
	if len(key) > longest {
		return path + "[" + quote(key) + "]"
	}
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return path + "[" + quote(key) + "]"
		}
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
