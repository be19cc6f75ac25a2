// Package output writes what a verb has made, a document or a tree of files, whole or not at all:
// never over one of the verb's own inputs, and over a file of another program only by force.
package output

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Place is where a verb writes, and what it may replace there.
type Place struct {
	Path   string   // a file, or the directory of a tree
	Inputs []string // files that the verb has read; "-" is standard input
	Force  bool     // write over files that are not ours
	DryRun bool     // check everything, and write nothing
	// Private is for a document with secrets: no one but the owner of its file may read it.
	Private bool
}

// Action is what is done to one file.
type Action string

// The actions.
const (
	Create Action = "new"
	Change Action = "changed"
	Keep   Action = "same" // the file has this text already
	Remove Action = "removed"
)

// Outcome is what was done to a file, or would be.
type Outcome struct {
	Path   string
	Action Action
}

// InputError is an output that is one of the inputs.
type InputError struct{ Path, Input string }

func (e InputError) Error() string {
	name := e.Input
	if name == "-" {
		name = "standard input"
	}
	return fmt.Sprintf("write %s: it is an input of this command (%s), which would be lost: "+
		"name another output", e.Path, name)
}

// ForeignError is files in the way that are not ours.
type ForeignError struct{ Paths []string }

func (e ForeignError) Error() string {
	what, them := "is a file", "it"
	if len(e.Paths) > 1 {
		what, them = "are files", "them"
	}
	return fmt.Sprintf("write %s: there %s that onprem-infra has not written: name another "+
		"output, or write over %s with --force", Some(e.Paths), what, them)
}

// mostNamed is how many paths one message names.
const mostNamed = 5

// Some names paths in a message, the first few of many.
func Some(paths []string) string {
	if more := len(paths) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:mostNamed], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// mostRead bounds what is read of a file to compare it. A longer one is not ours.
const mostRead = 64 << 20

// judge is the action of writing data over an existing file. ours judges its text.
func (p Place) judge(path string, info fs.FileInfo, have []byte, data []byte,
	ours func([]byte) bool) (Action, error) {
	if bytes.Equal(have, data) {
		return Keep, nil // nothing is lost
	}
	for _, input := range p.Inputs {
		name := input
		if name == "-" {
			name = "/dev/stdin" // the file that the shell has opened there
		}
		if read, err := os.Stat(name); err == nil && os.SameFile(read, info) {
			return Change, InputError{Path: path, Input: input}
		}
	}
	if len(have) > 0 && !p.Force && !ours(have) {
		return Change, ForeignError{Paths: []string{path}}
	}
	return Change, nil
}
