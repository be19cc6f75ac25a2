package ironic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"regexp"
)

// What a GRUB for EFI has behind its code (include/grub/kernel.h): the magic number of a list of
// modules, padding, and the list's offset and size; of each module its type and size.
const (
	modulesMagic = "mimg\x00\x00\x00\x00"
	modulesHead  = 24
	moduleHead   = 8
	modulePrefix = 3
)

// plainPrefix is a directory as distributions have it: /EFI/centos, /boot/grub.
var plainPrefix = regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)

var errNoLoader = errors.New("it has no GRUB for EFI with a directory on the medium that it " +
	"boots from, so that Ironic does not know where to write its configuration")

// GRUBConfig is the path of the configuration that the GRUB in a boot loader's file system reads,
// on the medium that it boots from. Each distribution's GRUB has another one built in.
func GRUBConfig(esp []byte) (string, error) {
	for rest := esp; ; {
		at := bytes.Index(rest, []byte(modulesMagic))
		if at < 0 {
			return "", errNoLoader
		}
		if dir, ok := prefix(rest[at:]); ok {
			return dir[1:] + "/grub.cfg", nil
		}
		rest = rest[at+1:]
	}
}

// prefix is GRUB's directory by a list of modules; ok is false if it names none.
func prefix(list []byte) (dir string, ok bool) {
	if len(list) < modulesHead {
		return "", false
	}
	offset, size := binary.LittleEndian.Uint64(list[8:]), binary.LittleEndian.Uint64(list[16:])
	if offset < modulesHead || size > uint64(len(list)) || offset > size {
		return "", false
	}
	for list = list[offset:size]; len(list) >= moduleHead; {
		kind, length := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		if length < moduleHead || uint64(length) > uint64(len(list)) {
			return "", false
		}
		if kind == modulePrefix {
			text, _, _ := bytes.Cut(list[moduleHead:length], []byte{0})
			return string(text), plainPrefix.Match(text)
		}
		list = list[length:]
	}
	return "", false
}
