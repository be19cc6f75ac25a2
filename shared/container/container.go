// Package container says what a container of ours is and may do, whatever starts it. There is no
// field for "privileged": what the type cannot say nobody can ask for.
package container

// Mount binds a directory or file of the host into the container.
type Mount struct {
	Source   string // on the host
	Target   string // in the container
	ReadOnly bool
}

// Spec describes one container on the host's network. Its root file system is always read-only, all
// capabilities are dropped but those listed, and SELinux confinement is disabled because its bind
// mounts keep their host labels.
type Spec struct {
	Name         string
	Image        string
	Command      []string // replaces the image's entry point
	Mounts       []Mount
	Tmpfs        []string // directories that must be writable and may be lost
	Capabilities []string // CAP_… names that are kept
	Env          map[string]string
}

// State is what an engine says of a container.
type State struct {
	ID      string // that the engine gave it
	New     bool   // it has been made and has never run
	Running bool   // its processes are there
	Paused  bool   // they are there, but the kernel lets none of them run
	PID     int    // of the first process, in the host's process namespace; 0 when it does not run
	Digest  string // Spec.Digest of the specification that it was created from, empty when it is not ours

	ExitCode int // of its last run, when it does not run
}
