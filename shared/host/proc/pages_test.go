package proc

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// written is in the part of the program that can be written to.
var written = "before"

// TestUnmap has most of this program's pages leave memory, and holds that it runs on and knows what
// it has written.
func TestUnmap(t *testing.T) {
	written = "now"
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program) // has the kernel hold it, as at a start
	if err != nil {
		t.Fatal(err)
	}
	resident := func() (kb int) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(status), "\nRssFile:")
		line, _, _ = strings.Cut(line, "kB")
		if kb, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
		return kb
	}
	before := resident()
	bytes, err := Unmap()
	after := resident()
	if err != nil || bytes < len(text)/4 || after >= before || written != "now" {
		t.Errorf("%d bytes of %d, %v; %d kB of files before, %d after; what was written is %q",
			bytes, len(text), err, before, after, written)
	}
}

// TestReadOnly holds that nothing which can be written to is let go of, and nothing of another
// file.
func TestReadOnly(t *testing.T) {
	const maps = `00400000-01318000 r-xp 00000000 fe:00 803528                             /usr/bin/a b
01318000-02308000 r--p 00f18000 fe:00 803528                             /usr/bin/a b
02308000-023a0000 rw-p 01f08000 fe:00 803528                             /usr/bin/a b
7f9cbefd0000-7f9cbf300000 r--p 00000000 fe:00 803529                     /usr/lib/x/usr/bin/a b
7f9cbf300000-7f9cbf400000 r--p 00000000 fe:00 803530                     /usr/lib/b
7f9cbf400000-7f9cbf500000 r--p 00000000 00:00 0
7ffe7a7c5000-7ffe7a7e6000 rw-p 00000000 00:00 0                          [stack]
`
	want := []region{{0x400000, 0x1318000}, {0x1318000, 0x2308000}}
	if got := readOnly([]byte(maps), "/usr/bin/a b"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}
