// Package pod writes static pods: manifests that kubelet runs from a directory, without an API
// server. What every pod of ours is and must not be stands here once, so that no manifest can be
// without it.
package pod

import (
	"net/netip"
	"time"
)

// Static is one pod on the host's network. There is no field for "privileged": what the type cannot
// say nobody can ask for.
type Static struct {
	Name      string
	Namespace string
	App       string // the label app, by which operators and other programs find the pod

	Annotations map[string]string
	// Processes says that the containers see each other's processes, so that one can signal
	// another.
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
	Ports        []Port // that it listens on for others than this host

	// Startup holds the other two back until it has passed. Liveness ends the container, Readiness
	// only says so.
	Startup, Liveness, Readiness *Probe
}

// Volume is a directory or a file that the host has, or a directory that lives in memory as long as
// the pod.
type Volume struct {
	Name string
	Host string // path on the host; empty for a directory in memory
	File bool   // it is a file, and the pod waits until it is there. One that is replaced stays the former one in the pod; one that is written anew does not
}

// Mount puts a volume into a container, where the container sees what the host mounts below it
// later.
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

// Probe asks by HTTP. There is no field for a command: a process in a container for every look
// costs more than the look.
type Probe struct {
	Host     netip.Addr // the host's own address; the zero value stands for the pod's
	Port     uint16
	Path     string
	Every    time.Duration // whole seconds
	Timeout  time.Duration // whole seconds
	Failures int           // in a row, until it counts
}

// Budget is how long something may be wrong until the probe counts.
func (p Probe) Budget() time.Duration { return time.Duration(p.Failures)*p.Every + p.Timeout }
