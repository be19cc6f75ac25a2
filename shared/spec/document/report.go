package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Place is where a value is. Line 0 is the command line: File is then the flag.
type Place struct {
	File         string
	Line, Column int
	Path         string
}

// of is the place of a node of the same file, under another path.
func (p Place) of(n *yaml.Node, path string) Place {
	return Place{File: p.File, Line: n.Line, Column: n.Column, Path: path}
}

// Where is a place as a finding about another one names it.
func (p Place) Where() string {
	if p.Line == 0 {
		return "at " + p.Path
	}
	return fmt.Sprintf("at line %d", p.Line)
}

// Scalar is what the user wrote in one place.
type Scalar[T any] struct {
	Value T
	At    Place
	Given bool // something is there, right or wrong
	OK    bool // Value is what the user wrote; otherwise a finding explains why not
}

// Field is where a field of a cluster.yaml's spec stands in one that was not read from a file.
func Field(name string) Place { return Place{Path: "spec." + name} }

// Given is a value that the user wrote.
func Given[T any](value T, at Place) Scalar[T] {
	return Scalar[T]{Value: value, At: at, Given: true, OK: true}
}

// Report gathers findings.
type Report struct{ Findings Findings }

// Errorf reports what stops the compiler.
func (r *Report) Errorf(at Place, format string, args ...any) { r.add(at, Error, format, args) }

// Warnf reports what does not stop the compiler.
func (r *Report) Warnf(at Place, format string, args ...any) { r.add(at, Warning, format, args) }

func (r *Report) add(at Place, severity Severity, format string, args []any) {
	r.Findings = append(r.Findings, Finding{
		File: at.File, Line: at.Line, Column: at.Column, Severity: severity, Path: at.Path,
		Text: fmt.Sprintf(format, args...),
	})
}

// Refuse reports a text that is not accepted, and why. An empty reason accepts it.
func (r *Report) Refuse(s Scalar[string], why string) {
	if s.OK && why != "" {
		r.Errorf(s.At, "%s %s", Quote(s.Value), why)
	}
}

// OneOf reports a word that is not in a closed list.
func (r *Report) OneOf(s Scalar[string], words ...string) {
	if !slices.Contains(words, s.Value) {
		r.Refuse(s, "is not known: write one of "+strings.Join(words, ", "))
	}
}

// longest is how much of a word a finding shows, in characters.
const longest = 60

// Quote shows a word of the user on one line, cut if it is long. The word must not be secret.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest]) + "…"
	}
	return strconv.Quote(s)
}

// Step is a path with a field's name added. An unusual or long name is quoted in brackets.
func Step(path, key string) string {
	if len(key) > longest {
		return path + "[" + Quote(key) + "]"
	}
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' &&
			r != '_' {
			return path + "[" + Quote(key) + "]"
		}
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
