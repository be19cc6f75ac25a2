// Package document reads a YAML or JSON document value by value, each with its place, and gathers
// findings.
package document

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity reports whether a finding stops the compiler.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong with the input and what to do about it. Line and Column count
// from 1; both are 0 for a finding on a command line flag, whose name then stands in File.
type Finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	// such as platform.baremetal.apiVIPs[0]; "document" for the whole of it
	Path string `json:"path"`
	Text string `json:"text"`
}

// String is the finding on one line: FILE:LINE:COL: error: PATH: text.
func (f Finding) String() string {
	position := f.File
	if f.Line > 0 {
		position = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	return fmt.Sprintf("%s: %s: %s: %s", position, f.Severity, f.Path, f.Text)
}

// Findings is what is wrong, in the order of the file, flags last: the first 1,000 of them, and
// then one for the rest.
type Findings []Finding

// HasErrors reports whether any finding stops the compiler.
func (fs Findings) HasErrors() bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Severity == Error })
}

// Strict returns the findings with every warning made an error.
func (fs Findings) Strict() Findings {
	strict := slices.Clone(fs)
	for i := range strict {
		strict[i].Severity = Error
	}
	return strict
}

// Most limits the findings of a file: a large file of mistakes alone has hundreds of thousands.
const Most = 1000

// First are the first Most findings in order, each once. One more stands for all others: it has
// the place of the first of them, and the severity of the worst.
func (fs Findings) First() Findings {
	seen := map[Finding]bool{} // several rules may report one map of the wrong kind
	fs = slices.DeleteFunc(fs, func(f Finding) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	if fs.sort(); len(fs) <= Most {
		return fs
	}
	rest := fs[Most:]
	last := rest[0]
	last.Severity, last.Path = Warning, Whole
	if rest.HasErrors() {
		last.Severity = Error
	}
	last.Text = fmt.Sprintf("and %d more from here on: fix the first %d", len(rest), Most)
	return append(slices.Clip(fs[:Most]), last)
}

func (fs Findings) sort() {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
