// Package asset holds the files and systemd units of a host, before they are encoded as Ignition or
// another document.
package asset

import "io/fs"

// File is one regular file on the host.
type File struct {
	Path     string      // absolute, clean
	Mode     fs.FileMode // permission bits only
	Contents []byte
	By       string // the room that made it, for errors and for people
}

// DropIn is a fragment in NAME.d of a unit.
type DropIn struct {
	Name     string // NN-what.conf
	Contents []byte
}

// Unit is one systemd unit. Contents may be empty where only the state or drop-ins of a unit of the
// host's own are changed.
type Unit struct {
	Name     string
	Enabled  bool
	Contents []byte
	DropIns  []DropIn
	By       string
}
