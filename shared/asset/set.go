package asset

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnitDir is where a host keeps the units that its administrator gave it.
const UnitDir = "/etc/systemd/system"

// Set is what one host gets. The zero value is an empty set, ready for use. No path has two owners.
type Set struct {
	files []File
	units []Unit
}

// AddFile puts f into the set. It is an error if the path is not absolute, clean and printable,
// if the mode has more than permission bits, or if another file or unit has claimed the path.
func (s *Set) AddFile(f File) error {
	if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "/" {
		return fmt.Errorf("add file %q of %s: the path is not absolute and clean", f.Path, f.By)
	}
	if !printable(f.Path) {
		return fmt.Errorf("add file %q of %s: the path holds what is not printed", f.Path, f.By)
	}
	if f.Mode&^fs.ModePerm != 0 {
		return fmt.Errorf("add file %s of %s: mode %v has more than permission bits", f.Path, f.By,
			f.Mode)
	}
	if err := s.free(f.Path, f.By); err != nil {
		return err
	}
	s.files = insert(s.files, f, func(f File) string { return f.Path })
	return nil
}

// AddUnit puts u into the set. It is an error if systemd would not read a file with its name, or
// with the name of a drop-in, from UnitDir, if a text is not UTF-8, or if another unit or file
// has claimed the unit or one of its files.
func (s *Set) AddUnit(u Unit) error {
	if !fileName(u.Name) || !strings.Contains(u.Name, ".") ||
		strings.Trim(u.Name, unitChars) != "" {
		return fmt.Errorf("add unit %q of %s: the name is not NAME.TYPE", u.Name, u.By)
	}
	if !utf8.Valid(u.Contents) {
		return fmt.Errorf("add unit %s of %s: its text is not UTF-8, and systemd passes over "+
			"such lines", u.Name, u.By)
	}
	for _, d := range u.DropIns {
		if !fileName(d.Name) || !strings.HasSuffix(d.Name, ".conf") || !printable(d.Name) {
			return fmt.Errorf("add unit %s of %s: drop-in %q is not NAME.conf", u.Name, u.By,
				d.Name)
		}
		if !utf8.Valid(d.Contents) {
			return fmt.Errorf("add unit %s of %s: the text of drop-in %s is not UTF-8, and "+
				"systemd passes over such lines", u.Name, u.By, d.Name)
		}
	}
	for _, p := range claims(u) {
		if err := s.free(p, u.By); err != nil {
			return err
		}
	}
	u.DropIns = slices.SortedFunc(slices.Values(u.DropIns),
		func(a, b DropIn) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(u.DropIns); i++ {
		if name := u.DropIns[i].Name; name == u.DropIns[i-1].Name {
			return conflict(dropInPath(u.Name, name), u.By, dropInPath(u.Name, name), u.By)
		}
	}
	s.units = insert(s.units, u, func(u Unit) string { return u.Name })
	return nil
}

// Files are the files of the set, without those that its units become, by path. The slice is the
// caller's, the contents are shared.
func (s Set) Files() []File { return slices.Clone(s.files) }

// Units are the units of the set, by name. The slice is the caller's, the contents are shared.
func (s Set) Units() []Unit { return slices.Clone(s.units) }

// free is nil if neither the path nor one above or below it is claimed: a file is no directory.
func (s Set) free(p, by string) error {
	for _, f := range s.files {
		if err := conflict(f.Path, f.By, p, by); err != nil {
			return err
		}
	}
	for _, u := range s.units {
		for _, c := range claims(u) {
			if err := conflict(c, u.By, p, by); err != nil {
				return err
			}
		}
	}
	return nil
}

// claims are the paths that no other file may have. The unit's own path is one of them even when
// only its state or its drop-ins are changed: two rooms that change one unit must know of each
// other.
func claims(u Unit) []string {
	paths := []string{unitPath(u.Name)}
	for _, d := range u.DropIns {
		paths = append(paths, dropInPath(u.Name, d.Name))
	}
	return paths
}

func conflict(former, owner, latter, by string) error {
	switch {
	case former == latter:
		return fmt.Errorf("%s has two owners, %s and %s", latter, owner, by)
	case strings.HasPrefix(latter, former+"/"):
		return fmt.Errorf("%s of %s is below %s, which is a file of %s", latter, by, former, owner)
	case strings.HasPrefix(former, latter+"/"):
		return fmt.Errorf("%s of %s is below %s, which is a file of %s", former, owner, latter, by)
	}
	return nil
}

func insert[T any](sorted []T, item T, key func(T) string) []T {
	at, _ := slices.BinarySearchFunc(sorted, key(item),
		func(t T, k string) int { return cmp.Compare(key(t), k) })
	return slices.Insert(sorted, at, item)
}

// unitChars are the characters of a unit's name (systemd.unit(5)): none of them means anything in a
// preset.
const unitChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

// printable reports whether a text stays on one line wherever it is listed, and is the same in
// JSON.
func printable(s string) bool {
	return utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func fileName(s string) bool { return s != "" && s[0] != '.' && !strings.Contains(s, "/") }

func unitPath(unit string) string { return path.Join(UnitDir, unit) }

func dropInPath(unit, name string) string { return path.Join(UnitDir, unit+".d", name) }
