package asset

import (
	"fmt"
	"io/fs"
	"path"
)

// Builder fills a set for one room and keeps the first error, so that a list of goods reads as a
// list.
type Builder struct {
	By   string // the room, for the files that it adds
	From fs.FS  // where Embedded finds its files, by the last part of their paths

	set Set
	err error
}

// File adds a file of the room's own.
func (b *Builder) File(path string, mode fs.FileMode, contents []byte) {
	b.Goods(File{Path: path, Mode: mode, Contents: contents, By: b.By})
}

// Embedded adds the file of From that has the same name.
func (b *Builder) Embedded(name string, mode fs.FileMode) {
	contents, err := fs.ReadFile(b.From, path.Base(name))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("add file %s of %s: %w", name, b.By, err)
	}
	b.File(name, mode, contents)
}

// Goods adds a file of another room.
func (b *Builder) Goods(f File) {
	if b.err == nil {
		b.err = b.set.AddFile(f)
	}
}

// Units adds units of another room.
func (b *Builder) Units(list ...Unit) {
	for _, u := range list {
		if b.err == nil {
			b.err = b.set.AddUnit(u)
		}
	}
}

// Set is what has been added, or the first error.
func (b *Builder) Set() (Set, error) {
	if b.err != nil {
		return Set{}, b.err
	}
	return b.set, nil
}
