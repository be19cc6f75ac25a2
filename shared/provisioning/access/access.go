// Package access is what hosts fetch from a bootstrap machine's HTTP server: one request, what it
// means for a boot, and how many of them become an event.
package access

import (
	"fmt"
	"net/netip"
	"path"
	"strings"
	"time"
)

// Access is one request that has ended, or several alike.
type Access struct {
	At     time.Time // of its end
	Client netip.Addr
	TLS    bool
	Method string
	File   string // below the root
	Status int
	Bytes  int64         // of the content, as far as they were sent
	Took   time.Duration // from the first to the last byte; the sum if there are several
	Broken bool          // the client has not got all of its answer
	Count  int           // of requests; 0 is one
}

// Kind is what a request means for the host that sent it.
type Kind string

// The kinds. Those after File do not deliver a whole file.
const (
	Script  Kind = "script"  // for iPXE
	Program Kind = "program" // iPXE itself
	Kernel  Kind = "kernel"  // of the ramdisk
	Ramdisk Kind = "ramdisk"
	Image   Kind = "image" // the operating system
	Media   Kind = "media" // a virtual medium, which a BMC reads
	File    Kind = "file"  // any other one
	Head    Kind = "head"  // a question for a file's size
	Broken  Kind = "broken"
	Refused Kind = "refused"
)

// Kind is the kind of a request.
func (a Access) Kind() Kind {
	switch {
	case a.Status >= 400:
		return Refused
	case a.Broken:
		return Broken
	case a.Method != "GET":
		return Head
	}
	return kindOf(a.File)
}

func kindOf(file string) Kind {
	dir, name := path.Split(file)
	top, _, _ := strings.Cut(dir, "/")
	switch {
	case top == "redfish" || top == "ilo":
		return Media
	case strings.HasSuffix(name, ".sha256"):
		return File
	case top == "images" && strings.HasPrefix(name, "os."), top == "agent_images":
		return Image
	case strings.HasSuffix(name, "kernel"):
		return Kernel
	case strings.HasSuffix(name, "ramdisk"), strings.HasSuffix(name, ".initramfs"):
		return Ramdisk
	case strings.HasSuffix(name, ".ipxe"), top == "pxelinux.cfg", name == "config":
		return Script
	case strings.HasSuffix(name, ".efi"), strings.HasSuffix(name, ".kpxe"):
		return Program
	}
	return File
}

// String is the detail of an event, for people.
func (a Access) String() string {
	how, more := "http", ""
	if a.TLS {
		how = "https"
	}
	if a.Broken {
		more = " broken"
	}
	if a.Count > 1 {
		more += fmt.Sprintf(" in %d requests", a.Count)
	}
	return fmt.Sprintf("%s %s %s %q %d, %d bytes in %s%s", a.Client, how, a.Method, cut(a.File),
		a.Status, a.Bytes, a.Took.Round(time.Millisecond), more)
}

// cut bounds the name of a file: a host chooses what it asks for.
func cut(file string) string {
	const most = 200
	if len(file) > most {
		return file[:most]
	}
	return file
}
