package asset

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

func TestBuilder(t *testing.T) {
	b := Builder{By: "room", From: fstest.MapFS{"script": {Data: []byte("#!/bin/sh\n")}}}
	b.File("/etc/b", 0o600, []byte("b"))
	b.Embedded("/usr/bin/script", 0o755)
	b.Goods(File{Path: "/etc/a", Mode: 0o644, By: "other"})
	b.Units(Unit{Name: "a.service", Contents: []byte("[Unit]\n")})
	set, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range set.Tree() {
		got = append(got, f.Path+" "+f.Mode.String()+" "+f.By+" "+string(f.Contents))
	}
	want := []string{"/etc/a -rw-r--r-- other ", "/etc/b -rw------- room b", "/etc/systemd/system/a.service -rw-r--r--  [Unit]\n",
		"/usr/bin/script -rwxr-xr-x room #!/bin/sh\n"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if paths := set.Paths(); !slices.Equal(paths, []string{"/etc/a", "/etc/b", "/etc/systemd/system/a.service", "/usr/bin/script"}) {
		t.Errorf("paths %q", paths)
	}
}

// TestBuilderFirstError holds that the first thing that goes wrong is the builder's error, and
// that it returns no half of a set.
func TestBuilderFirstError(t *testing.T) {
	for name, fail := range map[string]func(*Builder){
		"a path":        func(b *Builder) { b.File("relative", 0o644, nil) },
		"two owners":    func(b *Builder) { b.File("/etc/a", 0o644, nil) },
		"no such file":  func(b *Builder) { b.Embedded("/usr/bin/absent", 0o755) },
		"a unit's name": func(b *Builder) { b.Units(Unit{Name: "a"}) },
	} {
		b := Builder{By: "room", From: fstest.MapFS{}}
		b.File("/etc/a", 0o644, nil)
		fail(&b)
		_, want := b.Set()
		b.Units(Unit{})
		b.File("relative", 0o644, nil)
		b.File("/etc/b", 0o644, nil)
		set, err := b.Set()
		if want == nil || !errors.Is(err, want) || len(set.Tree()) > 0 {
			t.Errorf("%s: %v, with %v; want the first error, %v", name, err, set.Paths(), want)
		}
	}
}
