package asset

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestAddFile(t *testing.T) {
	tests := []struct {
		name string
		file File
		want string // part of the error, empty for none
	}{
		{"good", File{Path: "/etc/a", Mode: 0o644, By: "x"}, ""},
		{"executable", File{Path: "/usr/local/bin/b", Mode: 0o755, By: "x"}, ""},
		{"relative", File{Path: "etc/a", By: "x"}, `"etc/a" of x: the path is not absolute and clean`},
		{"not clean", File{Path: "/etc/../a", By: "x"}, "not absolute and clean"},
		{"a directory", File{Path: "/etc/", By: "x"}, "not absolute and clean"},
		{"the root", File{Path: "/", By: "x"}, "not absolute and clean"},
		{"empty", File{By: "x"}, "not absolute and clean"},
		{"a setuid bit", File{Path: "/etc/b", Mode: fs.ModeSetuid | 0o755, By: "x"}, "more than permission bits"},
		{"a second line", File{Path: "/etc/a\nb", By: "x"}, `"/etc/a\nb" of x: the path holds what is not printed`},
		{"a zero byte", File{Path: "/etc/a\x00", By: "x"}, "not printed"},
		{"not UTF-8", File{Path: "/etc/\xff", By: "x"}, "not printed"},
		{"a blank", File{Path: "/etc/a b", By: "x"}, ""},
		{"taken by a file", File{Path: "/etc/taken", By: "x"}, "/etc/taken has two owners, files and x"},
		{"taken by a unit", File{Path: "/etc/systemd/system/a.service", By: "x"}, "/etc/systemd/system/a.service has two owners, units and x"},
		{"below a file", File{Path: "/etc/taken/b", By: "x"}, "/etc/taken/b of x is below /etc/taken, which is a file of files"},
		{"above a drop-in", File{Path: "/etc/systemd/system/a.service.d", By: "x"}, "a.service.d/10-b.conf of units is below"},
		{"beside, with its name", File{Path: "/etc/taken2", By: "x"}, ""},
		{"taken by a drop-in", File{Path: "/etc/systemd/system/a.service.d/10-b.conf", By: "x"}, "has two owners, units and x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := taken(t)
			before := len(set.Files())
			err := set.AddFile(tt.file)
			checkError(t, err, tt.want)
			if grown := len(set.Files()) > before; grown != (tt.want == "") {
				t.Errorf("set has grown: %v, error: %v", grown, err)
			}
		})
	}
}

func TestAddUnit(t *testing.T) {
	tests := []struct {
		name string
		unit Unit
		want string
	}{
		{"good", Unit{Name: "b.service", Contents: []byte("[Unit]\n"), By: "x"}, ""},
		{"state only", Unit{Name: "podman.socket", Enabled: true, By: "x"}, ""},
		{"no type", Unit{Name: "b", By: "x"}, "is not NAME.TYPE"},
		{"a path", Unit{Name: "../b.service", By: "x"}, "is not NAME.TYPE"},
		{"a second line", Unit{Name: "b.service\nenable c.service", By: "x"}, "is not NAME.TYPE"},
		{"two words", Unit{Name: "b .service", By: "x"}, "is not NAME.TYPE"},
		{"an instance", Unit{Name: `b@dev-\x2d.service`, By: "x"}, ""},
		{"not UTF-8", Unit{Name: "b.service", Contents: []byte("[Unit]\nDescription=\xff\n"), By: "x"}, "its text is not UTF-8"},
		{"drop-in not UTF-8", Unit{Name: "b.service", DropIns: []DropIn{{Name: "a.conf", Contents: []byte("\xff")}}, By: "x"}, "the text of drop-in a.conf is not UTF-8"},
		{"drop-in with a second line", Unit{Name: "b.service", DropIns: []DropIn{{Name: "a\nb.conf"}}, By: "x"}, "is not NAME.conf"},
		{"drop-in without .conf", Unit{Name: "b.service", DropIns: []DropIn{{Name: "10-a"}}, By: "x"}, `drop-in "10-a" is not NAME.conf`},
		{"drop-in with a path", Unit{Name: "b.service", DropIns: []DropIn{{Name: "a/b.conf"}}, By: "x"}, "is not NAME.conf"},
		{"drop-in twice", Unit{Name: "b.service", DropIns: []DropIn{{Name: "a.conf"}, {Name: "a.conf"}}, By: "x"}, "two owners, x and x"},
		{"taken", Unit{Name: "a.service", By: "x"}, "/etc/systemd/system/a.service has two owners, units and x"},
		{"taken by a file", Unit{Name: "c.service", By: "x"}, "/etc/systemd/system/c.service has two owners, files and x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := taken(t)
			err := set.AddUnit(tt.unit)
			checkError(t, err, tt.want)
			if grown := len(set.Units()) > 1; grown != (tt.want == "") {
				t.Errorf("set has grown: %v, error: %v", grown, err)
			}
		})
	}
}

func TestTree(t *testing.T) {
	var set Set
	for _, u := range []Unit{
		{Name: "z.service", Enabled: true, Contents: []byte("z")},
		{Name: "a.socket", Enabled: true},
		{Name: "m.service", DropIns: []DropIn{{Name: "20.conf", Contents: []byte("20")}, {Name: "10.conf", Contents: []byte("10")}}},
	} {
		if err := set.AddUnit(u); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []File{{Path: "/usr/local/bin/x", Mode: 0o755, Contents: []byte("x")}, {Path: "/etc/b", Mode: 0o600, Contents: []byte("b")}} {
		if err := set.AddFile(f); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range set.Tree() {
		got = append(got, f.Mode.String()+" "+f.Path+" "+string(f.Contents))
	}
	want := []string{
		"-rw------- /etc/b b",
		"-rw-r--r-- /etc/systemd/system-preset/20-onprem-infra.preset enable a.socket\nenable z.service\n",
		"-rw-r--r-- /etc/systemd/system/m.service.d/10.conf 10",
		"-rw-r--r-- /etc/systemd/system/m.service.d/20.conf 20",
		"-rw-r--r-- /etc/systemd/system/z.service z",
		"-rwxr-xr-x /usr/local/bin/x x",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := (Set{}).Tree(); len(got) != 0 {
		t.Errorf("the empty set has the tree %v", got)
	}
}

// TestCopies holds that what a caller does to the slices stays with the caller.
func TestCopies(t *testing.T) {
	set := taken(t)
	set.Files()[0].Path, set.Units()[0].Name = "changed", "changed"
	if set.Files()[0].Path == "changed" || set.Units()[0].Name == "changed" {
		t.Error("the set's own slice was handed out")
	}
}

// taken is a set with two files and a unit.
func taken(t *testing.T) *Set {
	t.Helper()
	var set Set
	for _, p := range []string{"/etc/taken", "/etc/systemd/system/c.service"} {
		if err := set.AddFile(File{Path: p, By: "files"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.AddUnit(Unit{Name: "a.service", DropIns: []DropIn{{Name: "10-b.conf"}}, By: "units"}); err != nil {
		t.Fatal(err)
	}
	return &set
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got the error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got the error %v, want one with %q", err, want)
	}
}
