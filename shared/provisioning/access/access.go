// Package access is what hosts fetch from a bootstrap machine's HTTP server: one request, what it
// means for a boot, and how many of them become an event.
package access

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
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
	Took   time.Duration // of the first to the last byte; the sum if there are several
	Broken bool          // the client has not got all of its answer
	Count  int           // of requests; 0 is one
}

// Kind is what a request means for the host that sent it.
type Kind string

// The kinds. Those below File are no success.
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

// String is the detail of an event. Parse reads it.
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

var errNone = errors.New("it is no request of the HTTP server")

// Parse reads the detail of an event, without its time.
func Parse(detail string) (a Access, err error) {
	client, rest, ok := strings.Cut(detail, " ")
	how, rest, ok2 := strings.Cut(rest, " ")
	method, rest, ok3 := strings.Cut(rest, " ")
	quoted, err := strconv.QuotedPrefix(rest)
	if !ok || !ok2 || !ok3 || err != nil {
		return Access{}, errNone
	}
	a = Access{TLS: how == "https", Method: method}
	if a.Client, err = netip.ParseAddr(client); err != nil {
		return Access{}, errNone
	}
	if a.File, err = strconv.Unquote(quoted); err != nil {
		return Access{}, errNone
	}
	return a, a.parseNumbers(strings.TrimPrefix(rest, quoted))
}

func (a *Access) parseNumbers(text string) error {
	text, a.Broken = strings.CutSuffix(text, " broken")
	words := strings.Fields(text)
	if len(words) < 5 || words[2] != "bytes" || words[3] != "in" {
		return errNone
	}
	var errs [3]error
	a.Status, errs[0] = strconv.Atoi(strings.TrimSuffix(words[0], ","))
	a.Bytes, errs[1] = strconv.ParseInt(words[1], 10, 64)
	a.Took, errs[2] = time.ParseDuration(words[4])
	if errors.Join(errs[:]...) != nil {
		return errNone
	}
	rest := words[5:]
	if len(rest) > 0 && rest[0] == "broken" {
		a.Broken, rest = true, rest[1:]
	}
	if len(rest) == 3 && rest[0] == "in" && rest[2] == "requests" {
		count, err := strconv.Atoi(rest[1])
		if a.Count, rest = count, nil; err != nil {
			return errNone
		}
	}
	if len(rest) > 0 {
		return errNone
	}
	return nil
}
