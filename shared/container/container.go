// Package container specifies our containers, whatever engine starts them; no specification can ask
// for a privileged container.
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

// State is what an engine reports about a container.
type State struct {
	ID       string // of the engine
	New      bool   // it was created and has never run
	Running  bool   // it has processes
	Paused   bool   // it has processes, and the kernel runs none of them
	PID      int    // of the first process, in the host's PID namespace; 0 if it does not run
	Digest   string // Spec.Digest of its specification; empty if it is not ours
	ExitCode int    // of its last run, if it does not run
}
