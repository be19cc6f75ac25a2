// Package pod writes static pods: manifests that kubelet runs from a directory without an API
// server, with the same confinement for each of our pods.
package pod

import (
	"net/netip"
	"time"
)

// Static is one pod on the host's network. There is no field for "privileged", so no pod can be.
type Static struct {
	Name      string
	Namespace string
	App       string // the label app, by which operators and other programs find the pod

	Annotations map[string]string
	// Processes lets the containers see each other's processes, so that one can signal another.
	Processes  bool
	Init       []Container // run to their ends, one after the other, before Containers start
	Containers []Container
}

// Container runs as root without any capability but those that it names, on a root file system that
// it cannot write to.
type Container struct {
	Name         string
	Image        string
	Command      []string // replaces the image's entry point
	Capabilities []string // without CAP_
	Mounts       []Mount
	Env          map[string]string
	Ports        []Port // on which it listens for other hosts

	// The other two run only after Startup has passed. Liveness kills the container, Readiness only
	// reports.
	Startup, Liveness, Readiness *Probe
}

// Volume is a directory or a file of the host, an object of the API, or a directory that exists as
// long as the pod. At most one of the fields beside Name, File and Keys is set; without one it
// is a directory in memory.
type Volume struct {
	Name string
	Host string // path on the host
	// File is set for a file, for which the pod waits. If the file is replaced, the pod keeps the
	// former one; if it is written in place, the pod sees the new contents.
	File bool

	Disk      bool   // on the node's disk
	ConfigMap string // its name
	Secret    string // its name
	Claim     string // the name of a PersistentVolumeClaim
	// Account is for the token of the pod's service account, and the CA of the API.
	Account bool
	Keys    []string // of a Secret; none: all
}

// Mount puts a volume into a container, with later mounts of the host below it.
type Mount struct {
	Volume   Volume
	Path     string // in the container; empty for the volume's path on the host
	Writable bool
}

// at is the mount's path in the container.
func (m Mount) at() string {
	if m.Path == "" {
		return m.Volume.Host
	}
	return m.Path
}

// Port is a port that the container claims on the host.
type Port struct {
	Name   string // at most 15 characters
	Number uint16
	UDP    bool
}

// Probe is an HTTP request. There is no field for a command: a process in a container for every
// probe costs more than the probe.
type Probe struct {
	Host     netip.Addr // the zero value is the pod's address
	Port     uint16
	TLS      bool // whichever certificate is shown
	Path     string
	Every    time.Duration // whole seconds
	Timeout  time.Duration // whole seconds
	Failures int           // in a row, until it counts
}
