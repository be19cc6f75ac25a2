package ironic

import (
	"encoding/binary"
	"strings"
	"testing"
)

// modules is a list as GRUB has it, with one module before the directory.
func modules(dir string) string {
	one := func(kind int, content string) string {
		head := binary.LittleEndian.AppendUint32(nil, uint32(kind))
		return string(binary.LittleEndian.AppendUint32(head, uint32(8+len(content)))) + content
	}
	all := one(0, "\x7fELF mimg") + one(3, dir+"\x00\x00")
	head := binary.LittleEndian.AppendUint64(nil, 24)
	return "mimg\x00\x00\x00\x00" + string(binary.LittleEndian.AppendUint64(head, uint64(24+len(all)))) + all
}

// TestGRUBConfig holds which configuration the GRUB of a file system reads. test/ironic has a real one.
func TestGRUBConfig(t *testing.T) {
	fat := strings.Repeat("FAT12", 100)
	for _, tt := range []struct{ esp, want string }{
		{fat + modules("/EFI/centos") + fat, "EFI/centos/grub.cfg"},
		{fat + modules("/boot/grub"), "boot/grub/grub.cfg"},
		// The code has the magic number too, before the list.
		{fat + "mimg\x00\x00\x00\x00" + fat + modules("/EFI/redhat"), "EFI/redhat/grub.cfg"},
		// On a disk, or in the loader itself, Ironic cannot write.
		{fat + modules("(,gpt1)/EFI/centos"), ""}, {fat + modules("(memdisk)/boot/grub"), ""},
		{fat + modules("/EFI/x y\nlinux"), ""}, {fat + modules(""), ""}, {fat, ""}, {"", ""},
	} {
		if got, err := GRUBConfig([]byte(tt.esp)); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q, %v, want %q", got, err, tt.want)
		}
	}
}

// FuzzGRUBConfig holds that a file system gives a path that the configuration can carry, or an error.
func FuzzGRUBConfig(f *testing.F) {
	f.Add([]byte(modules("/EFI/centos")))
	f.Add([]byte("mimg\x00\x00\x00\x00" + strings.Repeat("\xff", 16)))
	f.Add([]byte("mimg\x00\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("mimg\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x03", 40)))
	f.Fuzz(func(t *testing.T, esp []byte) {
		got, err := GRUBConfig(esp)
		if err == nil && !plainPath.MatchString(got) || err != nil && got != "" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
