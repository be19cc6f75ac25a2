// Package hostfile is the one file with the secrets of the hosts that a bootstrap machine
// provisions: the accounts of their BMCs, and the Ignition documents that they get. No other file
// of ours has them.
package hostfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

const version = 1

// by names this program in the file, as all of its files do: by that the command line knows a file
// that it may replace.
const by = "onprem-infra"

// File is what the file has.
type File struct {
	CA    string // certificates in PEM that BMCs are verified by; none for those of the machine
	Hosts []Host
}

// Host is one host. Its name is that in the plan.
type Host struct {
	Name               string
	Username, Password secret.Text
	Ignition           secret.Text // the document that the host applies at its first boot
	RootDisk           rootdisk.Hints
}

// Of is the host of a name.
func (f File) Of(name string) (Host, bool) {
	for _, h := range f.Hosts {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

type file struct {
	Version int    `json:"version"`
	By      string `json:"by"`
	CA      string `json:"ca,omitempty"`
	Hosts   []host `json:"hosts"`
}

type host struct {
	Name     string         `json:"name"`
	Username string         `json:"username"`
	Password string         `json:"password"`
	Ignition string         `json:"ignition"`
	RootDisk rootdisk.Hints `json:"rootDisk"`
}

// Encode is the file, secrets and all: it is written with mode 0600.
func Encode(f File) []byte {
	out := file{Version: version, By: by, CA: f.CA, Hosts: []host{}}
	for _, h := range f.Hosts {
		out.Hosts = append(out.Hosts, host{h.Name, h.Username.Reveal(), h.Password.Reveal(),
			h.Ignition.Reveal(), h.RootDisk})
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic("hostfile: texts and numbers cannot fail to marshal: " + err.Error())
	}
	return append(text, '\n')
}

// Decode reads the file, all of it or nothing. Its errors quote nothing of the file.
func Decode(text []byte) (File, error) {
	var in file
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&in)
	if _, more := d.Token(); err != nil || !errors.Is(more, io.EOF) {
		return File{}, fmt.Errorf("the file of the hosts' secrets cannot be read: it ends or is "+
			"broken near byte %d", d.InputOffset())
	}
	if in.Version != version {
		return File{}, fmt.Errorf("the file of the hosts' secrets has version %d, this release "+
			"reads %d", in.Version, version)
	}
	f := File{CA: in.CA}
	for _, h := range in.Hosts {
		f.Hosts = append(f.Hosts, Host{h.Name, secret.New(h.Username), secret.New(h.Password),
			secret.New(h.Ignition), h.RootDisk})
	}
	return f, nil
}
