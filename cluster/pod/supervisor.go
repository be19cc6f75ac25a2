package pod

import "path"

// Supervisor is the path of keepalived's supervisor in a pod.
const Supervisor = "/supervise/onprem-supervise"

// The directories in memory of keepalived's pods.
var (
	supervisor = Volume{Name: "supervise"}
	run        = Volume{Name: "run"}
	tmp        = Volume{Name: "tmp"}
)

// InstallSupervisor copies the supervisor from our image before keepalived's container starts.
func InstallSupervisor(image string) Container {
	return Container{
		Name: "install-supervise", Image: image,
		Command: []string{"/usr/bin/onprem-supervise", "--install", Supervisor},
		Mounts:  []Mount{{Volume: supervisor, Path: path.Dir(Supervisor), Writable: true}},
	}
}

// SupervisorMount is where a container finds the supervisor.
func SupervisorMount() Mount { return Mount{Volume: supervisor, Path: path.Dir(Supervisor)} }

// SupervisorMounts are the directories in memory of keepalived's container: its /run is its own, as
// two keepalived that start with a shared one lock the same file.
func SupervisorMounts() []Mount {
	return []Mount{
		SupervisorMount(),
		{Volume: run, Path: "/run", Writable: true},
		{Volume: tmp, Path: "/tmp", Writable: true},
	}
}
