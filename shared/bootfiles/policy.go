package bootfiles

import (
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Verdict is whether a file is served.
type Verdict int

// The verdicts.
const (
	Hidden Verdict = iota // it is not there for this client
	Later                 // its digest is not known to be the right one yet
	Served
)

// Open reports whether a file is for everyone who reaches a port, once it is there. Over plain HTTP
// it lists what hosts need to boot and nothing else: the directory is Ironic's too, which puts
// virtual media with a host's secrets there, and configuration drives. Over TLS these come, as a
// BMC has no other way to get them, and the images.
func Open(name string, tls bool) bool {
	top, rest, deep := strings.Cut(name, "/")
	images := top == path.Base(layout.Images) && deep
	if tls {
		return images || deep && (top == layout.Media || top == layout.MediaILO)
	}
	end := path.Ext(name)
	program := end == ".efi" || end == ".kpxe" || end == ".ipxe"
	switch {
	case images:
		return true
	case !deep, path.Dir(name) == path.Dir(layout.ProgramARM64):
		return program
	case top == "hosts":
		return end == ".ipxe"
	case top == "pxelinux.cfg", top == "agent_images":
		return !strings.Contains(rest, "/")
	}
	return isNode(top) && (rest == "config" || isBootFile(rest))
}

// isNode reports whether a directory is the one of a node of Ironic, which is named by its UUID.
func isNode(name string) bool {
	return len(name) == 36 && strings.Trim(name, "0123456789abcdef-") == ""
}

// isBootFile reports whether a file of a node is what its host boots.
func isBootFile(name string) bool {
	switch name {
	case "kernel", "ramdisk", "deploy_kernel", "deploy_ramdisk", "rescue_kernel", "rescue_ramdisk":
		return true
	}
	return false
}
